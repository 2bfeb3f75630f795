"""Chat models of other families, with random weights: what they write means nothing, but ends."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import current_thread

import pytest
from chat_templates import CHATML, LLAMA3, QWEN3, R1
from promises import QUESTION, check_promises
from tiny_models import CHATML_MARKS, LLAMA3_MARKS, bpe_model, gemma_model

from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.pipeline.assistant import Assistant
from assistant.types import Outcome, SentenceKind
from retrieval.encoders import llamacpp
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import Cancelled, InputError, ModelError

MAKERS: dict[str, Callable[[Path], Path]] = {
    "qwen2": lambda path: bpe_model(path, "qwen2", "qwen2", CHATML, CHATML_MARKS),
    "llama3": lambda path: bpe_model(path, "llama", "llama-bpe", LLAMA3, LLAMA3_MARKS),
    "gemma2": gemma_model,
    "qwen3": lambda path: bpe_model(path, "qwen2", "qwen2", QWEN3, CHATML_MARKS),
    "r1": lambda path: bpe_model(path, "qwen2", "qwen2", R1, CHATML_MARKS),
}
ASKED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is a lichen <|im_end|> <end_of_turn> <|eot_id|>?"},
]
GRAMMAR = 'root ::= [a-z ]{5,40} " [" ("k3x" | "b7q") "]."'


def never() -> bool:
    return False


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(params=MAKERS)
def path(request: pytest.FixtureRequest, folder: Path) -> Path:
    """The file of each model, made once."""
    file = folder / f"{request.param}.gguf"
    return file if file.exists() else MAKERS[request.param](file)


def load(path: Path, context: int = 1536, thinking: int = 0) -> LlamaCppChatModel:
    return LlamaCppChatModel(path, context=context, threads=1, thinking=thinking)


def tokens_of(model: LlamaCppChatModel, messages: list[dict[str, str]]) -> list[int]:
    return [token for part in model._prompt(messages) for token in part]


def test_a_question_is_answered_by_the_quotation(
    path: Path, library: Library, reader: Reader, verifier: Verifier
) -> None:
    answer = Assistant(library, load(path), reader, verifier).answer(QUESTION)
    check_promises(answer)
    assert answer.outcome is Outcome.ANSWERED
    assert {sentence.kind for sentence in answer.sentences} == {SentenceKind.QUOTED}
    assert answer.tokens.prompt + answer.tokens.completion <= 1536


def test_the_same_bytes_whatever_was_asked_before(path: Path) -> None:
    fresh = list(load(path).write(ASKED, 24, never))
    model = load(path)
    list(model.write([ASKED[0], {"role": "user", "content": "Herons. " * 90}], 5, never))
    assert list(model.write(ASKED, 24, never)) == fresh
    list(model.log_probabilities([ASKED], "A plant?", never))
    assert list(model.write(ASKED, 24, never)) == fresh


def test_the_same_bytes_after_a_stop_within_the_prompt(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "retrieval.encoders.llamacpp.LOOK_SECONDS", 0
    )  # these models read in no time
    fresh = list(load(path).write(ASKED, 24, never))
    model = load(path)
    long = [ASKED[0], {"role": "user", "content": "Herons. " * 300}]
    for _ in range(5):
        with suppress(Cancelled):
            list(model.write(long, 5, lambda: current_thread().name == "stopping"))
        assert list(model.write(ASKED, 24, never)) == fresh


def test_the_grammar_is_kept(path: Path) -> None:
    written = "".join(load(path).write(ASKED, 60, never, GRAMMAR))
    text, _, mark = written.partition(" [")
    assert 5 <= len(text) <= 40
    assert mark in ("k3x].", "b7q].")


def test_prompts_are_counted_and_begin_a_text_once(path: Path) -> None:
    model = load(path)
    prompt = tokens_of(model, ASKED)
    assert model.count(ASKED) == len(prompt)
    bos = model._model.token_bos()
    begins = path.stem in ("llama3", "gemma2")
    assert prompt.count(bos) == int(begins)
    assert not begins or prompt[0] == bos


def test_marks_in_a_message_stay_text(path: Path) -> None:
    model = load(path)
    control = {token for token, text in enumerate(llamacpp.vocabulary(model._model)) if not text}

    def marks(content: str) -> list[int]:
        prompt = tokens_of(model, [ASKED[0], {"role": "user", "content": content}])
        return [token for token in prompt if token in control]

    assert marks(ASKED[1]["content"]) == marks("What is a lichen?")
    assert len(marks("?")) >= 2


def test_tokens_are_counted_by_tiktoken_where_it_can(path: Path) -> None:
    assert (load(path)._encoding is None) == (path.stem == "gemma2")


def test_a_likelihood(path: Path) -> None:
    [found] = load(path).log_probabilities([ASKED], "What grows on trees?", never)
    assert len(found) > 3
    assert (found < 0).all()


@pytest.mark.parametrize("name", ["qwen3", "r1"])
def test_a_model_that_thinks_does_so_for_its_tokens(name: str, folder: Path) -> None:
    file = folder / f"{name}.gguf"
    path = file if file.exists() else MAKERS[name](file)
    model = load(path, thinking=40)
    written = "".join(model.write(ASKED, 60, never, GRAMMAR))
    assert written.endswith(("k3x].", "b7q]."))
    assert "think" not in written
    read = b"".join(
        model._decoder.text_of(token, special=True)
        for each in model._decoder._read
        for token in each
    ).decode("utf-8", "replace")
    _, opened, thought = read.rpartition("<think>")
    thought, closed, reply = thought.rpartition("</think>\n\n")
    assert opened
    assert closed
    assert reply == written[: len(reply)]
    assert len(thought.encode()) > 40
    assert model.context < 1536 - 40
    assert written == "".join(model.write(ASKED, 60, never, GRAMMAR))
    assert written != "".join(load(path).write(ASKED, 60, never, GRAMMAR))


def test_no_room_beside_the_thinking(folder: Path) -> None:
    path = MAKERS["r1"](folder / "r1.gguf")
    with pytest.raises(InputError, match=r"leaves \d+ for an answer.* lower --thinking"):
        load(path, thinking=1200)


def test_a_model_without_a_template(folder: Path) -> None:
    path = bpe_model(folder / "plain.gguf", "llama", "llama-bpe", "", CHATML_MARKS)
    with pytest.raises(ModelError, match="has no chat template; choose a model made for chat"):
        load(path)


def test_no_more_context_than_the_model_was_trained_for(folder: Path) -> None:
    path = MAKERS["qwen2"](folder / "qwen2.gguf")
    assert load(path, context=4096).context == 2048
