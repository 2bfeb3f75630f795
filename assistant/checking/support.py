"""Whether a sentence that a model wrote is supported by the sentences it cites.

Conservative by design: what fails is not shown. A sentence's marks (numbers and units, names, words
of negation, direction, quantity and doubt) must stand in the evidence, and near the same words; the
rest of its words are compared more softly. See tests/benchmarks/checking.md.
"""

from collections.abc import Callable, Sequence

from assistant.checking.claim import Claim
from assistant.checking.content import (
    common,
    has_odd_word,
    is_about_the_prompt,
    is_elsewhere,
    is_endless,
    says_nothing,
)
from assistant.checking.exchanges import promotes, replaces, swaps
from assistant.checking.figures import has_other_number, has_other_place, is_unbounded
from assistant.checking.lists import takes_apart
from assistant.checking.names import has_other_name
from assistant.checking.scopes import drops_hedge, negates_otherwise
from assistant.checking.turns import points_otherwise, quantifies_otherwise


def is_supported(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether `evidence` supports `sentence`, as far as its words can tell."""
    return not refusal(sentence, evidence)


def refusal(sentence: str, evidence: Sequence[str]) -> str:
    """Why `evidence` does not support `sentence`: the first rule it breaks, empty if none."""
    claim = Claim(sentence, evidence)
    return next((name for name, breaks in _RULES.items() if breaks(claim)), "")


def closest(sentence: str, evidence: Sequence[str]) -> int:
    """Index of the evidence that shares most words with `sentence`."""
    return max(range(len(evidence)), key=lambda at: common(Claim(sentence, [evidence[at]])))


_RULES: dict[str, Callable[[Claim], bool]] = {
    "endless": is_endless,
    "nothing said": says_nothing,
    "prompt": is_about_the_prompt,
    "odd word": has_odd_word,
    "content": is_elsewhere,
    "number": has_other_number,
    "bound": is_unbounded,
    "number's place": has_other_place,
    "list": takes_apart,
    "name": has_other_name,
    "negation": negates_otherwise,
    "hedge": drops_hedge,
    "quantity": quantifies_otherwise,
    "direction": points_otherwise,
    "replaced": replaces,
    "swapped": swaps,
    "compared": promotes,
}
"""What a sentence must not do, in the order in which it is asked."""
