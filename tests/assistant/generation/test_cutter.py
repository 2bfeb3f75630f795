"""Where sentences may be cut, by the shipped cutter."""

import pytest

from assistant.generation.verification.cutter import Cuts, Cutter
from assistant.generation.verification.support import Verifier


@pytest.mark.parametrize(
    ("sentence", "excerpt"),
    [
        (
            "In this paper, we show that the proposed sampler needs only 20 steps on ImageNet.",
            "The proposed sampler needs only 20 steps on ImageNet.",
        ),
        (
            "Moreover, our method reduces training time by 40%, which makes it practical.",
            "Our method reduces training time by 40%.",
        ),
    ],
)
def test_an_opening_or_an_aside_may_go(cutter: Cutter, sentence: str, excerpt: str) -> None:
    assert excerpt in cutter.cuts(sentence).excerpts()


@pytest.mark.parametrize(
    ("sentence", "excerpt"),
    [
        (
            "We show that the method converges if the loss is convex and smooth.",
            "The loss is convex and smooth.",
        ),
        (
            "Contrary to the belief that wider networks generalize better, depth matters more.",
            "Wider networks generalize better, depth matters more.",
        ),
        (
            "Our approach outperforms the previous state of the art in speed.",
            "The previous state of the art in speed.",
        ),
        (
            "We reach 72.3% and 78.3% accuracy with 1% and 10% of the labels, respectively.",
            "78.3% accuracy with 1% and 10% of the labels, respectively.",
        ),
    ],
)
def test_what_the_sense_hangs_on_stays(cutter: Cutter, sentence: str, excerpt: str) -> None:
    assert excerpt not in cutter.cuts(sentence).excerpts()


@pytest.mark.parametrize(
    "sentence", ["", "\u3000", "word, " * 600, f"It is {'x' * 3000}, and slow."]
)
def test_what_is_empty_or_too_long_to_be_read_is_not_cut(cutter: Cutter, sentence: str) -> None:
    cuts = cutter.cuts(sentence)
    assert cuts.words == tuple(sentence.split())
    assert cuts.starts == cuts.ends == frozenset()


def test_an_excerpt_holds(verifier: Verifier) -> None:
    sentence = "We show that the method converges if the loss is convex and smooth."
    excerpt = "The method converges if the loss is convex and smooth."
    assert verifier.supports(excerpt, sentence, is_excerpt=True)


def cuts(text: str, starts: tuple[int, ...] = (), ends: tuple[int, ...] = ()) -> Cuts:
    return Cuts(tuple(text.split()), frozenset(starts), frozenset(ends))


NOTE = cuts(
    r'It "halves" the error of networks, on $25.26\%$ of phones.', starts=(2, 6), ends=(2, 5)
)


def test_what_may_be_cut_out_is_listed() -> None:
    assert list(NOTE.excerpts()) == [
        'It "halves" the error of networks.',
        r'It "halves" the error of networks, on $25.26\%$ of phones.',
        "The error of networks.",
        r"The error of networks, on $25.26\%$ of phones.",
        r"On $25.26\%$ of phones.",
    ]
    assert list(cuts("Too few words.").excerpts()) == []


@pytest.mark.parametrize(
    ("sentence", "excerpt"),
    [
        ("the method is fast:", "The method is fast."),
        ("(It works well here.)", "(It works well here.)"),
        ('They say "it works well."', 'They say "it works well."'),
        ("k-means and iVoro are fast", "k-means and iVoro are fast."),
        ("iVoro is faster than this", "iVoro is faster than this."),
        ("p53 is a tumour suppressor!", "p53 is a tumour suppressor!"),
        ("a method is proposed here.", "A method is proposed here."),
    ],
)
def test_a_whole_sentence_begins_and_ends_as_one(sentence: str, excerpt: str) -> None:
    assert list(cuts(sentence).excerpts()) == [excerpt]


def test_a_question_says_nothing() -> None:
    assert list(cuts("We ask: does depth help (in practice?)", starts=(2,)).excerpts()) == []


def test_a_phrase_may_begin_with_the_number_that_is_asked_for() -> None:
    words = tuple("Empirically, it obtains a 38% success rate on five sets.".split())
    cuts = Cuts(words, starts=frozenset({1}), ends=frozenset({6}), phrases=frozenset({3}))
    has_digit = "38%".__contains__

    def begins(text: str) -> bool:
        return any(has_digit(word) for word in text.split())

    assert cuts.phrases_beginning(begins) == [
        "A 38% success rate.",
        "A 38% success rate on five sets.",
    ]
    assert "A 38% success rate." not in cuts.excerpts()
    assert Cuts(words, is_order=True, phrases=frozenset({3})).phrases_beginning(begins) == []
