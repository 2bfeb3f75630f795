"""Grids of cases of which every run takes a part; `pytest --full-grids` takes all."""

from collections.abc import Iterable
from typing import Any

import pytest


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """The cases, of which all but each `every`th are left out unless the full grids are run."""
    marks = pytest.mark.full_grid
    return [
        case if at % every == 0 else pytest.param(case, marks=marks)
        for at, case in enumerate(cases)
    ]
