"""The words that are proposed for misspelled ones."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_embedder import WordEmbedder

from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.query.spelling import respelled

PAPERS = (
    {
        "title": "Membership Inference in Federated Learning",
        "abstract": "We influence what they generate. The influence of others is small.",
    },
    {
        "title": "Sharpness Aware Minimization",
        "abstract": "The shape of a loss. Shapes differ, and the general shape stays.",
    },
)


class KnowsNoWord(WordEmbedder):
    """An embedder that knows no word whole, so that any may be misspelled."""

    def count(self, text: str) -> int:
        """Two tokens a word."""
        return 2 * super().count(text)


@pytest.fixture
def library(open_library: Callable[..., Library], jsonl: Callable[..., Path]) -> Library:
    made = open_library(KnowsNoWord(), tokens=100)
    ingest(made, [jsonl(*PAPERS)])
    return made


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("infrence", "inference"),  # the stem of `influence` is nearer
        ("Shaprness", "Sharpness"),  # that of `shape` is as near
        ("influnce", "influence"),  # in no title
        ("generat", "generate"),  # as near as `general`, and of the same stem
        ("minimisaton", "minimization"),
    ],
)
def test_the_likest_word_of_titles_and_texts_is_proposed(
    library: Library, typed: str, proposed: str
) -> None:
    assert respelled(f"what is {typed}", library) == [(typed, proposed)]


@pytest.mark.parametrize("typed", ["inference", "Influence", "zebra", "WordNet", "loss"])
def test_words_of_the_library_names_and_words_like_none_stay(library: Library, typed: str) -> None:
    assert respelled(f"is it {typed}", library) == []
