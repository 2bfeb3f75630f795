"""The report of a run: a self-contained HTML page (`report.html`)."""

from assistant.evaluation.report.page import write_report

__all__ = ["write_report"]
