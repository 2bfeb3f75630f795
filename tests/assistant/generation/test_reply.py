import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.generation.citations import until_repeating, without_thinking

HARMONY = "<|channel|>analysis<|message|>"
THOUGHT = (
    ("A cat sat.", "A cat sat."),
    ("", ""),
    ("<think>Hm.</think>\n\nA cat sat.", "\n\nA cat sat."),
    ("<think></think>A cat sat.", "A cat sat."),
    ("<think>A cat sat.", ""),
    ("A cat <think>Hm.</think>sat.", "A cat sat."),
    ("A <think>a</think>cat <think>b</think>sat.", "A cat sat."),
    ("A cat sat. <think>", "A cat sat. "),
    ("A cat sat. <thi", "A cat sat. <thi"),
    ("[THINK]Hm.[/THINK]A cat sat.", "A cat sat."),
    (f"{HARMONY}Hm.<|end|><|start|>assistant<|channel|>final<|message|>A cat.", "A cat."),
    (f"{HARMONY}Hm.<|end|>", ""),
    ("<think>[THINK]</think>A[/THINK]", "A[/THINK]"),
    ("a < b and [T] sat <", "a < b and [T] sat <"),
)
CUTS = st.lists(st.integers(min_value=0, max_value=80), max_size=12)


def cut(text: str, cuts: list[int]) -> list[str]:
    at = sorted({place for place in cuts if place < len(text)} | {0, len(text)})
    return [text[start:end] for start, end in itertools.pairwise(at)]


@pytest.mark.parametrize(("reply", "answer"), THOUGHT)
def test_thinking_is_left_out(reply: str, answer: str) -> None:
    assert "".join(without_thinking([reply])) == answer


@given(case=st.sampled_from(THOUGHT), cuts=CUTS)
def test_however_the_reply_is_cut(case: tuple[str, str], cuts: list[int]) -> None:
    reply, answer = case
    assert "".join(without_thinking(cut(reply, cuts))) == answer


def test_an_answer_is_passed_on_at_once() -> None:
    told = iter(["A cat", " sat", ".", " <th", "ink>", "Hm"])
    answer = without_thinking(told)
    assert next(answer) == "A cat"
    assert list(told) == [" sat", ".", " <th", "ink>", "Hm"]


@pytest.mark.parametrize(
    "again", ["ha ", "The answer is: ", "A network of twelve layers beats one of three layers. "]
)
def test_what_is_said_over_and_over_ends(again: str) -> None:
    written = iter((again * 800).split())
    said = "".join(until_repeating(f"{word} " for word in written))
    assert len(said) < 5 * max(len(again), 24)
    assert len(list(written)) > 700


@pytest.mark.parametrize(
    "text",
    [
        "The method beats the best method by the method of the best authors. " * 3,
        "Accuracy rises from 61.5% to 63.5% on A, from 61.5% to 64.5% on B, to 65% on C.",
        "-" * 20,
        "",
    ],
)
def test_what_is_said_a_few_times_goes_on(text: str) -> None:
    assert "".join(until_repeating(text)) == text
