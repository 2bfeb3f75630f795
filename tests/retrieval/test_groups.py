"""Groups of a few papers, with vectors that count words: two kinds of papers, and one alone."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fake_embedder import WordEmbedder
from small_index import indexed, record

from retrieval.library.groups import grouped
from retrieval.library.library import Library
from retrieval.types import Paper

TEXTS = {
    "bridge": "Concrete bridges. Concrete arches of bridges.",
    "dam": "Concrete dams. Concrete of dams and bridges.",
    "tower": "Concrete towers. Concrete and bridges.",
    "owl": "Feathers of owls. Feathers and wings.",
    "hawk": "Feathers of hawks. Feathers and wings.",
    "swan": "Feathers of swans. Feathers, wings.",
}
ELSEWHERE = [record(f"else{at}", abstract="Rivers and roads.") for at in range(20)]


def library(papers: Sequence[Paper], folder: Path) -> Library:
    embedder = WordEmbedder()
    rows = {f"{each.id}:0": embedder.embed(each.abstract) for each in papers}
    store = SimpleNamespace(vectors=lambda ids: {id_: rows[id_] for id_ in ids})
    index = indexed([*papers, *ELSEWHERE], folder)
    made: Any = SimpleNamespace(store=store, lexical=index, embedder=embedder)
    return cast(Library, made)


def papers(*ids: str) -> list[Paper]:
    return [record(id_, abstract=TEXTS[id_]) for id_ in ids]


def ids(groups: list[tuple[str, list[Paper]]]) -> list[tuple[str, list[str]]]:
    return [(name, [each.id for each in members]) for name, members in groups]


def test_papers_that_separate_are_in_groups_named_by_what_they_share(tmp_path: Path) -> None:
    mixed = papers("owl", "bridge", "hawk", "dam", "swan", "tower")
    groups = ids(grouped(library(mixed, tmp_path), mixed, "things"))
    assert [members for _, members in groups] == [
        ["owl", "hawk", "swan"],
        ["bridge", "dam", "tower"],
    ]
    assert groups[0][0] in ("Feathers, wings", "Wings, feathers")
    assert "oncrete" in groups[1][0]


def test_words_of_the_topic_name_no_group(tmp_path: Path) -> None:
    mixed = papers("owl", "bridge", "hawk", "dam", "swan", "tower")
    groups = grouped(library(mixed, tmp_path), mixed, "feathers")
    assert groups[0][0] == "Wings"


@pytest.mark.parametrize("chosen", [("owl",), ("owl", "hawk", "dam"), ("owl",) * 6])
def test_few_or_equal_papers_are_one_group_without_a_name(
    tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    same = [record(f"{id_}{at}", abstract=TEXTS[id_]) for at, id_ in enumerate(chosen)]
    assert grouped(library(same, tmp_path), same, "birds") == [("", same)]
