import pytest
from fakes import FakeChatModel, evidence, paper
from hypothesis import given
from hypothesis import strategies as st

from assistant.generation.answer_builder import DraftAnswer
from assistant.generation.prompts import Message, fitting
from assistant.generation.verification.support import Verifier
from assistant.generation.writer import Writer
from assistant.settings import WritingSettings
from retrieval.types import InputError

SIZES = st.lists(st.integers(min_value=0, max_value=60), min_size=1, max_size=8)


def words(count: int) -> str:
    return "word " * count


@given(
    notes=SIZES,
    question=st.integers(min_value=1, max_value=80),
    answer=st.integers(min_value=1, max_value=60),
    context=st.integers(min_value=1, max_value=300),
)
def test_what_goes_in_always_fits_and_no_less_than_could(
    notes: list[int], question: int, answer: int, context: int
) -> None:
    model = FakeChatModel(context=context)

    def prompt(count: int) -> list[Message]:
        return [{"role": "user", "content": words(sum(notes[:count])) + words(question)}]

    def fits(count: int) -> bool:
        return model.count(prompt(count)) + answer <= context

    try:
        count = fitting(model, prompt, len(notes), answer)
    except InputError:
        assert not fits(1)
        return
    assert fits(count)
    assert count == len(notes) or not fits(count + 1)


@given(
    notes=SIZES,
    question=st.integers(min_value=1, max_value=300),
    answer=st.integers(min_value=1, max_value=200),
    context=st.integers(min_value=100, max_value=600),
)
def test_whatever_is_asked_the_prompt_and_the_answer_fit(
    verifier: Verifier, notes: list[int], question: int, answer: int, context: int
) -> None:
    texts = [f"Sentence {at} {words(size)}ends." for at, size in enumerate(notes)]
    of = paper(abstract=" ".join(texts))
    draft = DraftAnswer([evidence(text, of) for text in texts])
    model = FakeChatModel(words(1000), context=context)
    writer = Writer(model, verifier, WritingSettings(max_tokens=answer, checks=False))
    try:
        list(writer.generate(draft, words(question), lambda: False))
    except InputError:
        assert model.history == []
        return
    assert model.count(model.history[0]) + answer <= context
    assert len(model.written) <= answer
    assert model.notes == texts[: len(model.notes)]


def test_the_error_names_the_context_and_the_flag() -> None:
    model = FakeChatModel(context=1000)
    with pytest.raises(InputError, match=r"context of 1,000 tokens; .* raise --context"):
        fitting(model, lambda _count: [{"role": "user", "content": words(990)}], 3, 20)
