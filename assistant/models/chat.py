"""The chat model: its port, its implementation in llama.cpp, and a measurement of its speed."""

import secrets
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assistant.models.llama import bindings
from assistant.models.llama.chat_template import Messages, Thinking
from assistant.models.llama.decoding import (
    LIKELIEST,
    Decoder,
    Likelihoods,
    Sampling,
    Slice,
    common_length,
    slices,
)
from assistant.models.llama.reading_ahead import read_ahead
from assistant.models.llama.tokenizer import encoding_of
from retrieval.encoders import llamacpp
from retrieval.encoders.llamacpp import Stopped
from retrieval.types import Cancelled, InputError

LIKELIHOOD_TOKENS = 1024
"""Most tokens of a conversation and its reply that `log_probabilities` reads."""
LONGEST_REPLY = 128
"""Tokens of a reply whose likelihood counts."""
_LAST_TOKENS = 64
"""Tokens kept from the end of a conversation that is too long: the question is there."""
_LEAST_CONTEXT = 512
"""Tokens below which no question with its evidence fits."""
_SAMPLE = (
    "In 2023 we’ve trained GPT-like models on 1,234,567 naïve users' texts:\n\n  it's 3.5% up,\r\n"
    "HE'D say; $\\mathcal{O}(n^2)$ /// 数学 한국어 ЖИзнь ٣٤ 🙂 CamelCase_and-more   \t(e.g. ½)"
)
"""Text that tokenizers split in different ways."""
_LOOK_SECONDS = 0.1
"""Time between two checks whether to keep waiting for the model."""
_READ_WORDS = 40
"""Numbers of eight random digits: some 400 tokens, which no model has read before."""
_WRITTEN_TOKENS = 32
_ENDLESS = 'root ::= [^§]* "§"'
"""A grammar that allows every token but the end."""


class ChatModel(Protocol):
    """Writes text to continue a conversation.

    Every method with `stopped`, which is checked often, raises `Cancelled` once it is true.
    """

    @property
    def name(self) -> str:
        """The model's name."""

    @property
    def context(self) -> int:
        """Tokens that prompt and answer share."""

    @property
    def gives_likelihoods(self) -> bool:
        """Whether `log_probabilities` works; few servers give those of a prompt."""

    @property
    def slots(self) -> int:
        """Conversations that it continues at once."""

    def check(self) -> None:
        """Raise `ModelError` if it cannot answer now."""

    def count(self, messages: Messages) -> int:
        """Tokens of the conversation as the model reads it."""

    def write(
        self,
        messages: Messages,
        max_tokens: int,
        stopped: Stopped,
        grammar: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> Generator[str, None, None]:
        """Yield the next message in pieces, at most `max_tokens`, as they are written.

        `grammar` is the allowed text in GBNF; a model without grammars ignores it. `sampling` says
        how tokens are chosen.
        """

    def choose(
        self, messages: Messages, texts: Sequence[str], max_tokens: int, stopped: Stopped
    ) -> tuple[str, int]:
        """The next message if it must be one of `texts` (all different), and its tokens.

        If all are longer than `max_tokens`, it is "" with 0 tokens.
        """

    def log_probabilities(
        self, conversations: Iterable[Messages], reply: str, stopped: Stopped
    ) -> Iterator[NDArray[np.float32]]:
        """For each conversation the log-probability (natural) of every token of `reply`.

        Only if `gives_likelihoods`.
        """


class LlamaCppChatModel:
    """A chat model in llama.cpp, one conversation at a time."""

    gives_likelihoods = True
    slots = 1

    def __init__(self, path: Path, *, context: int, threads: int, thinking: int = 0) -> None:
        """Load the GGUF model at `path`, with at most the context that it was trained for.

        A reasoning model may think for `thinking` tokens before each answer. By default it skips
        the thinking, which takes minutes on a processor. Raises `ModelError` if the file is not a
        usable chat model, and `InputError` if thinking leaves no room for an answer.
        """
        self.path = path
        self.name = path.stem
        """Model and quantization."""
        self._model = llamacpp.load(path, context=context, threads=threads)
        self._template = bindings.chat_template(self._model)
        self._thinking = self._template.thinking if thinking else None
        self._thinking_tokens = thinking
        self._decoder = Decoder(self._model)
        self._lock = threading.Lock()
        self._likelihood_lock = threading.Lock()
        self.context = min(context, self._model._model.n_ctx_train())
        """Tokens that prompt and answer share, without the thinking."""
        if self._thinking:
            marks = f"{self._thinking.opens}\n{self._thinking.closes}{self._thinking.then}"
            self.context -= thinking + len(self._tokens(marks, special=True))
        if self.context < _LEAST_CONTEXT:
            raise InputError(
                f"A context of {context:,} tokens leaves {max(self.context, 0):,} for an answer, "
                f"at least {_LEAST_CONTEXT} are needed; raise --context or lower --thinking."
            )
        encoding = encoding_of(llamacpp.metadata(self._model), llamacpp.vocabulary(self._model))
        # A file may name a splitter that its vocabulary was not made with.
        is_same = encoding and encoding.encode_ordinary(_SAMPLE) == self._tokens(_SAMPLE)
        self._encoding = encoding if is_same else None
        self.count([{"role": "user", "content": "?"}])  # a model without a template fails here

    def check(self) -> None:
        """Nothing to check: the model runs in this process."""

    def attach(self, adapter: Path) -> None:
        """Write with an adapter from now on; `log_probabilities` does not change.

        Raises `ModelError` if the adapter cannot be used.
        """
        with self._lock:
            bindings.attach_adapter(self._model, adapter)
            self._decoder = Decoder(self._model)  # the old one has read without the adapter

    def count(self, messages: Messages) -> int:
        """Tokens of the conversation as the model reads it."""
        encode = self._encoding.encode_ordinary if self._encoding else self._tokens
        contents = sum(len(encode(message["content"])) for message in messages)
        return len(self._frame(messages)) + contents

    def write(
        self,
        messages: Messages,
        max_tokens: int,
        stopped: Stopped,
        grammar: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> Generator[str, None, None]:
        """Yield the next message in pieces; wait while another is being written.

        The part of the conversation that was read before is not read again.
        """
        thinking = self._thinking
        prompt = slices(self._prompt(messages, think=thinking is not None))

        def begin(stopped: Stopped) -> Iterator[str]:
            with self._turn(stopped):
                thought = self._thought(thinking, prompt, stopped) if thinking else []
                yield from self._decoder.write(
                    prompt + thought, max_tokens, grammar, stopped, sampling
                )

        return read_ahead(begin, stopped)

    def choose(
        self, messages: Messages, texts: Sequence[str], max_tokens: int, stopped: Stopped
    ) -> tuple[str, int]:
        """The next message if it must be one of `texts`; wait while another is being written."""
        tokens = [tuple(self._tokens(text)) for text in texts]
        short = [at for at, each in enumerate(tokens) if len(each) <= max_tokens]
        if not short:
            return "", 0
        prompt = slices(self._prompt(messages))
        with self._turn(stopped):
            chosen = short[self._decoder.choose(prompt, [tokens[at] for at in short], stopped)]
        return texts[chosen], len(tokens[chosen])

    def log_probabilities(
        self, conversations: Iterable[Messages], reply: str, stopped: Stopped
    ) -> Iterator[NDArray[np.float32]]:
        """For each conversation log P of every token of `reply`; long ones are shortened.

        It shares only the model's weights with `write`, so neither waits for the other.
        """
        tokens = self._tokens(reply)[:LONGEST_REPLY]
        most = LIKELIHOOD_TOKENS - len(tokens)
        for conversation in conversations:
            frame, prompt = self._framed(conversation)
            prompt = shortened(prompt, most - len(frame))
            if stopped():
                raise Cancelled
            with self._likelihood_lock:
                found = self._likelihoods.after(frame, prompt, tokens, stopped)
            yield found  # outside the lock: the caller may take its time

    def _tokens(self, text: str, *, special: bool = False) -> list[int]:
        return llamacpp.tokenize(self._model, text, special=special)

    def _prompt(self, messages: Messages, *, think: bool = False) -> list[list[int]]:
        return bindings.chat_prompt(self._model, self._template, messages, think=think)

    @contextmanager
    def _turn(self, stopped: Stopped) -> Iterator[None]:
        while not self._lock.acquire(timeout=_LOOK_SECONDS):
            if stopped():
                raise Cancelled
        try:
            yield
        finally:
            self._lock.release()

    def _thought(self, marks: Thinking, prompt: list[Slice], stopped: Stopped) -> list[Slice]:
        """The model's thinking before its answer, closed if the model does not close it in time."""
        thought, closed = self._decoder.think(prompt, self._thinking_tokens, marks.closes, stopped)
        end = marks.then if closed else f"\n{marks.closes}{marks.then}"
        return thought + slices([self._tokens(end, special=True)])

    def _frame(self, messages: Messages) -> list[int]:
        """The tokens around the messages."""
        empty = [{**message, "content": ""} for message in messages]
        return list(chain.from_iterable(self._prompt(empty)))

    def _framed(self, messages: Messages) -> tuple[Slice, list[int]]:
        """The tokens of a conversation: those that all of its form begin with, and the rest."""
        prompt = list(chain.from_iterable(self._prompt(messages)))
        most = min(len(prompt) - 1, LIKELIHOOD_TOKENS // 2)
        common = common_length(prompt[:most], self._frame(messages))
        return tuple(prompt[:common]), prompt[common:]

    @cached_property
    def _likelihoods(self) -> Likelihoods:
        """Made on first use: its context takes memory."""
        return Likelihoods(self._model, tokens=LIKELIHOOD_TOKENS)


def shortened(tokens: list[int], most: int) -> list[int]:
    """At most `most` tokens; a longer conversation loses its middle."""
    return tokens if len(tokens) <= most else tokens[: most - _LAST_TOKENS] + tokens[-_LAST_TOKENS:]


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens per second: reading of a prompt that is new, then writing of an answer."""

    reading: float
    writing: float


def measure(model: ChatModel, stopped: Stopped) -> Speed:
    """Have the model read some 400 tokens and write 32; `Cancelled` if `stopped()` became true."""
    words = [str(secrets.randbelow(10**8)) for _ in range(_READ_WORDS)]
    messages = [
        {"role": "system", "content": f"Notes of {words[0]}."},
        {"role": "user", "content": f"{' '.join(words)}\nTell a long story about these numbers."},
    ]
    tokens, start = model.count(messages), time.perf_counter()
    pieces = model.write(messages, _WRITTEN_TOKENS, stopped, _ENDLESS)
    first, *others = [time.perf_counter() for _ in pieces]
    # A server may send all of a short text at once.
    writing = len(others) / (others[-1] - first) if others else 0.0
    return Speed(tokens / (first - start), writing)
