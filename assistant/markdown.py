"""Text of papers and models in Markdown: shown as it is, never as marks."""

import re

from retrieval.latex import split_formulas

_SIGNS = re.compile(r"[\\`*_{}\[\]<>#|~$&]|^[+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")
"""What Markdown would take for more than text, at the beginning of a line the marks of lists."""

_IN_FORMULAS = str.maketrans({"<": r"\lt ", ">": r"\gt ", "|": r"\vert "})
"""What would be a tag or the border of a cell."""


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is, on one line; formulas stay formulas."""
    line = " ".join(text.split())
    return "".join(
        piece.translate(_IN_FORMULAS) if is_formula else _escaped(piece)
        for piece, is_formula in split_formulas(line)
    )


def _escaped(prose: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", prose)
