"""The map of a library's topics: tiles that fill a rectangle, as large as the topics."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from retrieval.library.topics import Topic

_PER_ROW = 1.6
"""How many more tiles a row has than there are rows: wide tiles hold words."""
_SMALLEST = 0.04
"""Share of the papers as which a smaller topic is drawn, so that its words fit."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A topic with its place on the map, in percent."""

    topic: Topic
    left: float
    top: float
    width: float
    height: float


def tiles(topics: Sequence[Topic]) -> list[Tile]:
    """A tile for each topic, in the order given; near topics are alike."""
    papers = sum(each.papers for each in topics)
    weights = [max(_SMALLEST * papers, each.papers) for each in topics]
    whole = sum(weights)
    rows = max(1, round(math.sqrt(len(topics) / _PER_ROW)))
    row_of, before = {}, 0.0
    for at in sorted(range(len(topics)), key=lambda at: topics[at].y):
        row_of[at] = int(rows * (before + weights[at] / 2) / whole)
        before += weights[at]
    drawn, top = {}, 0.0
    for _, members in groupby(row_of, key=row_of.__getitem__):
        row = sorted(members, key=lambda at: topics[at].x)
        filled, left = sum(weights[at] for at in row), 0.0
        height = 100 * filled / whole
        for at in row:
            width = 100 * weights[at] / filled
            drawn[at] = Tile(topics[at], *(round(each, 2) for each in (left, top, width, height)))
            left += width
        top += height
    return [drawn[at] for at in range(len(topics))]
