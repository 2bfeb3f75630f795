"""Which sentences of a model are let through, one table for each way to be wrong."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assistant.checking import closest, is_supported
from assistant.checking.opposites import are_opposite
from assistant.checking.support import refusal
from assistant.checking.words import words_of

PRUNING = "We present ZebraPrune, which removes 40% of the weights of a vision model."
LOSS = "ZebraPrune loses 0.3 points of accuracy on ImageNet and does not need retraining."
SPEED = "Adam outperforms SGD on ImageNet, reaching 76.5% accuracy in three days."
TRADE = "The method increases accuracy while reducing the memory of training."
HALF = "A linear classifier reaches 61.5% accuracy on LichenSet."
LARGER = "Larger batches improve the accuracy of federated training on CIFAR-10."
COUNTS = "LichenSet holds 58,000 photographs from 14 countries, labelled by two botanists."

TRUE = (
    (PRUNING, PRUNING),
    ("ZebraPrune removes 40% of the weights of a vision model.", PRUNING),
    ("The authors present ZebraPrune, which removes 40% of the weights.", PRUNING),
    ("ZebraPrune loses 0.3 points of accuracy on ImageNet and does not need retraining.", LOSS),
    ("ZebraPrune does not need retraining.", LOSS),
    ("Adam outperforms SGD on ImageNet.", SPEED),
    ("The method increases accuracy while reducing memory.", TRADE),
    ("LichenSet holds 58,000 photographs from 14 countries.", COUNTS),
    ("Larger batches improve the accuracy of federated training.", LARGER),
)
NUMBER = (
    ("ZebraPrune removes 45% of the weights of a vision model.", PRUNING),
    ("ZebraPrune removes 4% of the weights of a vision model.", PRUNING),
    ("ZebraPrune loses 3 points of accuracy on ImageNet and does not need retraining.", LOSS),
    ("ZebraPrune loses 0 points of accuracy on ImageNet and does not need retraining.", LOSS),
    ("A linear classifier reaches 61% accuracy on LichenSet.", HALF),
    ("A linear classifier reaches 5% accuracy on LichenSet.", HALF),
    ("A linear classifier reaches 65.1% accuracy on LichenSet.", HALF),
    ("LichenSet holds 58 photographs from 14 countries.", COUNTS),
    ("LichenSet holds 58,000 photographs labelled by three botanists.", COUNTS),
    ("LichenSet holds 14 photographs from 58,000 countries.", COUNTS),
    ("Adam outperforms SGD on ImageNet in five days, reaching 76.5% accuracy.", SPEED),
    ("Larger batches improve the accuracy of federated training on CIFAR-100.", LARGER),
)
NAME = (
    ("ZebraPrune loses 0.3 points of accuracy on CIFAR and does not need retraining.", LOSS),
    ("LionPrune removes 40% of the weights of a vision model.", PRUNING),
    ("Lion outperforms SGD on ImageNet, reaching 76.5% accuracy in three days.", SPEED),
    ("We find that Lion outperforms SGD on ImageNet, reaching 76.5% accuracy.", SPEED),
    ("SGD outperforms Adam on ImageNet, reaching 76.5% accuracy in three days.", SPEED),
    ("A linear classifier reaches 61.5% accuracy on MossSet.", HALF),
)
NEGATION = (
    ("ZebraPrune does not remove 40% of the weights of a vision model.", PRUNING),
    ("ZebraPrune never removes 40% of the weights of a vision model.", PRUNING),
    ("ZebraPrune doesn't remove 40% of the weights of a vision model.", PRUNING),
    ("ZebraPrune fails to remove 40% of the weights of a vision model.", PRUNING),
    ("ZebraPrune failed to remove 40% of the weights of a vision model.", PRUNING),
    ("ZebraPrune does not lose 0.3 points of accuracy and does not need retraining.", LOSS),
    ("ZebraPrune loses 0.3 points of accuracy on ImageNet and does need retraining.", LOSS),
    ("ZebraPrune needs retraining on ImageNet.", LOSS),
)
DIRECTION = (
    ("The method decreases accuracy while reducing the memory of training.", TRADE),
    ("The method increases accuracy while increasing the memory of training.", TRADE),
    ("The method reduces accuracy while increasing the memory of training.", TRADE),
    ("Adam underperforms SGD on ImageNet, reaching 76.5% accuracy in three days.", SPEED),
    ("Adam is worse than SGD on ImageNet, reaching 76.5% accuracy in three days.", SPEED),
    ("Smaller batches improve the accuracy of federated training on CIFAR-10.", LARGER),
    ("Larger batches hurt the accuracy of federated training on CIFAR-10.", LARGER),
    ("Larger batches degrade the accuracy of federated training on CIFAR-10.", LARGER),
    ("Larger batches lower the accuracy of federated training on CIFAR-10.", LARGER),
    ("ZebraPrune gains 0.3 points of accuracy on ImageNet and does not need retraining.", LOSS),
)
ELSEWHERE = (
    ("The notes say that ZebraPrune removes 40% of the weights.", PRUNING),
    ("The question is what removes 40% of the weights of a vision model.", PRUNING),
    ("Pruning is a popular way to make networks small and fast.", PRUNING),
    ("The answer is yes.", PRUNING),
    ("This paper.", PRUNING),
    ("", PRUNING),
    ("The notes do not say.", LOSS),
)


@pytest.mark.parametrize(("sentence", "source"), TRUE)
def test_what_the_evidence_says_passes(sentence: str, source: str) -> None:
    assert is_supported(sentence, [source])


@pytest.mark.parametrize(("sentence", "source"), NUMBER)
def test_another_number_fails(sentence: str, source: str) -> None:
    assert not is_supported(sentence, [source])


@pytest.mark.parametrize(("sentence", "source"), NAME)
def test_another_name_or_names_swapped_fail(sentence: str, source: str) -> None:
    assert not is_supported(sentence, [source])


@pytest.mark.parametrize(("sentence", "source"), NEGATION)
def test_a_negation_more_or_less_fails(sentence: str, source: str) -> None:
    assert not is_supported(sentence, [source])


@pytest.mark.parametrize(("sentence", "source"), DIRECTION)
def test_another_direction_fails(sentence: str, source: str) -> None:
    assert not is_supported(sentence, [source])


@pytest.mark.parametrize(("sentence", "source"), ELSEWHERE)
def test_what_is_not_about_the_paper_fails(sentence: str, source: str) -> None:
    assert not is_supported(sentence, [source])


def test_what_is_compared_keeps_its_side() -> None:
    assert is_supported("Adam reaches 76.5% accuracy on ImageNet in three days.", [SPEED])
    assert not is_supported("SGD reaches 76.5% accuracy on ImageNet in three days.", [SPEED])


def test_a_negation_of_another_note_does_not_count() -> None:
    both = [TRADE, LOSS]
    assert not is_supported("The method does not increase accuracy nor reduce memory.", both)
    assert not is_supported("The method does not increase accuracy while reducing memory.", both)


def test_two_notes_may_support_one_sentence() -> None:
    sentence = "ZebraPrune removes 40% of the weights and loses 0.3 points of accuracy."
    assert not is_supported(sentence, [PRUNING])
    assert is_supported("ZebraPrune removes 40% of the weights of a vision model.", [HALF, PRUNING])


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [("A linear classifier on LichenSet.", 1), ("ZebraPrune removes weights.", 0), ("", 0)],
)
def test_closest(sentence: str, expected: int) -> None:
    assert closest(sentence, [PRUNING, HALF]) == expected


COMPARED = (
    "SparseNet reaches 76.2% accuracy, and DenseNet reaches 68.5% accuracy at 5 ms per image."
)
SOME = "In some cases, SparseNet outperforms all dense baselines by up to 3.1%."
LOWER = "We prove a lower bound of two rounds for convex losses before the first restart."
CURIOUS = (
    "This shows that episodic curiosity is more crucial than lifelong curiosity in exploration."
)
SPEEDUP = "It gives a speed-up of roughly 84x across seven datasets with 2.5M parameters."
LATEX = (
    r"\emph{iVoro} achieves up to \$25.26\%\$ and $\sim 1.1\%$ extra memory "
    "at $10^9$ operations."
)
UNLABELLED = "SparseNet needs labelled images, without requiring any human annotation of videos."
MANY = "Several methods often fail on small graphs, and each of them may be slow."

PARAPHRASES = (
    ("On average it is roughly 84 times faster across 7 datasets.", SPEEDUP),
    ("It has 2.5 million parameters.", SPEEDUP),
    ("iVoro achieves up to 25.26%, with about 1.1% extra memory.", LATEX),
    ("It takes 10⁹ operations, with about 1.1% extra memory.", LATEX),
    ("Episodic curiosity is more crucial in exploration than lifelong curiosity.", CURIOUS),
    ("SparseNet obtains an accuracy of 76.2%.", COMPARED),
    ("SparseNet outperforms all dense baselines in some cases.", SOME),
    ("SparseNet needs no human annotation of videos.", UNLABELLED),
    ("SparseNet needs labelled images.", UNLABELLED),
)
UNITS = (
    ("DenseNet reaches 68.5% accuracy at 5 s per image.", COMPARED),
    ("SparseNet reaches 76.2x accuracy.", COMPARED),
    ("It gives a speed-up of roughly 84% across seven datasets.", SPEEDUP),
    ("It gives a speed-up with 2.5B parameters.", SPEEDUP),
    ("It gives a speed-up across seven datasets with 2.5 billion parameters.", SPEEDUP),
    ("iVoro achieves 10^8 operations and extra memory.", LATEX),
)
PLACES = (
    ("SparseNet reaches 68.5% accuracy, and DenseNet reaches 76.2% accuracy.", COMPARED),
    ("DenseNet reaches 76.2% accuracy, and SparseNet reaches 68.5% accuracy.", COMPARED),
    ("Lifelong curiosity is more crucial than episodic curiosity in exploration.", CURIOUS),
    ("LichenSet holds 14 photographs, labelled by two botanists.", COUNTS),
    ("It gives a speed-up of roughly 7x across seven datasets.", SPEEDUP),
)
HEDGES = (
    ("SparseNet outperforms all dense baselines by up to 3.1%.", SOME),
    ("In some cases, SparseNet outperforms all dense baselines by 3.1%.", SOME),
    ("Each of the methods is slow on small graphs.", MANY),
    ("Several methods fail on small graphs.", MANY),
)
QUANTIFIERS = (
    ("In all cases, SparseNet outperforms all dense baselines by up to 3.1%.", SOME),
    ("In some cases, SparseNet outperforms most dense baselines by up to 3.1%.", SOME),
    ("In some cases, SparseNet outperforms some dense baselines by up to 3.1%.", SOME),
    ("All methods often fail on small graphs.", MANY),
    ("Several methods always fail on small graphs.", MANY),
)
OPPOSITES = (
    ("We prove an upper bound of two rounds for convex losses before the first restart.", LOWER),
    ("We prove a lower bound of two rounds for non-convex losses before the first restart.", LOWER),
    ("We prove a lower bound of two rounds for nonconvex losses before the first restart.", LOWER),
    ("We prove a lower bound of two rounds for convex losses after the first restart.", LOWER),
    ("We prove a lower bound of two rounds for convex losses before the last restart.", LOWER),
    ("We prove a lower bound of three rounds for convex losses.", LOWER),
    ("SparseNet needs unlabelled images.", UNLABELLED),
    ("SparseNet needs labelled images, requiring human annotation of videos.", UNLABELLED),
    ("SparseNet needs labelled images, with human annotation of videos.", UNLABELLED),
    ("Episodic curiosity is less crucial than lifelong curiosity in exploration.", CURIOUS),
)
INVENTED = (
    ("Adam outperforms SGD on ImageNet, because users prefer short replies.", SPEED),
    ("ZebraPrune removes 40% of the weights and was written by hospital doctors.", PRUNING),
    ("ZebraPrune removes 40% of the memory of a vision model.", PRUNING),
    ("ZebraPrune removes 40% of the weights of a language model.", PRUNING),
)
DISGUISED = (
    ("ZebraPrune does n\u043et need retraining on ImageNet.", LOSS),  # a Cyrillic o
    ("ZebraPrune removes 4\u200b5% of the weights of a vision model.", PRUNING),
    ("ZebraPrune removes \uff14\uff15% of the weights of a vision model.", PRUNING),
    ("ZebraPrune does n\u00adot remove 40% of the weights of a vision model.", PRUNING),
    ("\uff2c\uff49\uff4f\uff4e outperforms SGD on ImageNet.", SPEED),
    (f"ZebraPrune removes weights{'x' * 60} of a vision model.", PRUNING),
    ("I think that ZebraPrune removes 40% of the weights.", PRUNING),
    ("As you asked, ZebraPrune removes 40% of the weights.", PRUNING),
    ("lion outperforms SGD on ImageNet, reaching 76.5% accuracy in three days.", SPEED),
)


@pytest.mark.parametrize(("sentence", "source"), PARAPHRASES)
def test_what_says_the_same_in_other_words_passes(sentence: str, source: str) -> None:
    assert refusal(sentence, [source]) == ""


@pytest.mark.parametrize(
    ("sentence", "source"),
    [*UNITS, *PLACES, *HEDGES, *QUANTIFIERS, *OPPOSITES, *INVENTED, *DISGUISED],
)
def test_what_says_something_else_fails(sentence: str, source: str) -> None:
    assert refusal(sentence, [source])


AHEAD = (
    "On two benchmarks (FarmWorld and WebStore), Actor outperforms imitation by a success rate of "
    "34% and 10% respectively, while being prompted with one example."
)
BEHIND = (
    "SparseNet gains 5.8%, 4.1% and 3.4% accuracy on small, medium and large graphs, respectively."
)
AMID = "Accuracies on MossSet and LichenSet, respectively, reach 99.4% and 80.3%."
LISTS = (
    ("Actor outperforms imitation by a success rate of 34% on WebStore.", AHEAD),
    ("Actor outperforms imitation by a success rate of 10% on WebStore.", AHEAD),
    (
        "Actor outperforms imitation on WebStore by a success rate of 34% and 10% respectively.",
        AHEAD,
    ),
    ("On FarmWorld and WebStore, Actor outperforms imitation by 34% and 10%.", AHEAD),
    ("On FarmWorld and WebStore, Actor outperforms imitation by 10% and 34% respectively.", AHEAD),
    ("On WebStore and FarmWorld, Actor outperforms imitation by 34% and 10% respectively.", AHEAD),
    ("SparseNet gains 4.1% accuracy on large graphs.", BEHIND),
    ("SparseNet gains 5.8% and 4.1% accuracy on small and large graphs, respectively.", BEHIND),
    ("The accuracies on LichenSet reach 99.4%.", AMID),
)
LISTS_KEPT = (
    ("On FarmWorld and WebStore, Actor outperforms imitation by 34% and 10% respectively.", AHEAD),
    ("Actor outperforms imitation on two benchmarks.", AHEAD),
    (BEHIND.removeprefix("SparseNet").replace(" gains", "It gains"), BEHIND),
    ("SparseNet gains accuracy on large graphs.", BEHIND),
)


@pytest.mark.parametrize(("sentence", "source"), LISTS)
def test_a_figure_out_of_a_list_in_pairs_fails(sentence: str, source: str) -> None:
    assert refusal(sentence, [source, LOSS])


@pytest.mark.parametrize(("sentence", "source"), LISTS_KEPT)
def test_a_list_in_pairs_that_is_kept_whole_passes(sentence: str, source: str) -> None:
    assert refusal(sentence, [source, LOSS]) == ""


def test_a_figure_of_two_lists_needs_one_of_them_whole() -> None:
    other = "DenseNet gains 4.1% and 5.8% accuracy on large and small graphs, respectively."
    assert refusal(BEHIND, [other, BEHIND]) == ""
    assert refusal("SparseNet gains 5.8% accuracy on small graphs.", [other, BEHIND]) == "list"


ALL = (
    PRUNING, LOSS, SPEED, TRADE, HALF, LARGER, COUNTS, COMPARED, SOME, LOWER, CURIOUS, SPEEDUP,
    LATEX, UNLABELLED, MANY, AHEAD, BEHIND, AMID,
)  # fmt: skip


@pytest.mark.parametrize("sentence", ALL)
def test_a_sentence_supports_itself_alone_and_beside_others(sentence: str) -> None:
    assert refusal(sentence, [sentence]) == ""
    assert refusal(sentence, ALL) == ""


@pytest.mark.parametrize("sentence", ALL)
def test_nothing_is_supported_by_nothing(sentence: str) -> None:
    assert not is_supported(sentence, [])
    assert not is_supported(sentence, [""])


@given(st.sampled_from(ALL), st.data())
def test_any_digit_changed_fails(sentence: str, data: st.DataObject) -> None:
    places = [found.start() for found in re.finditer(r"\d", sentence)]
    assume(places)
    at = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from("123456789"))
    assume(digit != sentence[at])
    assert not is_supported(sentence[:at] + digit + sentence[at + 1 :], [sentence])


@given(st.text(), st.lists(st.text(), max_size=3))
def test_no_text_is_too_odd_to_be_checked(sentence: str, evidence: list[str]) -> None:
    refusal(sentence, evidence)
    if evidence:
        assert 0 <= closest(sentence, evidence) < len(evidence)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("2.5M", "2500000", ""),
        ("2.5 million", "2500000", ""),
        ("58,000", "58000", ""),
        ("84x", "84", "x"),
        ("84 times", "84", "x"),
        ("twofold", "2", "x"),
        (r"\\$25.26\\%\\$", "25.26", "%"),
        ("-0.3 points", "-0.3", "point"),
        ("10⁹", "1000000000", ""),
        ("$10^{9}$", "1000000000", ""),
        ("6.8 percentage points", "6.8", "point"),
        ("5 ms", "5", "millisecond"),
        ("~1 sec", "1", "second"),
        ("seven", "7", ""),
    ],
)
def test_numbers_are_read_with_their_unit(text: str, value: str, unit: str) -> None:
    found = next(word for word in words_of(text) if word.value is not None)
    assert (f"{found.value:f}", found.unit) == (value, unit)


def test_a_number_too_large_to_be_meant_stops_nothing() -> None:
    assert refusal("It takes 9^9999 steps on ImageNet, or 9e999 seconds.", [PRUNING])


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("labelled", "unlabelled"),
        ("convex", "nonconvex"),
        ("outperforms", "underperforms"),
        ("overestimates", "underestimates"),
        ("intrinsic", "extrinsic"),
        ("upper", "lower"),
        ("increases", "reduction"),
    ],
)
def test_opposites_are_known_both_ways(word: str, other: str) -> None:
    assert are_opposite(word, other)
    assert are_opposite(other, word)


@pytest.mark.parametrize(
    ("word", "other"),
    [("convex", "convex"), ("increases", "grows"), ("different", "differentiable"), ("in", "on")],
)
def test_others_are_no_opposites(word: str, other: str) -> None:
    assert not are_opposite(word, other)


def test_what_never_ends_is_refused_at_once() -> None:
    loop = "improves lower " * 300
    assert refusal(loop, [loop]) == "endless"
    assert refusal("SparseNet improves and lower " * 30, [loop])
