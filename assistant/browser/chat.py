"""The chat: questions, streamed answers, and what can be done with them."""

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import gradio as gr
from markupsafe import Markup

from assistant.access import owner_of
from assistant.browser.actions import ON_LOAD, told
from assistant.browser.examples import examples
from assistant.browser.exchange_html import (
    asking_html,
    coming,
    conversation_html,
    error_html,
    searching,
    waiting,
)
from assistant.browser.past_html import past_html
from assistant.conversations import Conversation, Exchange, Rating, Reason
from assistant.engine import checked_question
from assistant.events import Chosen, Event, Finished, Found, Reranked
from assistant.service import Service, Waiting
from assistant.types import AnswerSentence, Citation, Evidence
from retrieval.errors import Cancelled, UserError
from retrieval.types import Passage

_LOG = logging.getLogger(__name__)
_STOPPED = "Stopped."
_FAILED = "Something unexpected went wrong; ask again. The terminal shows more."
_FOCUS = "() => document.querySelector('#question textarea').focus()"
_QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

Shown = tuple[Any, ...]


class Stops:
    """One flag a session: whether its answer is to be stopped."""

    def __init__(self) -> None:
        """No session has asked yet."""
        self._flags: dict[str, threading.Event] = {}

    def begin(self, session: str) -> threading.Event:
        """A fresh flag for the session's next answer; an answer still running is stopped."""
        self.stop(session)
        self._flags[session] = threading.Event()
        return self._flags[session]

    def stop(self, session: str) -> None:
        """Stop the session's answer, if there is one."""
        if flag := self._flags.get(session):
            flag.set()

    def is_current(self, session: str, flag: threading.Event) -> bool:
        """Whether the session still waits for the answer that `flag` stops."""
        return self._flags.get(session) is flag

    def end(self, session: str) -> None:
        """Stop and forget the session: its page was closed, or it shows something else."""
        self.stop(session)
        self._flags.pop(session, None)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked, and where it is kept."""

    owner: str
    conversation: Conversation
    exchange: Exchange
    position: int


@dataclass(slots=True)
class _Coming:
    """An answer that is still coming."""

    standalone: str = ""
    passages: tuple[Passage, ...] = ()
    chosen: tuple[Evidence, ...] = ()
    sentences: list[AnswerSentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)

    def take(self, event: Event, question: str) -> None:
        """Add what an event tells."""
        match event:
            case Found():
                different = event.standalone_question != question
                self.standalone = event.standalone_question if different else ""
                self.passages = event.passages
            case Reranked():
                self.passages = event.passages
            case Chosen():
                self.chosen = event.evidence
            case Finished():
                pass
            case _:
                self.sentences.append(event.sentence)
                self.citations += event.citations

    def html(self) -> Markup:
        """What can be shown of it."""
        if not self.passages:
            return searching()
        return coming(self.standalone, self.passages, self.chosen, self.sentences, self.citations)


class Chat:
    """The tab: its components, and what happens when they are used."""

    def __init__(self, service: Service, stops: Stops) -> None:
        """Build the components in the Gradio context that is open."""
        self._service = service
        self._stops = stops
        self._build()
        self._connect()

    def _build(self) -> None:
        self.current = gr.Textbox(visible="hidden", elem_id="current")
        self.position = gr.Textbox(visible="hidden", elem_id="position")
        with gr.Row(elem_id="chat"):
            with gr.Column(scale=1, min_width=220, elem_id="side"):
                self.new = gr.Button("New chat", elem_id="new", size="sm")
                gr.Button("Conversations", elem_id="show-past", size="sm")
                self.past = gr.HTML(
                    elem_id="past",
                    js_on_load=ON_LOAD,
                    apply_default_css=False,
                    label="Conversations",
                )
            with gr.Column(scale=4, min_width=320, elem_id="talk"):
                with gr.Column(elem_id="log"):
                    self.conversation = gr.HTML(
                        elem_id="conversation", js_on_load=ON_LOAD, apply_default_css=False
                    )
                    self.answer = gr.HTML(
                        elem_id="answer", js_on_load=ON_LOAD, apply_default_css=False
                    )
                with gr.Row(visible=False, elem_id="editing") as self.editing:
                    gr.HTML(
                        "<p>You are editing an earlier question. Send asks it again and removes "
                        "what came after it.</p>",
                        js_on_load=None,
                        apply_default_css=False,
                    )
                    self.cancel = gr.Button("Cancel", size="sm", elem_id="cancel", min_width=80)
                with gr.Row(elem_id="ask"):
                    self.question = gr.Textbox(
                        elem_id="question",
                        placeholder="Ask about the papers …",
                        label="Question",
                        show_label=False,
                        lines=1,
                        max_lines=6,
                        autofocus=True,
                        scale=8,
                    )
                    self.send = gr.Button(
                        "Send", variant="primary", elem_id="send", min_width=90, scale=1
                    )
                    self.stop = gr.Button(
                        "Stop", elem_id="stop", min_width=90, scale=1, visible=False
                    )

    def _connect(self) -> None:
        view = [self.current, self.conversation, self.answer, self.past]
        line = [self.question, self.position, self.editing, self.send, self.stop]
        asking: dict[str, Any] = {
            "fn": self._respond,
            "inputs": [self.question, self.current, self.position],
            "outputs": [*view, *line],
            "concurrency_limit": None,  # the service has a line of its own
            **_QUIET,
        }
        self.question.submit(**asking)
        self.send.click(**asking)
        example: dict[str, Any] = {"fn": _question_told, "outputs": self.question, **_QUIET}
        self.conversation.example_select(**example).then(**asking)
        again = {**example, "fn": _again_told, "outputs": [self.question, self.position]}
        self.conversation.retry(**again).then(**asking)
        self.conversation.edit(
            _edit_told, outputs=[self.question, self.position, self.editing], **_QUIET
        ).then(js=_FOCUS)
        self.cancel.click(
            lambda: ("", "", gr.update(visible=False)),
            outputs=[self.question, self.position, self.editing],
            queue=False,
            **_QUIET,
        )
        self.stop.click(self._stop, queue=False, **_QUIET)
        self.new.click(self._new, outputs=[*view, *line], queue=False, **_QUIET).then(js=_FOCUS)
        self.past.select(self._open, inputs=self.current, outputs=[*view, *line], **_QUIET)
        self.past.edit(
            self._rename, inputs=self.current, outputs=[self.answer, self.past], **_QUIET
        )
        self.past.delete(self._delete, inputs=self.current, outputs=[*view, *line], **_QUIET)
        for listen, fn in (
            (self.conversation.like, self._like),
            (self.conversation.submit, self._report),
            (self.conversation.undo, self._take_back),
        ):
            listen(fn, inputs=self.current, outputs=[self.conversation, self.answer], **_QUIET)

    @property
    def shown(self) -> list[gr.components.Component]:
        """What `opened` shows."""
        return [self.current, self.conversation, self.answer, self.past]

    def opened(self, request: gr.Request) -> Shown:
        """The conversation that the page's address names, or none."""
        return self._view(_owner(request), str(request.query_params.get("c") or ""))

    def _respond(
        self, question: str, current: str, position: str, request: gr.Request
    ) -> Iterator[Shown]:
        session = session_of(request)
        flag = self._stops.begin(session)
        skip = gr.skip()
        try:
            asked = self._asked(question, current, position, _owner(request))
        except UserError as error:
            yield skip, skip, error_html(str(error)), skip, skip, skip, skip, *_IDLE
            return
        before = replace(
            asked.conversation, exchanges=asked.conversation.exchanges[: asked.position]
        )
        view = asked.conversation.id, conversation_html(before, ()), self._past(asked)
        emptied: Any = ""  # once: what is typed meanwhile stays
        for html in self._coming(asked, flag):
            if not self._stops.is_current(session, flag):
                continue  # the page shows something else; the answer's end is kept still
            id_, conversation, past = view
            shown = asking_html(asked.exchange.question, html)
            yield id_, conversation, shown, past, emptied, "", gr.update(visible=False), *_BUSY
            view, emptied = (skip, skip, skip), skip
        if self._stops.is_current(session, flag):
            ended = self._view(asked.owner, asked.conversation.id)
            yield *ended, skip, skip, skip, *_IDLE
        else:
            yield (skip,) * 9  # Gradio shows what was yielded last once more

    def _asked(self, question: str, current: str, position: str, owner: str) -> _Asked:
        """The question, kept before it is answered.

        Raises:
            UserError: it cannot be asked.
        """
        question = checked_question(question)
        kept = self._service.conversations
        conversation = kept.read(owner, current) if current else None
        if conversation is None:
            conversation = kept.read(owner, kept.begin(owner, question))
            assert conversation is not None  # noqa: S101 - it was begun just now
        place = int(position) if position.isdigit() else len(conversation.exchanges)
        exchange = kept.ask(owner, conversation.id, question, place)
        return _Asked(owner, conversation, exchange, place)

    def _coming(self, asked: _Asked, flag: threading.Event) -> Iterator[Markup]:
        """The answer as it grows; how it ended is kept."""
        partial = _Coming()
        turns = replace(
            asked.conversation, exchanges=asked.conversation.exchanges[: asked.position]
        ).turns
        ended = asked.exchange
        yield partial.html()
        try:
            for event in self._service.ask(
                asked.exchange.question, turns, flag.is_set, owner=asked.owner
            ):
                if isinstance(event, Waiting):
                    yield waiting(event.ahead, event.seconds)
                    continue
                if isinstance(event, Finished):
                    ended = replace(ended, answer=event.answer, notice="")
                    break
                partial.take(event, asked.exchange.question)
                yield partial.html()
        except Cancelled:
            ended = replace(ended, notice=_STOPPED)
        except UserError as error:
            ended = replace(ended, notice=str(error))
        except Exception:
            _LOG.exception("A question could not be answered.")
            ended = replace(ended, notice=_FAILED)
        if ended.answer is None:
            shown, cited = tuple(partial.sentences), tuple(partial.citations)
            ended = replace(ended, sentences=shown, citations=cited)
        self._service.conversations.keep(ended)

    def _view(self, owner: str, id_: str) -> Shown:
        try:
            conversation = self._service.conversations.read(owner, id_) if id_ else None
            listed = self._service.conversations.listed(owner)
        except UserError as error:
            return id_, gr.skip(), error_html(str(error)), gr.skip()
        current = conversation.id if conversation else ""
        suggested = [] if conversation else examples(self._service)
        return current, conversation_html(conversation, suggested), "", past_html(listed, current)

    def _past(self, asked: _Asked) -> str:
        return past_html(self._service.conversations.listed(asked.owner), asked.conversation.id)

    def _stop(self, request: gr.Request) -> None:
        self._stops.stop(session_of(request))

    def _new(self, request: gr.Request) -> Shown:
        self._stops.end(session_of(request))
        return *self._view(_owner(request), ""), "", "", gr.update(visible=False), *_IDLE

    def _open(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        chosen = told(event, "conversation")
        if chosen == current:
            return (gr.skip(),) * 9
        self._stops.end(session_of(request))
        view = self._view(_owner(request), chosen)
        return *view, gr.skip(), "", gr.update(visible=False), *_IDLE

    def _rename(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        owner, kept = _owner(request), self._service.conversations
        try:
            kept.rename(owner, told(event, "conversation"), told(event, "name"))
            return gr.skip(), past_html(kept.listed(owner), current)
        except UserError as error:
            return error_html(str(error)), gr.skip()

    def _delete(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        owner, id_ = _owner(request), told(event, "conversation")
        kept = self._service.conversations
        kept.delete(owner, id_)
        if id_ == current:
            return self._new(request)
        skip = gr.skip()
        return skip, skip, skip, past_html(kept.listed(owner), current), *[skip] * 5

    def _like(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        return self._rated(current, told(event, "exchange"), Rating(Reason.GOOD), request)

    def _report(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        said = told(event, "reason")
        reason = Reason(said) if said in set(Reason) else Reason.OTHER
        rating = Rating(reason, told(event, "comment").strip())
        return self._rated(current, told(event, "exchange"), rating, request)

    def _take_back(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        return self._rated(current, told(event, "exchange"), None, request)

    def _rated(
        self, current: str, exchange: str, rating: Rating | None, request: gr.Request
    ) -> Shown:
        owner = _owner(request)
        try:
            self._service.conversations.rate(owner, current, exchange, rating)
        except UserError as error:
            return gr.skip(), error_html(str(error))
        _, conversation, said, _ = self._view(owner, current)
        return conversation, said


_BUSY = (gr.update(visible=False), gr.update(visible=True))
_IDLE = (gr.update(visible=True), gr.update(visible=False))


def session_of(request: gr.Request) -> str:
    """What tells one open page from another."""
    return request.session_hash or ""


def _owner(request: gr.Request) -> str:
    return owner_of(request.request.scope) if request.request else ""


def _question_told(event: gr.EventData) -> str:
    return told(event, "question")


def _again_told(event: gr.EventData) -> tuple[str, str]:
    return told(event, "question"), told(event, "position")


def _edit_told(event: gr.EventData) -> Shown:
    return told(event, "question"), told(event, "position"), gr.update(visible=True)
