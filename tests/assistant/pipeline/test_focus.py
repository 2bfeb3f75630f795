"""Which paper a message is about: what fits it against what the reader says, and both by hand.

The weights are fitted anew now and then: cases are clear-cut, or have weights of their own.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from fakes import PAPERS, message_read, passage
from hypothesis import given
from hypothesis import strategies as st

from assistant.pipeline import intent as focus
from assistant.pipeline.intent import Signals, by_focus, seeks_others, signals_of
from retrieval.search.reader import MessageRead
from retrieval.types import Passage

ZEBRA, TIDAL, *_ = PAPERS
BY_ID = {each.id: each for each in PAPERS}
SURE = 0.99
FIT_ALONE = Signals(
    alone=1.0, beside=1.0, last=0.0, goes_on=0.0, others=0.0, earlier=0.0, goes_back=0.0
)
EVEN = {"zebra": 0.5, "tidal": 0.5, "lichen": 0.5}
BEHIND_ITS_TITLE = {"zebra": 0.9, "tidal": 0.5, "lichen": 0.5}


def passages(scores: Mapping[str, float]) -> list[Passage]:
    return [passage(BY_ID[id_], score) for id_, score in scores.items()]


def scored(
    focused: str,
    kind: str = "content",
    *,
    alone: Mapping[str, float] = EVEN,
    beside: Mapping[str, float] = EVEN,
    history: Sequence[str] = ("zebra",),
) -> dict[str, float]:
    """The scores of papers by id, best first; zebra is cited last."""
    read = message_read(kind, focused, SURE)
    papers = [BY_ID[id_] for id_ in history]
    found = by_focus(passages(alone), passages(beside), papers, read)
    return {each.paper.id: each.score for each in found}


def best(focused: str, kind: str = "content", **fit) -> str:
    return next(iter(scored(focused, kind, **fit)))


def test_a_message_that_goes_on_is_about_the_paper_cited_last() -> None:
    assert best("last", beside=BEHIND_ITS_TITLE) == "zebra"
    history = ("zebra", "tidal", "lichen")
    assert best("last", beside=BEHIND_ITS_TITLE, history=history) == "zebra"


def test_a_paper_that_fits_far_better_wins_although_the_message_seems_to_go_on() -> None:
    alone = {"lichen": 1.0, "tidal": 0.1, "zebra": 0.0}
    beside = {"lichen": 1.0, "zebra": 0.4, "tidal": 0.1}
    assert best("last", alone=alone, beside=beside) == "lichen"
    assert best("earlier", alone=alone, beside=beside, history=("zebra", "tidal")) == "lichen"


def test_the_paper_cited_last_wins_where_it_alone_fits_though_the_message_seems_alone() -> None:
    fit = {"zebra": 1.0, "lichen": 0.0}
    assert best("alone", alone=fit, beside=fit) == "zebra"


def test_a_message_alone_is_not_about_the_paper_whose_title_was_put_before_it() -> None:
    alone = {"lichen": 0.9, "tidal": 0.2, "zebra": 0.0}
    beside = {"lichen": 0.7, "zebra": 0.7, "tidal": 0.2}
    assert best("alone", alone=alone, beside=beside) == "lichen"


def test_a_message_that_goes_back_is_about_an_earlier_paper() -> None:
    assert best("earlier", history=("zebra", "tidal")) == "tidal"
    assert best("last", beside=BEHIND_ITS_TITLE, history=("zebra", "tidal")) == "zebra"


@pytest.mark.parametrize("fitting", ["tidal", "lichen"])
def test_of_several_earlier_papers_the_one_that_fits(fitting: str) -> None:
    fit = {fitting: 0.9, **{id_: 0.4 for id_ in EVEN if id_ != fitting}}
    assert best("earlier", alone=fit, beside=fit, history=("zebra", "tidal", "lichen")) == fitting


@pytest.mark.parametrize("kind", ["list", "several"])
def test_asking_for_others_pushes_the_paper_cited_last_down(kind: str) -> None:
    one, others = scored("last"), scored("last", kind)
    assert others.pop("zebra") < one.pop("zebra")
    assert others == pytest.approx(one)
    assert best("last", kind) != "zebra"


def test_what_the_reader_says_moves_the_papers_of_the_conversation_alone() -> None:
    history = ("zebra", "tidal")
    on, back, alone = (scored(each, history=history) for each in ("last", "earlier", "alone"))
    assert on["zebra"] > alone["zebra"]
    assert back["tidal"] > alone["tidal"]
    assert on["lichen"] == back["lichen"] == alone["lichen"]


def test_signals_by_hand() -> None:
    found = signals_of(
        passages({"zebra": 0.8, "lichen": 0.2}),
        passages({"zebra": 0.6, "tidal": 0.4}),
        [ZEBRA, TIDAL],
        MessageRead(
            kinds={"content": 0.2, "list": 0.5, "several": 0.3},
            focuses={"alone": 0.1, "last": 0.6, "earlier": 0.3, "both": 0.0},
        ),
    )
    assert list(found) == ["zebra", "lichen", "tidal"]
    assert found["zebra"] == Signals(
        alone=0.8,
        beside=0.6,
        last=1,
        goes_on=pytest.approx(math.log(6)),
        others=pytest.approx(math.log(4)),
        earlier=0,
        goes_back=0,
    )
    assert found["tidal"] == Signals(
        alone=0.2,
        beside=0.4,
        last=0,
        goes_on=0,
        others=pytest.approx(math.log(4)),
        earlier=1,
        goes_back=pytest.approx(math.log(3 / 7)),
    )
    assert found["lichen"] == Signals(
        alone=0.2, beside=0.4, last=0, goes_on=0, others=0, earlier=0, goes_back=0
    )


def test_what_is_certain_counts_a_thousand_to_one() -> None:
    read = message_read("content", "last", 1.0)
    found = signals_of(passages(EVEN), passages(EVEN), [ZEBRA, TIDAL], read)
    assert found["zebra"].goes_on == pytest.approx(math.log(1000))
    assert found["zebra"].others == pytest.approx(-math.log(1000))
    assert found["tidal"].goes_back == pytest.approx(-math.log(1000))


def test_a_score_is_the_weighed_mean_of_fits_and_of_what_the_reader_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = Signals(
        alone=1.0, beside=3.0, last=-1.0, goes_on=0.5, others=0.0, earlier=-2.0, goes_back=0.0
    )
    monkeypatch.setattr(focus, "WEIGHTS", weights)
    found = scored(
        "last",
        alone={"zebra": 0.8, "tidal": 0.4, "lichen": 0.4},
        beside={"zebra": 0.4, "tidal": 0.4, "lichen": 0.8},
        history=("zebra", "tidal"),
    )
    goes_on = math.log(SURE / ((1 - SURE) / 3))
    assert found == pytest.approx(
        {
            "zebra": (0.8 + 3 * 0.4 - 1 + 0.5 * goes_on) / 4,
            "lichen": (0.4 + 3 * 0.8) / 4,
            "tidal": (0.4 + 3 * 0.4 - 2) / 4,
        }
    )
    assert list(found) == ["zebra", "lichen", "tidal"]


def test_a_paper_that_one_search_misses_counts_as_the_least_it_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(focus, "WEIGHTS", FIT_ALONE)
    found = scored(
        "last",
        alone={"zebra": 0.8, "lichen": 0.2},
        beside={"zebra": 0.6, "tidal": 0.5, "whisper": 0.4},
    )
    assert found == pytest.approx(
        {
            "zebra": (0.8 + 0.6) / 2,
            "tidal": (0.2 + 0.5) / 2,
            "lichen": (0.2 + 0.4) / 2,
            "whisper": (0.2 + 0.4) / 2,
        }
    )
    assert scored("last", alone={"zebra": 0.8}, beside={}) == pytest.approx({"zebra": 0.4})


def test_the_chunk_is_the_one_that_fits_the_message_as_typed() -> None:
    typed, behind = passage(ZEBRA), passage(TIDAL)
    other = replace(typed, chunk=replace(typed.chunk, id="zebra:1"))
    found = by_focus([typed], [other, behind], [ZEBRA], message_read("content", "last"))
    chunks = {each.paper.id: each.chunk for each in found}
    assert chunks == {"zebra": typed.chunk, "tidal": behind.chunk}


def test_nothing_found_is_nothing_weighed() -> None:
    assert by_focus([], [], [ZEBRA], message_read("content", "last")) == []


_FITS = st.dictionaries(st.sampled_from(sorted(BY_ID)), st.floats(0, 1))


@given(
    _FITS,
    _FITS,
    st.permutations(sorted(BY_ID)),
    st.integers(1, len(BY_ID)),
    st.sampled_from(["alone", "last", "earlier", "both"]),
)
def test_no_paper_is_lost_or_doubled_and_scores_descend(
    alone: dict[str, float], beside: dict[str, float], ids: list[str], cited: int, focused: str
) -> None:
    history = [BY_ID[id_] for id_ in ids[:cited]]
    read = message_read("content", focused)
    found = by_focus(passages(alone), passages(beside), history, read)
    assert sorted(each.paper.id for each in found) == sorted(alone.keys() | beside.keys())
    assert all(one.score >= two.score for one, two in pairwise(found))


@pytest.mark.parametrize(
    ("kind", "focused", "expected"),
    [
        ("list", "last", True),
        ("several", "last", True),
        ("several", "earlier", True),
        ("list", "alone", False),
        ("several", "both", False),
        ("content", "last", False),
        ("record", "last", False),
        ("by_authors", "last", False),
    ],
)
def test_whether_others_are_sought(kind: str, focused: str, expected: bool) -> None:
    assert seeks_others(message_read(kind, focused)) is expected


def test_both_kinds_that_ask_for_others_count_together() -> None:
    focuses = message_read(focus="last").focuses
    kinds = {"content": 0.4, "list": 0.3, "several": 0.3}
    assert seeks_others(MessageRead(kinds, focuses))
    assert not seeks_others(MessageRead({**kinds, "content": 0.5, "list": 0.2}, focuses))
