"""Writes papers as BibTeX, RIS and CSL-JSON, and as references in the styles of CSL."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.middlewares.enclosing import AddEnclosingMiddleware
from bibtexparser.model import Entry, Field
from bibtexparser.writer import BibtexFormat

from retrieval.formats.fields import CHAPTER, JOURNAL, MONTHS, PREPRINT, PROCEEDINGS
from retrieval.formats.styles import STYLES, references
from retrieval.text.latex import encode, split_formulas
from retrieval.text.names import last_name_first, parts_of
from retrieval.types import Paper, first_words

_TYPES = {
    # type in CSL: type in BibTeX, its field of the venue, type in RIS
    JOURNAL: ("article", "journal", "JOUR"),
    PROCEEDINGS: ("inproceedings", "booktitle", "CPAPER"),
    CHAPTER: ("incollection", "booktitle", "CHAP"),
    PREPRINT: ("misc", "howpublished", "UNPB"),
    "book": ("book", "series", "BOOK"),
    "thesis": ("phdthesis", "school", "THES"),
    "report": ("techreport", "institution", "RPRT"),
    "dataset": ("misc", "howpublished", "DATA"),
    "software": ("misc", "howpublished", "COMP"),
    "patent": ("misc", "howpublished", "PAT"),
    "webpage": ("misc", "howpublished", "ELEC"),
    "": ("misc", "howpublished", "GEN"),
}
_PUBLISHED_BY = frozenset(("thesis", "report", "book"))
"""Types of which CSL calls the school, the institution or the series a publisher."""

_BARE_MONTH = re.compile(r"^  month = \{([a-z]{3})\},$", re.MULTILINE)
_DOI_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_DOI = re.compile(rf"(?:{_DOI_PREFIX.pattern})?(10\.\d{{4,9}}/\S+)$", re.IGNORECASE)
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
    text = write_string(Library(list(entries)), unparse_stack=[braces], bibtex_format=layout)
    return _BARE_MONTH.sub(r"  month = \1,", str(text))  # a name that styles translate


def ris(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:
    """The papers in RIS, in the order given; no value has a line break.

    Args:
        papers: the papers.
        keys: the citation key of each paper, by its id.
    """
    return "\n".join(
        "".join(f"{tag}  - {line}\n" for tag, line in _ris_lines(paper, keys[paper.id]))
        for paper in papers
    )


def csl_json(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:
    """The papers in CSL-JSON, which Zotero, pandoc and others read, in the order given."""
    items = [{"id": keys[paper.id], **csl_item(paper)} for paper in papers]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def reference(paper: Paper, style: str) -> str:
    """The paper as a reference in one of `STYLES`."""
    return references([_shown_item(paper)], style)[0]


def _references(style: str, papers: Iterable[Paper], keys: Mapping[str, str]) -> str:  # noqa: ARG001
    """A reference a line, in the order given; numbered if the style numbers them."""
    return "".join(f"{line}\n" for line in references(list(map(_shown_item, papers)), style))


FORMATS: dict[str, Callable[[Iterable[Paper], Mapping[str, str]], str]] = {
    "bibtex": bibtex,
    "ris": ris,
    "csl-json": csl_json,
    **{style: partial(_references, style) for style in STYLES},
}
"""The writers by the name of their format."""


def kind_of(paper: Paper) -> str:
    """The type in CSL; of a paper with nothing but a venue, as conferences list them, a talk's."""
    return paper.publication.kind or (PROCEEDINGS if paper.venue else "")


def csl_item(paper: Paper) -> dict[str, Any]:
    """The paper as an item of CSL, without an id; unknown fields are left out."""
    publication, kind = paper.publication, kind_of(paper)
    issued = [paper.year, publication.month] if publication.month else [paper.year]
    venue = one_line(paper.venue)
    is_published_by = kind in _PUBLISHED_BY
    preprint = f"arXiv:{publication.arxiv}" if publication.arxiv and kind == PREPRINT else ""
    in_arxiv = publication.arxiv and f"https://arxiv.org/abs/{quote(publication.arxiv)}"
    fields = {
        "type": kind or "document",
        "title": one_line(paper.title),
        "author": [_csl_name(*names) for names in _names_of(paper)],
        "container-title": "" if preprint or is_published_by else venue,
        "issued": {"date-parts": [issued]} if paper.year else {},
        "volume": publication.volume,
        "issue": "" if kind == "report" else publication.issue,
        "page": publication.pages,
        "publisher": publication.publisher
        or ("arXiv" if preprint else venue if is_published_by else ""),
        "number": preprint or (publication.issue if kind == "report" else ""),
        "ISSN": publication.issn,
        "DOI": _bare_doi(paper.doi),
        "URL": web_address(paper.url) or in_arxiv,
        "keyword": _listed(publication.keywords),
        "abstract": one_line(paper.abstract),
    }
    return {name: value for name, value in fields.items() if value}


def _listed(keywords: Sequence[str]) -> str:
    """Keywords in one text, parted by a sign that none of them has."""
    return ("; " if any("," in each for each in keywords) else ", ").join(keywords)


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


def _shown_item(paper: Paper) -> dict[str, Any]:
    """An item for a reference: a title even if there is none, and an address only without a DOI."""
    item = csl_item(paper)
    item["title"] = item.get("title") or f"[{one_line(first_words(paper.abstract))}]"
    unused = {"abstract", "keyword"}
    if item["type"] == PREPRINT:  # on a server, not in a volume
        server = "arXiv" if "number" in item else item.pop("container-title", "")
        item["publisher"] = server or item.get("publisher", "")
    if item["type"] in {PROCEEDINGS, CHAPTER} and "container-title" not in item:
        item["type"] = "document"
    if "DOI" in item:
        unused.add("URL")
    if item["type"] == JOURNAL:
        unused.add("publisher")
    return {name: value for name, value in item.items() if name not in unused}


def _names_of(paper: Paper) -> list[tuple[str, str]]:
    """Each author and their surname, which is empty if the file does not tell it."""
    surnames = paper.publication.surnames
    if len(surnames) != len(paper.authors):
        surnames = ("",) * len(paper.authors)
    return [(one_line(name), last) for name, last in zip(paper.authors, surnames, strict=True)]


def _parts(name: str, surname: str) -> tuple[str, str, str]:
    """Given names, surname and generation, guessed if the file does not tell them."""
    given, found, generation = name.rpartition(surname) if surname else ("", "", "")
    return (given.strip(), found, generation.strip(" ,")) if found else parts_of(name)


def _csl_name(name: str, last: str) -> dict[str, str]:
    given, surname, generation = _parts(name, last)
    if not given and not generation:
        return {"literal": surname}
    capitals = given.isupper() and given.isalpha() and len(given) <= _MOST_INITIALS
    spaced = ". ".join(given) + "." if capitals else _JOINED_INITIALS.sub(". ", given)
    named = {"family": surname, "given": spaced, "suffix": generation}
    return {part: text for part, text in named.items() if text}


_JOINED_INITIALS = re.compile(r"\.(?=[^\s.-])")
_MOST_INITIALS = 3
"""Capitals without full stops that are initials, as MEDLINE writes them: `Gao XY`."""


def _entry(paper: Paper, key: str) -> Entry:
    publication, kind = paper.publication, kind_of(paper)
    type_, where, _ = _TYPES[kind]
    in_arxiv = bool(publication.arxiv) and type_ == "misc"
    is_of_school = kind in {"thesis", "report"} and not paper.venue
    venue = publication.publisher if is_of_school else paper.venue
    fields = {
        "title": _protected(one_line(paper.title)),
        "author": " and ".join(_bibtex_name(*names) for names in _names_of(paper)),
        "type": "Preprint" if kind == PREPRINT and not in_arxiv else "",
        where: "" if in_arxiv else encode(one_line(venue)),
        "year": str(paper.year or ""),
        "month": MONTHS[publication.month - 1] if publication.month else "",
        "volume": encode(publication.volume),
        "number": encode(publication.issue),
        "pages": encode(publication.pages).replace("-", "--"),
        "publisher": "" if is_of_school else encode(publication.publisher),
        "issn": publication.issn,
        "url": _address(paper.url),
        "doi": _address(_bare_doi(paper.doi)),
        "eprint": publication.arxiv,
        "archiveprefix": "arXiv" if publication.arxiv else "",
        "keywords": encode(_listed(publication.keywords)),
        "note": encode(_decision(paper)),
        "abstract": encode(one_line(paper.abstract)),
    }
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


def _bibtex_name(name: str, surname: str) -> str:
    """A name that BibTeX reads as one person, with the surname that it has."""
    is_odd = _AND_OR_COMMA.search(name) or name.lower() == "others"
    if is_odd or (name == surname and " " in name):  # an institution
        return f"{{{encode(name)}}}"
    given, last, generation = _parts(name, surname)
    if not generation and (not surname or parts_of(name)[:2] == (given, last)):
        return encode(name)
    return ", ".join(encode(part) for part in (last, generation, given) if part)


def _address(address: str) -> str:
    """An address without characters that would end the field; `url` commands get it unescaped."""
    return _UNSAFE_IN_ADDRESS.sub(lambda sign: f"%{ord(sign[0]):02X}", address.strip())


def _ris_lines(paper: Paper, key: str) -> Iterable[tuple[str, str]]:
    publication = paper.publication
    first, _, last = publication.pages.partition("-")
    date = f"{paper.year}/{publication.month:02}//" if paper.year and publication.month else ""
    lines = [
        ("ID", key),
        ("TI", paper.title),
        *(("AU", _ris_name(*names)) for names in _names_of(paper)),
        ("T2", paper.venue),
        ("PY", str(paper.year or "")),
        ("DA", date),
        ("VL", publication.volume),
        ("IS", publication.issue),
        ("SP", first),
        ("EP", last),
        ("PB", publication.publisher),
        ("SN", publication.issn),
        ("DO", _bare_doi(paper.doi)),
        ("UR", paper.url),
        ("AN", f"arXiv:{publication.arxiv}" if publication.arxiv else ""),
        *(("KW", keyword) for keyword in publication.keywords),
        ("N1", _decision(paper)),
        ("AB", paper.abstract),
    ]
    known = [(tag, one_line(text)) for tag, text in lines if one_line(text)]
    return [("TY", _TYPES[kind_of(paper)][2]), *known, ("ER", "")]


def _ris_name(name: str, surname: str) -> str:
    if not surname:
        return last_name_first(name)  # particles after the given names, as in libraries
    given, last, generation = _parts(name, surname)
    return ", ".join(filter(None, (last, given, generation)))


def _bare_doi(doi: str) -> str:
    return one_line(_DOI_PREFIX.sub("", doi))


def _decision(paper: Paper) -> str:
    """`ICLR 2023 oral`; empty if no decision is known."""
    words = (paper.venue, str(paper.year or ""), paper.decision)
    return one_line(" ".join(words)) if paper.decision else ""


def one_line(text: str) -> str:
    """`text` without line breaks and doubled spaces."""
    return " ".join(text.split())
