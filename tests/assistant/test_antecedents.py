"""What a question names itself, before the pronoun that stands for it."""

import re

import pytest
from fakes import ZEBRA

from assistant.antecedents import Antecedent, antecedent

SURE, POSSIBLE, NONE = Antecedent.SURE, Antecedent.POSSIBLE, Antecedent.NONE
PRONOUN = re.compile(r"\b(?:it|its|they|them|their|this)\b")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is neural collapse and when does it appear?", SURE),
        ("How does label smoothing work and what are its limits?", SURE),
        ("Explain grokking; does it need weight decay?", SURE),
        ("Explain grokking. Does it need weight decay?", SURE),
        ("label smoothing, how does it work", SURE),
        ("Which papers propose coresets and what are they good for?", SURE),
        ("Why do robots cooperate if they are selfish?", SURE),
        ("How do robots keep their balance?", SURE),
        ("waht is nerual colapse and wen does it apear", SURE),
        ("Who works on tides and what have they found?", SURE),
        ("What is the lottery ticket hypothesis and does it hold?", POSSIBLE),
        ("When labels are noisy, does it still work?", POSSIBLE),
        ("Is grokking slow, and can it be sped up?", POSSIBLE),
        ("What is measured and why is it hard?", POSSIBLE),
        ("How is noise handled and does it matter?", POSSIBLE),
        ("Are doctors involved and do they trust it?", POSSIBLE),
        ("What is ZebraPrune and does it need retraining?", NONE),
        ("Are weights removed, and is it slow?", NONE),
        ("How many datasets were used and what are they?", NONE),
        ("ok, how does it work?", NONE),
        ("Does grokking help it?", NONE),
        ("How do speed and memory change with it?", NONE),
        ("How do robots profit from their method?", NONE),
        ("Does it work?", NONE),
    ],
)
def test_what_a_pronoun_stands_for_is_named(question: str, expected: Antecedent) -> None:
    pronoun = PRONOUN.search(question)
    assert pronoun
    assert antecedent(question, pronoun, ZEBRA) is expected
