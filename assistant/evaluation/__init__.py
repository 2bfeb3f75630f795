"""Evaluation runs: questions with known answers, scored, compared and reported.

Read `run` first. Questions (`questions`, `beir`) are asked (`asking`), the replies are scored
(`scorers`) and kept as rows (`rows`) beside the record of the run (`record`). Rows become figures
with intervals (`figures`, `metrics`), figures of two runs are compared (`compare`), and all of it
is shown in the terminal (`tables`) and as a page (`report`).
"""
