"""Windows of whole sentences, counted in tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.encoders.embedder import CONTEXT, LlamaCppEmbedder
from retrieval.formats.merge import fold, paper_of
from retrieval.text.splitting import ChunkSettings, chunk_paper, embedded_text, split_sentences
from retrieval.types import Paper, Record, Source


def words(text: str) -> int:
    """Tokens that can be counted by hand."""
    return len(text.split())


def paper(abstract: str, title: str = "") -> Paper:
    """A paper of one source."""
    return paper_of(Record(abstract=abstract, title=title, sources=(Source("a", 1),)))


@pytest.mark.parametrize(
    ("abstract", "limit", "chunks"),
    [
        ("Red fox ran. Blue jay flew. All rest.", 6, ["Red fox ran. Blue jay flew.", "All rest."]),
        ("Red fox ran. Blue jay flew. All rest.", 8, ["Red fox ran. Blue jay flew. All rest."]),
        (
            "Red fox ran. Blue jay flew. All rest.",
            3,
            ["Red fox ran.", "Blue jay flew.", "All rest."],
        ),
        (
            "One two three four five six seven eight. Nine ten.",
            4,
            ["One two three four", "five six seven eight.", "Nine ten."],
        ),
        ("", 4, []),
    ],
)
def test_windows_are_as_full_as_they_can_be(abstract: str, limit: int, chunks: list[str]) -> None:
    cut = chunk_paper(paper(abstract), words, ChunkSettings(tokens=limit))
    assert [chunk.text for chunk in cut] == chunks


def test_a_word_that_is_too_long_is_cut() -> None:
    cut = chunk_paper(paper("x" * 50), len, ChunkSettings(tokens=10))
    assert "".join(chunk.text for chunk in cut) == "x" * 50
    assert all(len(chunk.text) <= 10 for chunk in cut)


@given(st.text(alphabet="abc .!?\n", max_size=300), st.integers(2, 20))
def test_chunks_are_exact_and_fit_and_cut_no_sentence_that_fits(text: str, limit: int) -> None:
    of = paper(text)
    cut = chunk_paper(of, words, ChunkSettings(tokens=limit))
    end = 0
    for ordinal, chunk in enumerate(cut):
        assert chunk.ordinal == ordinal
        assert of.abstract[chunk.start : chunk.end] == chunk.text
        assert not of.abstract[end : chunk.start].strip()
        assert words(chunk.text) <= limit
        end = chunk.end
    assert not of.abstract[end:].strip()
    for sentence in split_sentences(of.abstract):
        if words(sentence.text) <= limit:
            assert any(chunk.start <= sentence.start and sentence.end <= chunk.end for chunk in cut)


def test_of_a_text_without_end_the_beginning_is_cut() -> None:
    chunks = chunk_paper(paper("One word more. " * 60_000), words, ChunkSettings(90))
    assert 19_900 < chunks[-1].end <= 20_000
    assert all(chunk.fits("One word more. " * 60_000) for chunk in chunks)


def test_the_title_is_embedded_with_every_chunk() -> None:
    titled, untitled = paper("A b.", "On x"), paper("A b.")
    (chunk,) = chunk_paper(titled, words, ChunkSettings())
    assert embedded_text(titled, chunk) == "On x. A b."
    assert embedded_text(untitled, chunk) == "A b."


def test_chunks_of_the_seeds_fit_the_embedder(
    embedder: LlamaCppEmbedder, seed_records: list[Record]
) -> None:
    for record in fold(seed_records)[::16]:
        seed = paper_of(record)
        chunks = chunk_paper(seed, embedder.count, ChunkSettings())
        assert "".join("".join(c.text for c in chunks).split()) == "".join(seed.abstract.split())
        for chunk in chunks:
            # Tokens of a whole may differ by a little from those of its sentences.
            assert embedder.count(chunk.text) <= ChunkSettings().tokens + 2
            assert embedder.count(embedded_text(seed, chunk)) <= CONTEXT - 2
