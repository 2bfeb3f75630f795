"""Sentences that hold: written by the model from evidence, checked before they are shown."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from assistant.answer_grammar import answer_grammar
from assistant.answer_settings import WritingSettings
from assistant.budget import fitting
from assistant.chat_model import ChatModel
from assistant.checking import is_supported
from assistant.citing import Draft, drafts, keys_of
from assistant.events import Shown
from assistant.making import Page
from assistant.prompting import SILENT_REPLY, Message, answer_messages
from assistant.reply import until_repeating, without_thinking
from assistant.statements import states
from assistant.types import Evidence, Tokens


class Writer:
    """Fills a page with sentences that its evidence supports."""

    def __init__(self, model: ChatModel, settings: WritingSettings | None = None) -> None:
        """Write with `model`."""
        self._model = model
        self._settings = settings or WritingSettings()
        self.tokens = Tokens(prompt=0, completion=0)
        """What the last page took, once it is done."""
        self.declined = False
        """Whether the model, asked, said that the evidence does not answer."""
        self.held = self.failed = 0
        """Sentences of the model that the evidence supports, and that it does not."""

    def fill(self, page: Page, question: str, stopped: Callable[[], bool]) -> Iterator[Shown]:
        """Sentences as they are written and found to hold.

        Raises:
            InputError: the question does not fit into the model's context.
            Cancelled: `stopped()` became true; the model is free.
        """
        if self._settings.asks:
            yield from self._written(page, question, stopped)
        if not page.sentences and not self.declined:
            yield from self._quoted(page)

    def _written(self, page: Page, question: str, stopped: Callable[[], bool]) -> Iterator[Shown]:
        """What the model writes, as long as it holds."""
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
        self.tokens = Tokens(prompt=self._model.count(messages), completion=writing.count)

    def _grammar(self, keys: Sequence[str]) -> str:
        return answer_grammar(keys, self._settings.most_sentences) if self._settings.grammar else ""

    def _is_full(self, page: Page) -> bool:
        return len(page.sentences) >= self._settings.most_sentences

    def _checked(self, written: Iterator[Draft], page: Page) -> Iterator[Shown]:
        """Sentences that hold; what does not is replaced by the evidence it stands on.

        Where the first fails nothing is shown: few of those behind it would hold. A model that
        says the same again is not read on either.
        """
        said: set[str] = set()
        for draft in written:
            if draft.text == SILENT_REPLY and not page.sentences:
                self.declined = True
                return
            notes = self._notes_of(draft, page.evidence)
            self.held += bool(notes)
            self.failed += not notes
            if draft.text in said or not (notes or page.sentences):
                return
            said.add(draft.text)
            shown = page.verified(draft.text, notes) if notes else page.in_place_of(draft)
            if shown:
                yield shown
            if self.failed >= self._settings.most_failures or self._is_full(page):
                return

    def _notes_of(self, draft: Draft, evidence: Sequence[Evidence]) -> tuple[int, ...]:
        """The notes that a draft is shown with; none if it does not hold."""
        if self._settings.checks:
            return _supporting(draft, evidence)
        return draft.notes or (1,)

    def _quoted(self, page: Page) -> Iterator[Shown]:
        """The evidence in its own order."""
        for note in range(1, len(page.evidence) + 1):
            if not self._is_full(page):
                yield page.quote(note)


def _supporting(draft: Draft, evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """The notes that support a draft: those it cites, else one that does by itself."""
    cited = [evidence[number - 1].text for number in draft.notes]
    if cited and all(map(states, cited)) and is_supported(draft.text, cited):
        return draft.notes
    for number, sentence in enumerate(evidence, start=1):
        if states(sentence.text) and is_supported(draft.text, [sentence.text]):
            return (number,)
    return ()


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
        if writing.count < most or draft.text.endswith((".", "!", "?")):
            yield draft
