"""The chat tab: its components, and the events of the page that change them."""

import threading
from collections.abc import Iterator
from typing import Any

import gradio as gr

from assistant.server.auth import owner_behind
from assistant.server.history import Rating, Reason
from assistant.server.service import Service
from assistant.server.web.answering import Answering, PendingQuestion, Stops
from assistant.server.web.exchange_html import asking_html, conversation_html, past_html
from assistant.server.web.html import ON_LOAD, QUIET, error_html, event_field
from retrieval.types import UserError

_EXAMPLES = {
    "Neural Collapse Under MSE Loss: Proximity to and Dynamics on the Central Path": (
        "What is neural collapse and when does it appear?"
    ),
    "Learning Strides in Convolutional Neural Networks": (
        "How can a convolutional network learn its strides?"
    ),
    "Machine Unlearning of Federated Clusters": (
        "How much faster is machine unlearning of federated clusters than retraining?"
    ),
    "Graph Contrastive Learning for Skeleton-based Action Recognition": (
        "Which papers recognise human actions from skeleton sequences?"
    ),
}
"""Titles of seed papers, and questions that they answer."""
_FOCUS = "() => document.querySelector('#question textarea').focus()"
_HIDDEN, _VISIBLE = gr.update(visible=False), gr.update(visible=True)

Updates = dict[Any, Any]
"""New values of components; components that are left out do not change."""


class Chat:
    """The tab: its components, and what happens when they are used."""

    def __init__(self, service: Service, stops: Stops) -> None:
        """Build the components in the open Gradio context."""
        self._service = service
        self._stops = stops
        self._answering = Answering(service)
        self._build()
        self.view = [self.current, self.conversation, self.answer, self.past]
        """The components that `opened` fills."""
        self._idle: Updates = {self.send: _VISIBLE, self.stop: _HIDDEN}
        self._not_editing: Updates = {self.position: "", self.editing: _HIDDEN}
        self._connect()

    def opened(self, request: gr.Request) -> Updates:
        """Show the conversation that the page's address names, or a new one."""
        return self._view(owner_behind(request), str(request.query_params.get("c") or ""))

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
        all_parts = [*self.view, *self._not_editing, *self._idle, self.question]
        asking: dict[str, Any] = {
            "fn": self._respond,
            "inputs": [self.question, self.current, self.position],
            "outputs": all_parts,
            "concurrency_limit": None,  # the service has its own queue
            **QUIET,
        }
        self.question.submit(**asking)
        self.send.click(**asking)
        typed = [self.question, self.position, self.editing]
        for listen in (self.conversation.example_select, self.conversation.retry):
            listen(self._fill_in, outputs=typed, **QUIET).then(**asking)
        self.conversation.edit(self._edit, outputs=typed, **QUIET).then(js=_FOCUS)
        self.cancel.click(
            lambda: self._not_editing | {self.question: ""}, outputs=typed, queue=False, **QUIET
        )
        self.stop.click(self._stop, queue=False, **QUIET)
        self.new.click(self._new, outputs=all_parts, queue=False, **QUIET).then(js=_FOCUS)
        self.past.select(
            self._open,
            inputs=self.current,
            outputs=all_parts,
            queue=False,
            trigger_mode="multiple",  # by default a click during another one would be lost
            **QUIET,
        )
        self.past.delete(self._delete, inputs=self.current, outputs=all_parts, **QUIET)
        for listen, fn in (
            (self.past.edit, self._rename),
            (self.conversation.like, self._like),
            (self.conversation.submit, self._report),
            (self.conversation.undo, self._take_back),
        ):
            listen(fn, inputs=self.current, outputs=self.view, **QUIET)

    def _respond(
        self, question: str, current: str, position: str, request: gr.Request
    ) -> Iterator[Updates]:
        session = session_of(request)
        flag = self._stops.begin(session)
        place = int(position) if position.isdigit() else None
        try:
            pending = self._answering.ask(question, current, place, owner_behind(request))
            for updates in self._answer_updates(pending, flag):
                if self._stops.is_current(session, flag):
                    yield updates
                # Else the page shows another conversation; the answer is still stored.
            last = self._view(pending.owner, pending.before.id) | self._idle
        except UserError as error:
            last = self._error(error) | self._idle
        # Gradio shows the last value a second time, so it must change nothing on another page.
        yield last if self._stops.is_current(session, flag) else gr.skip()

    def _answer_updates(self, pending: PendingQuestion, flag: threading.Event) -> Iterator[Updates]:
        """The question as it is sent, then its answer as it grows."""
        listed = self._service.conversations.listed(pending.owner)
        busy: Updates = {self.send: _HIDDEN, self.stop: _VISIBLE, **self._not_editing}
        sent: Updates = {
            self.current: pending.before.id,
            self.conversation: conversation_html(pending.before, ()),
            self.past: past_html(listed, pending.before.id),
            self.question: "",
        }
        for html in self._answering.answer(pending, flag):
            yield sent | busy | {self.answer: asking_html(pending.exchange.question, html)}
            sent = {}  # once: a question typed meanwhile stays

    def _view(self, owner: str, id_: str) -> Updates:
        try:
            conversation = self._service.conversations.read(owner, id_) if id_ else None
            listed = self._service.conversations.listed(owner)
        except UserError as error:
            return {self.current: id_, **self._error(error)}
        conversation = conversation and self._answering.with_stopped(conversation)
        current = conversation.id if conversation else ""
        suggested = [] if conversation else self._examples()
        return {
            self.current: current,
            self.conversation: conversation_html(conversation, suggested, self._answering.running),
            self.answer: "",
            self.past: past_html(listed, current),
        }

    def _error(self, error: UserError) -> Updates:
        return {self.answer: str(error_html(str(error)))}

    def _examples(self) -> list[str]:
        """The example questions whose papers are in this library."""
        try:
            return [
                question
                for title, question in _EXAMPLES.items()
                if any(each.paper.title == title for each in self._service.lookup(title, 1).matches)
            ]
        except UserError:
            return []

    def _fill_in(self, event: gr.EventData) -> Updates:
        return {
            self.question: event_field(event, "question"),
            self.position: event_field(event, "position"),
        }

    def _edit(self, event: gr.EventData) -> Updates:
        return self._fill_in(event) | {self.editing: _VISIBLE}

    def _stop(self, request: gr.Request) -> None:
        self._stops.stop(session_of(request))

    def _new(self, request: gr.Request) -> Updates:
        return self._switched("", request)

    def _open(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        chosen = event_field(event, "conversation")
        return gr.skip() if chosen == current else self._switched(chosen, request)

    def _switched(self, id_: str, request: gr.Request) -> Updates:
        """Show another conversation, or a new one if `id_` is empty."""
        self._stops.end(session_of(request))
        return self._view(owner_behind(request), id_) | self._not_editing | self._idle

    def _rename(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        owner, kept = owner_behind(request), self._service.conversations
        try:
            kept.rename(owner, event_field(event, "conversation"), event_field(event, "name"))
            return {self.past: past_html(kept.listed(owner), current)}
        except UserError as error:
            return self._error(error)

    def _delete(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        owner, id_ = owner_behind(request), event_field(event, "conversation")
        try:
            self._service.conversations.delete(owner, id_)
            listed = self._service.conversations.listed(owner)
        except UserError as error:
            return self._error(error)
        return self._new(request) if id_ == current else {self.past: past_html(listed, current)}

    def _like(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        return self._rated(current, event, Rating(Reason.GOOD), request)

    def _report(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        value = event_field(event, "reason")
        reason = Reason(value) if value in set(Reason) else Reason.OTHER
        rating = Rating(reason, event_field(event, "comment").strip())
        return self._rated(current, event, rating, request)

    def _take_back(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        return self._rated(current, event, None, request)

    def _rated(
        self, current: str, event: gr.EventData, rating: Rating | None, request: gr.Request
    ) -> Updates:
        owner, exchange = owner_behind(request), event_field(event, "exchange")
        try:
            self._service.conversations.rate(owner, current, exchange, rating)
        except UserError as error:
            return self._error(error)
        view = self._view(owner, current)
        return {part: view[part] for part in (self.conversation, self.answer) if part in view}


def session_of(request: gr.Request) -> str:
    """The id that Gradio gives an open page."""
    return request.session_hash or ""
