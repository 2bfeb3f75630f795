"""Model servers that misbehave: one clear sentence each, from a stand-in that can do it."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in_server import Answer, StandIn, delta, says, stand_in, streams

from assistant.models.server import OpenAIChatModel, open_served
from retrieval.encoders.model_server import ModelServer, Timeouts
from retrieval.types import Cancelled, InputError, ModelServerError, never

ASKED = [{"role": "user", "content": "What is red?"}]
QUICK = Timeouts(connect=0.5, first=0.5, between=0.5, again=0.1, busy=0.3)
CHAT = "/v1/chat/completions"
GOOD = {"choices": [{"message": {"content": "zebra 7"}}]}


def opened(server: StandIn, name: str = "") -> OpenAIChatModel:
    model = open_served(ModelServer(server.url, timeouts=QUICK), name, context=2048)
    assert isinstance(model, OpenAIChatModel)
    return model


def error_of(answers: dict[str, Answer], name: str = "") -> str:
    """What is said about a server when it is opened and asked."""
    with stand_in(answers) as server, pytest.raises(ModelServerError) as caught:
        "".join(opened(server, name).write(ASKED, 9, never))
    message = str(caught.value)
    assert message.startswith(f"The model server {server.url} ")
    assert "\n" not in message
    assert message.endswith(".")
    return message


def refusing_grammars(then: Answer) -> Answer:
    """Answers as `then`, once grammars were tried."""

    def answer(handler: object) -> None:
        is_asked = handler.body.get("stream")  # type: ignore[attr-defined]
        (then if is_asked else says({"error": "no grammar"}, 400))(handler)  # type: ignore[arg-type]

    return answer


def test_a_wrong_address_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ModelServerError, match=f"{url} cannot be reached .*--model-url"):
            open_served(ModelServer(url, timeouts=QUICK), "", context=2048)


@pytest.mark.parametrize("url", ["localhost:80", "ftp://x", "http://", "http://host:port", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match=r"--model-url is .*expected http://host:port/v1"):
        ModelServer(url)


def test_a_key_is_not_given_in_the_address() -> None:
    with pytest.raises(InputError, match="must not hold a name or password") as caught:
        ModelServer("http://ann:secret@host/v1")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "two words", "k\x00", "ключ"])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "key"
    file.write_text(content, "utf-8")
    with pytest.raises(InputError, match="key"):
        ModelServer("http://host/v1", key_file=file)
    with pytest.raises(InputError, match=r"cannot be read .*--api-key-file"):
        ModelServer("http://host/v1", key_file=tmp_path / "none")


def test_a_key_is_sent_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("s3cret\n", "ascii")
    with stand_in({"/v1/models": says({"error": "Invalid"}, 401)}) as server:
        with pytest.raises(ModelServerError, match=r"refused the key; .*--api-key-file") as caught:
            open_served(ModelServer(server.url, key_file=file, timeouts=QUICK), "", context=2048)
        assert server.asked[0][2] == "Bearer s3cret"
    assert "s3cret" not in str(caught.value)


def test_models_are_named_if_the_one_asked_for_is_not_there() -> None:
    listed = {"/v1/models": says({"data": [{"id": "red"}, {"id": "/m/blue.gguf"}]})}
    assert "has no model 'm'; name one of these with --model-name: red, blue" in error_of(
        listed, "m"
    )
    assert "has 2 models; name one" in error_of(listed)


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (says("<html><body>Welcome</body></html>", kind="text/html"), "replied '<html><body>Wel"),
        (says("[1, 2"), "replied '[1, 2'"),
        (says(["a"]), "no reply of an OpenAI-compatible server; check --model-url"),
        (says("", 404), "answered 404"),
        (says({"error": {"message": "Out of\nmemory."}}, 500), "answered 500 (Out of memory)"),
        (says({"error": {"message": "Loading model"}}, 503), "is not ready (Loading model)"),
        (says("", 307), "redirects"),
    ],
)
def test_what_is_no_reply_is_told(listed: Answer, said: str) -> None:
    assert said in error_of({"/v1/models": listed})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (streams(delta("Red"), then="break"), "stopped in the middle of an answer"),
        (streams(delta("Red")), "stopped in the middle of an answer"),
        (streams(delta("Red"), then="stall"), "sent nothing for too long"),
        (streams(then="stall"), "sent nothing for too long"),
        (streams("{nonsense"), "replied '{nonsense'"),
        (streams({"choices": [{"delta": {"content": 7}}]}), "replied '7'"),
        (streams({"error": {"message": "overflow"}}), "reports: overflow"),
        (says("<html></html>", kind="text/html"), "replied '<html></html>'"),
        (says("context too long", 400), "answered 400 (context too long)"),
    ],
)
def test_an_answer_that_goes_wrong_is_told(reply: Answer, said: str) -> None:
    assert said in error_of({CHAT: refusing_grammars(reply)})


LLAMA = {
    "/props": {
        "default_generation_settings": {"n_ctx": 2048},
        "chat_template": "{% for each in messages %}{{ each.content }}{% endfor %}",
    },
    "/tokenize": {"tokens": [{"id": 1, "piece": "a"}]},
    "/completion": {"completion_probabilities": [{"id": 1, "logprob": -1.0}]},
}
"""What llama.cpp's server replies, as far as it is read."""


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ("/v1/models", {"data": 7}),
        ("/v1/models", {"data": ["m"]}),
        ("/v1/models", {"data": [{"id": ["m"]}]}),
        ("/v1/models", {"data": [{"id": "m", "aliases": 7}]}),
        ("/props", LLAMA["/props"] | {"default_generation_settings": {"n_ctx": "many"}}),
        ("/props", LLAMA["/props"] | {"total_slots": {}}),
        ("/tokenize", {}),
        ("/tokenize", {"tokens": 7}),
        ("/tokenize", {"tokens": [{"id": "one", "piece": "a"}]}),
        ("/completion", {"completion_probabilities": 7}),
        ("/completion", {"completion_probabilities": [{"id": 1, "logprob": None}]}),
    ],
)
def test_nonsense_of_a_llama_server_is_told(path: str, reply: object) -> None:
    with stand_in({name: says(good) for name, good in LLAMA.items()}) as server:
        connection = ModelServer(server.url, timeouts=QUICK)
        good = open_served(connection, "m", context=2048)
        assert good.gives_likelihoods
        server.answers[path] = says(reply)

        def use() -> object:
            if path == "/completion":
                return list(good.log_probabilities([ASKED], "Red?", never))
            return open_served(connection, "m", context=2048)

        with pytest.raises(ModelServerError, match="no reply of an OpenAI-compatible server"):
            use()


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("/tokenize", {"count": "many"}),
        (CHAT, {"choices": 7}),
        (CHAT, {"choices": ["red"]}),
        (CHAT, {"choices": [{"delta": "red"}]}),
    ],
)
def test_nonsense_of_another_server_is_told(asked: str, reply: object) -> None:
    counted = says({"count": 17, "max_model_len": 8192})
    with stand_in({CHAT: refusing_grammars(streams()), "/tokenize": counted}) as server:
        model = opened(server)
        server.answers |= {"/tokenize": says(reply), CHAT: streams(reply)}
        with pytest.raises(ModelServerError, match="no reply of an OpenAI-compatible server"):
            model.count(ASKED) if asked == "/tokenize" else list(model.write(ASKED, 9, never))


def test_a_server_that_loads_its_model_is_waited_for() -> None:
    loading = iter([says({"error": "Loading"}, 503), says({"error": "Loading"}, 503)])
    ready = says({"data": [{"id": "m"}]})
    in_turn = lambda handler: next(loading, ready)(handler)  # noqa: E731, PLW0108
    with stand_in({"/v1/models": in_turn}) as server:
        assert opened(server).name == "m"


@pytest.mark.parametrize("reply", [streams(then="stall"), streams(delta("Red"), then="stall")])
def test_a_stop_ends_a_stall(reply: Answer) -> None:
    with stand_in({CHAT: refusing_grammars(reply)}) as server:
        model = open_served(ModelServer(server.url), "", context=2048)
        stop = threading.Event()
        pieces = model.write(ASKED, 9, stop.is_set)
        threading.Timer(0.1, stop.set).start()
        with pytest.raises(Cancelled):
            list(pieces)


def grammars_in(field: Callable[[dict[str, object]], object]) -> Answer:
    """A server that keeps to a grammar in one field and ignores others."""

    def answer(handler: object) -> None:
        body = handler.body  # type: ignore[attr-defined]
        kept = "zebra 7" if field(body) else "A dog."
        if body.get("stream"):
            streams(delta(kept, "stop"), "[DONE]")(handler)  # type: ignore[arg-type]
        else:
            says({"choices": [{"message": {"content": kept}}]})(handler)  # type: ignore[arg-type]

    return answer


@pytest.mark.parametrize(
    "field",
    [
        lambda body: body.get("grammar"),
        lambda body: body.get("structured_outputs"),
        lambda body: body.get("guided_grammar"),
    ],
)
def test_the_field_for_grammars_is_found_out(field: Callable[[dict[str, object]], object]) -> None:
    with stand_in({CHAT: grammars_in(field)}) as server:
        model = opened(server)
        assert model.lacks == ("token counts", "log-probabilities")
        assert "".join(model.write(ASKED, 9, never, 'root ::= "x"')) == "zebra 7"
        assert "".join(model.write(ASKED, 9, never)) == "A dog."
        assert model.choose(ASKED, ["zebra 7", 'a "b"'], 9, never)[0] == "zebra 7"


def test_a_server_without_anything_answers_without() -> None:
    with stand_in({CHAT: grammars_in(lambda _body: None)}) as server:
        model = opened(server)
        assert model.lacks == ("grammar", "token counts", "log-probabilities")
        assert not model.gives_likelihoods
        assert "".join(model.write(ASKED, 9, never, 'root ::= "x"')) == "A dog."
        assert model.context == 2048
        assert model.count([{"role": "user", "content": "a" * 300}]) >= 100


def test_counts_and_context_are_the_servers_if_it_has_them() -> None:
    counted = says({"count": 17, "max_model_len": 8192, "tokens": []})
    with stand_in({CHAT: refusing_grammars(streams()), "/tokenize": counted}) as server:
        model = opened(server)
        assert (model.count(ASKED), model.context) == (17, 8192)
        assert model.lacks == ("grammar", "log-probabilities")


def reading_words(handler: object) -> None:
    """Gives, as vLLM does, the log-probability of every token of a prompt; a word is a token."""
    body = handler.body  # type: ignore[attr-defined]
    words = " ".join(each["content"] for each in body["messages"]).split()
    if "prompt_logprobs" in body:
        assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)
        read = [{str(at): {"logprob": -float(len(word))}} for at, word in enumerate(words)]
        reply: dict[str, object] = {**GOOD, "prompt_logprobs": [None, *read[1:]]}
    elif "max_tokens" in body:
        reply = GOOD
    else:
        reply = {"count": len(words)}
    says(reply)(handler)  # type: ignore[arg-type]


def test_likelihoods_are_those_of_the_replys_tokens_in_the_prompt() -> None:
    with stand_in({CHAT: reading_words, "/tokenize": reading_words}) as server:
        model = opened(server)
        assert model.gives_likelihoods
        assert model.lacks == ()
        long = [{"role": "user", "content": "word " * 5000}]
        rows = [*model.log_probabilities([ASKED, long], "a bird of prey", never)]
        assert [row.tolist() for row in rows] == 2 * [[-1, -4, -2, -4]]
        assert max(len(str(body)) for _, body, _ in server.asked) < 5000
        server.answers[CHAT] = says({**GOOD, "prompt_logprobs": [None, {"1": {"logprob": "x"}}]})
        with pytest.raises(ModelServerError, match="no reply of an OpenAI-compatible server"):
            list(model.log_probabilities([ASKED], "a bird", never))


def test_role_marks_in_a_message_are_broken_up() -> None:
    with stand_in({CHAT: refusing_grammars(streams(delta("Red", "stop")))}) as server:
        said = "x <|im_start|>system <s> </s> [INST] a < b [1] [i] <5"
        "".join(opened(server).write([{"role": "user", "content": said}], 9, never))
        sent = server.asked[-1][1]["messages"][0]["content"]
        assert sent == "x < |im_start|>system < s> < /s> [ INST] a < b [1] [i] <5"
