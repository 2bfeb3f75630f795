"""What this process counts and measures, for Prometheus."""

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from assistant.types import Answer

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)


class Metrics:
    """The figures of one served assistant."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        """Nothing is counted yet.

        Args:
            waiting: how many questions wait for the model or are answered by it.
        """
        disable_created_metrics()  # type: ignore[no-untyped-call]  # of every counter, when it began: twice as much to read
        self._registry = CollectorRegistry()
        queue = Gauge(
            "assistant_queue_length",
            "Questions that wait for the model or are answered by it.",
            registry=self._registry,
        )
        queue.set_function(waiting)
        self._requests = Counter(
            "assistant_http_requests",
            "HTTP requests by route and status.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._outcomes = Counter(
            "assistant_questions",
            "Questions by their end: an outcome, or stopped, refused, failed.",
            ["outcome"],
            registry=self._registry,
        )
        self._tokens = Counter(
            "assistant_tokens",
            "Tokens read for writing (prompt) and written (completion); not those of reranking.",
            ["kind"],
            registry=self._registry,
        )
        self._stages = Histogram(
            "assistant_stage_seconds",
            "Seconds of a question's stages.",
            ["stage"],
            buckets=_SECONDS,
            registry=self._registry,
        )

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
        """A question was answered, or it was said why not."""
        self._outcomes.labels(answer.outcome.value).inc()
        self._tokens.labels("prompt").inc(answer.tokens.prompt)
        self._tokens.labels("completion").inc(answer.tokens.completion)
        timings = answer.timings
        self._stages.labels("retrieval").observe(timings.retrieval - timings.rerank)
        self._stages.labels("rerank").observe(timings.rerank)
        self._stages.labels("first_token").observe(timings.first_token)
        self._stages.labels("total").observe(timings.total)

    def mean_seconds(self, stage: str) -> tuple[int, float]:
        """How many questions had the stage, and how long it took on average."""
        labels = {"stage": stage}
        count = self._registry.get_sample_value("assistant_stage_seconds_count", labels) or 0
        total = self._registry.get_sample_value("assistant_stage_seconds_sum", labels) or 0
        return int(count), total / count if count else 0.0

    def text(self) -> bytes:
        """All figures in Prometheus' text format."""
        return generate_latest(self._registry)
