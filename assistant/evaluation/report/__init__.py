"""The report of a run: a self-contained HTML page (`report.html`)."""
