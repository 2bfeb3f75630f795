"""The drawing of a library's topics: where each circle is, how large, and what it says."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.library.topics import Topic

_WIDTH, _HEIGHT = 1000, 430
_FILLED = 0.5
"""Share of the drawing that circles cover."""
_SMALLEST = 42.0
_GAP = 6.0
_ROUNDS = 400
_LETTER = 8.2
"""Width of a letter."""
_LINE = 19


@dataclass(slots=True)
class Circle:
    """A topic as it is drawn; in the units of the drawing."""

    topic: Topic
    x: float
    y: float
    radius: float
    lines: tuple[str, ...] = ()
    first: float = 0.0
    """Offset of the first line from the middle."""


def circles(topics: Sequence[Topic]) -> list[Circle]:
    """The topics as circles that do not overlap, each near its place; the same every time."""
    papers = sum(each.papers for each in topics) or 1
    area = _FILLED * _WIDTH * _HEIGHT / math.pi
    drawn = [
        Circle(
            each,
            each.x * _WIDTH + math.cos(at),  # circles in the same place part in some direction
            each.y * _HEIGHT + math.sin(at),
            max(_SMALLEST, math.sqrt(area * each.papers / papers)),
        )
        for at, each in enumerate(topics)
    ]
    for _ in range(_ROUNDS):
        for at, one in enumerate(drawn):
            for other in drawn[at + 1 :]:
                _part(one, other)
        for each in drawn:
            each.x = min(max(each.x, each.radius + 2), _WIDTH - each.radius - 2)
            each.y = min(max(each.y, each.radius + 2), _HEIGHT - each.radius - 2)
    for each in drawn:
        each.x, each.y, each.radius = round(each.x, 1), round(each.y, 1), round(each.radius, 1)
        each.lines = _lines(each)
        each.first = round(6 - _LINE * (len(each.lines) - 1) / 2, 1)
    return drawn


def _part(one: Circle, other: Circle) -> None:
    """Move two circles apart by half of what they overlap."""
    dx, dy = other.x - one.x, other.y - one.y
    distance = math.hypot(dx, dy) or 1.0
    dx, dy = (dx, dy) if dx or dy else (1.0, 0.0)
    overlap = one.radius + other.radius + _GAP - distance
    if overlap > 0:
        step = overlap / 2 / distance * 0.6
        one.x, one.y = one.x - dx * step, one.y - dy * step
        other.x, other.y = other.x + dx * step, other.y + dy * step


def _lines(circle: Circle) -> tuple[str, ...]:
    """The topic's words, a line each, as many as fit, and its number of papers."""
    wide = int(1.75 * circle.radius / _LETTER)
    words = [word for term in circle.topic.words[:1] for word in term.split()]
    lines = [word if len(word) <= wide else f"{word[: wide - 1]}…" for word in words]
    return (*lines, f"{circle.topic.papers:,}")
