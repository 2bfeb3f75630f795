"""The chat: its components, and what happens when they are used."""

import threading
from collections.abc import Iterator
from typing import Any

import gradio as gr

from assistant.access import owner_behind
from assistant.browser.actions import ON_LOAD, told
from assistant.browser.answering import Answering, Asked
from assistant.browser.examples import examples
from assistant.browser.exchange_html import asking_html, conversation_html, error_html
from assistant.browser.past_html import past_html
from assistant.browser.stops import Stops
from assistant.conversations import Rating, Reason
from assistant.service import Service
from retrieval.errors import UserError

_FOCUS = "() => document.querySelector('#question textarea').focus()"
_QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

Shown = tuple[Any, ...]


class Chat:
    """The tab: its components, and what happens when they are used."""

    def __init__(self, service: Service, stops: Stops) -> None:
        """Build the components in the Gradio context that is open."""
        self._service = service
        self._stops = stops
        self._answering = Answering(service)
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
        self.past.select(
            self._open,
            inputs=self.current,
            outputs=[*view, *line],
            queue=False,
            trigger_mode="multiple",  # a click while another is answered would be lost
            **_QUIET,
        )
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
        return self._view(owner_behind(request), str(request.query_params.get("c") or ""))

    def _respond(
        self, question: str, current: str, position: str, request: gr.Request
    ) -> Iterator[Shown]:
        session = session_of(request)
        flag = self._stops.begin(session)
        place = int(position) if position.isdigit() else None
        try:
            asked = self._answering.ask(question, current, place, owner_behind(request))
            for shown in self._pictures(asked, flag):
                if self._stops.is_current(session, flag):
                    yield shown
                # Else the page shows something else; the answer's end is kept still.
            last = (*self._view(asked.owner, asked.before.id), *_SKIP[:3], *_IDLE)
        except UserError as error:
            last = (*_SKIP[:2], error_html(str(error)), *_SKIP[:4], *_IDLE)
        # Gradio shows what was yielded last once more: then it must change nothing.
        yield last if self._stops.is_current(session, flag) else _SKIP

    def _pictures(self, asked: Asked, flag: threading.Event) -> Iterator[Shown]:
        """What the page shows while the answer comes."""
        listed = self._service.conversations.listed(asked.owner)
        before = conversation_html(asked.before, ())
        around = asked.before.id, before, past_html(listed, asked.before.id)
        emptied: Any = ""  # once: what is typed meanwhile stays
        for coming in self._answering.answer(asked, flag):
            id_, conversation, past = around
            answer = asking_html(asked.exchange.question, coming)
            yield id_, conversation, answer, past, emptied, "", gr.update(visible=False), *_BUSY
            around, emptied = _SKIP[:3], gr.skip()

    def _view(self, owner: str, id_: str) -> Shown:
        try:
            conversation = self._service.conversations.read(owner, id_) if id_ else None
            listed = self._service.conversations.listed(owner)
        except UserError as error:
            return id_, gr.skip(), error_html(str(error)), gr.skip()
        current = conversation.id if conversation else ""
        suggested = [] if conversation else examples(self._service)
        return (
            current,
            conversation_html(conversation, suggested, self._answering.coming),
            "",
            past_html(listed, current),
        )

    def _stop(self, request: gr.Request) -> None:
        self._stops.stop(session_of(request))

    def _new(self, request: gr.Request) -> Shown:
        self._stops.end(session_of(request))
        view = self._view(owner_behind(request), "")
        return *view, gr.skip(), "", gr.update(visible=False), *_IDLE

    def _open(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        chosen = told(event, "conversation")
        if chosen == current:
            return _SKIP
        self._stops.end(session_of(request))
        view = self._view(owner_behind(request), chosen)
        return *view, gr.skip(), "", gr.update(visible=False), *_IDLE

    def _rename(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        owner, kept = owner_behind(request), self._service.conversations
        try:
            kept.rename(owner, told(event, "conversation"), told(event, "name"))
            return gr.skip(), past_html(kept.listed(owner), current)
        except UserError as error:
            return error_html(str(error)), gr.skip()

    def _delete(self, current: str, event: gr.EventData, request: gr.Request) -> Shown:
        owner, id_ = owner_behind(request), told(event, "conversation")
        try:
            self._service.conversations.delete(owner, id_)
            listed = self._service.conversations.listed(owner)
        except UserError as error:
            return *_SKIP[:2], error_html(str(error)), *_SKIP[:6]
        if id_ == current:
            return self._new(request)
        return *_SKIP[:3], past_html(listed, current), *_SKIP[:5]

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
        owner = owner_behind(request)
        try:
            self._service.conversations.rate(owner, current, exchange, rating)
        except UserError as error:
            return gr.skip(), error_html(str(error))
        _, conversation, said, _ = self._view(owner, current)
        return conversation, said


_SKIP: Shown = (gr.skip(),) * 9
_BUSY = (gr.update(visible=False), gr.update(visible=True))
_IDLE = (gr.update(visible=True), gr.update(visible=False))


def session_of(request: gr.Request) -> str:
    """What tells one open page from another."""
    return request.session_hash or ""


def _question_told(event: gr.EventData) -> str:
    return told(event, "question")


def _again_told(event: gr.EventData) -> tuple[str, str]:
    return told(event, "question"), told(event, "position")


def _edit_told(event: gr.EventData) -> Shown:
    return told(event, "question"), told(event, "position"), gr.update(visible=True)
