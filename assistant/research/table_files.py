r"""Tables as Markdown, CSV and LaTeX; text of papers and people stays text in each of them."""

import csv
import io
import re
from collections.abc import Callable, Sequence

from assistant.research.table import EvidenceTable
from retrieval.formats.writers import where
from retrieval.text.latex import encode, split_formulas

_FORMULA_SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""Beginnings of a cell that a spreadsheet reads as a formula."""
_SYNTAX = re.compile(r"[\\`*_{}\[\]<>#|~$&]|^[+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")
"""Characters with a meaning in Markdown; those of lists only at the beginning of a line."""
_IN_FORMULAS = str.maketrans({"<": r"\lt ", ">": r"\gt ", "|": r"\vert "})
"""Characters of a formula that would begin a tag or a table cell."""

Lines = Sequence[Sequence[str]]
"""A table: its header, then its rows."""


def lines_of(table: EvidenceTable, *, quotes: bool = True) -> Lines:
    """The header and rows of a table, with citation keys and quotes if they are wanted."""
    header = ["Paper", "Where", *(["Citation key"] if quotes else [])]
    for column in table.columns:
        header += [column, f"{column}: quote"] if quotes else [column]
    lines = [header]
    for row in table.rows:
        line = [row.paper.shown_title, where(row.paper), *([row.key] if quotes else [])]
        for cell in row.cells:
            line += [cell.shown, cell.quote] if quotes else [cell.shown]
        lines.append(line + [""] * (len(header) - len(line)))
    return lines


def table_csv(lines: Lines) -> str:
    """The table as CSV; spreadsheets read no cell as a formula."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([csv_cell(cell) for cell in x] for x in lines)
    return file.getvalue()


def table_markdown(lines: Lines) -> str:
    """The table as Markdown."""
    header, *rows = ([markdown_text(cell) for cell in line] for line in lines)
    marked = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in marked)


def table_latex(lines: Lines) -> str:
    """The table as LaTeX that needs the package `booktabs`; columns share the width of the text."""
    header, *rows = ([encode(" ".join(cell.split())) for cell in line] for line in lines)
    width = f"p{{{0.92 / len(header):.3f}\\linewidth}}"
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering\small\raggedright",
            f"\\begin{{tabular}}{{{width * len(header)}}}",
            r"\toprule",
            f"{' & '.join(header)} \\\\",
            r"\midrule",
            *(f"{' & '.join(row)} \\\\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def export(table: EvidenceTable, format_: str) -> str:
    """The table in one of `FORMATS`; CSV has the quotes, too."""
    return FORMATS[format_](lines_of(table, quotes=format_ == "csv"))


FORMATS: dict[str, Callable[[Lines], str]] = {
    "csv": table_csv,
    "markdown": table_markdown,
    "latex": table_latex,
}
"""The writers by the name of their format."""


def csv_cell(cell: str) -> str:
    """A cell on one line, which a spreadsheet reads as text."""
    text = " ".join(cell.split())
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text


def markdown_text(text: str) -> str:
    """Text that Markdown shows unchanged, on one line; formulas stay formulas."""
    return "".join(
        # A link or picture has `](`, which `{}` takes apart and LaTeX ignores.
        piece.translate(_IN_FORMULAS).replace("](", "]{}(")
        if is_formula
        else _SYNTAX.sub(r"\\\g<0>", piece)
        for piece, is_formula in split_formulas(" ".join(text.split()))
    )
