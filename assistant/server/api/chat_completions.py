"""`POST /v1/chat/completions` in OpenAI's protocol: the answer at once or as a stream."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from assistant.generation.answer_builder import answer_text
from assistant.models.llama.decoding import Sampling
from assistant.pipeline.assistant import Assistant, checked_question
from assistant.research.receipt import methods_of
from assistant.server.api.errors import ApiError, documented, error_event, unless_gone
from assistant.server.api.recent import RecentAnswers, spoken
from assistant.server.api.schemas import ChatCompletion, ChatRequest, FinishReason, Message
from assistant.server.auth import owner_of
from assistant.server.service import Service, Waiting, answer_of
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


def chat_routes(service: Service) -> APIRouter:
    """The route; it remembers recent answers."""
    router = APIRouter(tags=["Ask"])
    recent = RecentAnswers(service.database)

    @router.post(
        "/v1/chat/completions",
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
        history = await asyncio.to_thread(recent.history, body.messages)
        sampling = Sampling(body.temperature or 0.0, body.seed)
        owner = owner_of(request.scope)
        events = service.ask_async(question, history, owner=owner, sampling=sampling)
        completion = _Completion(body, len(history), service.assistant, recent)
        if body.receipt:
            events = _with_receipt(
                events, partial(service.receipt, history=history, sampling=sampling), completion
            )
        if not body.stream:
            answer = await unless_gone(request.receive, answer_of(events))
            return await asyncio.to_thread(completion.whole, answer)
        first = await anext(events)  # an error before it has a status of its own
        lines = _lines(first, events, completion)
        return StreamingResponse(lines, media_type="text/event-stream", headers=_NO_CACHE)

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


async def _with_receipt(
    events: Events, make: Callable[[Answer], Json], completion: "_Completion"
) -> Events:
    """The events; `completion` has the receipt before the last one."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Completed):
                completion.receipt = await run_in_threadpool(make, event.answer)
            yield event


async def _lines(
    first: Waiting | Event, events: Events, completion: "_Completion"
) -> AsyncIterator[str]:
    """The answer as server-sent events."""
    async with aclosing(events):
        yield completion.opening()
        for line in completion.lines(first):
            yield line
        try:
            async for event in events:
                for line in completion.lines(event):
                    yield line
        except (UserError, Cancelled) as error:
            yield error_event(error)


class _Completion:
    """The response to one request, whole or in chunks."""

    def __init__(
        self, body: ChatRequest, turn: int, assistant: Assistant, recent: RecentAnswers
    ) -> None:
        """`turn` is the question's position in the conversation, from 0."""
        self._body, self._turn, self._recent = body, turn, recent
        self._model = assistant.model
        self._writes_freely = assistant.settings.writing.mode is WritingMode.FREE
        self._envelope = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": self._model.name,
        }
        self._with_usage = bool(body.stream_options and body.stream_options.include_usage)
        self._shown = PartialAnswer(body.messages[-1].text)
        self.receipt: Json | None = None
        self._sent = ""

    def whole(self, answer: Answer) -> Json:
        """The response with the whole answer, see `ChatCompletion`."""
        answer, reason = self._limited(answer)
        message = {"content": answer.text}
        return {
            **self._envelope,
            "choices": [{"message": message, "finish_reason": reason}],
            "usage": self._usage(answer),
            "assistant": self._behind(answer),
        }

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
            return [self._up_to(text)] if self._fits(text) else []
        if isinstance(event, Completed):
            return self._ending(event.answer)
        return [_comment("writing")]

    def _ending(self, whole: Answer) -> list[str]:
        answer, reason = self._limited(whole)
        rest = [self._up_to(answer.text)] if answer.text != self._sent else []
        rest.append(self._chunk({}, reason, assistant=self._behind(answer)))
        if self._with_usage:
            rest.append(self._line(choices=[], usage=self._usage(answer)))
        return [*rest, "data: [DONE]\n\n"]

    def _up_to(self, text: str) -> str:
        """A chunk with the part of `text` that was not sent yet."""
        more, self._sent = text[len(self._sent) :], text
        return self._chunk({"content": more})

    def _chunk(self, delta: Json, finish_reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._with_usage else {}
        return self._line(choices=[choice], **usage, **more)

    def _line(self, **fields: Any) -> str:
        chunk = {**self._envelope, "object": "chat.completion.chunk", **fields}
        return f"data: {dumps(chunk)}\n\n"

    def _limited(self, answer: Answer) -> tuple[Answer, FinishReason]:
        """The answer's first sentences that fit, which are remembered.

        Half a sentence could say something else.
        """
        reason: FinishReason = "stop"
        if not self._fits(answer.text):
            counts = range(1, len(answer.sentences))
            texts = [answer_text(answer.sentences[:count], answer.citations) for count in counts]
            fitting = [*takewhile(self._fits, texts)]
            first_too_many = [*texts, answer.text][len(fitting)]
            reason = "stop" if self._stops(first_too_many) else "length"
            answer = _cut(answer, len(fitting), fitting[-1] if fitting else "")
        self._recent.remember(self._body.messages, answer)
        return answer, reason

    def _fits(self, text: str) -> bool:
        """Whether the client's limits allow `text`."""
        limits = [*filter(None, (self._body.max_tokens, self._body.max_completion_tokens))]
        return not self._stops(text) and (not limits or self._tokens(text) <= min(limits))

    def _stops(self, text: str) -> bool:
        return any(stop in text for stop in self._body.stop)

    def _usage(self, answer: Answer) -> Json:
        """Tokens of the messages and of the answer's text."""
        prompt = sum(self._tokens(message.text) for message in self._body.messages)
        written = self._tokens(answer.text)
        total = prompt + written
        return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": total}

    def _behind(self, answer: Answer) -> Json:
        """The answer with its sources, and what of the request was not followed."""
        followed = all(message.role in {"user", "assistant"} for message in self._body.messages)
        notes = [] if followed else [_NOT_FOLLOWED]
        is_drawn = self._body.temperature or self._body.seed is not None
        if is_drawn and not self._writes_freely:
            notes.append(_NOT_SAMPLED)
        receipt: Json = {}
        if self.receipt:
            receipt = {"methods": methods_of(self.receipt), "receipt": self.receipt}
        fields = answer_json(answer, str(self._envelope["id"]), self._turn)
        return {**fields, "notes": notes, **receipt}

    def _tokens(self, text: str) -> int:
        frame = self._model.count([{"role": "user", "content": ""}])
        return self._model.count([{"role": "user", "content": text}]) - frame


def _cut(answer: Answer, count: int, text: str) -> Answer:
    """The answer's first sentences, which read `text`, with the citations that they have."""
    sentences = answer.sentences[:count]
    cited = {number for sentence in sentences for number in sentence.citations}
    citations = tuple(each for each in answer.citations if each.number in cited)
    return replace(answer, text=text, sentences=sentences, citations=citations)


def _comment(text: str) -> str:
    """A line that clients ignore, but that shows that the connection is alive."""
    return f": {text}\n\n"
