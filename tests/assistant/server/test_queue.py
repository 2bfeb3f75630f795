"""The queue for the model, with a clock that the test turns."""

import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from assistant.server.jobs.queue import RequestQueue, Ticket
from retrieval.types import BusyError


class Clock:
    """Seconds, as the test wants them."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def its_turn(ticket: Ticket) -> bool:
    return ticket.wait(0)


def test_first_come_first_served() -> None:
    queue = RequestQueue()
    first, second, third = (queue.enter() for _ in range(3))
    assert [each.ahead for each in (first, second, third)] == [0, 1, 2]
    assert [its_turn(each) for each in (first, second, third)] == [True, False, False]
    first.leave()
    assert [its_turn(each) for each in (second, third)] == [True, False]
    assert len(queue) == 2


def test_as_many_have_their_turn_as_there_are_slots() -> None:
    queue = RequestQueue(slots=lambda: 3)
    tickets = [queue.enter() for _ in range(5)]
    assert [its_turn(each) for each in tickets] == [True, True, True, False, False]
    assert [each.ahead for each in tickets] == [0, 0, 0, 1, 2]
    tickets[1].leave()
    assert [its_turn(each) for each in tickets[3:]] == [True, False]


def test_a_free_slot_goes_to_the_owner_with_the_fewest_turns() -> None:
    queue = RequestQueue(slots=lambda: 2)
    ann = [queue.enter("ann") for _ in range(4)]
    ben = queue.enter("ben")
    ann[0].leave()
    assert its_turn(ben)
    assert not its_turn(ann[2])
    ann[1].leave()
    assert its_turn(ann[2])


def test_slots_that_come_later_are_given_to_those_who_wait() -> None:
    known = [1]
    queue = RequestQueue(slots=lambda: known[0])
    first, second, third = (queue.enter() for _ in range(3))
    known[0] = 3
    first.leave()
    assert its_turn(second)
    assert its_turn(third)


def test_several_slots_shorten_the_estimate() -> None:
    clock = Clock()
    queue = RequestQueue(clock=clock, slots=lambda: 2)
    first, _second, third, fourth = (queue.enter() for _ in range(4))
    assert its_turn(first)
    clock.now += 8.0
    first.leave()
    assert third.seconds == 0.0
    assert fourth.seconds == 0.0  # the second is expected to end now
    clock.now += 2.0
    fifth = queue.enter()
    assert fifth.seconds == 4.0


def test_who_gives_up_lets_the_others_move_on() -> None:
    queue = RequestQueue()
    first, second, third = (queue.enter() for _ in range(3))
    second.leave()
    assert third.ahead == 1
    assert its_turn(first)
    assert not its_turn(third)
    first.leave()
    assert its_turn(third)


def test_leaving_twice_takes_nobody_elses_place() -> None:
    queue = RequestQueue()
    first, second = queue.enter(), queue.enter()
    first.leave()
    first.leave()
    assert its_turn(second)
    assert len(queue) == 1


def test_the_seconds_until_a_turn_are_those_of_the_turns_before() -> None:
    clock = Clock()
    queue = RequestQueue(clock=clock)
    first, second, third, fourth = (queue.enter() for _ in range(4))
    assert its_turn(first)
    assert (first.seconds, second.seconds) == (0.0, None)
    clock.now += 4
    first.leave()  # a turn took 4 s
    assert its_turn(second)
    assert [each.seconds for each in (second, third, fourth)] == [0.0, 4.0, 8.0]
    clock.now += 1
    assert [third.seconds, fourth.seconds] == [3.0, 7.0]
    clock.now += 9  # longer than usual: it may end at any moment
    assert [third.seconds, fourth.seconds] == [0.0, 4.0]
    second.leave()  # 10 s, so that the mean is 7
    assert its_turn(third)
    clock.now += 2
    assert fourth.seconds == 5.0


def test_a_turn_that_nobody_took_tells_nothing_about_the_next() -> None:
    clock = Clock()
    queue = RequestQueue(clock=clock)
    first, second, third, fourth = (queue.enter() for _ in range(4))
    assert its_turn(first)
    clock.now += 6
    first.leave()
    second.leave()  # before it looked whether its turn had come
    assert its_turn(third)
    assert fourth.seconds == 6.0


def test_only_the_last_turns_count() -> None:
    clock = Clock()
    queue = RequestQueue(clock=clock)
    for seconds in (500, *[2] * 20):
        ticket = queue.enter()
        assert its_turn(ticket)
        clock.now += seconds
        ticket.leave()
    _, waiting = queue.enter(), queue.enter()
    assert waiting.seconds == 2.0


def test_nobody_idle_counts_as_a_turn() -> None:
    clock = Clock()
    queue = RequestQueue(clock=clock)
    for _ in range(2):
        clock.now += 1000
        ticket = queue.enter()
        assert its_turn(ticket)
        clock.now += 3
        ticket.leave()
    _, waiting = queue.enter(), queue.enter()
    assert waiting.seconds == 3.0


def test_a_full_line_takes_nobody_until_one_leaves() -> None:
    queue = RequestQueue(longest=2)
    first, _ = queue.enter(), queue.enter()
    with pytest.raises(BusyError, match="2 questions are waiting for the model already; ask again"):
        queue.enter()
    first.leave()
    assert queue.enter().ahead == 1


def test_one_owner_has_at_most_as_many_places_as_are_free() -> None:
    queue = RequestQueue(longest=32)
    taken = {owner: take_all(queue, owner) for owner in ("ann", "bob", "cy")}
    assert {owner: len(places) for owner, places in taken.items()} == {
        "ann": 16,
        "bob": 8,
        "cy": 4,
    }
    with pytest.raises(BusyError, match=r"16 of your questions are waiting .* are for others"):
        queue.enter("ann")
    for ticket in taken["bob"]:
        ticket.leave()
    assert len(take_all(queue, "dee")) == 6


def take_all(queue: RequestQueue, owner: str) -> list[Ticket]:
    """All places that `owner` may have."""
    places: list[Ticket] = []
    while True:
        try:
            places.append(queue.enter(owner))
        except BusyError:
            return places


def test_places_of_nobody_in_particular_count_for_nobody() -> None:
    queue = RequestQueue(longest=8)
    assert len(take_all(queue, "")) == 8


def test_a_block_that_fails_gives_its_place_back() -> None:
    queue = RequestQueue()
    with pytest.raises(ZeroDivisionError), queue.enter():
        raise ZeroDivisionError
    assert len(queue) == 0


def test_who_waits_is_woken_when_the_turn_comes() -> None:
    queue = RequestQueue()
    first, second = queue.enter(), queue.enter()
    with ThreadPoolExecutor(1) as other:
        woken = other.submit(second.wait, 60)
        first.leave()
        assert woken.result(timeout=60)


def test_many_at_once_have_the_turn_one_at_a_time_and_in_order() -> None:
    queue = RequestQueue()
    inside = threading.Semaphore(1)
    came: list[int] = []
    places = [queue.enter() for _ in range(32)]

    def take(number: int) -> bool:
        while not places[number].wait(60):
            pass
        alone = inside.acquire(blocking=False)
        came.append(number)
        inside.release()
        places[number].leave()
        return alone

    with ThreadPoolExecutor(32) as people:
        assert all(people.map(take, reversed(range(32))))
    assert came == list(range(32))
    assert len(queue) == 0


class AnyOrder(RuleBasedStateMachine):
    """Entering and leaving in any order, against a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = RequestQueue(longest=6)
        self.expected: list[Ticket] = []

    @rule(owner=st.sampled_from(["", "ann", "bob", "cy"]))
    def enter(self, owner: str) -> None:
        own = sum(ticket.owner == owner for ticket in self.expected)
        free = 6 - len(self.expected)
        if not free or (owner and own >= free):
            with pytest.raises(BusyError):
                self.queue.enter(owner)
        else:
            self.expected.append(self.queue.enter(owner))

    @precondition(lambda self: self.expected)
    @rule(chance=st.randoms())
    def leave(self, chance: Random) -> None:
        self.expected.pop(chance.randrange(len(self.expected))).leave()

    @invariant()
    def the_first_has_the_turn(self) -> None:
        assert len(self.queue) == len(self.expected)
        assert [ticket.ahead for ticket in self.expected] == list(range(len(self.expected)))
        assert [its_turn(ticket) for ticket in self.expected] == [
            at == 0 for at in range(len(self.expected))
        ]


TestAnyOrder = AnyOrder.TestCase
