"""Evaluation runs: questions with known answers, scored, compared and reported.

Read `run` first. Questions (`questions`) are asked (`asking`), the replies are scored (`scorers`)
and kept as rows beside the record of the run (`records`). Rows become figures with intervals, which
are compared and shown in the terminal (`figures`) and as a page (`report`).
"""
