"""Papers as BibTeX and RIS, for a reference manager or a manuscript, or as formatted references."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.middlewares.enclosing import AddEnclosingMiddleware
from bibtexparser.model import Entry, Field
from bibtexparser.writer import BibtexFormat
from rispy import RisWriter, dumps

from assistant.reference_list import apa_list, ieee_list
from retrieval.latex import encode, split_formulas
from retrieval.name_order import last_name_first
from retrieval.types import Paper

_CORE = re.compile(r"\w+(?:[-'’./+]\w+)*")
"""A word without the punctuation around it, which BibTeX must see."""
_AND_OR_COMMA = re.compile(r",|\band\b", re.IGNORECASE)
_UNSAFE_IN_ADDRESS = re.compile(r"[\s{}\\]")
_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def bibtex(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:
    r"""The papers as BibTeX that old and new versions read, in the order given.

    Text is escaped and accents are commands, formulas stay as they are; capitals that a
    bibliography style would lower (BERT) are in braces.

    Args:
        papers: the papers.
        keys: the citation key of each paper, by its id.
    """
    entries = [_entry(paper, keys[paper.id]) for paper in papers]
    layout = BibtexFormat()
    layout.indent = "  "
    layout.block_separator = "\n"
    layout.trailing_comma = True
    braces = AddEnclosingMiddleware(
        reuse_previous_enclosing=False, enclose_integers=True, default_enclosing="{"
    )
    return str(write_string(Library(list(entries)), unparse_stack=[braces], bibtex_format=layout))


def ris(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:
    """The papers as RIS, in the order given; no value holds a line break.

    Args:
        papers: the papers.
        keys: the citation key of each paper, by its id.
    """
    references = [_reference(paper, keys[paper.id]) for paper in papers]
    return str(dumps(references, implementation=_PlainRisWriter))


def _entry(paper: Paper, key: str) -> Entry:
    fields = {
        "title": _protected(_one_line(paper.title)),
        "author": " and ".join(map(_name, paper.authors)),
        "booktitle": encode(_one_line(paper.venue)),
        "year": str(paper.year or ""),
        "url": _address(paper.url),
        "doi": _address(_DOI.sub("", paper.doi)),
        "note": encode(_decision(paper)),
        "abstract": encode(_one_line(paper.abstract)),
    }
    type_ = "inproceedings" if paper.venue else "misc"
    return Entry(type_, key, [Field(name, value) for name, value in fields.items() if value])


def _decision(paper: Paper) -> str:
    """`ICLR 2023 oral`, or nothing where no decision is known."""
    words = (paper.venue, str(paper.year or ""), paper.decision)
    return _one_line(" ".join(words)) if paper.decision else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _protected(title: str) -> str:
    """The title in LaTeX with braces around words and formulas that must keep their capitals."""
    return "".join(
        _formula(piece) if is_formula else _words(piece)
        for piece, is_formula in split_formulas(title)
    )


def _formula(formula: str) -> str:
    latex = encode(formula)
    return latex if formula == formula.lower() else f"{{{latex}}}"


def _words(prose: str) -> str:
    pieces: list[str] = []
    last = 0
    for word in _CORE.finditer(prose):
        pieces.append(encode(prose[last : word.start()]))
        latex = encode(word.group())
        pieces.append(f"{{{latex}}}" if _must_keep_capitals(word.group()) else latex)
        last = word.end()
    pieces.append(encode(prose[last:]))
    return "".join(pieces)


def _must_keep_capitals(word: str) -> bool:
    """Whether a capital stands inside the word, or alone as in `Q-learning`."""
    parts = re.split(r"[-'’./+]", word)
    is_inside = any(part[1:] != part[1:].lower() for part in parts)
    is_alone = any(len(part) == 1 and part.isupper() for part in parts)
    return is_inside or (is_alone and word not in {"A", "I"})


def _name(author: str) -> str:
    """A name that BibTeX takes as one person, braced if `and` or a comma is part of it."""
    name = encode(_one_line(author))
    is_odd = _AND_OR_COMMA.search(name) or name.lower() == "others"
    return f"{{{name}}}" if is_odd else name


def _address(address: str) -> str:
    """An address without what would end the field; BibTeX gives it to `url` commands as it is."""
    return _UNSAFE_IN_ADDRESS.sub(lambda sign: f"%{ord(sign[0]):02X}", address.strip())


class _PlainRisWriter(RisWriter):  # type: ignore[misc]  # rispy has no types
    """Writes records without the numbered headings that rispy puts before each."""

    def set_header(self, count: int) -> str:  # noqa: ARG002 - rispy's signature
        """No heading."""
        return ""


def _reference(paper: Paper, key: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": key,
        "title": _one_line(paper.title),
        "authors": [last_name_first(_one_line(name)) for name in paper.authors],
        "secondary_title": _one_line(paper.venue),
        "year": str(paper.year or ""),
        "doi": _one_line(_DOI.sub("", paper.doi)),
        "urls": [_one_line(paper.url)] if paper.url else [],
        "notes": [_decision(paper)] if paper.decision else [],
        "abstract": _one_line(paper.abstract),
    }
    known = {name: value for name, value in fields.items() if value}
    return {"type_of_reference": "CPAPER" if paper.venue else "GEN", **known}


FORMATS: dict[str, Callable[[Iterable[Paper], Mapping[str, str]], str]] = {
    "bibtex": bibtex,
    "ris": ris,
    "apa": apa_list,
    "ieee": ieee_list,
}
"""The formats by name."""
