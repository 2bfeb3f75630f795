"""Verifies that the sentences that a claim cites support it.

Exact guards for numbers, units and names come first. Then a cross-encoder trained for this
(`tests/benchmarks/training/train_support.py`) reads the claim together with what it cites. See
tests/benchmarks/checking.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from assistant.generation.verification.cutter import Cutter
from assistant.generation.verification.guards import GUARDS, breaks, is_plain
from assistant.types import Check, Evidence
from retrieval.encoders.embedder import CONTEXT, Encoder, Heads
from retrieval.search.sentence_reader import TITLE_TOKENS

THRESHOLD = 0.8
"""Least logit of a supported claim; see tests/benchmarks/checking.md."""
EXCERPT_MARGIN = 2.8
"""How far below the threshold the logit of an excerpt may be if the cutter allows it."""
CLAIM_TOKENS = 96
"""Tokens of the longest claim that is judged; of a longer one the end would not be read."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim read together with a sentence."""

    logit: float
    """That the sentence supports the claim."""
    stances: tuple[float, float, float]
    """Logarithms of the probabilities that it supports it, contradicts it, does neither."""


class SupportModel:
    """The encoder in llama.cpp with its head."""

    def __init__(self, path: Path, heads: Heads, *, threads: int) -> None:
        """Load the GGUF encoder at `path`.

        Raises:
            ModelError: the file is no usable encoder.
        """
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads

    def logit(self, claim: str, sentence: str, title: str = "") -> float:
        """The logit that `sentence` of a paper supports `claim`.

        It is minus infinity if the claim is too long to be read whole; the end of a sentence that
        does not fit into the context is not read.
        """
        compared = self.compare(claim, sentence, title)
        return compared.logit if compared else -math.inf

    def compare(self, claim: str, sentence: str, title: str = "") -> Compared | None:
        """Read a claim together with a `sentence` of a paper; None if the claim is too long."""
        said = self._encoder.tokens(claim, CLAIM_TOKENS + 1)
        if len(said) > CLAIM_TOKENS:
            return None
        encoder = self._encoder
        ids = [encoder.begin, *said, encoder.end]
        ids += [*encoder.tokens(title, TITLE_TOKENS), encoder.end]
        ids += [*encoder.tokens(sentence, CONTEXT - len(ids) - 1), encoder.end]
        first = encoder.vectors(ids)[:1]
        logits = self._heads.of("stance", first)[0]
        supports, contradicts, neither = (logits - np.logaddexp.reduce(logits)).tolist()
        support = float(self._heads.of("support", first)[0, 0])
        return Compared(support, (supports, contradicts, neither))


class Verifier:
    """Decides which written sentences are shown, what they cite, and where evidence may be cut."""

    def __init__(self, model: SupportModel, cutter: Cutter) -> None:
        """Judge with `model`, cut with `cutter`."""
        self._model = model
        self.compare = model.compare
        """How a claim and a sentence of a paper compare; see `SupportModel.compare`."""
        self.cuts = cutter.cuts
        """Where an excerpt of a sentence may begin and end."""

    def needed(
        self, claim: str, cited: Sequence[Evidence], *, is_excerpt: bool = False
    ) -> dict[int, Check]:
        """The first supporting sentence of each cited paper: its place in `cited`, and its check.

        Empty if any cited paper has none. Each sentence is judged alone. `is_excerpt` says that the
        cutter allows the claim as an excerpt of each of `cited`.
        """
        places: dict[str, tuple[int, Check]] = {}
        for at, each in enumerate(cited):
            paper = each.paper
            if paper.id not in places and (
                check := self.check(claim, each.text, paper.title, is_excerpt=is_excerpt)
            ):
                places[paper.id] = at, check
        whole = places.keys() == {each.paper.id for each in cited}
        return dict(places.values()) if whole else {}

    def states(self, sentence: str) -> bool:
        """Whether `sentence` states something, so that it may be evidence.

        Instructions, parts of prompts and text in letters that cannot be checked do not.
        """
        return is_plain(sentence) and not self.cuts(sentence).is_order

    def leans(self, sentence: str) -> bool:
        """Whether `sentence` cannot be understood without the one before it."""
        return self.cuts(sentence).leans

    def supports(
        self, claim: str, sentence: str, title: str = "", *, is_excerpt: bool = False
    ) -> bool:
        """Whether one `sentence` of a paper supports `claim`; see `check`."""
        return self.check(claim, sentence, title, is_excerpt=is_excerpt) is not None

    def check(
        self, claim: str, sentence: str, title: str = "", *, is_excerpt: bool = False
    ) -> Check | None:
        """Why one `sentence` of a paper supports `claim`; None if it does not.

        A sentence supports itself, and an excerpt of it unless the model is rather sure of the
        contrary. What states nothing supports nothing; a title with marks of a prompt is not read.
        """
        if not self.states(sentence):
            return None
        if claim.split() == sentence.split():
            return Check("verbatim")
        title = title if is_plain(title) else ""
        if breaks(claim, [sentence], title):
            return None
        least = THRESHOLD - (EXCERPT_MARGIN if is_excerpt else 0.0)
        logit = self._model.logit(claim, sentence, title)
        rule: Literal["excerpt", "support model"] = "excerpt" if is_excerpt else "support model"
        return Check(rule, logit, least, GUARDS) if logit >= least else None
