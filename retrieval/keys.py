"""Citation keys: `pan2023machine` for the paper of Pan et al. 2023 on machine unlearning.

A paper has the same key in every export of the same library, whichever papers are exported with
it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from string import ascii_lowercase

from retrieval.name_order import surname
from retrieval.names import folded
from retrieval.types import Paper

_SAFE_KEY = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_:.+/-]*")
"""A given id that every program takes as a key: no space, brace, comma, quote, `#`, `%`, `~`."""

_APOSTROPHE = re.compile(r"['’`]")
_LETTERS = re.compile(r"[^a-z]+")
_WORD = re.compile(r"[a-z0-9]+")
_PASSED_OVER = frozenset(
    "a an and are as at be by can do does for from how if in into is it its of on or over the "
    "their this through to toward towards under via we what when where which who why with".split()
)


def base_key(paper: Paper) -> str:
    """First author's surname, year and first significant word of the title: `pan2023machine`.

    Particles belong to the surname as it is written: Aaron van den Oord is `vandenoord`. What is
    unknown is `anon`, `nd` and the abstract's first word. A given id that is a safe key, as those
    of BibTeX are, stays the paper's key. Different papers may share a base key; see
    `citation_keys`.
    """
    if paper.id_is_given and _SAFE_KEY.fullmatch(paper.id):
        return paper.id
    author = _LETTERS.sub("", folded(surname(paper.authors[0]))) if paper.authors else ""
    return f"{author or 'anon'}{paper.year or 'nd'}{_first_word(paper.title or paper.abstract)}"


def citation_keys(
    papers: Iterable[Paper], sharing: Callable[[str], Sequence[str]]
) -> dict[str, str]:
    """The citation key of each paper, by its id; no two papers of a library have the same.

    Args:
        papers: papers of the library.
        sharing: gives the ids of all papers of the library with a base key. Where there are
            several they get a, b, c, … in the order of their ids.
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
    """The key of each id; one letter is passed over where another paper's key looks like that."""
    if len(ids) == 1:
        return iter([(ids[0], base)])
    suffixed = (f"{base}{_suffix(number)}" for number in count())
    return zip(ids, (key for key in suffixed if not sharing(key)), strict=False)


def _suffix(number: int) -> str:
    """a to y, then z1, z2, …: a suffix never ends in another, so that no two keys meet."""
    letters = ascii_lowercase[:-1]
    return letters[number] if number < len(letters) else f"z{number - len(letters) + 1}"


def _first_word(text: str) -> str:
    words = _WORD.findall(folded(_APOSTROPHE.sub("", text)))
    significant = (word for word in words if word not in _PASSED_OVER)
    return next(significant, words[0] if words else "untitled")
