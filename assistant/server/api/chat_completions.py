"""`POST /v1/chat/completions` in OpenAI's protocol: the answer at once or as a stream."""

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from assistant.generation.answer_builder import answer_text
from assistant.models.chat import ChatModel
from assistant.models.llama.decoding import Sampling
from assistant.pipeline.assistant import checked_question
from assistant.server.api.errors import (
    ApiError,
    documented,
    error_event,
    unless_gone,
)
from assistant.server.api.recent import RecentAnswers, spoken
from assistant.server.api.schemas import (
    AnswerOut,
    ChatCompletion,
    ChatRequest,
    ChoiceOut,
    FinishReason,
    Message,
    MessageOut,
    UsageOut,
)
from assistant.server.auth import owner_of
from assistant.server.service import Service, Waiting
from assistant.settings import WritingMode
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
_NOT_FOLLOWED = (
    "The instructions of the system message were not followed: answers come from abstracts alone, "
    "in sentences that were checked; put what you want to know into the question."
)
_NOT_SAMPLED = (
    "`temperature` and `seed` had no effect: the model does not write freely, but chooses excerpts "
    "of abstracts, the same ones each time."
)
_NO_CACHE = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

_CHUNK = "A `chat.completion.chunk` or an `error` as JSON; at the end `[DONE]`."
_EVENT: Json = {
    "type": "object",
    "required": ["data"],
    "properties": {"data": {"type": "string", "description": _CHUNK}},
}

Events = AsyncGenerator[Waiting | Event, None]


@dataclass(frozen=True, slots=True)
class _Completion:
    """What the response, or every chunk of it, is made with."""

    body: ChatRequest
    turn: int
    """The question's position in the conversation, from 0."""
    model: ChatModel
    writes_freely: bool
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def fits(self, text: str) -> bool:
        """Whether the client's limits allow `text`."""
        limits = (self.body.max_tokens, self.body.max_completion_tokens)
        tokens = self._tokens(text) if any(limits) else 0
        stopped = any(stop in text for stop in self.body.stop)
        return not stopped and all(limit is None or tokens <= limit for limit in limits)

    def limited(self, answer: Answer) -> tuple[Answer, FinishReason]:
        """The answer's first sentences that fit; half a sentence could say something else."""
        if self.fits(answer.text):
            return answer, "stop"
        counts = range(1, len(answer.sentences))
        texts = [answer_text(answer.sentences[:count], answer.citations) for count in counts]
        fitting = [*takewhile(self.fits, texts)]
        first_too_many = [*texts, answer.text][len(fitting)]
        sentences = answer.sentences[: len(fitting)]
        cited = {number for sentence in sentences for number in sentence.citations}
        kept = replace(
            answer,
            text=fitting[-1] if fitting else "",
            sentences=sentences,
            citations=tuple(each for each in answer.citations if each.number in cited),
        )
        return kept, "stop" if any(stop in first_too_many for stop in self.body.stop) else "length"

    def usage(self, answer: Answer) -> UsageOut:
        """Tokens of the messages and of the answer's text."""
        prompt = sum(self._tokens(message.text) for message in self.body.messages)
        completion = self._tokens(answer.text)
        return UsageOut(
            prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion
        )

    def answer_out(self, answer: Answer) -> AnswerOut:
        """The answer with its sources, and what of the request was not followed."""
        followed = all(message.role in {"user", "assistant"} for message in self.body.messages)
        notes = [] if followed else [_NOT_FOLLOWED]
        if not self.writes_freely and (self.body.temperature or self.body.seed is not None):
            notes.append(_NOT_SAMPLED)
        return AnswerOut(**answer_json(answer, self.id, self.turn), notes=notes)

    def _tokens(self, text: str) -> int:
        frame = self.model.count([{"role": "user", "content": ""}])
        return self.model.count([{"role": "user", "content": text}]) - frame


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
    async def ask(body: ChatRequest, request: Request) -> Any:
        """The last message is the question; the messages before it are its context.

        Citations, quotes, outcome, passages and timings come in the field `assistant` of the
        response, or of the chunk that has the `finish_reason`. While a streamed question waits in
        the queue, comments say how many are ahead. Answers come from abstracts alone: messages of
        the system are not followed, and `notes` says so.
        """
        question = _question(body.messages)
        check_model(service, body.model)
        history = recent.history(body.messages)
        sampling = Sampling(body.temperature or 0.0, body.seed)
        owner = owner_of(request.scope)
        events = service.ask_async(question, history, owner=owner, sampling=sampling)
        assistant = service.assistant
        writes_freely = assistant.settings.writing.mode is WritingMode.FREE
        completion = _Completion(body, len(history), assistant.model, writes_freely)
        if body.stream:
            return await _streamed(events, completion, recent)
        return await _whole(request, events, completion, recent)

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
) -> ChatCompletion:
    """The complete answer.

    Raises:
        ClientGone: the client has closed the connection.
    """
    whole = await unless_gone(request.receive, _answer(events))
    answer, reason = completion.limited(whole)
    recent.remember(completion.body.messages, answer)
    return ChatCompletion(
        id=completion.id,
        created=completion.created,
        model=answer.model,
        choices=[ChoiceOut(message=MessageOut(content=answer.text), finish_reason=reason)],
        usage=completion.usage(answer),
        assistant=completion.answer_out(answer),
    )


async def _answer(events: Events) -> Answer:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Completed):
                return event.answer
    raise AssertionError("a stream of events ends with Completed")


async def _streamed(
    events: Events, completion: _Completion, recent: RecentAnswers
) -> StreamingResponse:
    """The answer as a stream; an error before the first event has a status of its own."""
    first = await anext(events)

    async def lines() -> AsyncIterator[str]:
        chunks = _Chunks(completion, recent)
        async with aclosing(events):
            yield chunks.opening()
            for line in chunks.lines(first):
                yield line
            try:
                async for event in events:
                    for line in chunks.lines(event):
                        yield line
            except (UserError, Cancelled) as error:
                yield error_event(error)

    return StreamingResponse(lines(), media_type="text/event-stream", headers=_NO_CACHE)


class _Chunks:
    """The server-sent events of one answer."""

    def __init__(self, completion: _Completion, recent: RecentAnswers) -> None:
        self._completion = completion
        self._recent = recent
        options = completion.body.stream_options
        self._usage = bool(options and options.include_usage)
        self._shown = PartialAnswer(completion.body.messages[-1].text)
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
            text = answer_text(shown.sentences, shown.citations)
            return [self._up_to(text)] if self._completion.fits(text) else []
        if isinstance(event, Completed):
            return self._ending(event.answer)
        return [_comment("writing")]

    def _up_to(self, text: str) -> str:
        """A chunk with the part of `text` that was not sent yet."""
        more, self._sent = text[len(self._sent) :], text
        return self._chunk({"content": more})

    def _ending(self, whole: Answer) -> list[str]:
        answer, reason = self._completion.limited(whole)
        self._recent.remember(self._completion.body.messages, answer)
        rest = [self._up_to(answer.text)] if answer.text != self._sent else []
        known = self._completion.answer_out(answer).model_dump()
        last = [self._chunk({}, reason, assistant=known)]
        if self._usage:
            usage = self._completion.usage(answer).model_dump()
            last.append(self._line(choices=[], usage=usage))
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
            "model": self._completion.model.name,
        }
        return f"data: {dumps(known | fields)}\n\n"


def _comment(text: str) -> str:
    """A line that clients ignore, but that shows that the connection is alive."""
    return f": {text}\n\n"
