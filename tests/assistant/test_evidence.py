import pytest
from fakes import PAPERS, passage

from assistant.evidence import EvidenceSettings, choose_evidence, stems
from retrieval.embedder import LlamaCppEmbedder

ZEBRA, TIDAL, LICHEN, WHISPER = PAPERS


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many of the weights does ZebraPrune remove?", "We present ZebraPrune, which"),
        ("Does ZebraPrune need retraining?", "It does not need retraining."),
        ("Why are vision models slow on phones?", "Large vision models are slow on phones."),
    ],
)
def test_the_sentence_that_answers_is_chosen(
    embedder: LlamaCppEmbedder, question: str, expected: str
) -> None:
    chosen = choose_evidence(question, [passage(ZEBRA)], embedder)
    assert max(chosen, key=lambda each: each.score).text.startswith(expected)


def test_evidence_is_verbatim_and_in_reading_order(embedder: LlamaCppEmbedder) -> None:
    passages = [passage(LICHEN, 1.0), passage(TIDAL, 0.95), passage(WHISPER, 0.95)]
    chosen = choose_evidence("How large is the dataset of photographs?", passages, embedder)
    for each in chosen:
        assert each.paper.abstract[each.start : each.end] == each.text
        assert each.text == each.text.strip() != ""
    of_best = [each.start for each in chosen if each.paper is LICHEN]
    assert of_best == sorted(of_best)


def test_other_papers_count_only_if_they_fit_nearly_as_well(embedder: LlamaCppEmbedder) -> None:
    settings = EvidenceSettings(papers=3, from_best=2, from_others=1, nearly=0.9)
    passages = [passage(ZEBRA, 1.0), passage(TIDAL, 0.9), passage(LICHEN, 0.89)]
    chosen = choose_evidence("What removes weights?", passages, embedder, settings)
    assert [each.paper.id for each in chosen] == ["zebra", "zebra", "tidal"]


def test_papers_beyond_the_limit_are_not_read(embedder: LlamaCppEmbedder) -> None:
    settings = EvidenceSettings(papers=1)
    chosen = choose_evidence("Lichens?", [passage(ZEBRA), passage(LICHEN)], embedder, settings)
    assert {each.paper.id for each in chosen} == {"zebra"}


@pytest.mark.parametrize("question", ["?!", "…", "数学", "a" * 2000])
def test_a_question_without_words_in_common_still_gives_evidence(
    embedder: LlamaCppEmbedder, question: str
) -> None:
    assert choose_evidence(question, [passage(ZEBRA)], embedder)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Learning learned learns", ["learn", "learn", "learn"]),
        ("ImageNet-1k, CIFAR_10!", ["image", "1k", "cifar", "10"]),
        ("", []),
        ("STRASSE Straße", ["stras", "stras"]),
    ],
)
def test_stems(text: str, expected: list[str]) -> None:
    assert stems(text) == expected
