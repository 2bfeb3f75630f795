"""Which sentences of a model are let through, one table for each way to be wrong."""

import pytest

from assistant.checking import closest, is_supported

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
