"""`POST /v1/chat/completions`: questions as OpenAI's clients ask them."""

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from assistant.access import owner_of
from assistant.access.replies import error_json
from assistant.api.asking import ClientGone, EventStream, unless_gone
from assistant.api.errors import CLIENT_GONE, ApiError, documented, of_user_error
from assistant.api.recent import RecentAnswers, spoken
from assistant.api.schemas import ChatCompletion, ChatRequest, Message
from assistant.events import Event, Finished, Found, Reranked, Shown
from assistant.json_output import Json, answer_json, dumps
from assistant.making import answer_text
from assistant.pipeline.assistant import checked_question
from assistant.service import Service, Waiting
from assistant.types import Answer, AnswerSentence, Citation
from retrieval.errors import Cancelled, UserError

DEFAULT = "default"
"""The name under which every model answers."""
_NOT_KEPT = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

_EVENT: Json = {
    "type": "object",
    "required": ["data"],
    "properties": {
        "data": {
            "type": "string",
            "description": "A `chat.completion.chunk` or an `error` as JSON; at the end `[DONE]`.",
        }
    },
}

Events = AsyncGenerator[Waiting | Event, None]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question on its way."""

    messages: Sequence[Message]
    turn: int
    """Its place in the conversation, from 0."""
    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))


def chat_routes(service: Service) -> APIRouter:
    """The route, with a memory for the answers given last."""
    router = APIRouter(tags=["Ask"])
    recent = RecentAnswers()

    @router.post(
        "/v1/chat/completions",
        operation_id="ask",
        summary="Ask a question, or go on with a conversation",
        response_model=ChatCompletion,
        responses={
            200: {
                "description": "The answer; a stream of chunks if `stream` is true.",
                "content": {"text/event-stream": {"schema": _EVENT}},
            },
            **documented(400, 401, 404, 408, 413, 415, 429, 500, 503),
        },
    )
    async def ask(asked: ChatRequest, request: Request) -> Response:
        """The last message is the question; what came before tells what it is about.

        Citations, quotes, outcome, passages and timings come in the field `assistant`: of the
        response, or of the chunk that has the `finish_reason`. While a streamed question waits for
        its turn, comments tell how many come first.
        """
        question = _question(asked.messages)
        model = check_model(service, asked.model)
        history = recent.history(asked.messages)
        events = service.ask_async(question, history, owner=owner_of(request.scope))
        about = _Asked(asked.messages, len(history), model)
        if not asked.stream:
            return await _whole(request, events, about, recent)
        usage = bool(asked.stream_options and asked.stream_options.include_usage)
        return await _streamed(events, about, recent, usage=usage)

    return router


def check_model(service: Service, name: str) -> str:
    """The name of the model that is meant by `name`.

    Raises:
        NotReadyError: there is no assistant yet.
        ApiError: there is no such model.
    """
    served = service.assistant.model.name
    if name not in {served, DEFAULT}:
        raise ApiError(
            404,
            f"There is no model {name[:100]!r} here; ask for {served!r} or {DEFAULT!r}.",
            code="model_not_found",
            param="model",
        )
    return served


def _question(messages: Sequence[Message]) -> str:
    """What is asked.

    Raises:
        ApiError: nothing is.
        InputError: the question is empty or too long.
    """
    talk = spoken(messages)
    if not talk or talk[-1].role != "user":
        raise ApiError(
            400, "The last message has to be the user's: it is the question.", param="messages"
        )
    return checked_question(talk[-1].text)


async def _whole(
    request: Request, events: Events, about: _Asked, recent: RecentAnswers
) -> Response:
    """The answer at once, unless nobody waits for it any more."""
    try:
        answer = await unless_gone(request.receive, _answer(events))
    except ClientGone:
        return Response(status_code=CLIENT_GONE)
    recent.remember(about.messages, answer)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": answer.text, "refusal": None},
        "logprobs": None,
        "finish_reason": "stop",
    }
    completion = {
        "id": about.id,
        "object": "chat.completion",
        "created": about.created,
        "model": answer.model,
        "choices": [choice],
        "usage": _usage(answer),
        "assistant": answer_json(answer, about.id, about.turn),
    }
    return JSONResponse(completion)


async def _answer(events: Events) -> Answer:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Finished):
                return event.answer
    raise AssertionError("a stream of events ends with Finished")


async def _streamed(
    events: Events, about: _Asked, recent: RecentAnswers, *, usage: bool
) -> Response:
    """The answer as it comes about; what goes wrong before its first event has its own status."""
    first = await anext(events)

    async def lines() -> AsyncIterator[str]:
        chunks = _Chunks(about, usage=usage)
        async with aclosing(events):
            yield chunks.opening()
            for line in chunks.of(first):
                yield line
            try:
                async for event in events:
                    if isinstance(event, Finished):
                        recent.remember(about.messages, event.answer)
                    for line in chunks.of(event):
                        yield line
            except UserError as error:
                yield _failed(error)
            except Cancelled:
                return

    return EventStream(lines(), headers=_NOT_KEPT)


class _Chunks:
    """The server-sent events of one answer."""

    def __init__(self, about: _Asked, *, usage: bool) -> None:
        self._about = about
        self._usage = usage
        self._sentences: list[AnswerSentence] = []
        self._citations: list[Citation] = []
        self._sent = ""

    def opening(self) -> str:
        """Whose words follow."""
        return self._chunk({"role": "assistant", "content": ""})

    def of(self, event: Waiting | Event) -> list[str]:
        """What tells the client of `event`."""
        if isinstance(event, Waiting):
            return [_comment(_waiting(event))]
        if isinstance(event, Found | Reranked):
            return [_comment(f"reading {len(event.passages)} papers")]
        if isinstance(event, Shown):
            self._sentences.append(event.sentence)
            self._citations += event.citations
            return [self._up_to(answer_text(self._sentences, self._citations))]
        if isinstance(event, Finished):
            return list(self._ending(event.answer))
        return [_comment("writing")]

    def _up_to(self, text: str) -> str:
        """What the answer has more than was sent."""
        more, self._sent = text[len(self._sent) :], text
        return self._chunk({"content": more})

    def _ending(self, answer: Answer) -> list[str]:
        rest = [self._up_to(answer.text)] if answer.text != self._sent else []
        known = answer_json(answer, self._about.id, self._about.turn)
        last = [self._chunk({}, "stop", assistant=known)]
        if self._usage:
            last.append(self._line(choices=[], usage=_usage(answer)))
        return [*rest, *last, "data: [DONE]\n\n"]

    def _chunk(self, delta: Json, finish_reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._usage else {}
        return self._line(choices=[choice], **usage, **more)

    def _line(self, **fields: Any) -> str:
        known = {
            "id": self._about.id,
            "object": "chat.completion.chunk",
            "created": self._about.created,
            "model": self._about.model,
        }
        return f"data: {dumps(known | fields)}\n\n"


def _comment(text: str) -> str:
    """A line that clients pass over; it shows them and what is between that all is well."""
    return f": {text}\n\n"


def _waiting(event: Waiting) -> str:
    seconds = "" if event.seconds is None else f", about {event.seconds:.0f} s"
    return f"{event.ahead} ahead{seconds}"


def _failed(error: UserError) -> str:
    """An error after the status was sent."""
    status, code, _ = of_user_error(error)
    return f"data: {dumps(error_json(status, str(error), code))}\n\n"


def _usage(answer: Answer) -> Json:
    prompt, completion = answer.tokens.prompt, answer.tokens.completion
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
