"""What every scorer gives for records small enough to work out by hand, explanation included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assistant.evaluation.types import AnsweredQuestion, Expected, SampleType, Score
from assistant.types import Answer, AnswerSentence, Citation, Outcome, SentenceKind, Timings, Tokens
from retrieval.types import Paper


@dataclass(frozen=True)
class Case:
    """A question, and its score in a metric."""

    metric: str
    asked: AnsweredQuestion
    score: Score | None


PRUNES = "ZebraPrune removes 40% of the weights of a vision model."
LOSES = "ZebraPrune loses 0.3 points of accuracy on ImageNet."
RETRAINS = "It does not need any retraining afterwards."
FORECASTS = "The network halves the error of harmonic analysis within 6 hours."


def paper(id_: str, title: str, abstract: str, authors: tuple[str, ...] = ()) -> Paper:
    return Paper(id_, title, authors, "ICML", 2021, "oral", abstract, ())


ZEBRA = paper(
    "z", "Zebra Pruning", f"{PRUNES} {LOSES} {RETRAINS}", ("Ada Miro", "Ben Okafor", "Cai Dru")
)
TIDAL = paper("t", "Tidal “Graph” Networks", FORECASTS, ("Dov Elm",))

Sentence = tuple[str, SentenceKind, tuple[int, ...]]


def answer(
    *sentences: Sentence,
    cites: Sequence[tuple[Paper, str]] = (),
    text: str | None = None,
    outcome: Outcome = Outcome.ANSWERED,
    confidence: float | None = 0.5,
    completion: int = 0,
) -> Answer:
    """An answer with these sentences, which cites these quotes by their numbers from 1."""
    return Answer(
        question="What does it do?",
        standalone_question="What does it do?",
        outcome=outcome,
        text=" ".join(each for each, _, _ in sentences) if text is None else text,
        sentences=tuple(AnswerSentence(*each) for each in sentences),
        citations=tuple(Citation(at, of, quote) for at, (of, quote) in enumerate(cites, start=1)),
        passages=(),
        model="none",
        timings=Timings(0.1, 0.0, 0.2, 0.3),
        tokens=Tokens(0, completion),
        confidence=confidence,
    )


def asked(
    of: Answer | None = None,
    papers: Mapping[str, float] | None = None,
    *,
    type_: SampleType = SampleType.SINGLE,
    turn: int = 0,
    ranking: str = "",
    again: tuple[bool, ...] = (),
    outcome: Outcome | None = None,
    facts: tuple[tuple[str, ...], ...] = (),
    evidence: tuple[str, ...] = (),
) -> AnsweredQuestion:
    """A question; `ranking` has a letter for the id of each paper found."""
    expected = Expected(papers, outcome, facts, evidence)
    return AnsweredQuestion(type_, turn, expected, tuple(ranking), of, again)


def cases(metric: str, *rows: tuple[AnsweredQuestion, Score | None]) -> list[Case]:
    return [Case(metric, of, score) for of, score in rows]


QUOTED, VERIFIED = SentenceKind.QUOTED, SentenceKind.VERIFIED
NOT_HERE, SILENT = Outcome.NOT_IN_LIBRARY, Outcome.ABSTRACT_SILENT
REFUSED = answer(text="No abstract in this library answers 40%.", outcome=NOT_HERE)
UNANSWERED = Score(None, "nothing was answered")
UNCITED = Score(None, "nothing is cited")
BARE = answer(text="Yes.")
"""An answer without sentences and citations."""

# --- ranking: the right papers are those with a gain ---

A, AB, ABCD = {"a": 1.0}, {"a": 2.0, "b": 1.0}, dict.fromkeys("abcd", 1.0)
TWELVE = dict.fromkeys("abcdefghijkl", 1.0)
SECOND_OF_TEN = Score(0.5, "1 of 1 right paper in the first 10, at rank 2")
LONG = "".join(map(chr, range(0x4E00, 0x4E00 + 99)))
"""99 ids of no right paper."""
RANKING = [
    *cases(
        "recall@1",
        (asked(None, A, ranking="ab"), Score(1.0, "1 of 1 right paper in the first 1, at rank 1")),
        (asked(None, A, ranking="ba"), Score(0.0, "0 of 1 right paper in the first 1")),
        (
            asked(None, AB, ranking="ba"),
            Score(0.5, "1 of 2 right papers in the first 1, at rank 1"),
        ),
        (asked(None, {}, ranking="ab"), None),
        (asked(None, None, ranking="ab"), None),
    ),
    *cases(
        "recall@5",
        (
            asked(None, A, ranking="vwxya"),
            Score(1.0, "1 of 1 right paper in the first 5, at rank 5"),
        ),
        (asked(None, A, ranking="uvwxya"), Score(0.0, "0 of 1 right paper in the first 5")),
        (asked(None, A, ranking=""), Score(0.0, "0 of 1 right paper in the first 5")),
        (
            asked(REFUSED, ABCD, ranking="cxaz"),
            Score(0.5, "2 of 4 right papers in the first 5, at rank 1, 3"),
        ),
    ),
    *cases(
        "recall@10",
        (
            asked(None, A, ranking="qrstuvwxya"),
            Score(1.0, "1 of 1 right paper in the first 10, at rank 10"),
        ),
        (asked(None, A, ranking="pqrstuvwxya"), Score(0.0, "0 of 1 right paper in the first 10")),
        (
            asked(None, TWELVE, ranking="abcdefghijkl"),
            Score(
                10 / 12,
                "10 of 12 right papers in the first 10, at rank 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
            ),
        ),
    ),
    *cases(
        "recall@100",
        (asked(None, A, ranking="a"), None),
        (asked(None, A, type_=SampleType.LOOKUP, ranking="a"), None),
        (
            asked(None, A, type_=SampleType.RETRIEVAL, ranking=f"{LONG}a"),
            Score(1.0, "1 of 1 right paper in the first 100, at rank 100"),
        ),
        (
            asked(None, A, type_=SampleType.RETRIEVAL, ranking=f"{LONG}xa"),
            Score(0.0, "0 of 1 right paper in the first 100"),
        ),
        (
            asked(None, TWELVE, type_=SampleType.RETRIEVAL, ranking="abcdefghijk"),
            Score(
                11 / 12,
                "11 of 12 right papers in the first 100, at rank 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …",
            ),
        ),
        (asked(None, {}, type_=SampleType.RETRIEVAL, ranking="a"), None),
    ),
    *cases(
        "mrr@10",
        (asked(None, A, ranking="xa"), SECOND_OF_TEN),
        (
            asked(None, AB, ranking="xxab"),
            Score(1 / 3, "2 of 2 right papers in the first 10, at rank 3, 4"),
        ),
        (
            asked(None, A, ranking="qrstuvwxya"),
            Score(0.1, "1 of 1 right paper in the first 10, at rank 10"),
        ),
        (asked(None, A, ranking="pqrstuvwxya"), Score(0.0, "0 of 1 right paper in the first 10")),
        (asked(None, {}, ranking="xa"), None),
    ),
    *cases(
        "ndcg@10",
        (
            asked(None, AB, ranking="ab"),
            Score(1.0, "2 of 2 right papers in the first 10, at rank 1, 2"),
        ),
        # gain 1 at rank 3, log2(4) = 2; the best is 1 at rank 1
        (
            asked(None, A, ranking="xya"),
            Score(0.5, "1 of 1 right paper in the first 10, at rank 3"),
        ),
        # gain 1 at rank 10, log2(11) = 3.4594
        (
            asked(None, A, ranking="qrstuvwxya"),
            Score(0.2890648263178879, "1 of 1 right paper in the first 10, at rank 10"),
        ),
        (asked(None, A, ranking="pqrstuvwxya"), Score(0.0, "0 of 1 right paper in the first 10")),
        (
            asked(None, TWELVE, ranking="abcdefghij"),
            Score(
                1.0, "10 of 12 right papers in the first 10, at rank 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
            ),
        ),
        (asked(None, None, ranking="a"), None),
    ),
    *cases(
        "r-precision",
        (asked(None, A, ranking="ab"), Score(1.0, "1 of 1 right paper in the first 1, at rank 1")),
        (
            asked(None, AB, ranking="axb"),
            Score(0.5, "1 of 2 right papers in the first 2, at rank 1"),
        ),
        (
            asked(None, ABCD, ranking="xa"),
            Score(0.25, "1 of 4 right papers in the first 4, at rank 2"),
        ),
        (asked(None, {}, ranking="a"), None),
        (asked(None, None, ranking="a"), None),
    ),
]

# --- facts ---

SAYS = answer(text="From “Straße”: “It removes 40% of the Weights, naïvely” [1]")
FORTY, WEIGHTS, PHONES = ("40%",), ("weight", "parameter"), ("phone", "mobile")
FACTS = [
    *cases(
        "facts",
        (asked(SAYS, facts=(FORTY, WEIGHTS)), Score(1.0, "2 of 2 facts")),
        (
            asked(SAYS, facts=(FORTY, PHONES, ("GPU",))),
            Score(0.0, "1 of 3 facts; missing: phone or mobile; GPU"),
        ),
        (asked(SAYS), None),
        (asked(None, facts=(FORTY,)), None),
    ),
    *cases(
        "fact recall",
        (
            asked(SAYS, facts=(FORTY, PHONES)),
            Score(0.5, "1 of 2 facts; missing: phone or mobile"),
        ),
        (asked(SAYS, facts=(("WEIGHTS",),)), Score(1.0, "1 of 1 fact")),
        (asked(SAYS, facts=(("STRASSE",), ("NAÏVE",))), Score(1.0, "2 of 2 facts")),
        (asked(SAYS, facts=(("4%",),)), Score(0.0, "0 of 1 fact; missing: 4%")),
        (asked(SAYS), None),
        (asked(None, facts=(FORTY,)), None),
        # A refusal states no fact, even if the words are the same.
        (asked(REFUSED, facts=(FORTY,)), Score(0.0, "0 of 1 fact; missing: 40%")),
        (asked(REFUSED, facts=(("~",),)), Score(0.0, "0 of 1 fact; missing: ~")),
    ),
    *cases(
        "words",
        (asked(answer(text="It  removes\n40% [1]")), Score(4.0, "4 words")),
        (asked(BARE), Score(1.0, "1 word")),
        (asked(answer(text="")), Score(0.0, "0 words")),
        (asked(REFUSED), UNANSWERED),
        (asked(None), None),
    ),
]

# --- citations, by paper ---

GRAPH = "“Tidal ‘Graph’ Networks”"
THREE = answer(cites=[(ZEBRA, PRUNES), (TIDAL, FORECASTS), (ZEBRA, LOSES)])
CITATIONS = [
    *cases(
        "citation precision",
        (
            asked(THREE, {"z": 1}),
            Score(2 / 3, f"2 of 3 citations; not expected: {GRAPH}"),
        ),
        (asked(THREE, {"z": 1, "t": 1}), Score(1.0, "3 of 3 citations")),
        (
            asked(THREE, {"x": 1}),
            Score(0.0, f"0 of 3 citations; not expected: “Zebra Pruning”; {GRAPH}"),
        ),
        (asked(BARE, {"z": 1}), UNCITED),
        (asked(REFUSED, {"z": 1}), UNANSWERED),
        (asked(replace(THREE, outcome=SILENT), {"z": 1}), UNANSWERED),
        (asked(THREE, {}), None),
        (asked(THREE, None), None),
        (asked(None, {"z": 1}), None),
    ),
    *cases(
        "citation recall",
        (asked(THREE, {"z": 1}), Score(1.0, "1 of 1 right paper")),
        (asked(THREE, {"z": 1, "x": 1}), Score(0.5, "1 of 2 right papers")),
        (asked(BARE, {"z": 1}), Score(0.0, "0 of 1 right paper")),
        (asked(REFUSED, {"z": 1}), UNANSWERED),
        (asked(THREE, {}), None),
        (asked(THREE, None), None),
        (asked(None, {"z": 1}), None),
    ),
]

# --- sentences, by the quotes that they cite ---

BOTH = [(ZEBRA, PRUNES), (ZEBRA, LOSES)]
JOINED = "ZebraPrune removes 40% of the weights and loses 0.3 points of accuracy on ImageNet."
CUT = JOINED.replace("ImageNet.", "…")
LIE = "ZebraPrune removes 90% of the weights of a vision model."
COPIED = answer((PRUNES, QUOTED, (1,)), cites=[(ZEBRA, PRUNES)])
LIED = answer((PRUNES, QUOTED, (1,)), (LIE, VERIFIED, (1,)), cites=[(ZEBRA, PRUNES)], completion=9)
TOGETHER = answer((JOINED, VERIFIED, (1, 2)), cites=BOTH, completion=9)
IDLE = answer((LOSES, VERIFIED, (1, 2)), cites=BOTH, completion=9)
BY_RECORD = "“Zebra Pruning” is by Ada Miro, Ben Okafor and Cai Dru."
LISTED = (
    "“Zebra Pruning” by Ada Miro, Ben Okafor and Cai Dru (ICML 2021, oral), and 1,012 more that "
    '`assistant lookup "a `b`\nc" -k 1022` lists.'
)
UNDATED = replace(ZEBRA, year=None)
OTHERS = "“Zebra Pruning” is by Dov Elm."


def records(text: str, of: Paper = ZEBRA, completion: int = 0) -> Answer:
    """An answer from records."""
    opening = [(of, of.abstract.split(". ")[0])]
    return answer((text, VERIFIED, (1,)), cites=opening, confidence=None, completion=completion)


UNHELD = "0 of 1 sentence; not in what they cite: "
NESTED = str.maketrans("“”", "‘’")


def not_held(text: str) -> Score:
    """Of an answer whose one sentence is not in what it cites."""
    return Score(0.0, f"{UNHELD}“{text.translate(NESTED)}”")


def wrote(
    text: str, cites: Sequence[tuple[Paper, str]] = BOTH, numbers: tuple[int, ...] = (1,)
) -> Answer:
    """An answer of one sentence that the model wrote."""
    return answer((text, VERIFIED, numbers), cites=cites, completion=9)


BY_TITLE = "The Zebra Pruning of 2021 removes 40% of the weights."
NAMED = BY_TITLE.replace(" of 2021", "")
IN_STEPS = replace(ZEBRA, title="Zebra Pruning in 5 Steps")
STEPS = "ZebraPrune takes 5 steps."
ELSEWHERE = LOSES.replace("ImageNet", "CIFAR")
COUNTED = f"{PRUNES[:-1]}, and 12 more."
APPEARED = "“Zebra Pruning” appeared at ICML 2021 as an oral."
LATER = APPEARED.replace("2021", "2022")
YEARLESS = APPEARED.replace("2021", "None")
ABROAD = APPEARED.replace("ICML", "EMNLP")
ONE_SENTENCE = Score(1.0, "1 of 1 sentence")
BEGINS, QUOTES_FIRST = (
    Score(1.0, "begins with what the model wrote"),
    Score(0.0, "begins with a quotation"),
)
TWICE = answer(
    (NAMED, VERIFIED, (1,)),
    (RETRAINS, QUOTED, (3,)),
    (LOSES, VERIFIED, (2,)),
    cites=[*BOTH, (ZEBRA, RETRAINS)],
    completion=9,
)
"""What is written is in two places."""
ASTRAY = replace(TOGETHER, outcome=SILENT)
NO_FORTY = Score(0.0, "0 of 1 fact; missing: 40%")

SENTENCES = [
    *cases(
        "grounded",
        (asked(COPIED), ONE_SENTENCE),
        (asked(LIED), Score(0.5, f"1 of 2 sentences; not in what they cite: “{LIE}”")),
        (asked(TOGETHER), ONE_SENTENCE),
        (asked(IDLE), ONE_SENTENCE),
        # The other half is quoted elsewhere, but not cited here.
        (asked(wrote(JOINED)), Score(0.0, f"{UNHELD}“{CUT}”")),
        (asked(wrote(LOSES)), not_held(LOSES)),
        (asked(wrote(LOSES, numbers=(2,))), ONE_SENTENCE),
        (asked(wrote(ELSEWHERE, numbers=(2,))), not_held(ELSEWHERE)),
        (asked(wrote(PRUNES, numbers=())), not_held(PRUNES)),
        (
            asked(answer((LIE, VERIFIED, (1,)), (ELSEWHERE, VERIFIED, (2,)), cites=BOTH)),
            Score(0.0, f"0 of 2 sentences; not in what they cite: “{LIE}”; “{ELSEWHERE}”"),
        ),
        # A title gives names, but neither numbers nor the rest of the record.
        (asked(wrote(NAMED)), ONE_SENTENCE),
        (asked(wrote(NAMED, [(TIDAL, PRUNES)])), not_held(NAMED)),
        (asked(wrote(BY_TITLE)), not_held(BY_TITLE)),
        (asked(wrote(STEPS, [(IN_STEPS, PRUNES)])), not_held(STEPS)),
        # Of two papers both titles count.
        (
            asked(wrote("All of Pruning and Tidal hold.", [*BOTH, (TIDAL, FORECASTS)], (1, 3))),
            ONE_SENTENCE,
        ),
        (
            asked(wrote("All of Pruning and Tidal hold.", [*BOTH, (TIDAL, FORECASTS)], (1, 2))),
            not_held("All of Pruning and Tidal hold."),
        ),
        # A copy holds whatever it is called, also where it has nothing that could be checked.
        (asked(wrote(RETRAINS, [(ZEBRA, RETRAINS)])), ONE_SENTENCE),
        (asked(wrote("…", [(ZEBRA, "…")])), ONE_SENTENCE),
        (asked(wrote("…", [(ZEBRA, "… .")])), not_held("…")),
        # What is called a quotation must be one.
        (asked(answer((PRUNES[:-1], QUOTED, (1,)), cites=BOTH)), not_held(PRUNES[:-1])),
        (asked(answer((LOSES, QUOTED, (1,)), cites=BOTH)), not_held(LOSES)),
        # The path is sure of something, or a model wrote: not from records.
        (asked(replace(records(BY_RECORD), confidence=0.0)), not_held(BY_RECORD)),
        (asked(records(BY_RECORD, completion=1)), not_held(BY_RECORD)),
        (asked(records(BY_RECORD)), ONE_SENTENCE),
        (asked(records(OTHERS)), not_held(OTHERS)),
        (asked(records(BY_RECORD, TIDAL)), not_held(BY_RECORD)),
        (asked(records(APPEARED)), ONE_SENTENCE),
        (asked(records(LATER)), not_held(LATER)),
        (asked(records(ABROAD)), not_held(ABROAD)),
        (asked(records(APPEARED.replace(" 2021", ""), UNDATED)), ONE_SENTENCE),
        (asked(records(APPEARED, UNDATED)), not_held(APPEARED)),
        (asked(records(YEARLESS, UNDATED)), not_held(YEARLESS)),
        # How many more papers a list has is about none of them; that is said of records alone.
        (asked(records(LISTED)), ONE_SENTENCE),
        (asked(records(f"{BY_RECORD[:-1]}, and 12 more.")), ONE_SENTENCE),
        (
            asked(records("“Zebra Pruning” is by 12 more.")),
            not_held("“Zebra Pruning” is by 12 more."),
        ),
        (asked(wrote(COUNTED)), not_held(COUNTED)),
        (asked(BARE), UNANSWERED),
        (asked(REFUSED), UNANSWERED),
        (asked(replace(COPIED, outcome=SILENT)), UNANSWERED),
        (asked(None), None),
    ),
    *cases(
        "written",
        (asked(TOGETHER), BEGINS),
        (asked(TWICE), BEGINS),
        (asked(LIED), QUOTES_FIRST),
        (asked(COPIED), QUOTES_FIRST),
        # Records are not written by a model; these say that one wrote, or how sure it was.
        (asked(records(BY_RECORD)), None),
        (asked(records(BY_RECORD, completion=1)), BEGINS),
        (asked(replace(records(BY_RECORD), confidence=0.0)), BEGINS),
        (asked(replace(records(BY_RECORD), outcome=NOT_HERE, sentences=())), None),
        (asked(BARE), UNANSWERED),
        (asked(REFUSED), UNANSWERED),
        (asked(ASTRAY), UNANSWERED),
        (asked(None), None),
    ),
    *cases(
        "written words",
        (asked(TOGETHER), Score(14, "14 words")),
        (asked(LIED), Score(10, "10 words")),
        (asked(TWICE), Score(16, "16 words")),
        (asked(wrote("Done.")), Score(1, "1 word")),
        (asked(COPIED), None),
        (asked(records(BY_RECORD)), None),
        (asked(records(BY_RECORD, completion=1)), Score(11, "11 words")),
        (asked(BARE), None),
        (asked(REFUSED), None),
        (asked(ASTRAY), None),
        (asked(None), None),
    ),
    *cases(
        "written facts",
        (asked(TOGETHER, facts=(FORTY, WEIGHTS)), Score(1.0, "2 of 2 facts")),
        (
            asked(TOGETHER, facts=(FORTY, PHONES, ("GPU",))),
            Score(0.0, "1 of 3 facts; missing: phone or mobile; GPU"),
        ),
        (asked(TWICE, facts=(FORTY, ("0.3 points",))), Score(1.0, "2 of 2 facts")),
        (asked(TWICE, facts=(("weights. ZebraPrune",),)), Score(1.0, "1 of 1 fact")),
        # What only a quotation tells is not written.
        (asked(TWICE, facts=(("retraining",),)), Score(0.0, "0 of 1 fact; missing: retraining")),
        (asked(LIED, facts=(FORTY,)), NO_FORTY),
        (asked(COPIED, facts=(FORTY,)), NO_FORTY),
        (asked(COPIED, facts=(("~",),)), Score(0.0, "0 of 1 fact; missing: ~")),
        (asked(replace(BARE, text="40%"), facts=(FORTY,)), NO_FORTY),
        (asked(REFUSED, facts=(FORTY,)), NO_FORTY),
        (asked(ASTRAY, facts=(FORTY,)), NO_FORTY),
        (asked(records(BY_RECORD), facts=(("Miro",),)), None),
        (asked(records(BY_RECORD, completion=1), facts=(("Miro",),)), Score(1.0, "1 of 1 fact")),
        (asked(TOGETHER), None),
        (asked(None, facts=(FORTY,)), None),
    ),
]

# --- quotes ---

ALTERED = PRUNES.replace("40%", "41%")
QUOTES = cases(
    "quotes verbatim",
    (asked(THREE), Score(1.0, "3 of 3 quotes")),
    (
        asked(answer(cites=[(ZEBRA, PRUNES), (ZEBRA, ALTERED)])),
        Score(0.5, f"1 of 2 quotes; not in the abstract: “{ALTERED}”"),
    ),
    (
        asked(answer(cites=[(TIDAL, PRUNES)])),
        Score(0.0, f"0 of 1 quote; not in the abstract: “{PRUNES}”"),
    ),
    (asked(answer(cites=[(ZEBRA, "")])), Score(0.0, "0 of 1 quote; not in the abstract: “”")),
    (
        asked(answer(cites=[(ZEBRA, PRUNES.upper())])),
        Score(0.0, f"0 of 1 quote; not in the abstract: “{PRUNES.upper()}”"),
    ),
    (asked(BARE), UNCITED),
    (asked(REFUSED), UNANSWERED),
    (asked(None), None),
)

# --- evidence ---

PAGE_STYLE = r"\\emph{ZebraPrune} loses \$0.3\$ points of accuracy on Image-Net"
EVIDENCE = cases(
    "evidence recall",
    (asked(THREE, evidence=(PRUNES, LOSES)), Score(1.0, "2 of 2 sentences")),
    (
        asked(THREE, evidence=(PRUNES, RETRAINS)),
        Score(0.5, f"1 of 2 sentences; not cited: “{RETRAINS}”"),
    ),
    (asked(THREE, evidence=(PAGE_STYLE,)), Score(1.0, "1 of 1 sentence")),
    (asked(THREE, evidence=("It is known that " + LOSES,)), Score(1.0, "1 of 1 sentence")),
    (asked(THREE, evidence=("loses 0.3 points",)), Score(1.0, "1 of 1 sentence")),
    (
        asked(answer(cites=[(ZEBRA, "x² of it")]), evidence=("X2 of it",)),
        Score(1.0, "1 of 1 sentence"),
    ),
    (asked(THREE, evidence=("…",)), Score(0.0, "0 of 1 sentence; not cited: “…”")),
    (
        asked(answer(cites=[(ZEBRA, "")]), evidence=(LOSES,)),
        Score(0.0, f"0 of 1 sentence; not cited: “{LOSES}”"),
    ),
    (
        asked(BARE, evidence=(LOSES,)),
        Score(0.0, f"0 of 1 sentence; not cited: “{LOSES}”"),
    ),
    (asked(REFUSED, evidence=(LOSES,)), UNANSWERED),
    (asked(THREE), None),
    (asked(None, evidence=(LOSES,)), None),
)

# --- abstention ---

SAID = answer(text="It does.")
QUIET = replace(REFUSED, outcome=SILENT)
ABSTENTION = [
    *cases(
        "abstention",
        (asked(SAID, {"z": 1}), Score(1.0, "answered, as it should be")),
        (asked(SAID, {}), Score(0.0, "answered, but should be refused")),
        (asked(REFUSED, {}), Score(1.0, "refused (not_in_library), as it should be")),
        (
            asked(QUIET, {"z": 1}),
            Score(0.0, "refused (abstract_silent), but should be answered"),
        ),
        # Either refusal is a refusal, whichever was expected.
        (
            asked(REFUSED, {}, outcome=SILENT),
            Score(1.0, "refused (not_in_library), as it should be"),
        ),
        (asked(SAID, {"z": 1}, outcome=SILENT), Score(0.0, "answered, but should be refused")),
        (asked(SAID, None, outcome=Outcome.ANSWERED), Score(1.0, "answered, as it should be")),
        (asked(SAID, None), None),
        (asked(None, {"z": 1}), None),
    ),
    *cases(
        "false abstention",
        (asked(SAID, {"z": 1}), Score(0.0, "answered, as it should be")),
        (
            asked(REFUSED, {"z": 1}),
            Score(1.0, "refused (not_in_library), but should be answered"),
        ),
        (asked(REFUSED, {}), None),
        (asked(REFUSED, None), None),
        (asked(None, {"z": 1}), None),
    ),
    *cases(
        "false answer",
        (asked(SAID, {}), Score(1.0, "answered, but should be refused")),
        (asked(REFUSED, {}), Score(0.0, "refused (not_in_library), as it should be")),
        (asked(SAID, {"z": 1}), None),
        (asked(SAID, None), None),
        (asked(None, {}), None),
    ),
]

# --- follow-ups ---


def later(
    of: Answer | None, papers: Mapping[str, float] | None, **more: object
) -> AnsweredQuestion:
    """The second turn of a conversation."""
    return replace(asked(of, papers, type_=SampleType.CHAT, turn=1), **more)  # type: ignore[arg-type]


FOLLOW_UPS = cases(
    "follow-up",
    (later(THREE, {"z": 1}), Score(1.0, "cites “Zebra Pruning” first; a right paper")),
    (later(THREE, {"t": 1}), Score(0.0, "cites “Zebra Pruning” first; not a right paper")),
    (later(BARE, {"z": 1}), Score(0.0, "cites nothing; not a right paper")),
    (later(QUIET, {"z": 1}), Score(0.0, "refused (abstract_silent); not a right paper")),
    (later(QUIET, {}), Score(1.0, "refused (abstract_silent); nothing is right")),
    (later(THREE, {}), Score(0.0, "cites “Zebra Pruning” first; nothing is right")),
    (
        later(QUIET, None, expected=Expected(None, NOT_HERE)),
        Score(1.0, "refused (abstract_silent); nothing is right"),
    ),
    (later(THREE, None), None),
    (later(THREE, {"z": 1}, turn=2), Score(1.0, "cites “Zebra Pruning” first; a right paper")),
    (later(THREE, {"z": 1}, turn=0), None),
    (later(THREE, {"z": 1}, type=SampleType.SINGLE), None),
    (later(None, {"z": 1}), None),
)

# --- determinism ---

DETERMINISM = cases(
    "same again",
    (asked(SAID, again=(True,)), Score(1.0, "1 of 1 repeat")),
    (asked(SAID, again=(True, False, True, False)), Score(0.5, "2 of 4 repeats")),
    (asked(None, again=(False, False)), Score(0.0, "0 of 2 repeats")),
    (asked(SAID), None),
)

CASES = (
    *RANKING,
    *FACTS,
    *CITATIONS,
    *SENTENCES,
    *QUOTES,
    *EVIDENCE,
    *ABSTENTION,
    *FOLLOW_UPS,
    *DETERMINISM,
)
