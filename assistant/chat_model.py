"""The `ChatModel` port, and the one that runs a GGUF model in this process."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assistant.tokens import encoding_of
from retrieval import llamacpp
from retrieval.errors import Cancelled

LIKELIHOOD_TOKENS = 1024
"""What `log_probabilities` reads at most of a conversation and its reply."""
LONGEST_REPLY = 128
"""Tokens of a reply whose likelihood counts."""
_LAST_TOKENS = 64
"""Kept of a conversation too long to be read: what is asked for stands at its end."""

SEED = 0
"""Fixed, with temperature 0: the same question gives the same answer."""


class ChatModel(Protocol):
    """Writes text to continue a conversation."""

    @property
    def name(self) -> str:
        """What the model is called."""

    @property
    def context(self) -> int:
        """Tokens that prompt and answer have together."""

    @property
    def gives_likelihoods(self) -> bool:
        """Whether `log_probabilities` can be asked; servers mostly give no log-probabilities."""

    def count(self, messages: Sequence[Mapping[str, str]]) -> int:
        """Tokens of the conversation as the model reads it."""

    def write(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,
        stopped: Callable[[], bool],
    ) -> Iterator[str]:
        """Pieces of the next message as they are written, at most `max_tokens` of them.

        Raises:
            Cancelled: `stopped()` became true.
        """

    def log_probabilities(
        self,
        conversations: Iterable[Sequence[Mapping[str, str]]],
        reply: str,
        stopped: Callable[[], bool],
    ) -> Iterator[NDArray[np.float32]]:
        """How likely `reply` is after each conversation: log P of every token (natural).

        Only where `gives_likelihoods`.

        Raises:
            Cancelled: `stopped()` became true.
        """


class LlamaCppChatModel:
    """A chat model in llama.cpp, one conversation at a time."""

    def __init__(self, path: Path, *, context: int, threads: int) -> None:
        """Load the GGUF model at `path`.

        Raises:
            ModelError: the file is no usable chat model.
        """
        self._model = llamacpp.load(path, context=context, threads=threads)
        self._lock = threading.Lock()
        self._threads = threads
        self._likelihood_context: llamacpp.LikelihoodContext | None = None
        self._likelihood_lock = threading.Lock()
        self._name = path.stem
        self._context = context
        self._encoding = encoding_of(
            llamacpp.metadata(self._model), llamacpp.vocabulary(self._model)
        )
        self.count([{"role": "user", "content": "?"}])  # a model without a template fails here

    @property
    def name(self) -> str:
        """The file's name, which tells model and quantization."""
        return self._name

    @property
    def context(self) -> int:
        """Tokens that prompt and answer have together."""
        return self._context

    @property
    def gives_likelihoods(self) -> bool:
        """True: llama.cpp gives the logits."""
        return True

    def count(self, messages: Sequence[Mapping[str, str]]) -> int:
        """Tokens of the conversation as the model reads it."""
        marks = [{**message, "content": ""} for message in messages]
        template = len(llamacpp.chat_prompt(self._model, marks))
        return template + sum(self._count_text(message["content"]) for message in messages)

    def _count_text(self, text: str) -> int:
        if self._encoding:
            return len(self._encoding.encode_ordinary(text))
        return len(llamacpp.tokenize(self._model, text, add_bos=False, special=False))

    def write(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,
        stopped: Callable[[], bool],
    ) -> Iterator[str]:
        """Pieces of the next message as they are written; waits while another is."""
        prompt = llamacpp.chat_prompt(self._model, messages)
        with self._lock:
            yield from llamacpp.complete(
                self._model, prompt, max_tokens=max_tokens, seed=SEED, stopped=stopped
            )

    def log_probabilities(
        self,
        conversations: Iterable[Sequence[Mapping[str, str]]],
        reply: str,
        stopped: Callable[[], bool],
    ) -> Iterator[NDArray[np.float32]]:
        """log P of every token of `reply`; of what is too long a part is read.

        It has the model's weights in common with `write` and nothing else: neither waits.
        """
        tokens = llamacpp.tokenize(self._model, reply, add_bos=False, special=False)
        tokens = tokens[:LONGEST_REPLY]
        most = LIKELIHOOD_TOKENS - len(tokens)
        for conversation in conversations:
            prompt = llamacpp.chat_prompt(self._model, conversation)
            if len(prompt) > most:
                prompt = prompt[: most - _LAST_TOKENS] + prompt[-_LAST_TOKENS:]
            if stopped():
                raise Cancelled
            with self._likelihood_lock:
                found = self._likelihood().log_probabilities(prompt, tokens)
            yield found  # without the lock: whoever asked may take its time

    def _likelihood(self) -> llamacpp.LikelihoodContext:
        """Made when it is first needed: it takes memory."""
        if self._likelihood_context is None:
            self._likelihood_context = llamacpp.LikelihoodContext(
                self._model, tokens=LIKELIHOOD_TOKENS, threads=self._threads
            )
        return self._likelihood_context
