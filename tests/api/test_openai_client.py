"""Questions asked with OpenAI's own client, unchanged."""

import openai as package
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
from remembering_app import AUTHORS, COMPARED, QUESTION, WEATHER

TITLE = "Machine Unlearning of Federated Clusters"


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


def replied(text: str) -> ChatCompletionMessageParam:
    return {"role": "assistant", "content": text}


def ask(openai: OpenAI, *messages: ChatCompletionMessageParam) -> ChatCompletion:
    return openai.chat.completions.create(model="default", messages=messages)


def known(completion: ChatCompletion) -> dict[str, object]:
    """What the answer stands on."""
    return completion.model_extra["assistant"]  # type: ignore[index,no-any-return]


def text(completion: ChatCompletion) -> str:
    return completion.choices[0].message.content or ""


@pytest.fixture(scope="module")
def answer(openai: OpenAI) -> ChatCompletion:
    """The answer to `QUESTION`."""
    return ask(openai, {"role": "system", "content": "Answer in French."}, user(QUESTION))


@pytest.fixture(scope="module")
def long(openai: OpenAI) -> ChatCompletion:
    """The answer to `COMPARED`: a sentence, and its evidence."""
    answer = ask(openai, user(COMPARED))
    assert " Evidence: From “" in text(answer)
    return answer


def test_an_answer_comes_with_its_citations(answer: ChatCompletion) -> None:
    behind = known(answer)
    assert "roughly 84x" in text(answer)
    assert text(answer) == behind["answer"]
    assert behind["outcome"] == "answered"
    kinds = [sentence["kind"] for sentence in behind["sentences"]]
    assert kinds == ["verified", *["quoted"] * (len(kinds) - 1)]
    assert {citation["title"] for citation in behind["citations"]} == {TITLE}
    assert all(citation["quote"] in text(answer) for citation in behind["citations"])
    assert answer.choices[0].finish_reason == "stop"


def test_a_streamed_answer_is_the_same(openai: OpenAI, answer: ChatCompletion) -> None:
    stream = openai.chat.completions.create(
        model=answer.model,
        messages=[user(QUESTION)],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    ended = next(chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason)
    assert "".join(filter(None, deltas)) == text(answer)
    assert sum(map(bool, deltas)) == len(known(answer)["sentences"])
    assert ended.model_extra["assistant"]["sentences"] == known(answer)["sentences"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_follow_up_is_about_the_papers_cited(openai: OpenAI, answer: ChatCompletion) -> None:
    asked = [user(QUESTION), replied(f"{text(answer)}\n"), user(AUTHORS)]
    followed = ask(openai, *asked)
    assert TITLE in known(followed)["standalone_question"]
    assert known(followed)["turn"] == 1
    assert "Chao Pan" in text(followed)


def test_a_follow_up_of_a_streamed_answer_is_too(openai: OpenAI) -> None:
    question = "How can a convolutional network learn its strides?"
    with openai.chat.completions.create(
        model="default", messages=[user(question)], stream=True
    ) as stream:
        said = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    followed = ask(openai, user(question), replied(said), user(AUTHORS))
    assert "Rachid Riad" in text(followed)


def test_of_an_answer_not_given_here_the_question_helps(openai: OpenAI) -> None:
    asked = [user(QUESTION), replied("84 times."), user("Why?")]
    assert known(ask(openai, *asked))["standalone_question"] == f"{QUESTION} Why?"


def test_a_conversation_does_not_know_another(openai: OpenAI, answer: ChatCompletion) -> None:
    asked = [user("Who wrote Git Re-Basin?"), replied(text(answer)), user(AUTHORS)]
    assert TITLE not in known(ask(openai, *asked))["standalone_question"]


def test_what_is_not_in_the_library_is_said(openai: OpenAI) -> None:
    answer = ask(openai, user(WEATHER))
    assert known(answer)["outcome"] == "not_in_library"
    assert known(answer)["citations"] == []
    assert "Vienna" in text(answer)


def test_a_message_may_come_in_parts_and_with_options_of_openais(openai: OpenAI) -> None:
    parts = [{"type": "text", "text": each} for each in QUESTION.split(" ", 1)]
    answer = openai.chat.completions.create(
        model="default",
        messages=[{"role": "user", "content": parts}],  # type: ignore[typeddict-item]
        temperature=0,
        max_tokens=2000,
        seed=1,
        n=1,
        stop=["|"],
        user="somebody",
        tool_choice="none",
        response_format={"type": "text"},
    )
    assert "roughly 84x" in text(answer)


@pytest.mark.parametrize(
    ("options", "reason", "stream"),
    [
        ({"max_tokens": "one too few"}, "length", True),
        ({"max_completion_tokens": "one too few"}, "length", False),
        ({"stop": "Evidence:"}, "stop", False),
        ({"stop": ["nowhere", "Evidence:"]}, "stop", True),
    ],
)
def test_an_answer_ends_with_the_last_sentence_that_is_wanted(
    openai: OpenAI, long: ChatCompletion, options: dict[str, object], reason: str, stream: bool
) -> None:
    assert long.usage is not None
    too_few = long.usage.completion_tokens - 1
    options = {name: too_few if name.startswith("max") else each for name, each in options.items()}
    asked: dict[str, object] = {"model": "default", "messages": [user(COMPARED)], **options}
    if stream:
        chunks = list(openai.chat.completions.create(**asked, stream=True))  # type: ignore[call-overload]
        said = "".join(each.choices[0].delta.content or "" for each in chunks)
        (ended,) = (each for each in chunks if each.choices[0].finish_reason)
        finish, behind = ended.choices[0].finish_reason, ended.model_extra["assistant"]
    else:
        short = openai.chat.completions.create(**asked)  # type: ignore[call-overload]
        said, finish, behind = text(short), short.choices[0].finish_reason, known(short)
        assert short.usage.completion_tokens <= too_few
    assert finish == reason
    assert said == behind["answer"]
    assert "Å" in said
    assert text(long).startswith(said)
    assert 1 <= len(behind["sentences"]) < len(known(long)["sentences"])  # type: ignore[arg-type]
    cited = {number for each in behind["sentences"] for number in each["citations"]}
    assert {each["number"] for each in behind["citations"]} == cited


def test_what_fits_no_limit_is_left_out(openai: OpenAI) -> None:
    for limit in ({"max_tokens": 1}, {"stop": "a"}):
        short = openai.chat.completions.create(  # type: ignore[call-overload]
            model="default", messages=[user(QUESTION)], **limit
        )
        assert text(short) == ""


def test_instructions_of_the_system_are_refused_in_words(
    openai: OpenAI, answer: ChatCompletion
) -> None:
    (note,) = known(answer)["notes"]  # type: ignore[misc]
    assert "system message were not followed" in note
    assert known(ask(openai, user(AUTHORS)))["notes"] == []


def test_tokens_are_those_of_the_messages_and_of_the_text(
    openai: OpenAI, answer: ChatCompletion
) -> None:
    longer = ask(openai, user("hello " * 100), user(QUESTION)).usage
    assert answer.usage is not None
    assert longer is not None
    assert len(text(answer)) / 8 < answer.usage.completion_tokens < len(text(answer)) / 2
    assert 90 <= longer.prompt_tokens - answer.usage.prompt_tokens <= 120


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        (package.NotFoundError, {"model": "gpt-4o"}, "There is no model 'gpt-4o'"),
        (package.BadRequestError, {"n": 2}, "one answer"),
        (package.BadRequestError, {"tools": [{"type": "function"}]}, "no tools"),
        (package.BadRequestError, {"response_format": {"type": "json_object"}}, "text"),
        (package.BadRequestError, {"response_format": {"type": "json_schema"}}, "text"),
        (package.BadRequestError, {"max_tokens": 0}, "max_tokens"),
        (package.BadRequestError, {"stop": [""]}, "stop"),
        (package.BadRequestError, {"stop": list("abcde")}, "stop"),
        (package.BadRequestError, {"temperature": 3}, "temperature"),
        (package.BadRequestError, {"messages": []}, "messages"),
        (package.BadRequestError, {"messages": [replied("Hello.")]}, "last message"),
        (package.BadRequestError, {"messages": [user(" \u200b")]}, "empty"),
        (package.BadRequestError, {"messages": [user("x" * 2001)]}, "2,001 characters"),
        (package.BadRequestError, {"messages": [{"role": "tool", "content": "1"}]}, "role"),
        (
            package.BadRequestError,
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "only text",
        ),
    ],
)
def test_what_cannot_be_done_raises_openais_errors(
    openai: OpenAI, kind: type[package.APIStatusError], options: dict[str, object], said: str
) -> None:
    asked = {"model": "default", "messages": [user(QUESTION)], **options}
    with pytest.raises(kind, match=said) as raised:
        openai.chat.completions.create(**asked)  # type: ignore[call-overload]
    assert raised.value.body["type"] == "invalid_request_error"  # type: ignore[index]


def test_the_model_is_listed(openai: OpenAI) -> None:
    (model,) = openai.models.list().data
    assert openai.models.retrieve(model.id).id == model.id
    with pytest.raises(package.NotFoundError):
        openai.models.retrieve("no/such")
