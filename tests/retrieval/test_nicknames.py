import pytest

from retrieval.text.titles import introduced, joined, nicknames


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Git Re-Basin", "gitrebasin"),
        ("Grad-ODAM", "gradodam"),
        ("S4", "s4"),
        ("Λ-DARTS", "λdarts"),
        ("?!", ""),
    ],
)
def test_case_hyphens_and_spaces_do_not_matter(text: str, expected: str) -> None:
    assert joined(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use DiffStride and S4, not resnets.", ["diffstride", "s4"]),
        ("Grad-ODAM explains GPT-4.", ["gradodam", "gpt4"]),
        ("The plain words of a sentence in 2022.", []),
        ("ODAM or PPGeo", ["odam", "ppgeo"]),
    ],
)
def test_what_is_spelled_like_a_name(text: str, expected: list[str]) -> None:
    assert nicknames(text) == expected


@pytest.mark.parametrize(
    ("title", "abstract", "expected"),
    [
        ("Git Re-Basin: Merging Models", "", ["gitrebasin"]),
        ("Decision S4: Efficient RL", "", ["decisions4"]),
        ("Learning with DiffStride", "", ["diffstride"]),
        ("SCREAMING TITLES", "", []),
        ("", "We propose the state space model (S4). It beats LSTM.", ["s4"]),
        ("", "In this paper we therefore introduce PPGeo, a framework.", ["ppgeo"]),
        ("", "Others proposed S4 and LSTM.", []),
        ("", "We build on the design of S4.", []),
    ],
)
def test_what_a_paper_gives(title: str, abstract: str, expected: list[str]) -> None:
    assert introduced(title, abstract) == expected
