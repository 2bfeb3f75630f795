"""The `ChatModel` port, and the one that runs a GGUF model in this process."""

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assistant.reading_ahead import read_ahead
from assistant.tokens import Encoding, encoding_of
from retrieval import llamacpp
from retrieval.chat_template import Messages
from retrieval.decoding import Decoder, Slice, slices
from retrieval.errors import Cancelled, InputError

LIKELIHOOD_TOKENS = 1024
"""What `log_probabilities` reads at most of a conversation and its reply."""
LONGEST_REPLY = 128
"""Tokens of a reply whose likelihood counts."""
_LAST_TOKENS = 64
"""Kept of a conversation too long to be read: what is asked for stands at its end."""
_LEAST_CONTEXT = 512
"""Tokens below which no question with its evidence fits."""
_SAMPLE = (
    "In 2023 we’ve trained GPT-like models on 1,234,567 naïve users' texts:\n\n  it's 3.5% up,\r\n"
    "HE'D say; $\\mathcal{O}(n^2)$ /// 数学 한국어 ЖИзнь ٣٤ 🙂 CamelCase_and-more   \t(e.g. ½)"
)
"""Of what tokenizers treat differently."""
_LOOK_SECONDS = 0.1
"""Between two looks at whether to go on waiting for the model."""


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
        grammar: str = "",
    ) -> Generator[str, None, None]:
        """Pieces of the next message as they are written, one a token.

        Args:
            messages: the conversation so far.
            max_tokens: pieces at most.
            stopped: looked at before each.
            grammar: what may be written, in GBNF. A wish: a model that knows no grammars writes
                freely.

        Raises:
            Cancelled: `stopped()` became true.
        """

    def choose(
        self,
        messages: Sequence[Mapping[str, str]],
        texts: Sequence[str],
        max_tokens: int,
        stopped: Callable[[], bool],
    ) -> tuple[str, int]:
        """The one of `texts` that the next message is where it must be one of them.

        Args:
            messages: the conversation so far.
            texts: all different; those of more than `max_tokens` tokens are left out.
            max_tokens: see there.
            stopped: looked at while the model reads.

        Returns:
            The text and its number of tokens; nothing and 0 if none is short enough.

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

    def __init__(self, path: Path, *, context: int, threads: int, thinking: int = 0) -> None:
        """Load the GGUF model at `path`.

        Args:
            path: the model's file.
            context: tokens of context, no more than the model was trained for.
            threads: threads of the processor.
            thinking: tokens for which a model that thinks may do so before each answer. By default
                it is told that it has: on a processor the thinking takes minutes.

        Raises:
            ModelError: the file is no usable chat model.
            InputError: the thinking leaves no room for an answer.
        """
        self.path = path
        self._model = llamacpp.load(path, context=context, threads=threads)
        self._template = llamacpp.chat_template(self._model)
        self._thinking = thinking if self._template.thinking else 0
        self._decoder = Decoder(self._model)
        self._lock = threading.Lock()
        self._threads = threads
        self._likelihood_context: llamacpp.LikelihoodContext | None = None
        self._likelihood_lock = threading.Lock()
        self._context = min(context, llamacpp.context_trained(self._model)) - self._thinking_room()
        if self._context < _LEAST_CONTEXT:
            raise InputError(
                f"A context of {context:,} tokens leaves {max(self._context, 0):,} for an answer, "
                f"at least {_LEAST_CONTEXT} are needed; raise --context or lower --thinking."
            )
        self._encoding = self._proven_encoding()
        self.count([{"role": "user", "content": "?"}])  # a model without a template fails here

    @property
    def name(self) -> str:
        """The file's name, which tells model and quantization."""
        return self.path.stem

    @property
    def context(self) -> int:
        """Tokens that prompt and answer have together, beside the thinking."""
        return self._context

    def attach(self, adapter: Path) -> None:
        """Write with an adapter from now on; `log_probabilities` stays as it is.

        Raises:
            ModelError: the adapter cannot be used.
        """
        with self._lock:
            llamacpp.attach_adapter(self._model, adapter)
            self._decoder = Decoder(self._model)  # what was read was read without it

    @property
    def gives_likelihoods(self) -> bool:
        """True: llama.cpp gives the logits."""
        return True

    def count(self, messages: Sequence[Mapping[str, str]]) -> int:
        """Tokens of the conversation as the model reads it."""
        marks = [{**message, "content": ""} for message in messages]
        template = sum(map(len, self._prompt(marks)))
        return template + sum(self._count_text(message["content"]) for message in messages)

    def _proven_encoding(self) -> Encoding | None:
        """A fast encoding, if there is one that gives the model's own tokens for a sample.

        A file may name a way to split that its vocabulary was not made with.
        """
        encoding = encoding_of(llamacpp.metadata(self._model), llamacpp.vocabulary(self._model))
        own = llamacpp.tokenize(self._model, _SAMPLE, add_bos=False, special=False)
        return encoding if encoding and encoding.encode_ordinary(_SAMPLE) == own else None

    def _count_text(self, text: str) -> int:
        if self._encoding:
            return len(self._encoding.encode_ordinary(text))
        return len(self._tokens(text))

    def _tokens(self, text: str) -> list[int]:
        return llamacpp.tokenize(self._model, text, add_bos=False, special=False)

    def write(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,
        stopped: Callable[[], bool],
        grammar: str = "",
    ) -> Generator[str, None, None]:
        """Pieces of the next message as they are written; waits while another is.

        What the model has read of the conversation is not read again.
        """
        prompt = slices(self._prompt(messages, think=self._thinking > 0))

        def begin(stopped: Callable[[], bool]) -> Iterator[str]:
            with self._turn(stopped):
                thought = self._thought(prompt, stopped) if self._thinking else []
                yield from self._decoder.write(prompt + thought, max_tokens, grammar, stopped)

        return read_ahead(begin, stopped)

    def choose(
        self,
        messages: Sequence[Mapping[str, str]],
        texts: Sequence[str],
        max_tokens: int,
        stopped: Callable[[], bool],
    ) -> tuple[str, int]:
        """The text that would be written if only these could; waits while another is written."""
        tokens = [tuple(self._tokens(text)) for text in texts]
        short = [at for at, each in enumerate(tokens) if len(each) <= max_tokens]
        if not short:
            return "", 0
        prompt = slices(self._prompt(messages))
        with self._turn(stopped):
            chosen = short[self._decoder.choose(prompt, [tokens[at] for at in short], stopped)]
        return texts[chosen], len(tokens[chosen])

    @contextmanager
    def _turn(self, stopped: Callable[[], bool]) -> Iterator[None]:
        while not self._lock.acquire(timeout=_LOOK_SECONDS):
            if stopped():
                raise Cancelled
        try:
            yield
        finally:
            self._lock.release()

    def _prompt(self, messages: Messages, *, think: bool = False) -> list[list[int]]:
        return llamacpp.chat_prompt(self._model, self._template, messages, think=think)

    def _thought(self, prompt: list[Slice], stopped: Callable[[], bool]) -> list[Slice]:
        """What the model thinks before its answer; what it does not close in time is closed."""
        marks = self._template.thinking
        if marks is None:
            return []
        thought, closed = self._decoder.think(prompt, self._thinking, marks.closes, stopped)
        end = marks.then if closed else f"\n{marks.closes}{marks.then}"
        return thought + slices([self._marks(end)])

    def _thinking_room(self) -> int:
        """Tokens that thinking takes at most, with the marks around it."""
        marks = self._template.thinking
        if marks is None or not self._thinking:
            return 0
        return self._thinking + len(self._marks(f"{marks.opens}\n{marks.closes}{marks.then}"))

    def _marks(self, text: str) -> list[int]:
        return llamacpp.tokenize(self._model, text, add_bos=False, special=True)

    def log_probabilities(
        self,
        conversations: Iterable[Sequence[Mapping[str, str]]],
        reply: str,
        stopped: Callable[[], bool],
    ) -> Iterator[NDArray[np.float32]]:
        """log P of every token of `reply`; of what is too long a part is read.

        It has the model's weights in common with `write` and nothing else: neither waits.
        """
        tokens = self._tokens(reply)[:LONGEST_REPLY]
        most = LIKELIHOOD_TOKENS - len(tokens)
        for conversation in conversations:
            frame, prompt = self._framed(conversation)
            if len(frame) + len(prompt) > most:
                prompt = prompt[: most - len(frame) - _LAST_TOKENS] + prompt[-_LAST_TOKENS:]
            if stopped():
                raise Cancelled
            with self._likelihood_lock:
                found = self._likelihood().log_probabilities(frame, prompt, tokens, stopped)
            yield found  # without the lock: whoever asked may take its time

    def _framed(self, conversation: Messages) -> tuple[list[int], list[int]]:
        """The tokens of a conversation: those with which every one of its kind begins, the rest."""
        empty = [{**message, "content": ""} for message in conversation]
        frame = [token for part in self._prompt(empty) for token in part]
        prompt = [token for part in self._prompt(conversation) for token in part]
        most = min(len(prompt) - 1, LIKELIHOOD_TOKENS // 2)
        same = (ours == any_ for ours, any_ in zip(prompt[:most], frame, strict=False))
        common = sum(takewhile(bool, same))
        return prompt[:common], prompt[common:]

    def _likelihood(self) -> llamacpp.LikelihoodContext:
        """Made when it is first needed: it takes memory."""
        if self._likelihood_context is None:
            self._likelihood_context = llamacpp.LikelihoodContext(
                self._model, tokens=LIKELIHOOD_TOKENS, threads=self._threads
            )
        return self._likelihood_context
