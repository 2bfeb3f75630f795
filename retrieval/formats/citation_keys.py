"""Citation keys: `pan2023machine` for the paper of Pan et al. 2023 on machine unlearning.

A paper has the same key in every export of the same library.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from string import ascii_lowercase

from retrieval.text.names import folded, surname
from retrieval.types import Paper

_SAFE_KEY = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_:.+/-]*")
"""An id that every program accepts as a key: no space, brace, comma, quote, `#`, `%`, `~`."""
_OF_A_DATABASE = re.compile(
    r"2-s2\.0-\d+|(?:WOS|MEDLINE):\w+|[WL]\d{5,}|pub\.\d+|CN-\d+|(?:PMID|PMC):?\d+|[0-9a-f]{40}"
    r"|[0-9a-f-]{36}|https?://.*",
    re.IGNORECASE,
)
"""A number of Scopus, Web of Science, OpenAlex, Embase and others, or an address: none is typed."""

_APOSTROPHE = re.compile(r"['’`]")
_LETTERS = re.compile(r"[^a-z]+")
_WORD = re.compile(r"[a-z0-9]+")
_PASSED_OVER = frozenset(
    "a an and are as at be by can do does for from how if in into is it its of on or over the "
    "their this through to toward towards under via we what when where which who why with".split()
)


def base_key(paper: Paper) -> str:
    """First author's surname, year and first significant word of the title: `pan2023machine`.

    Particles belong to the surname: Aaron van den Oord is `vandenoord`. Unknown parts become
    `anon`, `nd` and the abstract's first word. A given id that is a safe key, such as one from
    BibTeX, stays the key, unless it is a number of a database. Different papers may share a base
    key; see `citation_keys`.
    """
    given = paper.id if paper.id_is_given else ""
    if _SAFE_KEY.fullmatch(given) and not _OF_A_DATABASE.fullmatch(given):
        return given
    author = _LETTERS.sub("", folded(surname(paper.authors[0]))) if paper.authors else ""
    return f"{author or 'anon'}{paper.year or 'nd'}{_first_word(paper.title or paper.abstract)}"


def citation_keys(
    papers: Iterable[Paper], sharing: Callable[[str], Sequence[str]]
) -> dict[str, str]:
    """The citation key of each paper by its id, unique within the library.

    Args:
        papers: papers of the library.
        sharing: gives the ids of all papers of the library with a base key; if there are several,
            their keys end in a, b, c, … in the order of the ids.
    """
    bases = {paper.id: base_key(paper) for paper in papers}
    ids_of: dict[str, set[str]] = {}
    for id_, base in bases.items():
        ids_of.setdefault(base, set(sharing(base))).add(id_)
    keys = {
        id_: key
        for base, ids in ids_of.items()
        for id_, key in _keys_with_base(base, sorted(ids), sharing)
    }
    return {id_: keys[id_] for id_ in bases}


def _keys_with_base(
    base: str, ids: Sequence[str], sharing: Callable[[str], Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """The key of each id; a suffix is skipped if the key is another paper's base key."""
    if len(ids) == 1:
        return iter([(ids[0], base)])
    suffixed = (f"{base}{_suffix(number)}" for number in count())
    return zip(ids, (key for key in suffixed if not sharing(key)), strict=False)


def _suffix(number: int) -> str:
    """a to y, then z1, z2, …: no suffix ends in another, so that keys stay different."""
    letters = ascii_lowercase[:-1]
    return letters[number] if number < len(letters) else f"z{number - len(letters) + 1}"


def _first_word(text: str) -> str:
    words = _WORD.findall(folded(_APOSTROPHE.sub("", text)))
    significant = (word for word in words if word not in _PASSED_OVER)
    return next(significant, words[0] if words else "untitled")
