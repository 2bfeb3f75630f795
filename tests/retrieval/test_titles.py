import pytest

from retrieval.text.titles import TITLE_MATCH, likeness, plain_title

TITLE = plain_title("Git Re-Basin: Merging Models modulo Permutation Symmetries")


def test_marks_between_words_do_not_count() -> None:
    assert TITLE == "git re basin merging models modulo permutation symmetries"


@pytest.mark.parametrize(
    ("query", "least"),
    [
        (TITLE, 1.0),
        ("merging models modulo permutation", 0.97),
        ("git re basin", 0.97),
        ("merging modles modulo permuttation symmetries", 0.85),
        ("symmetries permutation merging", 0.9),
        ("merging models permutation", 0.9),
    ],
)
def test_what_is_like_a_title(query: str, least: float) -> None:
    assert likeness(query, TITLE) >= least


@pytest.mark.parametrize(
    "query", ["", "graph", "emerging", "modeling permutations of sets", "graph neural networks"]
)
def test_what_is_not(query: str) -> None:
    assert likeness(query, TITLE) < TITLE_MATCH
