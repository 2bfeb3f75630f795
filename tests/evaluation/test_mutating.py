"""The mistakes that are put into modules."""

from mutating import mutants

SOURCE = '''
"""Not touched."""

LIMIT = 3


def count(words: "Not touched", only: bool = True) -> int:
    """Not touched."""
    long = [word.strip() for word in words[:2] if len(word) > LIMIT]
    fails = not words
    return sum(long) + 1 if only and fails else None
'''


def test_every_kind_of_mistake_is_made_once_where_it_can_be() -> None:
    assert sorted(each.mistake for each in mutants(SOURCE)) == sorted(
        [
            "module: 3 -> 4",
            "count: True -> False",
            "count:  for word in words[:2] if len(word) > LIMIT ->  for word in words[:2]",
            "count: word.strip() -> word",
            "count: words[:2] -> words",
            "count: 2 -> 3",
            "count: len(word) > LIMIT -> len(word) >= LIMIT",
            "count: len(word) > LIMIT -> len(word) < LIMIT",
            "count: return sum(long) + 1 if only and fails else None -> return None",
            "count: sum(long) + 1 if only and fails else None -> sum(long) + 1",
            "count: sum(long) + 1 if only and fails else None -> None",
            "count: only and fails -> only or fails",
            "count: only and fails -> only",
            "count: only and fails -> fails",
            "count: not words -> words",
            "count: sum(long) + 1 -> sum(long) - 1",
            "count: sum(long) -> len(long)",
            "count: 1 -> 2",
        ]
    )


def test_a_mutant_has_its_mistake_and_no_other() -> None:
    values = {}
    for each in mutants("def add(a, b):\n    return a + b * 2\n"):
        made: dict[str, object] = {}
        exec(each.code, made)  # noqa: S102 - the source above
        add = made["add"]
        assert callable(add)
        values[each.mistake] = add(5, 6)
    assert values == {
        "add: return a + b * 2 -> return None": None,
        "add: a + b * 2 -> a - b * 2": -7,
        "add: b * 2 -> b / 2": 8.0,
        "add: 2 -> 3": 23,
    }
