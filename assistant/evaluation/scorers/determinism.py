"""Whether the same question gets the same answer."""

from assistant.evaluation.scorers.wording import share
from assistant.evaluation.types import Asked, Score


def same_again(asked: Asked) -> Score | None:
    """Share of the times it was asked again that gave the same bytes; timings aside."""
    return share(asked.again, "repeat") if asked.again else None
