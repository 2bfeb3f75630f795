"""Writes sentences from evidence with the chat model, verifies them, then quotes the evidence.

A model that writes well is asked for a whole answer, with citation marks. The default model, with
its adapter, is asked for an excerpt of a paper's best sentence. If neither is asked, or no sentence
is supported, the answer is the evidence alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby

from assistant.generation.answer_builder import DraftAnswer
from assistant.generation.citations import (
    WrittenSentence,
    answer_grammar,
    keys_of,
    until_repeating,
    without_thinking,
    written_sentences,
)
from assistant.generation.prompts import (
    SILENT_REPLY,
    Message,
    answer_messages,
    brief_messages,
    fitting,
)
from assistant.generation.verification.support import Verifier
from assistant.models.chat import ChatModel
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.settings import WritingMode, WritingSettings
from assistant.types import Check, Evidence, SentenceVerified, Tokens
from retrieval.types import Paper

BRIEF_TOKENS = 96
"""Tokens of the one sentence that is written about a paper."""
LOST = 2.0
"""How much less likely than the best an excerpt may answer, in logits; see
tests/benchmarks/answers.md."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the excerpts that may be written should be like."""

    begins: Callable[[str], bool] | None = None
    """Whether a phrase that begins with these words may be an answer."""
    prefers: Sequence[Callable[[str], bool]] = ()
    """The first that any excerpt is like excludes the others."""
    answers: Callable[[str, Paper], float] | None = None
    """The logit that a text of a paper answers. An excerpt must answer nearly as well as the best
    does: the part that was asked for may have been cut off."""

    def of(self, excerpts: Sequence[str], paper: Paper) -> list[str]:
        """Those of `excerpts` that may be written."""
        alike = (list(filter(prefer, excerpts)) for prefer in self.prefers)
        excerpts = next(filter(None, alike), list(excerpts))
        if self.answers is None or len(excerpts) < 2:  # noqa: PLR2004
            return list(excerpts)
        logits = [self.answers(excerpt, paper) for excerpt in excerpts]
        least = max(logits) - LOST
        return [each for each, logit in zip(excerpts, logits, strict=True) if logit >= least]


ANYTHING = Wanted()


class Writer:
    """Fills a draft with sentences that its evidence supports, and with the evidence."""

    def __init__(
        self,
        model: ChatModel,
        verifier: Verifier,
        settings: WritingSettings | None = None,
        sampling: Sampling = LIKELIEST,
    ) -> None:
        """Write with `model`; show only what `verifier` finds supported.

        Only whole answers are written with `sampling`.
        """
        self._model = model
        self._verifier = verifier
        self._settings = settings or WritingSettings()
        self._sampling = sampling
        self.tokens = Tokens(prompt=0, completion=0)
        """Tokens read and written so far."""
        self.declined = False
        """Whether the model, asked for a whole answer, replied that the notes do not say."""
        self.failed = 0
        """Sentences of the model that the evidence does not support."""

    def generate(
        self,
        draft: DraftAnswer,
        question: str,
        stopped: Callable[[], bool],
        *,
        each_paper: bool = False,
        wanted: Wanted = ANYTHING,
    ) -> Iterator[SentenceVerified]:
        """Sentences as soon as they are written and verified, then quotations of the evidence.

        Args:
            draft: takes the sentences.
            question: as it can be understood alone.
            stopped: checked while the model writes.
            each_paper: whether a sentence of every paper is written, not only of the first.
            wanted: what excerpts should be like.

        Raises:
            InputError: the question does not fit into the context of a model that writes freely.
            Cancelled: `stopped()` became true; the model is free.
        """
        if self._settings.mode is WritingMode.FREE:
            yield from self._whole_answer(draft, question, stopped)
        elif self._settings.mode is WritingMode.BRIEF:
            yield from self._brief_answers(draft, question, stopped, wanted, each_paper=each_paper)
        if not self.declined:
            yield from map(draft.add_quote, draft.unquoted)

    def _whole_answer(
        self, draft: DraftAnswer, question: str, stopped: Callable[[], bool]
    ) -> Iterator[SentenceVerified]:
        """The sentences of a model that writes freely, until they are no longer supported."""
        keys = keys_of(question, draft.evidence)

        def prompt(sentences: int) -> list[Message]:
            return answer_messages(question, draft.evidence[:sentences], keys[:sentences])

        settings = self._settings
        sentences = fitting(self._model, prompt, len(keys), settings.max_tokens)
        messages = prompt(sentences)
        grammar = ""
        if settings.grammar:
            grammar = answer_grammar(keys[:sentences], settings.most_sentences)
        self._count(messages, 0)
        writing = self._model.write(messages, settings.max_tokens, stopped, grammar, self._sampling)
        with closing(writing) as pieces:
            answer = until_repeating(without_thinking(self._counted(pieces)))
            yield from self._verified(written_sentences(answer, keys), draft)

    def _verified(
        self, written: Iterator[WrittenSentence], draft: DraftAnswer
    ) -> Iterator[SentenceVerified]:
        """The sentences that are supported.

        The model is stopped if its first sentence is not, since few of the others would be, and if
        it repeats a sentence. Half a sentence, where the token limit cut it off, may mislead.
        """
        said: set[str] = set()
        for sentence in written:
            is_cut = self.tokens.completion >= self._settings.max_tokens
            if is_cut and not sentence.text.endswith((".", "!", "?")):
                continue
            if sentence.text == SILENT_REPLY and not said:
                self.declined = True
                return
            checks = self._support(sentence, draft)
            if sentence.text in said or not (checks or said):
                return
            said.add(sentence.text)
            if checks and (shown := draft.add_written(sentence.text, tuple(checks), checks)):
                yield shown
            if self.failed >= self._settings.most_failures:
                return
            if len(said) >= self._settings.most_sentences:
                return

    def _support(
        self, sentence: WrittenSentence, draft: DraftAnswer, *, is_excerpt: bool = False
    ) -> dict[int, Check]:
        """The numbers of the evidence that supports a sentence, with its checks, if any does.

        A sentence is checked against the evidence that it cites; if it cites none, against that of
        every paper in turn.
        """
        for numbers in [sentence.cited] if sentence.cited else _numbers_by_paper(draft):
            if not self._settings.checks:
                return dict.fromkeys(numbers, Check("unchecked"))
            cited = [draft.evidence[number - 1] for number in numbers]
            if places := self._verifier.needed(sentence.text, cited, is_excerpt=is_excerpt):
                return {numbers[place]: check for place, check in places.items()}
        self.failed += 1
        return {}

    def _brief_answers(
        self,
        draft: DraftAnswer,
        question: str,
        stopped: Callable[[], bool],
        wanted: Wanted,
        *,
        each_paper: bool,
    ) -> Iterator[SentenceVerified]:
        """An excerpt of the first paper's best sentence, or of each paper's, if supported."""
        papers = list(_numbers_by_paper(draft))
        for numbers in papers if each_paper else papers[:1]:
            best = max(numbers, key=lambda number: draft.evidence[number - 1].score)
            evidence = draft.evidence[best - 1]
            text = self._excerpt(evidence, question, stopped, wanted, may_be_silent=each_paper)
            # A phrase may have lost its subject, so it is checked like a sentence of the model.
            is_excerpt = text in self._verifier.cuts(evidence.text).excerpts()
            sentence = WrittenSentence(text, (best,))
            if text and (checks := self._support(sentence, draft, is_excerpt=is_excerpt)):
                if best - 1 in numbers and self._verifier.leans(text):
                    before = WrittenSentence(draft.evidence[best - 2].text, (best - 1,))
                    if known := self._support(before, draft):
                        yield draft.add_excerpt(before.text, best - 1, known)
                yield draft.add_excerpt(text, best, checks)

    def _excerpt(
        self,
        evidence: Evidence,
        question: str,
        stopped: Callable[[], bool],
        wanted: Wanted,
        *,
        may_be_silent: bool,
    ) -> str:
        """The excerpt of a sentence that the default model chooses; empty if there is none.

        The model may be silent only if there are several papers, some of which may not answer.
        """
        if not self._verifier.states(evidence.text):
            return ""
        cuts = self._verifier.cuts(evidence.text)
        phrases = cuts.phrases_beginning(wanted.begins) if wanted.begins else []
        excerpts = list(dict.fromkeys([*cuts.excerpts(), *phrases]))
        excerpts = wanted.of(excerpts, evidence.paper)
        messages = brief_messages(question, evidence.paper.title, [evidence.text])
        room = self._model.context - self._model.count(messages)
        if not excerpts or room < BRIEF_TOKENS:
            return ""
        replies = [*excerpts, SILENT_REPLY] if may_be_silent else excerpts
        text, tokens = self._model.choose(messages, replies, BRIEF_TOKENS, stopped)
        self._count(messages, tokens)
        return text if text in excerpts else ""

    def _counted(self, pieces: Iterable[str]) -> Iterator[str]:
        """The pieces of a reply, counted: llama.cpp gives one a token."""
        for piece in pieces:
            self._count([], 1)
            yield piece

    def _count(self, messages: Sequence[Message], completion: int) -> None:
        prompt = self._model.count(messages) if messages else 0
        self.tokens = Tokens(self.tokens.prompt + prompt, self.tokens.completion + completion)


def _numbers_by_paper(draft: DraftAnswer) -> Iterator[tuple[int, ...]]:
    numbered = enumerate(draft.evidence, start=1)
    for _, group in groupby(numbered, key=lambda each: each[1].paper.id):
        yield tuple(number for number, _ in group)
