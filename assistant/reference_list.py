"""Papers as formatted references, plain text for the end of a manuscript.

Two styles: APA (Publication Manual of the American Psychological Association, 7th edition) and
IEEE (IEEE Reference Guide). What a record does not say is left out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote, urlsplit

from retrieval.name_order import parts_of
from retrieval.types import Paper, first_words, nested

_MOST_APA = 20
"""Authors that APA lists in full; of more, all but one of so many, and the last."""
_MOST_IEEE = 6
"""Authors that IEEE lists in full; of more, the first."""
_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/\S+)$", re.IGNORECASE)
_TWO_CAPITALS = re.compile(r"[A-Z]{2}")
_ENDS = (".", "?", "!", "…")


def apa(paper: Paper) -> str:
    """`Pan, C., & Sima, J. (2023). Machine Unlearning. In ICLR.`."""
    authors = _listed_apa([_turned(name) for name in paper.authors])
    year = f"({paper.year or 'n.d.'})"
    title = _title(paper)
    # Without authors the title stands in their place, before the year.
    head = (f"{authors} {year}", title) if authors else (title, year)
    where = f"In {_one_line(paper.venue)}" if paper.venue else ""
    return " ".join([*map(_ended, filter(None, (*head, where))), *_link(paper)])


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


def web_address(url: str) -> str:
    """`url` where it is an address of the web, otherwise nothing."""
    address = url.strip()
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    is_web = parts.scheme in {"http", "https"} and parts.netloc and not re.search(r"\s", address)
    return address if is_web else ""


def doi_address(doi: str) -> str:
    """The address of a DOI, however it is written; nothing where it is none."""
    found = _DOI.match(doi.strip())
    return f"https://doi.org/{quote(found[1], safe='/:;()._-')}" if found else ""


def _link(paper: Paper) -> list[str]:
    return list(filter(None, (doi_address(paper.doi) or web_address(paper.url),)))


def _title(paper: Paper) -> str:
    """The title, or how the abstract begins in brackets, as a description of what has none."""
    return _one_line(paper.title) or f"[{_one_line(first_words(paper.abstract))}]"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _ended(part: str) -> str:
    """`part` with a full stop, `?` or `!` at its end."""
    return part if part.endswith(_ENDS) else f"{part}."


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
    """`P.` of Pierre; what begins with no letter stays as it is."""
    return f"{part[0].upper()}." if part[0].isalpha() else part


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


def apa_list(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:  # noqa: ARG001
    """One APA reference a line, in the order given; it has no keys."""
    return "".join(f"{apa(paper)}\n" for paper in papers)


def ieee_list(papers: Iterable[Paper], keys: Mapping[str, str]) -> str:  # noqa: ARG001
    """One IEEE reference a line, numbered from 1 in the order given; it has no keys."""
    return "".join(f"[{at}] {ieee(paper)}\n" for at, paper in enumerate(papers, start=1))
