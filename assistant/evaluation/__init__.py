"""Evaluation runs: questions with known answers, scored, compared and reported.

The order is that of the modules: questions (`question_set`, `beir`) are asked (`running`), what
came of each is scored (`scorers`) and kept as a row (`rows`); rows become figures with intervals
(`figures`), figures of two runs are compared (`comparison`), and all of it is shown (`report`).
"""
