import pytest
from fakes import FakeChatModel
from hypothesis import given
from hypothesis import strategies as st

from assistant.budget import fitted
from assistant.prompting import Message
from retrieval.errors import InputError

SIZES = st.lists(st.integers(min_value=0, max_value=60), max_size=6)


def words(count: int) -> str:
    return "word " * count


@given(
    turns=SIZES,
    notes=SIZES.filter(len),
    question=st.integers(min_value=1, max_value=80),
    answer=st.integers(min_value=1, max_value=60),
    context=st.integers(min_value=1, max_value=300),
)
def test_what_goes_in_always_fits_and_no_less_than_could(
    turns: list[int], notes: list[int], question: int, answer: int, context: int
) -> None:
    model = FakeChatModel(context=context)

    def prompt(turn_count: int, note_count: int) -> list[Message]:
        kept = turns[len(turns) - turn_count :]
        text = words(sum(notes[:note_count])) + words(question)
        return [
            *({"role": "user", "content": words(turn)} for turn in kept),
            {"role": "user", "content": text},
        ]

    def fits(turn_count: int, note_count: int) -> bool:
        return model.count(prompt(turn_count, note_count)) + answer <= context

    try:
        turn_count, note_count = fitted(model, prompt, len(turns), len(notes), answer)
    except InputError:
        assert not fits(0, 1)
        return
    assert fits(turn_count, note_count)
    assert note_count == len(notes) or turn_count == 0
    assert turn_count == len(turns) or not fits(turn_count + 1, len(notes))
    assert note_count == len(notes) or not fits(0, note_count + 1)


def test_the_error_names_the_context_and_the_flag() -> None:
    with pytest.raises(InputError, match=r"context of 1,000 tokens; .* raise --context"):
        fitted(
            FakeChatModel(context=1000),
            lambda _turns, _notes: [{"role": "user", "content": words(990)}],
            0,
            3,
            20,
        )
