import pytest
from fakes import PAPERS, passage

from assistant.evidence import EvidenceSettings, asks_for_several, choose_evidence, is_broad, stems
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


def test_a_second_paper_counts_only_if_the_ranking_is_in_doubt(
    embedder: LlamaCppEmbedder,
) -> None:
    settings = EvidenceSettings(words=40, words_in_doubt=12, worth=0.1)
    question = "What removes weights?"
    near = [passage(ZEBRA, 1.0), passage(TIDAL, 0.95), passage(LICHEN, 0.95)]
    chosen = choose_evidence(question, near, embedder, settings)
    assert [each.paper.id for each in chosen] == ["zebra", "tidal"]
    far = [passage(ZEBRA, 1.0), passage(TIDAL, 0.85)]
    alone = choose_evidence(question, far, embedder, settings)
    assert {each.paper.id for each in alone} == {"zebra"}
    assert len(alone) > 1
    of_one = choose_evidence(question, near, embedder, settings, of=near[:1])
    assert [each.text for each in of_one] == [each.text for each in alone]


def test_a_budget_of_words_and_a_least_worth(embedder: LlamaCppEmbedder) -> None:
    question = "How many of the weights does ZebraPrune remove?"
    wide = EvidenceSettings(words=1000, worth=-9.0)
    assert len(choose_evidence(question, [passage(ZEBRA)], embedder, wide)) == 4
    for words in (1, 5, 22, 30):
        settings = EvidenceSettings(words=words, words_before=0, worth=-9.0)
        chosen = choose_evidence(question, [passage(ZEBRA)], embedder, settings)
        assert len(chosen) == 1 or sum(len(each.text.split()) for each in chosen) <= words
    strict = EvidenceSettings(words=1000, worth=1.0)
    [best] = choose_evidence(question, [passage(ZEBRA)], embedder, strict)
    assert "removes 40%" in best.text


def test_a_sentence_that_refers_back_brings_the_one_before_it(embedder: LlamaCppEmbedder) -> None:
    question = "Does it need retraining?"
    settings = EvidenceSettings(words=5, words_before=0, worth=1.0)
    [alone] = choose_evidence(question, [passage(ZEBRA)], embedder, settings)
    assert alone.text == "It does not need retraining."
    settings = EvidenceSettings(words=5, words_before=8, worth=1.0)
    before, after = choose_evidence(question, [passage(ZEBRA)], embedder, settings)
    assert before.text == "ZebraPrune loses 0.3 points of accuracy on ImageNet."
    assert after.text == alone.text


def test_where_several_papers_are_asked_for_each_gives_its_best_sentence(
    embedder: LlamaCppEmbedder,
) -> None:
    passages = [passage(each, 1.0 - rank / 5) for rank, each in enumerate(PAPERS)]
    chosen = choose_evidence("Which papers report an error rate?", passages, embedder)
    assert [each.paper.id for each in chosen] == ["zebra", "tidal", "lichen", "whisper"]
    for settings in (EvidenceSettings(several=2), EvidenceSettings(reach=0.3)):
        chosen = choose_evidence("Which papers report an error rate?", passages, embedder, settings)
        assert [each.paper.id for each in chosen] == ["zebra", "tidal"]


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which papers study pruning, and what does each add?", True),
        ("Which federated methods need one round?", True),
        ("Compare pruning and distillation.", True),
        ("What gains on GSM8K are reported here?", True),
        ("How do emergent languages differ from human ones?", True),
        ("How many weights does ZebraPrune remove?", False),
        ("Why does the method fail?", False),
        ("Which dataset was it tested on?", False),
    ],
)
def test_questions_for_several_papers(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


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


@pytest.mark.parametrize(
    ("question", "broad"),
    [
        ("diffusion?", True),
        ("graph networks", True),
        ("Is there anything on proteins?", True),
        ("How many papers are about pruning?", True),
        ("What's new in pruning?", True),
        ("Why is pruning slow?", False),
        ("What does ZebraPrune remove?", False),
    ],
)
def test_questions_about_a_whole_topic(question: str, broad: bool) -> None:
    assert is_broad(question) is broad


def test_papers_that_are_compared_each_give_their_sentences(embedder: LlamaCppEmbedder) -> None:
    passages = [passage(ZEBRA, 1.0), passage(WHISPER, 0.9), passage(LICHEN, 0.3)]
    question = "What is the difference between ZebraPrune and LichenSet?"
    chosen = choose_evidence(question, passages, embedder, of=[passages[0], passages[2]])
    assert {each.paper.id for each in chosen} == {"zebra", "lichen"}


@pytest.mark.parametrize("question", ["What is LichenSet?", "Summarise LichenSet"])
def test_what_a_paper_is_about_is_said_by_what_it_proposes(
    embedder: LlamaCppEmbedder, question: str
) -> None:
    chosen = choose_evidence(question, [passage(LICHEN)], embedder, of=[passage(LICHEN)])
    best = max(chosen, key=lambda each: each.score)
    assert best.text.startswith("We release LichenSet")
