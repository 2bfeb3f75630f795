"""Every mistake that can be put into a scorer is noticed by the cases worked out by hand."""

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from mutating import mutants
from scorer_cases import CASES, SCORERS, Case

LENGTHS = "what is zipped is as long by the way it is made"
BETWEEN = "the guards do not read a sign between two fields, or two titles"
NAMES = "names of curves, which no scorer reads; test_scorers_risk_coverage.py has them"
EQUIVALENT: Mapping[str, Mapping[str, str]] = {
    f"{SCORERS}.facts": {"stated_share: True -> False": LENGTHS},
    f"{SCORERS}.sentences": {
        "grounded: True -> False": LENGTHS,
        "_is_grounded: ' ' -> ' ~'": BETWEEN,
        "_fields: ' and ' -> ' and ~'": BETWEEN,
        "_fields: ' ' -> ' ~'": BETWEEN,
        "_fields: '' -> '~'": BETWEEN,
    },
    f"{SCORERS}.evidence": {
        "evidence_recall: True -> False": LENGTHS,
        "_letters: '' -> '~'": "both sides are compared with the same between their letters",
    },
    f"{SCORERS}.risk_coverage": {
        "area_below: True -> False": LENGTHS,
        "module: 'no abstract answers' -> 'no abstract answers~'": NAMES,
        "module: 'not right' -> 'not right~'": NAMES,
    },
    f"{SCORERS}.wording": {"share: '' -> '~'": "it is shown with what is missed, and nothing is"},
}
"""By module, the mistakes that change nothing, with the reason."""


def loaded(module: str, code: CodeType) -> ModuleType:
    """A module made from other code than its own."""
    made = ModuleType(module)
    exec(code, made.__dict__)  # noqa: S102 - the project's own code
    return made


def source_of(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found
    assert found.origin
    return Path(found.origin).read_text("utf-8")


def passes(module: ModuleType, cases: Sequence[Case]) -> bool:
    """Whether every case comes out as it should."""
    try:
        return all(case.passes(module) for case in cases)
    except Exception:  # whatever a mistake leads to
        return False


@pytest.mark.parametrize("module", CASES)
def test_every_mistake_is_noticed(module: str) -> None:
    made = list(mutants(source_of(module)))
    assert made
    survivors = {each.mistake for each in made if passes(loaded(module, each.code), CASES[module])}
    assert survivors == set(EQUIVALENT.get(module, {}))
