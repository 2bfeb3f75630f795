"""Prometheus metrics of a served assistant, and the middleware that counts its requests."""

from collections.abc import Callable
from dataclasses import asdict

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import CLIENT_GONE
from assistant.server.auth import HttpMiddleware
from assistant.server.connections import OUTGOING
from assistant.types import Answer

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
"""Upper bounds of the histograms' buckets."""
_METHODS = frozenset("DELETE GET HEAD OPTIONS PATCH POST PUT".split())
"""Methods that are counted by name."""


class Metrics:
    """The metrics of one served assistant."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        """Start all counts at zero.

        Args:
            waiting: gives the number of questions in the queue.
        """
        disable_created_metrics()  # type: ignore[no-untyped-call]  # start times would double the text
        self._registry = registry = CollectorRegistry()
        queue = "Questions that wait for the model or are answered by it."
        Gauge("assistant_queue_length", queue, registry=registry).set_function(waiting)
        outgoing = "Connections to other machines, tried or made since the start."
        opened = Gauge("assistant_outgoing_connections", outgoing, registry=registry)
        opened.set_function(lambda: OUTGOING.connections)
        served = "HTTP requests by route and status."
        labels = ["method", "route", "status"]
        self._requests = Counter("assistant_http_requests", served, labels, registry=registry)
        ends = "Questions by their end: an outcome, or stopped, refused, failed."
        self._outcomes = Counter("assistant_questions", ends, ["outcome"], registry=registry)
        tokens = (
            "Tokens read for writing (prompt) and written (completion); not those of reranking."
        )
        self._tokens = Counter("assistant_tokens", tokens, ["kind"], registry=registry)
        stages, name = "Seconds of a question's stages.", "assistant_stage_seconds"
        self._stages = Histogram(name, stages, ["stage"], buckets=_SECONDS, registry=registry)

    def request(self, method: str, route: str, status: int) -> None:
        """An HTTP request was answered; `route` is the pattern, not the path."""
        self._requests.labels(method, route, str(status)).inc()

    def ended(self, outcome: str) -> None:
        """A question ended without an answer: stopped, refused or failed."""
        self._outcomes.labels(outcome).inc()

    def waited(self, seconds: float) -> None:
        """A question's turn came."""
        self._stages.labels("queue").observe(seconds)

    def answered(self, answer: Answer) -> None:
        """A question was answered, or the answer abstained."""
        self._outcomes.labels(answer.outcome.value).inc()
        self._tokens.labels("prompt").inc(answer.tokens.prompt)
        self._tokens.labels("completion").inc(answer.tokens.completion)
        seconds = asdict(answer.timings)
        seconds["retrieval"] -= seconds["rerank"]
        for stage, each in seconds.items():
            self._stages.labels(stage).observe(each)

    def mean_seconds(self, stage: str) -> tuple[int, float]:
        """The number of questions that had the stage, and its mean seconds."""
        labels = {"stage": stage}
        count = self._registry.get_sample_value("assistant_stage_seconds_count", labels) or 0
        total = self._registry.get_sample_value("assistant_stage_seconds_sum", labels) or 0
        return int(count), total / count if count else 0.0

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class MetricsMiddleware(HttpMiddleware):
    """Counts requests by their status, `CLIENT_GONE` if none was sent."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count it."""
        status = CLIENT_GONE

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            # Its pattern, not the path: the number of paths is unlimited.
            route = str(getattr(scope.get("route"), "path_format", "other"))
            self._metrics.request(method, route, status)
