"""Sentences written by the model from evidence, checked before they are shown; then the evidence.

A model that writes well is asked for a whole answer, with citation marks. The default model, with
its adapter, is asked for an excerpt of a paper's best sentence. Where neither is asked, or nothing
holds, the answer is the evidence alone.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import groupby

from assistant.answer_grammar import answer_grammar
from assistant.answer_settings import WritingMode, WritingSettings
from assistant.budget import fitting
from assistant.chat_model import ChatModel
from assistant.citing import Draft, drafts, keys_of
from assistant.events import Shown
from assistant.generation.verification.support import Verifier
from assistant.making import Page
from assistant.prompting import (
    SILENT_REPLY,
    Message,
    answer_messages,
    brief_messages,
)
from assistant.reply import until_repeating, without_thinking
from assistant.statements import states
from assistant.types import Evidence, Tokens

BRIEF_TOKENS = 96
"""Tokens of the one sentence that is written of a paper."""
_ENDS = (".", "!", "?")


class Writer:
    """Fills one page with sentences that its evidence supports, and with the evidence."""

    def __init__(
        self, model: ChatModel, verifier: Verifier, settings: WritingSettings | None = None
    ) -> None:
        """Write with `model` what `verifier` lets pass."""
        self._model = model
        self._verifier = verifier
        self._settings = settings or WritingSettings()
        self.tokens = Tokens(prompt=0, completion=0)
        """What its page took, once that is done."""
        self.declined = False
        """Whether the model, asked for a whole answer, said that the evidence gives none."""
        self.failed = 0
        """Sentences of the model that the evidence does not support."""

    def fill(
        self, page: Page, question: str, stopped: Callable[[], bool], *, of_each: bool = False
    ) -> Iterator[Shown]:
        """What the model writes, as `write`, then the evidence; first what the model copied."""
        yield from self.write(page, question, stopped, of_each=of_each)
        if not self.declined:
            yield from map(page.quote, page.unquoted)

    def write(
        self, page: Page, question: str, stopped: Callable[[], bool], *, of_each: bool = False
    ) -> Iterator[Shown]:
        """Sentences as they are written and found to hold.

        Args:
            page: what to fill.
            question: as it can be understood alone.
            stopped: looked at while the model writes.
            of_each: whether every paper is to answer, not only the first.

        Raises:
            InputError: the question does not fit into the context of a model that writes freely.
            Cancelled: `stopped()` became true; the model is free.
        """
        if self._settings.mode is WritingMode.FREE:
            yield from self._whole_answer(page, question, stopped)
        elif self._settings.mode is WritingMode.BRIEF:
            yield from self._brief_answers(page, question, stopped, of_each=of_each)

    def _whole_answer(
        self, page: Page, question: str, stopped: Callable[[], bool]
    ) -> Iterator[Shown]:
        """What a model that writes freely answers, as long as it holds."""
        keys = keys_of(question, page.evidence)

        def prompt(sentences: int) -> list[Message]:
            return answer_messages(question, page.evidence[:sentences], keys[:sentences])

        most = self._settings.max_tokens
        sentences = fitting(self._model, prompt, len(keys), most)
        messages = prompt(sentences)
        grammar = self._grammar(keys[:sentences])
        with closing(self._model.write(messages, most, stopped, grammar)) as pieces:
            writing = _Counted(pieces)
            answer = until_repeating(without_thinking(writing))
            written = _finished(drafts(answer, keys), writing, most)
            yield from self._checked(written, page)
        self._count(messages, writing.count)

    def _grammar(self, keys: Sequence[str]) -> str:
        return answer_grammar(keys, self._settings.most_sentences) if self._settings.grammar else ""

    def _checked(self, written: Iterator[Draft], page: Page) -> Iterator[Shown]:
        """Sentences that hold.

        Where the first fails the model is not read on: few of those behind it would hold. Nor is
        one that says the same again.
        """
        said: set[str] = set()
        for draft in written:
            if draft.text == SILENT_REPLY and not said:
                self.declined = True
                return
            notes = self._notes_of(draft, page)
            if draft.text in said or not (notes or said):
                return
            said.add(draft.text)
            if notes and (shown := page.verified(draft.text, notes)):
                yield shown
            if self.failed >= self._settings.most_failures:
                return
            if len(said) >= self._settings.most_sentences:
                return

    def _notes_of(self, draft: Draft, page: Page, *, is_excerpt: bool = False) -> tuple[int, ...]:
        """The notes that a draft is shown with: those it cites, of many the one that does.

        None if it does not hold. A draft that cites nothing is held against every paper by itself.
        """
        groups = [draft.notes] if draft.notes else list(_notes_by_paper(page))
        for notes in groups:
            if not self._settings.checks:
                return notes
            cited = _cited(page, notes)
            if places := self._verifier.needed(draft.text, cited, is_excerpt=is_excerpt):
                return tuple(notes[place] for place in places)
        self.failed += 1
        return ()

    def _brief_answers(
        self, page: Page, question: str, stopped: Callable[[], bool], *, of_each: bool
    ) -> Iterator[Shown]:
        """An excerpt of the first paper's best sentence, or of each paper's, if it holds."""
        papers = list(_notes_by_paper(page))
        for notes in papers if of_each else papers[:1]:
            best = max(notes, key=lambda note: page.evidence[note - 1].score)
            text = self._excerpt(page.evidence[best - 1], question, stopped, may_be_silent=of_each)
            if text and self._notes_of(Draft(text, (best,)), page, is_excerpt=True):
                yield page.excerpt(text, best)

    def _excerpt(
        self, note: Evidence, question: str, stopped: Callable[[], bool], *, may_be_silent: bool
    ) -> str:
        """What the trained writer cuts out of a sentence; empty if nothing.

        That the sentence answers has been found out before. Of several papers some may not answer,
        so there it may be silent.
        """
        if not states(note.text):
            return ""
        excerpts = self._verifier.cuts(note.text).excerpts()
        messages = brief_messages(question, note.paper.title, [note.text])
        room = self._model.context - self._model.count(messages)
        if not excerpts or room < BRIEF_TOKENS:
            return ""
        replies = [*excerpts, SILENT_REPLY] if may_be_silent else excerpts
        text, tokens = self._model.choose(messages, replies, BRIEF_TOKENS, stopped)
        self._count(messages, tokens)
        return text if text in excerpts else ""

    def _count(self, messages: Sequence[Message], completion: int) -> None:
        self.tokens = Tokens(
            prompt=self.tokens.prompt + self._model.count(messages),
            completion=self.tokens.completion + completion,
        )


def _cited(page: Page, notes: Sequence[int]) -> list[Evidence]:
    return [page.evidence[note - 1] for note in notes]


def _notes_by_paper(page: Page) -> Iterator[tuple[int, ...]]:
    """The numbers of the notes of each paper, from 1 on."""
    numbered = enumerate(page.evidence, start=1)
    for _, group in groupby(numbered, key=lambda each: each[1].paper.id):
        yield tuple(number for number, _ in group)


class _Counted:
    """The pieces of a stream, counted: llama.cpp gives one piece a token."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for piece in self._pieces:
            self.count += 1
            yield piece


def _finished(written: Iterator[Draft], writing: _Counted, most: int) -> Iterator[Draft]:
    """The drafts without the sentence in which the model had to stop: half of one may mislead."""
    for draft in written:
        if writing.count < most or draft.text.endswith(_ENDS):
            yield draft
