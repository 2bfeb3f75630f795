"""Whether the sentences that a claim cites support it.

A cross-encoder that was trained for this (`tests/benchmarks/training/train_support.py`) reads the
claim together with what it cites; exact guards for numbers, units and names come before it. See
tests/benchmarks/checking.md.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from assistant.generation.verification.cutter import Cuts, Cutter
from assistant.generation.verification.guards import breaks
from assistant.statements import states
from assistant.types import Evidence
from retrieval.search.encoder import CONTEXT, Encoder, Heads
from retrieval.search.reader import TITLE_TOKENS

THRESHOLD = -0.5
"""Least logit of a claim that holds; see tests/benchmarks/checking.md."""
EXCERPT_MARGIN = 1.5
"""How far below that the logit of an excerpt may be that the cutter allows."""
CLAIM_TOKENS = 96
"""Tokens of the longest claim that is judged: the end of a longer one would not be read."""


class SupportModel:
    """The encoder in llama.cpp with its head."""

    def __init__(self, path: Path, heads: Heads, *, threads: int) -> None:
        """Load the GGUF encoder at `path`.

        Raises:
            ModelError: the file is no usable encoder.
        """
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads

    def logit(self, claim: str, sentences: Sequence[str], title: str = "") -> float:
        """How sure it is that `sentences` of one paper support `claim`; higher is surer.

        Args:
            claim: one sentence; what is too long to be read whole gets minus infinity.
            sentences: in reading order; those that do not fit into the context are not read.
            title: of their paper.
        """
        encoder = self._encoder
        said = encoder.tokens(claim, CLAIM_TOKENS + 1)
        if len(said) > CLAIM_TOKENS:
            return -math.inf
        ids = [encoder.begin, *said, encoder.end]
        ids += [*encoder.tokens(title, TITLE_TOKENS), encoder.end]
        for sentence in sentences:
            room = CONTEXT - len(ids) - 1
            if room < 1:
                break
            ids += [*encoder.tokens(sentence, room), encoder.end]
        return float(self._heads.of("support", encoder.vectors(ids)[:1])[0, 0])


class Verifier:
    """Decides what may be cut out of sentences, which of what is written is shown, and what that
    cites."""

    def __init__(self, model: SupportModel, cutter: Cutter, threshold: float = THRESHOLD) -> None:
        """Judge with `model`, cut with `cutter`."""
        self._model = model
        self._cutter = cutter
        self._threshold = threshold

    def holds(self, claim: str, cited: Sequence[Evidence]) -> bool:
        """Whether every paper cited has a cited sentence that supports `claim` by itself."""
        return bool(self.needed(claim, cited))

    def needed(
        self, claim: str, cited: Sequence[Evidence], *, is_excerpt: bool = False
    ) -> tuple[int, ...]:
        """The places in `cited` of the sentences that support a claim, the first of each paper.

        Empty if any paper has none. What no sentence supports by itself, no two support together.

        Args:
            claim: one sentence.
            cited: what it is held against.
            is_excerpt: whether it was cut out of each of `cited` where that may be cut.
        """
        places: dict[str, int] = {}
        for at, each in enumerate(cited):
            paper = each.paper
            if paper.id not in places and self.supports(
                claim, each.text, paper.title, is_excerpt=is_excerpt
            ):
                places[paper.id] = at
        return tuple(places.values()) if places.keys() == {each.paper.id for each in cited} else ()

    def cuts(self, sentence: str) -> Cuts:
        """Where an excerpt of `sentence` may begin and stop without saying something else."""
        return self._cutter.cuts(sentence)

    def supports(
        self, claim: str, sentence: str, title: str = "", *, is_excerpt: bool = False
    ) -> bool:
        """Whether `sentence` of one paper supports `claim`.

        What it says word for word it supports, and an excerpt of it unless the model is rather
        sure of the contrary. A sentence that gives orders instead of stating something supports
        nothing; a title that does is not read.
        """
        if not states(sentence) or (not is_excerpt and self._cutter.gives_orders(sentence)):
            return False
        if _one_line(claim) == _one_line(sentence):
            return True
        title = title if states(title) else ""
        if breaks(claim, [sentence], title):
            return False
        least = self._threshold - (EXCERPT_MARGIN if is_excerpt else 0.0)
        return self._model.logit(claim, [sentence], title) >= least


def _one_line(text: str) -> str:
    return " ".join(text.split())
