"""Writes papers as BibTeX, RIS, and references in APA and IEEE style."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.middlewares.enclosing import AddEnclosingMiddleware
from bibtexparser.model import Entry, Field
from bibtexparser.writer import BibtexFormat
from rispy import RisWriter, dumps

from retrieval.text.latex import encode, split_formulas
from retrieval.text.names import last_name_first, parts_of
from retrieval.types import Paper, first_words, nested

_MOST_APA = 20
"""Authors that APA lists in full; of more it lists the first 19 and the last."""
_MOST_IEEE = 6
"""Authors that IEEE lists in full; of more it lists the first."""
_DOI_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_DOI = re.compile(rf"(?:{_DOI_PREFIX.pattern})?(10\.\d{{4,9}}/\S+)$", re.IGNORECASE)
_TWO_CAPITALS = re.compile(r"[A-Z]{2}")
_ENDS = (".", "?", "!", "…")
_CORE = re.compile(r"\w+(?:[-'’./+]\w+)*")
"""A word without the punctuation around it, which stays outside braces."""
_AND_OR_COMMA = re.compile(r",|\band\b", re.IGNORECASE)
_UNSAFE_IN_ADDRESS = re.compile(r"[\s{}\\]")


def bibtex(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:
    r"""The papers in BibTeX that old and new versions read, in the order given.

    Text is escaped, accents are commands, formulas stay as they are; words whose capitals a
    bibliography style would change (BERT) are in braces.

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
    """The papers in RIS, in the order given; no value has a line break.

    Args:
        papers: the papers.
        keys: the citation key of each paper, by its id.
    """
    references = [_reference(paper, keys[paper.id]) for paper in papers]
    return str(dumps(references, implementation=_PlainRisWriter))


def apa(paper: Paper) -> str:
    """`Pan, C., & Sima, J. (2023). Machine Unlearning. In ICLR.`."""
    authors = _listed_apa([_turned(name) for name in paper.authors])
    year = f"({paper.year or 'n.d.'})"
    title = _title(paper)
    # Without authors the title comes first, before the year.
    head = (f"{authors} {year}", title) if authors else (title, year)
    where = f"In {_one_line(paper.venue)}" if paper.venue else ""
    return " ".join([*map(_ended, filter(None, (*head, where))), *_link(paper)])


def apa_list(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:  # noqa: ARG001
    """One APA reference a line, in the order given; it has no keys."""
    return "".join(f"{apa(paper)}\n" for paper in papers)


def ieee(paper: Paper) -> str:
    """`C. Pan and J. Sima, “Machine Unlearning,” in ICLR, 2023.`."""
    authors = _listed_ieee([_shortened(name) for name in paper.authors])
    where = ", ".join(
        filter(None, (f"in {_one_line(paper.venue)}" if paper.venue else "", str(paper.year or "")))
    )
    title = nested(_title(paper))
    quoted = f"“{title},”" if where and not title.endswith(_ENDS) else f"“{_ended(title)}”"
    lead = f"{authors}," if authors else ""
    return _joined(lead, quoted, where and _ended(where), *_link(paper))


def ieee_list(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:  # noqa: ARG001
    """One IEEE reference a line, numbered from 1 in the order given; it has no keys."""
    return "".join(f"[{at}] {ieee(paper)}\n" for at, paper in enumerate(papers, start=1))


FORMATS: dict[str, Callable[[Iterable[Paper], Mapping[str, str]], str]] = {
    "bibtex": bibtex,
    "ris": ris,
    "apa": apa_list,
    "ieee": ieee_list,
}
"""The writers by the name of their format."""


def authors_line(authors: Sequence[str], most: int = 3) -> str:
    """The first `most` authors, the others as et al."""
    if len(authors) > most:
        return f"{', '.join(authors[:most])} et al"
    return ", ".join(authors)


def where(paper: Paper) -> str:
    """Venue, year and decision, if known."""
    appeared = f"{paper.venue} {paper.year or ''}".strip()
    return ", ".join(filter(None, (appeared, paper.decision)))


def doi_address(doi: str) -> str:
    """The address of a DOI in any spelling; empty if it is not a DOI."""
    found = _DOI.match(doi.strip())
    return f"https://doi.org/{quote(found[1], safe='/:;()._-')}" if found else ""


def web_address(url: str) -> str:
    """`url` if it is a web address, otherwise empty."""
    address = url.strip()
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    is_web = parts.scheme in {"http", "https"} and parts.netloc and not re.search(r"\s", address)
    return address if is_web else ""


def _entry(paper: Paper, key: str) -> Entry:
    fields = {
        "title": _protected(_one_line(paper.title)),
        "author": " and ".join(map(_name, paper.authors)),
        "booktitle": encode(_one_line(paper.venue)),
        "year": str(paper.year or ""),
        "url": _address(paper.url),
        "doi": _address(_DOI_PREFIX.sub("", paper.doi)),
        "note": encode(_decision(paper)),
        "abstract": encode(_one_line(paper.abstract)),
    }
    type_ = "inproceedings" if paper.venue else "misc"
    return Entry(type_, key, [Field(name, value) for name, value in fields.items() if value])


def _protected(title: str) -> str:
    """The title in LaTeX, with braces around words and formulas that must keep their capitals."""
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
    """Whether a capital is inside the word, or alone as in `Q-learning`."""
    parts = re.split(r"[-'’./+]", word)
    is_inside = any(part[1:] != part[1:].lower() for part in parts)
    is_alone = any(len(part) == 1 and part.isupper() for part in parts)
    return is_inside or (is_alone and word not in {"A", "I"})


def _name(author: str) -> str:
    """A name that BibTeX reads as one person, braced if it has `and` or a comma."""
    name = encode(_one_line(author))
    is_odd = _AND_OR_COMMA.search(name) or name.lower() == "others"
    return f"{{{name}}}" if is_odd else name


def _address(address: str) -> str:
    """An address without characters that would end the field; `url` commands get it unescaped."""
    return _UNSAFE_IN_ADDRESS.sub(lambda sign: f"%{ord(sign[0]):02X}", address.strip())


class _PlainRisWriter(RisWriter):  # type: ignore[misc]  # rispy has no types
    """Writes records without rispy's numbered headings."""

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
        "doi": _one_line(_DOI_PREFIX.sub("", paper.doi)),
        "urls": [_one_line(paper.url)] if paper.url else [],
        "notes": [_decision(paper)] if paper.decision else [],
        "abstract": _one_line(paper.abstract),
    }
    known = {name: value for name, value in fields.items() if value}
    return {"type_of_reference": "CPAPER" if paper.venue else "GEN", **known}


def _decision(paper: Paper) -> str:
    """`ICLR 2023 oral`; empty if no decision is known."""
    words = (paper.venue, str(paper.year or ""), paper.decision)
    return _one_line(" ".join(words)) if paper.decision else ""


def _listed_apa(names: Sequence[str]) -> str:
    if len(names) > _MOST_APA:
        return f"{', '.join(names[: _MOST_APA - 1])}, … {names[-1]}"
    if len(names) > 1:
        return f"{', '.join(names[:-1])}, & {names[-1]}"
    return "".join(names)


def _listed_ieee(names: Sequence[str]) -> str:
    if len(names) > _MOST_IEEE:
        return f"{names[0]} et al."
    *others, last = names or ("",)
    comma = "," if len(others) > 1 else ""
    return f"{', '.join(others)}{comma} and {last}" if others else last


def _turned(name: str) -> str:
    """`Pan, C.`."""
    given, last, generation = parts_of(_one_line(name))
    return ", ".join(filter(None, (last, _initials(given, last), generation)))


def _shortened(name: str) -> str:
    """`C. Pan`."""
    given, last, generation = parts_of(_one_line(name))
    return _joined(_initials(given, last), last, generation)


def _initials(given: str, last: str) -> str:
    """`J.-P. R.` of Jean-Pierre R.

    Two capitals in a row are kept: AJ may be a name or two initials.
    """
    words = re.sub(r"\.(?=[^\s.-])", ". ", given).split()
    return " ".join(
        word
        if _TWO_CAPITALS.fullmatch(word) and not last.isupper()
        else "-".join(_initial(part) for part in word.split("-") if part)
        for word in words
    )


def _initial(part: str) -> str:
    """`P.` of Pierre; a part without a first letter stays as it is."""
    return f"{part[0].upper()}." if part[0].isalpha() else part


def _title(paper: Paper) -> str:
    """The title, or else the first words of the abstract in brackets."""
    return _one_line(paper.title) or f"[{_one_line(first_words(paper.abstract))}]"


def _link(paper: Paper) -> list[str]:
    return list(filter(None, (doi_address(paper.doi) or web_address(paper.url),)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _ended(part: str) -> str:
    """`part` with a full stop, `?` or `!` at its end."""
    return part if part.endswith(_ENDS) else f"{part}."
