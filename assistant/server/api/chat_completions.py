"""`POST /v1/chat/completions` in OpenAI's protocol: the answer at once or as a stream."""

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from assistant.generation.answer_builder import answer_text
from assistant.pipeline.assistant import checked_question
from assistant.server.api.disconnects import EventStream, unless_gone
from assistant.server.api.errors import ApiError, documented, user_error_status
from assistant.server.api.recent import RecentAnswers, spoken
from assistant.server.api.schemas import ChatCompletion, ChatRequest, Message
from assistant.server.auth import owner_of
from assistant.server.auth.responses import error_json
from assistant.server.service import Service, Waiting
from assistant.types import (
    Answer,
    Completed,
    Event,
    Json,
    PartialAnswer,
    Reranked,
    Retrieved,
    SentenceVerified,
    answer_json,
    dumps,
)
from retrieval.types import Cancelled, UserError

DEFAULT = "default"
"""A name that stands for any model."""
_NO_CACHE = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

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
class _Completion:
    """What the response, or every chunk of it, is made with."""

    messages: Sequence[Message]
    turn: int
    """The question's position in the conversation, from 0."""
    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))


def chat_routes(service: Service) -> APIRouter:
    """The route; it remembers recent answers."""
    router = APIRouter(tags=["Ask"])
    recent = RecentAnswers()

    @router.post(
        "/v1/chat/completions",
        operation_id="ask",
        summary="Ask a question or continue a conversation",
        response_model=ChatCompletion,
        responses={
            200: {
                "description": "The answer; a stream of chunks if `stream` is true.",
                "content": {"text/event-stream": {"schema": _EVENT}},
            },
            **documented(400, 401, 404, 408, 413, 415, 429, 500, 503),
        },
    )
    async def ask(body: ChatRequest, request: Request) -> Response:
        """The last message is the question; the messages before it are its context.

        Citations, quotes, outcome, passages and timings come in the field `assistant` of the
        response, or of the chunk that has the `finish_reason`. While a streamed question waits in
        the queue, comments say how many are ahead.
        """
        question = _question(body.messages)
        model = check_model(service, body.model)
        history = recent.history(body.messages)
        events = service.ask_async(question, history, owner=owner_of(request.scope))
        completion = _Completion(body.messages, len(history), model)
        if not body.stream:
            return await _whole(request, events, completion, recent)
        usage = bool(body.stream_options and body.stream_options.include_usage)
        return await _streamed(events, completion, recent, usage=usage)

    return router


def check_model(service: Service, name: str) -> str:
    """The name of the model that `name` stands for.

    Raises:
        NotReadyError: the setup has not ended.
        ApiError: no model has that name.
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
    """The question.

    Raises:
        ApiError: the last message is not the user's.
        InputError: the question is empty or too long.
    """
    talk = spoken(messages)
    if not talk or talk[-1].role != "user":
        raise ApiError(
            400, "The last message has to be the user's: it is the question.", param="messages"
        )
    return checked_question(talk[-1].text)


async def _whole(
    request: Request, events: Events, completion: _Completion, recent: RecentAnswers
) -> Response:
    """The complete answer.

    Raises:
        ClientGone: the client has closed the connection.
    """
    answer = await unless_gone(request.receive, _answer(events))
    recent.remember(completion.messages, answer)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": answer.text, "refusal": None},
        "logprobs": None,
        "finish_reason": "stop",
    }
    body = {
        "id": completion.id,
        "object": "chat.completion",
        "created": completion.created,
        "model": answer.model,
        "choices": [choice],
        "usage": _usage(answer),
        "assistant": answer_json(answer, completion.id, completion.turn),
    }
    return JSONResponse(body)


async def _answer(events: Events) -> Answer:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Completed):
                return event.answer
    raise AssertionError("a stream of events ends with Completed")


async def _streamed(
    events: Events, completion: _Completion, recent: RecentAnswers, *, usage: bool
) -> Response:
    """The answer as a stream; an error before the first event has a status of its own."""
    first = await anext(events)

    async def lines() -> AsyncIterator[str]:
        chunks = _Chunks(completion, usage=usage)
        async with aclosing(events):
            yield chunks.opening()
            for line in chunks.lines(first):
                yield line
            try:
                async for event in events:
                    if isinstance(event, Completed):
                        recent.remember(completion.messages, event.answer)
                    for line in chunks.lines(event):
                        yield line
            except UserError as error:
                yield _error_line(error)
            except Cancelled:
                return

    return EventStream(lines(), headers=_NO_CACHE)


class _Chunks:
    """The server-sent events of one answer."""

    def __init__(self, completion: _Completion, *, usage: bool) -> None:
        self._completion = completion
        self._usage = usage
        self._shown = PartialAnswer(completion.messages[-1].text)
        self._sent = ""

    def opening(self) -> str:
        """The first chunk, which names the role."""
        return self._chunk({"role": "assistant", "content": ""})

    def lines(self, event: Waiting | Event) -> list[str]:
        """The server-sent events for `event`."""
        if isinstance(event, Waiting):
            seconds = "" if event.seconds is None else f", about {event.seconds:.0f} s"
            return [_comment(f"{event.ahead} ahead{seconds}")]
        shown = self._shown.add(event)
        if isinstance(event, Retrieved | Reranked):
            return [_comment(f"reading {len(event.passages)} papers")]
        if isinstance(event, SentenceVerified):
            return [self._up_to(answer_text(shown.sentences, shown.citations))]
        if isinstance(event, Completed):
            return self._ending(event.answer)
        return [_comment("writing")]

    def _up_to(self, text: str) -> str:
        """A chunk with the part of `text` that was not sent yet."""
        more, self._sent = text[len(self._sent) :], text
        return self._chunk({"content": more})

    def _ending(self, answer: Answer) -> list[str]:
        rest = [self._up_to(answer.text)] if answer.text != self._sent else []
        known = answer_json(answer, self._completion.id, self._completion.turn)
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
            "id": self._completion.id,
            "object": "chat.completion.chunk",
            "created": self._completion.created,
            "model": self._completion.model,
        }
        return f"data: {dumps(known | fields)}\n\n"


def _comment(text: str) -> str:
    """A line that clients ignore, but that shows that the connection is alive."""
    return f": {text}\n\n"


def _error_line(error: UserError) -> str:
    """An error after the status was sent."""
    status, code, _ = user_error_status(error)
    return f"data: {dumps(error_json(status, str(error), code))}\n\n"


def _usage(answer: Answer) -> Json:
    prompt, completion = answer.tokens.prompt, answer.tokens.completion
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
