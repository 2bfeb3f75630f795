"""The papers of the library that questions are about, and the names that question files use."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from assistant.evaluation.questions.lines import shown
from assistant.evaluation.scorers import is_cited
from retrieval.formats.merge import letters
from retrieval.index.chroma import ChromaStore
from retrieval.text.markup import clean
from retrieval.text.titles import TITLE_MATCH, likeness, plain_title
from retrieval.types import InputError, LibraryError, Paper, first_words

_BEGINNING = 80
"""Characters of an abstract that name a paper without a title."""

_LONGEST_TITLE = 300
"""Characters of a name that are compared with titles; longer names would take long."""
_NAMED = 2
"""Papers of the same name that an error names."""


def papers_of(home: Path) -> Iterator[Paper]:
    """The papers of the library in `home`, without a model; raises LibraryError if it has none."""
    store = ChromaStore(home / "chroma") if (home / "chroma").is_dir() else None
    if store is None or not store.count()[0]:
        raise LibraryError(
            f"The library in {home} has no papers; fill it with `assistant ingest`, or name "
            "another one by --home."
        )
    return (stored.paper for stored in store.papers())


class PaperNames:
    """The names of a library's papers.

    A paper is named by its id or its title, ignoring case and punctuation; one without a title by
    the first 80 characters of its abstract, or by its beginning as the app shows it.
    """

    def __init__(self, papers: Iterable[Paper]) -> None:
        """Collect the names of `papers`."""
        self._papers = {paper.id: paper for paper in papers}
        self._ids: dict[str, dict[str, None]] = {}
        for paper in self._papers.values():
            beginnings = paper.abstract[:_BEGINNING], first_words(paper.abstract, _BEGINNING)
            for name in filter(None, map(letters, [paper.title] if paper.title else beginnings)):
                self._ids.setdefault(name, {})[paper.id] = None

    @property
    def ids(self) -> Collection[str]:
        """The ids of all papers."""
        return self._papers.keys()

    def id_of(self, name: str, where: str) -> str:
        """The id of the paper called `name`; raises InputError if not exactly one is."""
        if name.strip() in self._papers:
            return name.strip()
        found = self._ids.get(letters(name)) or self._ids.get(letters(clean(name))) or {}
        if not found:
            raise InputError(
                f"{where} names a paper that the library does not have, “{shown(name)}”; "
                f"{self._hint(name)}."
            )
        if len(found) > 1:
            more = ", …" if len(found) > _NAMED else ""
            raise InputError(
                f"{where} names “{shown(name)}”, and {len(found)} papers are called so; "
                f"name the one that is meant by its id ({' or '.join(list(found)[:_NAMED])}{more})."
            )
        return next(iter(found))

    def quotable(self, sentence: str, ids: Iterable[str]) -> bool:
        """Whether an answer could cite `sentence` from the abstracts of these papers."""
        return is_cited(sentence, (self._papers[id_].abstract for id_ in ids))

    def _hint(self, name: str) -> str:
        plain = plain_title(name[:_LONGEST_TITLE])
        alike = {
            id_: likeness(plain, plain_title(paper.title)) for id_, paper in self._papers.items()
        }
        nearest = max(alike, key=alike.__getitem__, default="")
        if alike.get(nearest, 0.0) >= TITLE_MATCH:
            return f"the closest title is “{shown(self._papers[nearest].title)}”"
        return "write its title as the library has it, or its id, or add it with `assistant ingest`"
