"""The report of a run: one page for whoever was not there (`report.html`)."""

from assistant.evaluation.report.page import write_report

__all__ = ["write_report"]
