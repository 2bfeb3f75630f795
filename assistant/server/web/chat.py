"""The chat tab: its components, and the events of the page that change them."""

import threading
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby
from typing import Any

import gradio as gr
from markupsafe import Markup

from assistant.generation.rendering import ABSTENTIONS, blocks
from assistant.pipeline.intent import is_fixed
from assistant.research.methods import MATCHED, methods_of_answer
from assistant.server.auth import owner_behind
from assistant.server.history import (
    LONGEST_COMMENT,
    LONGEST_NAME,
    MOST_LISTED,
    Conversation,
    Rating,
    Reason,
)
from assistant.server.service import Service
from assistant.server.web.answering import Answering, PendingQuestion, Stops
from assistant.server.web.cards import Card, Stem, cards, is_quoted, read_cards, stems_of
from assistant.server.web.exports import (
    COLUMNS,
    Row,
    copied_text,
    exchange_markdown,
    table_csv,
    table_markdown,
    table_rows,
)
from assistant.server.web.formulas import with_formulas
from assistant.server.web.html import ON_LOAD, QUIET, STATIC, event_field, templates
from assistant.types import Outcome
from retrieval.types import UserError

_LONGEST_WORD = 30
"""Characters of a last word that is kept on one line with its marks."""
_TABLE = 3
"""Cited papers from which they are shown as a table."""
_DAYS = ((0, "Today"), (1, "Yesterday"), (7, "Previous 7 days"))
"""Greatest ages in days of the groups of conversations."""
_MORE_LISTED = 400
"""Conversations that "Show older" adds."""
_MOST_SHOWN = 10_000
"""Conversations that are listed at most; older ones are found by their words."""
_ABSTENTION_REASONS = (Reason.WRONGLY_REFUSED, Reason.BESIDE_THE_QUESTION, Reason.OTHER)
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
_REASONS = dict.fromkeys(Outcome, _ABSTENTION_REASONS) | {
    Outcome.ANSWERED: (
        Reason.WRONG_CITATION,
        Reason.WRONG_STATEMENT,
        Reason.BESIDE_THE_QUESTION,
        Reason.INCOMPLETE,
        Reason.SHOULD_HAVE_REFUSED,
        Reason.OTHER,
    )
}
"""Reasons of a bad rating that are offered for each outcome."""
_FOCUS = "() => document.querySelector('#question textarea').focus()"
_HIDDEN, _VISIBLE = gr.update(visible=False), gr.update(visible=True)

Updates = dict[Any, Any]
"""New values of components; components that are left out do not change."""


def split_last_word(text: str) -> tuple[Markup, str]:
    """A sentence up to its last word, and the word; all of it and nothing if that is a formula."""
    *before, last = text.rsplit(" ", 1)
    if "$" in last or len(last) > _LONGEST_WORD:
        return with_formulas(text), ""
    return with_formulas(f"{before[0]} " if before else ""), last


def by_day(listed: Sequence[Conversation], today: date) -> list[tuple[str, list[Conversation]]]:
    """Conversations, latest first, in groups by their day on this machine."""

    def group(conversation: Conversation) -> str:
        age = (today - date.fromtimestamp(conversation.changed)).days  # noqa: DTZ012 - as above
        return next((name for days, name in _DAYS if age <= days), "Older")

    return [(name, list(members)) for name, members in groupby(listed, key=group)]


def is_table(cards: Sequence[Card], rows: Sequence[Row]) -> bool:
    """Whether the papers of an answer are shown as a table, in place of cards.

    Not where only one of them is written about: the others then are its further evidence.
    """
    return len(rows) >= _TABLE and sum(bool(each.claims) for each in cards) != 1


chat_html = templates(
    "chat",
    abstentions=ABSTENTIONS,
    blocks=blocks,
    cards=cards,
    casefold=str.casefold,
    columns=COLUMNS,
    copied_text=copied_text,
    exchange_markdown=exchange_markdown,
    is_fixed=is_fixed,
    is_quoted=is_quoted,
    is_table=is_table,
    longest_comment=LONGEST_COMMENT,
    longest_name=LONGEST_NAME,
    matched=MATCHED,
    methods_of_answer=methods_of_answer,
    read_cards=read_cards,
    reasons=_REASONS,
    split_last_word=split_last_word,
    table_csv=table_csv,
    table_markdown=table_markdown,
    table_rows=table_rows,
)


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
        return self._view(owner_behind(request), conversation_of(request))

    def welcomed(self, current: str) -> Updates:
        """The welcome of a new conversation, once there is an assistant."""
        is_ready = not current and self._service.setup.state.assistant is not None
        return self._conversation(None) if is_ready else {}

    def _build(self) -> None:
        with_events: dict[str, Any] = {"js_on_load": ON_LOAD, "apply_default_css": False}
        self.current = gr.Textbox(visible="hidden", elem_id="current")
        self.position = gr.Textbox(visible="hidden", elem_id="position")
        with gr.Row(elem_id="chat"):
            with gr.Column(scale=1, min_width=220, elem_id="side"):
                self.new = gr.Button("New chat", elem_id="new", size="sm")
                gr.Button("Conversations", elem_id="show-past", size="sm")
                script = (STATIC / "find.js").read_text("utf-8")
                self.find = gr.HTML(
                    chat_html("find"), elem_id="find", js_on_load=script, apply_default_css=False
                )
                self.pins = gr.HTML(elem_id="pins", label="Pinned questions", **with_events)
                self.past = gr.HTML(elem_id="past", label="Conversations", **with_events)
            with gr.Column(scale=4, min_width=320, elem_id="talk"):
                with gr.Column(elem_id="log"):
                    self.conversation = gr.HTML(elem_id="conversation", **with_events)
                    self.answer = gr.HTML(elem_id="answer", **with_events)
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
        for listen in (self.find.input, self.past.input):
            listen(
                self._find,
                inputs=self.current,
                outputs=self.past,
                queue=False,
                trigger_mode="multiple",
                **QUIET,
            )
        self.past.delete(self._delete, inputs=self.current, outputs=all_parts, **QUIET)
        self.past.edit(self._rename, inputs=self.current, outputs=self.view, **QUIET)
        self.conversation.like(self._rate, inputs=self.current, outputs=self.view, **QUIET)

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
        if self._stops.is_current(session, flag):
            yield last
        elif self._stops.is_idle(session):
            yield {self.answer: ""}  # an update that was on its way may have come after the switch
        else:
            # Gradio shows the last value a second time, so it must not change another answer.
            yield gr.skip()

    def _answer_updates(self, pending: PendingQuestion, flag: threading.Event) -> Iterator[Updates]:
        """The question as it is sent, then its answer as it grows."""
        id_ = pending.before.id
        # Only once: what is typed or edited meanwhile stays.
        sent = self._conversation(pending.before) | self._listed(pending.owner, id_)
        sent |= self._not_editing | {self.current: id_, self.question: ""}
        sent |= {self.send: _HIDDEN, self.stop: _VISIBLE}
        for shown, waiting in self._answering.answer(pending, flag):
            papers = self._service.setup.state.papers
            asking = chat_html("asking", shown, waiting, papers, self._stem)
            yield sent | {self.answer: asking}
            sent = {}

    def _view(self, owner: str, id_: str) -> Updates:
        try:
            conversation = self._service.conversations.read(owner, id_) if id_ else None
            current = conversation.id if conversation else ""
            view = self._conversation(conversation) | self._listed(owner, current)
        except UserError as error:
            return {self.current: id_, **self._error(error)}
        return view | {self.current: current, self.answer: ""}

    def _listed(
        self, owner: str, current: str, words: str = "", limit: int = MOST_LISTED
    ) -> Updates:
        """The list of conversations: those with all the words, up to `limit`."""
        listed = self._service.conversations.listed(owner, words, limit + 1)
        more = limit + _MORE_LISTED if len(listed) > limit else 0
        groups = by_day(listed[:limit], date.today())  # noqa: DTZ011 - the day on this machine
        return {self.past: chat_html("past", groups, current, words, more)}

    def _conversation(self, conversation: Conversation | None) -> Updates:
        """The questions and answers of a conversation; example questions if it has none."""
        if conversation is None:
            state = self._service.setup.state
            is_empty = state.assistant is not None and not state.papers
            return {self.conversation: chat_html("welcome", self._examples(), is_empty)}
        shown = self._answering.with_stopped(conversation)
        running = self._answering.running
        return {self.conversation: chat_html("conversation", shown, running, self._stem)}

    @property
    def _stem(self) -> Stem:
        """How the words of this library decide something."""
        try:
            return stems_of(self._service.assistant.library.lexical)
        except UserError:  # there is no assistant yet
            return str.casefold

    def _error(self, error: UserError) -> Updates:
        return {self.answer: chat_html("error", str(error))}

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

    def _find(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        owner, words = owner_behind(request), event_field(event, "words")
        limit = event_field(event, "limit")
        most = min(int(limit), _MOST_SHOWN) if limit.isdecimal() else MOST_LISTED
        try:
            return self._listed(owner, current, words, most)
        except UserError:
            return {}  # whatever is done next says it

    def _rename(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        owner, kept = owner_behind(request), self._service.conversations
        try:
            kept.rename(owner, event_field(event, "conversation"), event_field(event, "name"))
            return self._listed(owner, current)
        except UserError as error:
            return self._error(error)

    def _delete(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        owner, id_ = owner_behind(request), event_field(event, "conversation")
        try:
            self._service.conversations.delete(owner, id_)
            return self._new(request) if id_ == current else self._listed(owner, current)
        except UserError as error:
            return self._error(error)

    def _rate(self, current: str, event: gr.EventData, request: gr.Request) -> Updates:
        """Rate an answer for a reason, or take its rating back if the event has none."""
        owner, value = owner_behind(request), event_field(event, "reason")
        reason = Reason(value) if value in set(Reason) else Reason.OTHER
        rating = Rating(reason, event_field(event, "comment").strip()) if value else None
        try:
            kept = self._service.conversations
            kept.rate(owner, current, event_field(event, "exchange"), rating)
        except UserError as error:
            return self._error(error)
        view = self._view(owner, current)
        return {part: view[part] for part in (self.conversation, self.answer) if part in view}


def conversation_of(request: gr.Request) -> str:
    """The conversation that the page's address names; empty if it names none."""
    return str(request.query_params.get("c") or "")


def session_of(request: gr.Request) -> str:
    """The id that Gradio gives an open page."""
    return request.session_hash or ""
