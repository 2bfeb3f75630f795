"""Markdown tables as a reader of them sees their cells."""

import re


def cells(line: str) -> list[str]:
    """The cells of a row, their escapes undone."""
    parts = re.split(r"(?<!\\)\|", line)[1:-1]
    return [re.sub(r"\\(.)", r"\1", part).strip() for part in parts]
