"""The chat: questions, streamed answers, and what can be done with them."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from assistant.browser.render import (
    answer_html,
    error_html,
    progress_html,
    question_html,
    searching_html,
    stopped_html,
    waiting_html,
)
from assistant.engine import LONGEST_QUESTION
from assistant.events import Chosen, Finished, Found, Reranked, Shown
from assistant.service import Service, Waiting
from assistant.types import AnswerSentence, Citation, Evidence, Turn
from retrieval.errors import Cancelled, UserError
from retrieval.types import Passage

EXAMPLES = (
    "What is neural collapse and when does it appear?",
    "How can a convolutional network learn its strides?",
    "How much faster is machine unlearning of federated clusters than retraining?",
    "Which papers recognise human actions from skeleton sequences?",
)
"""Questions that the seeds answer."""

_FORMULA: list[dict[str, str | bool]] = [{"left": "$", "right": "$", "display": False}]

Messages = list[dict[str, Any]]


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
        """Stop and forget the session: its page was closed, or a new chat begun."""
        self.stop(session)
        self._flags.pop(session, None)


def chat_tab(service: Service, stops: Stops) -> None:
    """The tab's components and what they do."""
    history = gr.State([])
    messages = gr.Chatbot(
        elem_id="conversation",
        show_label=False,
        label="Conversation",
        scale=1,
        height="calc(100vh - 17rem)",
        latex_delimiters=_FORMULA,
        layout="panel",
        buttons=[],
        feedback_options=None,
        placeholder="Ask about the papers in the library.",
        examples=[{"text": example} for example in EXAMPLES],
    )
    with gr.Row():
        question = gr.Textbox(
            elem_id="question",
            placeholder="Ask about the papers …",
            label="Question",
            show_label=False,
            lines=1,
            max_lines=6,
            max_length=LONGEST_QUESTION,
            autofocus=True,
            scale=8,
        )
        send = gr.Button("Send", variant="primary", elem_id="send", min_width=90, scale=1)
        stop = gr.Button("Stop", elem_id="stop", min_width=90, scale=1, visible=False)
        clear = gr.Button("New chat", elem_id="new", min_width=110, scale=1)

    def respond(
        asked: str, turns: list[Turn], shown: Messages, request: gr.Request
    ) -> Iterator[tuple[Any, ...]]:
        session = session_of(request)
        flag = stops.begin(session)
        before = [*shown, {"role": "user", "content": question_html(asked)}]
        busy = (gr.update(visible=False), gr.update(visible=True))
        idle = (gr.update(visible=True), gr.update(visible=False))
        field: Any = ""  # emptied once: what is typed meanwhile stays
        for html, turn in _answered(service, asked, turns, flag):
            now_turns = [*turns, turn] if turn else turns
            content = [*before, {"role": "assistant", "content": html}]
            if not stops.is_current(session, flag):
                now_turns, content = [], []  # a new chat was begun
            yield field, now_turns, content, *busy
            field = gr.skip()
        yield field, now_turns, content, *idle

    def stop_answer(request: gr.Request) -> None:
        stops.stop(session_of(request))

    def forget(request: gr.Request) -> tuple[Any, ...]:
        stops.end(session_of(request))
        return [], [], ""

    outputs = [question, history, messages, send, stop]
    asking: dict[str, Any] = {
        "fn": respond,
        "inputs": [question, history, messages],
        "outputs": outputs,
        "show_progress": "hidden",
        "concurrency_limit": None,  # the service has its own line
        "api_visibility": "private",
    }
    question.submit(**asking)
    send.click(**asking)
    messages.example_select(_chosen_text, outputs=question, show_progress="hidden").then(**asking)
    stop.click(stop_answer, show_progress="hidden", queue=False)
    clear.click(forget, outputs=[history, messages, question], queue=False)


def _chosen_text(chosen: gr.SelectData) -> str:
    return str(chosen.value["text"])


@dataclass(slots=True)
class _Partial:
    """An answer that is still coming."""

    standalone: str = ""
    passages: tuple[Passage, ...] = ()
    chosen: tuple[Evidence, ...] = ()
    sentences: list[AnswerSentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)


def _answered(
    service: Service, asked: str, turns: list[Turn], flag: threading.Event
) -> Iterator[tuple[str, Turn | None]]:
    """The answer's HTML as it grows; the turn comes with the last."""
    partial = _Partial()
    yield searching_html(), None
    try:
        for event in service.ask(asked, turns, flag.is_set):
            if isinstance(event, Waiting):
                yield waiting_html(event.ahead, event.seconds), None
                continue
            if isinstance(event, Finished):
                yield answer_html(event.answer), Turn(asked, event.answer)
                return
            _take_up(event, partial, asked)
            yield _partial_html(partial), None
    except Cancelled:
        yield stopped_html(partial.sentences, partial.citations), None
    except UserError as error:
        yield error_html(str(error)), None


def _take_up(event: Found | Reranked | Chosen | Shown, partial: _Partial, asked: str) -> None:
    if isinstance(event, Reranked):
        partial.passages = event.passages
    elif isinstance(event, Chosen):
        partial.chosen = event.evidence
    elif isinstance(event, Found):
        different = event.standalone_question != asked.strip()
        partial.standalone = event.standalone_question if different else ""
        partial.passages = event.passages
    else:
        partial.sentences.append(event.sentence)
        partial.citations += event.citations


def _partial_html(partial: _Partial) -> str:
    return progress_html(
        partial.standalone,
        partial.passages,
        partial.chosen,
        partial.sentences,
        partial.citations,
    )


def session_of(request: gr.Request) -> str:
    """What tells one open page from another."""
    return request.session_hash or ""
