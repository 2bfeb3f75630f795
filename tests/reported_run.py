"""A small evaluation run, worked out by hand, for the tests of its report."""

from collections.abc import Sequence
from typing import Any

from assistant.evaluation.figures.compare import Change, Comparison, Verdict
from assistant.evaluation.figures.figures import CurvePoint, Figure, Figures, SampleScores, Spread
from assistant.evaluation.records.record import Asking, RunRecord, Times
from assistant.evaluation.types import Expected, Json, Reply, Row, SampleType, Score
from assistant.settings import NO_ABLATIONS
from assistant.types import Outcome

FULL, NONE = Score(1.0, "1 of 1"), Score(0.0, "0 of 1")
TITLES = {"z": "Zebra Pruning", "t": "Tidal Networks", "u": "Under the Sea"}
PRUNES = "ZebraPrune removes 40% of the weights."
FORECASTS = "The network halves the error within 6 hours."
RECORD = RunRecord(
    code={"version": "0.1.0", "commit": "c0ffee", "dirty": False},
    packages={"numpy": "2.0"},
    models={"chat": {"name": "Tiny Model", "bytes": 270885952}, "embedder": {"name": "Mini"}},
    settings={"threads": 2, "answering": {"top_k": 5, "writing": {"checks": True}}, "model": None},
    prompts={},
    library={"papers": 1643},
    asking=Asking("/somewhere/questions.jsonl", "a1", None, ("single",), 7, 0, 7, NO_ABLATIONS),
    scorers="1",
    machine={"cores": 2},
    times=Times("2026-03-04T10:00:00+00:00", seconds=185.0),
)


def said(
    *sentences: tuple[str, str, int],
    outcome: Outcome = Outcome.ANSWERED,
    text: str = "",
    question: str = "What is it?",
) -> Json:
    """An answer as it is kept; a sentence is its text, its kind and the number it cites."""
    papers = {1: ("z", PRUNES), 2: ("t", FORECASTS)}
    return {
        "question": question,
        "standalone_question": question,
        "outcome": outcome.value,
        "answer": text or " ".join(f"{each} [{number}]" for each, _, number in sentences),
        "sentences": [
            {"text": each, "kind": kind, "citations": [number]} for each, kind, number in sentences
        ],
        "citations": [
            {"number": number, "paper_id": id_, "title": TITLES[id_], "quote": quote}
            for number, (id_, quote) in papers.items()
            if number in {each for _, _, each in sentences}
        ],
        "timings": {"retrieval": 0.5, "rerank": 0.2, "first_token": 0.8, "total": 1.0},
        "tokens": {"prompt": 600, "completion": 40, "rerank": 0},
        "confidence": 0.75,
    }


def row(id_: str, type_: SampleType, *replies: Reply, failed: str = "") -> Row:
    """A sample about the three papers."""
    return Row(id_, type_, replies, TITLES, failed)


def right(**more: Any) -> Expected:
    """What is expected of a question about zebras."""
    return Expected({"z": 1.0}, Outcome.ANSWERED, **more)


def rows() -> list[Row]:
    """Two that are as they should be, five misses of which one failed; one is not scored."""
    quoted = said((PRUNES, "quoted", 1))
    both = said((PRUNES, "verified", 1), (FORECASTS, "quoted", 2))
    return [
        row(
            "right",
            SampleType.SINGLE,
            Reply(
                "How much does it prune?",
                right(facts=(("40%",),), evidence=(PRUNES,), answer="Four tenths."),
                ("z", "t"),
                quoted,
                {"facts": FULL, "words": Score(7.0, "7 words"), "mrr@10": FULL},
                1.0,
            ),
        ),
        row(
            "forgetful",
            SampleType.SINGLE,
            Reply(
                "What does it prune, and where?",
                right(facts=(("weights", "parameters"), ("Antarctica",)), evidence=("Snow.",)),
                ("z",),
                both,
                {"facts": NONE, "fact recall": Score(0.5, "1 of 2 facts; missing: Antarctica")},
                2.0,
            ),
        ),
        row(
            "astray",
            SampleType.LOOKUP,
            Reply("Zebra", right(), ("t", "z"), None, {"mrr@10": Score(0.5, "rank 2")}, 0.02),
        ),
        row(
            "weather",
            SampleType.UNANSWERABLE,
            Reply(
                "Will it rain?",
                Expected({}),
                ("t",),
                said(outcome=Outcome.NOT_IN_LIBRARY, text="No paper here is about that."),
                {"abstention": FULL, "false answer": NONE, "words": Score(None, "nothing said")},
                1.5,
            ),
        ),
        row(
            "talk",
            SampleType.CHAT,
            Reply("What prunes?", right(), ("z",), quoted, {"abstention": FULL}, 1.0),
            Reply(
                "Who else?",
                Expected({"t": 1.0}, Outcome.ANSWERED),
                ("z", "t"),
                quoted,
                {"abstention": FULL, "follow-up": NONE},
                1.0,
            ),
        ),
        row("broken", SampleType.SINGLE, Reply("Why?", right()), failed="the model is gone"),
        row(
            "invented",
            SampleType.UNANSWERABLE,
            Reply(
                "Who won?", Expected({}), ("z",), quoted, {"abstention": NONE, "false answer": FULL}
            ),
        ),
    ]


MISSES = ("forgetful", "astray", "talk", "broken", "invented")


def figures_of(rows_: Sequence[Row]) -> Figures:
    """Figures for a report; made up, as the report takes them as they are."""
    spread = Spread(1.25, 1.0, 2.0, 7.5)
    return Figures(
        questions_sha256="a1b2c3d4e5f6" + "0" * 52,
        scorers="1",
        seed=7,
        resamples=10_000,
        figures=(
            Figure("facts", "", 0.553, 0.4812, 0.6238, 150, 0),
            Figure("words", "", 56.25, 50.0, 61.96, 120, 30),
            Figure("abstention", "", 1.0, 1.0, 1.0, 7, 0),
            Figure("false abstention", "", 0.123, 0.02, 0.2, 7, 0),
            Figure("grounded", "", None, None, None, 0, 9),
            Figure("mrr@10", "", 0.8444, 0.8, 0.9, 100, 0),
            Figure("recall@1", "", 0.75, 0.5, 0.9, 100, 0),
            Figure("facts", "single", 0.4, 0.3, 0.5, 100, 0),
            Figure("facts", "chat", 0.987, 0.9, 1.0, 9, 0),
        ),
        outcomes={
            "answered": {"answered": 31, "abstract_silent": 2, "not_in_library": 0},
            "either refusal": {"answered": 3, "abstract_silent": 4, "not_in_library": 5},
        },
        curves={"not right": tuple(CurvePoint(1 - n / 4, n / 4, n / 8) for n in range(1, 5))},
        areas={"not right": 0.3125},
        seconds={"total": spread},
        tokens={"read": Spread(600.0, 590.0, 800.0, 4200.0)},
        latencies=(0.5, 1.0, 1.0, 1.5, 4.0),
        samples={each.id: SampleScores(each.type.value, bool(each.failed), ()) for each in rows_},
    )


def compared() -> Comparison:
    """With a run that knew more facts and used more words."""
    worse = ("right", "forgetful"), ("elsewhere",)
    return Comparison(
        "runs/before",
        (
            Change(
                "facts", 0.653, 0.553, -0.1, -0.15, -0.05, 6, 0, Verdict.WORSE, worse[1], worse[0]
            ),
            Change("words", 60.0, 56.2, -3.8, -5.0, -2.6, 6, 2, Verdict.BETTER, ("right",), ()),
            Change("mrr@10", 0.84, 0.8444, 0.0044, -0.1, 0.1, 6, 0, Verdict.SAME, (), ()),
            Change("follow-up", 0.5, 0.5, 0.0, None, None, 1, 0, Verdict.SAME, (), ()),
        ),
        1,
        {"same again": 7},
    )
