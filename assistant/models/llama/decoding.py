"""Reads prompts with a loaded model: to write, or for the likelihood of a text.

Text is written token by token: the likeliest that a grammar allows, or one drawn.

The same prompt gives the same bytes whatever was asked before. The last digits of a token's numbers
depend on the other tokens of its batch, so a prompt is always read in the same slices, and only
whole slices are kept for the next prompt.
"""

import codecs
import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeVar

import llama_cpp
import numpy as np
from llama_cpp._internals import LlamaContext
from numpy.typing import NDArray

from retrieval.encoders.llamacpp import Stopped, evaluate, silence
from retrieval.types import Cancelled, ModelError

SLICE = 128
"""Prompt tokens evaluated at a time; a stop does not wait for their end, see `ending_early`."""
_TRIED = (32, 1024)
"""How many of the likeliest tokens a grammar checks before it checks all; mostly one is enough."""
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
_LONGEST_TOKEN = 1024
"""Most bytes of a token's text."""

Slice = tuple[int, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen: the likeliest at temperature 0, otherwise drawn."""

    temperature: float = 0.0
    seed: int | None = None
    """The same seed draws the same tokens; None draws others each time."""

    def noise(self, size: int) -> Callable[[], NDArray[np.float64] | float]:
        """Gives noise for each token; the likeliest with it is one drawn (Gumbel 1954)."""
        if not self.temperature:
            return lambda: 0.0
        chance = np.random.default_rng(None if self.seed is None else abs(self.seed))
        return lambda: self.temperature * chance.gumbel(size=size)


LIKELIEST = Sampling()


def slices(parts: Sequence[Sequence[int]]) -> list[Slice]:
    """The parts of a prompt cut into slices; every part begins a new slice."""
    return [
        tuple(part[start : start + SLICE]) for part in parts for start in range(0, len(part), SLICE)
    ]


class _Reading:
    """A context of llama.cpp and the slices that it has read. Not thread-safe.

    Every method raises `Cancelled` once its `stopped()` is true, and `ModelError` if the model
    cannot evaluate the tokens.
    """

    def __init__(self, context: LlamaContext) -> None:
        self._context = context
        self._read: list[Slice] = []

    def _evaluate(self, tokens: Slice, stopped: Stopped, *, logits: int = 1) -> None:
        """Read a slice; its last tokens, as many as `logits`, give logits."""
        silent = len(tokens) - logits
        try:
            evaluate(self._context, tokens, at=self._length(), silent=silent, stopped=stopped)
        except (Cancelled, ModelError):
            self._forget()
            raise
        self._read.append(tokens)

    def _length(self) -> int:
        """Tokens read."""
        return sum(map(len, self._read))

    def _keep(self, count: int) -> int:
        """Forget all but the first `count` slices; return how many could be kept."""
        length = sum(map(len, self._read[:count]))
        has_more = count < len(self._read)
        if length and (not has_more or self._context.kv_cache_seq_rm(-1, length, -1)):
            del self._read[count:]
            return count
        self._forget()  # also what a recurrent model read, which cannot forget a part of it
        return 0

    def _forget(self) -> None:
        """Forget everything, also a slice that was not read to its end."""
        self._context.kv_cache_clear()
        self._read.clear()


class Decoder(_Reading):
    """Continues prompts, cut by `slices`, with one model, one at a time."""

    def __init__(self, model: llama_cpp.Llama) -> None:
        super().__init__(model._ctx)
        self._model = model
        self._vocab = model._model.vocab
        is_control, is_end = llama_cpp.llama_vocab_is_control, llama_cpp.llama_vocab_is_eog
        unwritable = [
            is_control(self._vocab, token) and not is_end(self._vocab, token)
            for token in range(model.n_vocab())
        ]
        self._silenced = np.where(unwritable, np.float32(-np.inf), np.float32(0.0))
        """Summands for the logits that rule out control tokens, except those that end a text."""

    def read(self, prompt: Sequence[Slice], stopped: Stopped) -> None:
        """Read `prompt`; slices that it shares with the last prompt are kept."""
        # The last slice is always read: it gives the logits.
        kept = self._keep(common_length(self._read, prompt[:-1]))
        for each in prompt[kept:]:
            if stopped():
                raise Cancelled
            self._evaluate(each, stopped)

    def write(
        self,
        prompt: Sequence[Slice],
        max_tokens: int,
        grammar: str,
        stopped: Stopped,
        sampling: Sampling = LIKELIEST,
    ) -> Iterator[str]:
        """Continue `prompt`: a piece of text for every token, which may be empty.

        The text keeps to `grammar`, if there is one.
        """
        text = codecs.getincrementaldecoder("utf-8")("replace")
        with closing(_Grammar(self._vocab, grammar)) if grammar else nullcontext() as allowed:
            for token in self._tokens(prompt, max_tokens, allowed, stopped, sampling):
                yield text.decode(self.text_of(token))
        if rest := text.decode(b"", final=True):
            yield rest

    def choose(self, prompt: Sequence[Slice], texts: Sequence[Slice], stopped: Stopped) -> int:
        """The index of the one of `texts` that is written after `prompt` if it must be one of them.

        Each token is the likeliest that continues some text, as in `write`; what all the remaining
        texts share is read at once. The cost is that of reading the text, not of writing it.
        All texts must be different, and at least one token long.
        """
        self.read(prompt, stopped)
        done = 0

        def likeliest(read: Slice, candidates: Sequence[int]) -> int:
            nonlocal done
            if len(read) > done:
                self._evaluate(read[done:], stopped)
                done = len(read)
            logits = self._logits()
            return max(candidates, key=lambda token: logits[token])

        return branches([(*text, self._model.token_eos()) for text in texts], likeliest)

    def think(
        self, prompt: Sequence[Slice], max_tokens: int, closes: str, stopped: Stopped
    ) -> tuple[list[Slice], bool]:
        """The text written until `closes` or for `max_tokens`, and whether it was closed."""
        thought: list[Slice] = []
        end = b""
        for token in self._tokens(prompt, max_tokens, None, stopped, silenced=False):
            thought.append((token,))
            end = (end + self.text_of(token, special=True))[-_LONGEST_TOKEN:]
            if closes.encode() in end:
                return thought, True
        return thought, False

    def text_of(self, token: int, *, special: bool = False) -> bytes:
        """The text of a token; empty for control tokens unless `special`."""
        buffer = ctypes.create_string_buffer(_LONGEST_TOKEN)
        size = len(buffer)
        length = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, size, 0, special)
        return buffer.raw[: max(length, 0)]

    def _tokens(
        self,
        prompt: Sequence[Slice],
        max_tokens: int,
        grammar: "_Grammar | None",
        stopped: Stopped,
        sampling: Sampling = LIKELIEST,
        *,
        silenced: bool = True,
    ) -> Iterator[int]:
        self.read(prompt, stopped)
        noise = sampling.noise(self._model.n_vocab())
        for _ in range(max_tokens):
            if stopped():
                raise Cancelled
            token = self._likeliest(grammar, noise(), silenced=silenced)
            if token is None or llama_cpp.llama_vocab_is_eog(self._vocab, token):
                return
            if grammar:
                grammar.accept(token)
            yield token
            if self._length() == self._model.n_ctx():
                return
            self._evaluate((token,), stopped)

    def _likeliest(
        self, grammar: "_Grammar | None", noise: NDArray[np.float64] | float, *, silenced: bool
    ) -> int | None:
        """The likeliest token, with `noise`, that the grammar allows; None if there is none."""
        logits = self._logits() + noise
        scores = logits + self._silenced if silenced else logits
        best = int(scores.argmax())
        if not grammar or grammar.first_allowed([best]) == best:
            return best
        ranked = np.argsort(-scores, kind="stable")[: np.isfinite(scores).sum()]
        tries = (grammar.first_allowed(ranked[:count]) for count in (*_TRIED, None))
        return next((found for found in tries if found is not None), None)

    def _logits(self) -> NDArray[np.float32]:
        """The logits of the next token, shape (vocabulary,); valid until more is evaluated."""
        size = self._model.n_vocab()
        return np.ctypeslib.as_array(self._context.get_logits_ith(-1), shape=(size,))


class Likelihoods(_Reading):
    """The likelihood of texts after others, in a context of its own on a loaded model's weights.

    So conversations in the model's own context keep what they have read.
    """

    def __init__(self, model: llama_cpp.Llama, *, tokens: int) -> None:
        """Make room for a prompt and its text; `ModelError` if memory is short."""
        parameters = llama_cpp.llama_context_params.from_buffer_copy(model.context_params)
        parameters.n_ctx = parameters.n_batch = tokens
        silence()
        try:
            super().__init__(LlamaContext(model=model._model, params=parameters, verbose=False))
        except ValueError as error:
            raise ModelError(
                f"There is not enough memory for a context of {tokens} tokens; "
                "close other programs or choose a smaller model."
            ) from error
        self._vocabulary = model.n_vocab()

    def after(
        self, frame: Slice, prompt: Sequence[int], text: Sequence[int], stopped: Stopped
    ) -> NDArray[np.float32]:
        """log P (natural) of each token of `text` after `frame` and `prompt`, shape (len(text),).

        Many prompts begin with the same frame, which may be empty. It is a slice by itself, kept
        for the next prompt, so that the same question gives the same bytes whatever was asked
        before. Logits are computed for the text alone.
        """
        self._keep(int(self._read[:1] == [frame]))
        if frame and not self._read:
            self._evaluate(frame, stopped)
        self._evaluate((*prompt, *text[:-1]), stopped, logits=len(text))
        rows: NDArray[np.float32] = np.ctypeslib.as_array(
            self._context.get_logits(), shape=(len(text), self._vocabulary)
        )
        highest = rows.max(axis=1)
        normalizers = highest + np.log(np.exp(rows - highest[:, None]).sum(axis=1))
        chosen: NDArray[np.float32] = rows[np.arange(len(text)), list(text)] - normalizers
        return chosen


class _Grammar:
    """A grammar, in llama.cpp's GBNF with the rule `root`, that advances with each token."""

    def __init__(self, vocab: llama_cpp.llama_vocab_p, source: str) -> None:
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocab, source.encode(), b"root")
        if not self._sampler:
            raise ValueError(f"llama.cpp cannot read the grammar {source!r}")

    def first_allowed(self, tokens: Sequence[int] | NDArray[np.int64]) -> int | None:
        """The first of `tokens` that is allowed next; None if none is."""
        candidates = np.zeros(len(tokens), dtype=_CANDIDATE)
        candidates["id"] = tokens
        array = llama_cpp.llama_token_data_array(
            data=candidates.ctypes.data_as(ctypes.POINTER(llama_cpp.llama_token_data)),
            size=len(tokens),
            selected=-1,
            sorted=False,
        )
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        allowed = np.flatnonzero(np.isfinite(candidates["logit"]))
        return int(tokens[allowed[0]]) if len(allowed) else None

    def accept(self, token: int) -> None:
        llama_cpp.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._sampler)


def branches(texts: Sequence[Slice], choose: Callable[[Slice, Sequence[int]], int]) -> int:
    """The index of one of `texts`, none of which begins another, chosen token by token.

    Wherever they part, `choose` takes the tokens before and chooses one of the next, in order.
    """
    left, at = list(range(len(texts))), 0
    while len(left) > 1:
        most = min(len(texts[each]) for each in left)
        same = next(p for p in range(at, most) if len({texts[each][p] for each in left}) > 1)
        token = choose(texts[left[0]][:same], sorted({texts[each][same] for each in left}))
        left, at = [each for each in left if texts[each][same] == token], same
    return left[0]


def common_length(left: Sequence[T], right: Sequence[T]) -> int:
    """Number of elements that both begin with."""
    same = (ours == theirs for ours, theirs in zip(left, right, strict=False))
    return sum(takewhile(bool, same))
