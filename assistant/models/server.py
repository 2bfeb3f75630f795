"""The chat model on a server: llama.cpp's own, or any OpenAI-compatible one (vLLM, Ollama)."""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise
from pathlib import PurePath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assistant.models.chat import LIKELIHOOD_TOKENS, LONGEST_REPLY, shortened
from assistant.models.gguf.trained import ADAPTER
from assistant.models.llama.chat_template import ChatTemplate, Messages
from assistant.models.llama.decoding import LIKELIEST, Sampling, branches
from assistant.models.store import CHAT
from retrieval.encoders.llamacpp import Stopped
from retrieval.encoders.model_server import ModelServer, shown_name
from retrieval.encoders.server import BYTES_PER_TOKEN
from retrieval.types import ModelServerError, never

DEFAULT_PARAMETERS: Final = 134_515_008
"""Weights of the default chat model, by which a server's is recognised beside its name."""
_KEPT: Final = 4096
"""Texts whose tokens are kept."""
_FORCED, _PREFERRED = 1000.0, 100.0
"""Added to the logits of tokens that must come: of one, and of several, whose order it keeps."""
_MARK = re.compile(r"<.+>|\[/?[A-Z_]+\]", re.DOTALL)
"""The form of the marks of chat templates, as one token."""
_SPELLED_MARK = re.compile(r"<(?=[|/A-Za-z_｜])|\[(?=/?[A-Z_]+\])")
"""The beginning of such a mark within a text."""
_TRIED: Final = [{"role": "user", "content": "Name an animal."}]
_TRIED_TEXT: Final = "zebra 7"
_GRAMMARS: Final[tuple[Any, ...]] = (
    lambda source: {"grammar": source},  # llama.cpp, also behind others
    lambda source: {"structured_outputs": {"grammar": source}},  # vLLM
    lambda source: {"guided_grammar": source},  # earlier versions of vLLM
)
"""Fields of a request by which servers take a grammar."""


class LlamaServerChatModel:
    """A chat model on llama.cpp's server, asked by tokens as the one in this process is.

    So a role mark spelled out in a message stays text, and the same weights give the same answers.
    """

    def __init__(
        self,
        server: ModelServer,
        name: str,
        described: Mapping[str, Any],
        props: Mapping[str, Any],
    ) -> None:
        """Ask for `name`, as the server has `described` it; `props` is what `/props` replies."""
        self._server = server
        self._model = name
        self.name = shown_name(name)
        self.key = _key(server, name, described)
        """Changes with the server's address and with its model, as far as it can be told."""
        self._is_default = (
            CHAT.name in f"{name} {props.get('model_path')}"
            and _meta(described).get("n_params") == DEFAULT_PARAMETERS
        )
        self.context, self.slots = server.understood(
            props,
            lambda said: (
                int(said["default_generation_settings"]["n_ctx"]),
                max(1, int(said.get("total_slots", 1))),
            ),
        )
        bos, eos = (str(props.get(f"{end}_token") or "") for end in ("bos", "eos"))
        self._template = ChatTemplate(str(props["chat_template"]), bos=bos, eos=eos)
        self._bos, self._eos = bos, eos
        self._tokens = lru_cache(_KEPT)(self._tokenized)
        self._adapter: list[dict[str, Any]] = []
        self._no_adapter: list[dict[str, Any]] = []
        self._adds_bos = bool(bos) and self._server_adds_bos()
        self.count(_TRIED)  # a template that cannot be used fails here
        self.gives_likelihoods = self._gives_likelihoods()
        self.lacks = () if self.gives_likelihoods else ("log-probabilities",)

    def attach(self) -> bool:
        """Write with the writer's adapter from now on, if the server has it and its base."""
        adapters = self._server.get_list("/lora-adapters") if self._is_default else []
        named = self._server.understood(
            adapters, lambda said: {int(each["id"]): PurePath(each["path"]).name for each in said}
        )
        own = [id_ for id_, name in named.items() if name == ADAPTER.name]
        if not own:
            return False
        self._no_adapter = [{"id": id_, "scale": 0.0} for id_ in named]
        self._adapter = [{"id": own[0], "scale": 1.0}]
        return True

    def check(self) -> None:
        """Raise `ModelServerError` if the server does not answer."""
        self._server.get("/health")

    def count(self, messages: Messages) -> int:
        """Tokens of the conversation as the model reads it."""
        return len(self._prompt(messages))

    def write(
        self,
        messages: Messages,
        max_tokens: int,
        stopped: Stopped,
        grammar: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> Generator[str, None, None]:
        """Yield the next message in pieces; closing this frees the server's slot."""
        body = self._request(self._prompt(messages), max_tokens, self._adapter)
        body |= {"temperature": sampling.temperature, "grammar": grammar}
        if sampling.seed is not None:
            body["seed"] = abs(sampling.seed) % 2**32
        for event in self._server.stream("/completion", body, stopped):
            if piece := _text(self._server, event.get("content")):
                yield piece
            if event.get("stop"):
                return
        raise self._server.broke_off()

    def choose(
        self, messages: Messages, texts: Sequence[str], max_tokens: int, stopped: Stopped
    ) -> tuple[str, int]:
        """The next message if it must be one of `texts`, token by token as `Decoder.choose`."""
        tokens = {at: self._tokens(text, special=False) for at, text in enumerate(texts)}
        left = {at: each for at, each in tokens.items() if len(each) <= max_tokens}
        if not left:
            return "", 0
        prompt = self._prompt(messages)
        end = self._tokens(self._eos, special=True)

        def choose_token(read: Sequence[int], candidates: Sequence[int]) -> int:
            wanted = [[token, _PREFERRED] for token in candidates]
            body = self._request([*prompt, *read], 1, self._adapter)
            written, _ = self._next(body | {"logit_bias": wanted}, stopped)
            if written not in candidates:
                raise self._server.nonsense(f"token {written} in place of {candidates}")
            return written

        order = list(left)
        chosen = order[branches([(*left[at], *end) for at in order], choose_token)]
        return texts[chosen], len(left[chosen])

    def log_probabilities(
        self, conversations: Iterable[Messages], reply: str, stopped: Stopped
    ) -> Iterator[NDArray[np.float32]]:
        """For each conversation log P of every token of `reply`, one request a token.

        The server gives the log-probability of a token only if it writes it, so each is forced.
        """
        tokens = self._tokens(reply, special=False)[:LONGEST_REPLY]
        for conversation in conversations:
            prompt = shortened(self._prompt(conversation), LIKELIHOOD_TOKENS - len(tokens))
            yield np.array(
                [
                    self._log_probability([*prompt, *tokens[:at]], token, stopped, anew=not at)
                    for at, token in enumerate(tokens)
                ],
                dtype=np.float32,
            )

    def _log_probability(
        self, prompt: Sequence[int], token: int, stopped: Stopped, *, anew: bool = False
    ) -> float:
        body = self._request(prompt, 1, self._no_adapter)
        if anew and self._no_adapter:
            # llama.cpp's cache of prompts in memory may give back what was read with the adapter.
            body["cache_prompt"] = False
        written, value = self._next(body | {"logit_bias": [[token, _FORCED]]}, stopped)
        if written != token:
            raise self._server.nonsense(f"token {written} in place of {token}")
        return value

    def _gives_likelihoods(self) -> bool:
        [token] = self._tokens(" the", special=False)[:1]
        try:
            self._log_probability(self._prompt(_TRIED), token, never)
        except ModelServerError as error:
            if error.status:
                raise
            return False
        return True

    def _request(
        self, prompt: Sequence[int], max_tokens: int, adapters: list[dict[str, Any]]
    ) -> dict[str, Any]:
        body = {"model": self._model, "prompt": list(prompt), "n_predict": max_tokens}
        body |= {"temperature": 0.0, "samplers": ["temperature"], "cache_prompt": True}
        return body | ({"lora": adapters} if adapters else {})

    def _next(self, body: dict[str, Any], stopped: Stopped) -> tuple[int, float]:
        """The next token and its log-probability before any bias."""
        wanted = {"n_probs": 1, "response_fields": ["completion_probabilities"]}
        reply = self._server.post("/completion", body | wanted, stopped)
        written = self._server.understood(reply, lambda said: said["completion_probabilities"][0])
        return self._server.understood(
            written, lambda token: (int(token["id"]), float(token["logprob"]))
        )

    def _prompt(self, messages: Messages) -> list[int]:
        parts = self._template.parts(messages)
        adds = self._adds_bos and not self._template.begins_with_bos(parts)
        begin = self._tokens(self._bos, special=True) if adds else ()
        read = (self._tokens(part.text, special=not part.is_message) for part in parts)
        return [*begin, *chain.from_iterable(read)]

    def _server_adds_bos(self) -> bool:
        marked = self._server.post("/tokenize", {"content": "a", "add_special": True})
        length = self._server.understood(marked, lambda said: len(said["tokens"]))
        return length > len(self._tokens("a", special=False))

    def _tokenized(self, text: str, *, special: bool) -> tuple[int, ...]:
        """Token ids; without `special`, a mark spelled out in the text is cut and so stays text."""
        if not text:
            return ()
        body = {"content": text, "add_special": False, "parse_special": special}
        found = self._server.understood(
            self._server.post("/tokenize", body | {"with_pieces": True}),
            lambda reply: [(int(each["id"]), each["piece"]) for each in reply["tokens"]],
        )
        is_mark = (isinstance(piece, str) and _MARK.fullmatch(piece) for _, piece in found)
        if not special and any(is_mark):
            cuts = [0, *(mark.start() + 1 for mark in _SPELLED_MARK.finditer(text)), len(text)]
            if len(cuts) > 2:  # noqa: PLR2004 - there is one to cut
                pieces = (text[at:to] for at, to in pairwise(cuts))
                return tuple(chain.from_iterable(self._tokens(e, special=False) for e in pieces))
        return tuple(id_ for id_, _ in found)


class OpenAIChatModel:
    """A chat model on any server that has `/v1/chat/completions`."""

    def __init__(
        self, server: ModelServer, name: str, described: Mapping[str, Any], *, context: int
    ) -> None:
        """Try out what the server can do; `context` holds where it does not say its own."""
        self._server = server
        self._model = name
        self.name = shown_name(name)
        self.key = _key(server, name, described)
        self.slots = 1
        self._counted = lru_cache(_KEPT)(self._count)
        counts = server.try_post("/tokenize", {"model": name, "messages": _TRIED}) or {}
        self._counts = "count" in counts
        known = counts.get("max_model_len") or described.get("max_model_len")
        known = known or _meta(described).get("n_ctx") or context
        self.context = server.understood(known, int)
        self._grammar = next((each for each in _GRAMMARS if self._keeps(each)), None)
        self.gives_likelihoods = self._counts and self._gives_likelihoods()
        lacks = {
            "grammar": self._grammar,
            "token counts": self._counts,
            "log-probabilities": self.gives_likelihoods,
        }
        self.lacks = tuple(what for what, has in lacks.items() if not has)

    def attach(self) -> bool:
        """No adapter is known to fit."""
        return False

    def check(self) -> None:
        """Raise `ModelServerError` if the server does not answer."""
        self._server.get("/v1/models")

    def count(self, messages: Messages) -> int:
        """Tokens of the conversation; an estimate if the server does not count."""
        return self._counted(tuple((each["role"], each["content"]) for each in messages))

    def write(
        self,
        messages: Messages,
        max_tokens: int,
        stopped: Stopped,
        grammar: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> Generator[str, None, None]:
        """Yield the next message in pieces; closing this cancels the request."""
        body = self._request(messages, max_tokens)
        body["temperature"] = sampling.temperature
        if sampling.seed is not None:
            body["seed"] = abs(sampling.seed) % 2**31
        if grammar and self._grammar:
            body |= self._grammar(grammar)
        is_whole = False
        for event in self._server.stream("/v1/chat/completions", body, stopped):
            for content, ended in self._server.understood(event, _choices):
                is_whole = is_whole or ended
                if piece := _text(self._server, content):
                    yield piece
        if not is_whole:
            raise self._server.broke_off()

    def choose(
        self, messages: Messages, texts: Sequence[str], max_tokens: int, stopped: Stopped
    ) -> tuple[str, int]:
        """The next message if it must be one of `texts`, by a grammar that allows only these."""
        quoted = (text.replace("\\", r"\\").replace('"', r"\"") for text in texts)
        grammar = "root ::= " + " | ".join(f'"{text}"' for text in quoted)
        pieces = list(self.write(messages, max_tokens, stopped, grammar)) if texts else []
        text = "".join(pieces)
        return (text, len(pieces)) if text in texts else ("", 0)

    def log_probabilities(
        self, conversations: Iterable[Messages], reply: str, stopped: Stopped
    ) -> Iterator[NDArray[np.float32]]:
        """For each conversation log P of every token of `reply`, read as a begun message (vLLM)."""
        for conversation in conversations:
            asked = [_shortened(each) for each in conversation]
            body = self._request([*asked, {"role": "assistant", "content": reply}], 1)
            body |= {"add_generation_prompt": False, "continue_final_message": True}
            said = self._server.post("/v1/chat/completions", body | {"prompt_logprobs": 0}, stopped)
            yield self._server.understood(said, partial(_prompt_read, first=self.count(asked)))

    def _gives_likelihoods(self) -> bool:
        try:
            return bool([*self.log_probabilities([_TRIED], _TRIED_TEXT, never)])
        except ModelServerError as error:
            if error.status in {401, 403}:
                raise
            return False

    def _request(self, messages: Messages, max_tokens: int) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "max_tokens": max_tokens, "temperature": 0.0}
        return body | {"messages": [*map(_disarmed, messages)]}

    def _keeps(self, grammar: Any) -> bool:
        body = self._request(_TRIED, 8) | grammar(f'root ::= "{_TRIED_TEXT}"')
        reply = self._server.try_post("/v1/chat/completions", body) or {}
        try:
            return bool(reply["choices"][0]["message"]["content"].strip() == _TRIED_TEXT)
        except (KeyError, IndexError, TypeError, AttributeError):
            return False

    def _count(self, messages: tuple[tuple[str, str], ...]) -> int:
        if not self._counts:
            return sum(-(-len(content.encode()) // BYTES_PER_TOKEN) + 8 for _, content in messages)
        said = [_disarmed({"role": role, "content": content}) for role, content in messages]
        reply = self._server.post("/tokenize", {"model": self._model, "messages": said})
        return self._server.understood(reply, lambda said: int(said["count"]))


ServedChatModel = LlamaServerChatModel | OpenAIChatModel


def open_served(server: ModelServer, name: str, *, context: int) -> ServedChatModel:
    """The chat model `name` of a server; the name may be empty if there is only one.

    Raises:
        ModelServerError: the server cannot be reached, has no such model, or cannot chat.
        ModelError: the model's chat template cannot be used.
    """
    id_, described = server.served_name(name)
    try:
        props = server.get("/props")
    except ModelServerError:  # another server than llama.cpp's
        props = {}
    known = props.get("default_generation_settings")
    if isinstance(known, dict) and "n_ctx" in known and props.get("chat_template"):
        return LlamaServerChatModel(server, id_, described, props)
    return OpenAIChatModel(server, id_, described, context=context)


def _key(server: ModelServer, name: str, described: Mapping[str, Any]) -> str:
    return f"{server.root} {name} {sorted(_meta(described).items())}"


def _meta(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """What llama.cpp says about the file of a model."""
    meta = described.get("meta")
    return meta if isinstance(meta, dict) else {}


def _choices(event: Mapping[str, Any]) -> list[tuple[object, bool]]:
    """The text of each choice, and whether it ends."""
    return [
        (
            (each.get("delta") or each.get("message") or {}).get("content"),
            bool(each.get("finish_reason")),
        )
        for each in event.get("choices") or ()
    ]


def _prompt_read(reply: Mapping[str, Any], first: int) -> NDArray[np.float32]:
    """Log P of a prompt's tokens from the token `first` on, as vLLM gives them."""
    tokens = [next(iter(each.values())) for each in reply["prompt_logprobs"][first:]]
    values = [float(token["logprob"]) for token in tokens[:LONGEST_REPLY]]
    if not values:
        raise ValueError
    return np.array(values, dtype=np.float32)


def _text(server: ModelServer, content: object) -> str:
    """A piece of text; nothing may stand for it, but nothing else."""
    if not isinstance(content, str | None):
        raise server.nonsense(content)
    return content or ""


def _shortened(message: Mapping[str, str]) -> dict[str, str]:
    """A message whose middle is left out if it is longer than what likelihoods are read for."""
    text, half = message["content"], LIKELIHOOD_TOKENS * BYTES_PER_TOKEN // 2
    whole = len(text) <= 2 * half
    return {**message, "content": text if whole else f"{text[:half]} … {text[-half:]}"}


def _disarmed(message: Mapping[str, str]) -> dict[str, str]:
    """A message in which no role mark is spelled out: many servers read marks in any text."""
    return {
        **message,
        "content": _SPELLED_MARK.sub(lambda mark: f"{mark.group()} ", message["content"]),
    }
