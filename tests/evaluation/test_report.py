"""The report says what the figures say, shows every sample, and takes all text for text."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from reported_run import FORECASTS, MISSES, PRUNES, RECORD, compared, figures_of, rows, said
from scorer_cases import EVIDENCE, FACTS, Case

from assistant.evaluation.compare import Change, Comparison, Verdict
from assistant.evaluation.figures import Figure, Figures
from assistant.evaluation.metrics import METRICS
from assistant.evaluation.report import plots, write_report
from assistant.evaluation.report.made_with import Group, groups
from assistant.evaluation.report.misses import REASONS, reasons, short_metrics
from assistant.evaluation.report.samples import shown_sample
from assistant.evaluation.report.wording import (
    CURVES,
    MEANINGS,
    difference,
    heading,
    interval,
    number,
    score,
    seconds,
)
from assistant.evaluation.scorers.risk_coverage import JUDGES
from assistant.evaluation.scorers.wording import counted
from assistant.evaluation.types import AnsweredQuestion, CurvePoint, Reply, Row, SampleType, Score
from assistant.types import answer_json


def written(
    folder: Path,
    run: list[Row] | None = None,
    figures: Figures | None = None,
    record: dict[str, object] | None = None,
    comparison: Comparison | None = None,
) -> str:
    run = rows() if run is None else run
    path = folder / "report.html"
    write_report(path, figures or figures_of(run), run, record or RECORD, comparison)
    return path.read_text(encoding="utf-8")


def text_of(html: str) -> str:
    """What a part of the page says, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def part(page: str, start: str, end: str) -> str:
    return text_of(page.partition(start)[2].partition(end)[0])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("report"), comparison=compared())


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("answers with all facts", ("55.3 %", "48.1 to 62.4 %", "150 questions")),
        ("words of an answer", ("56.2", "50.0 to 62.0", "120 questions, 30 not scored")),
        ("right to answer or not", ("100 %", "100 to 100 %", "7 questions")),
        ("names, numbers as cited", ("–", "–", "0 questions, 9 not scored")),
        ("mean reciprocal rank", ("0.844", "0.800 to 0.900", "100 questions")),
        ("right papers at rank 1", ("75.0 %", "50.0 to 90.0 %", "100 questions")),
    ],
)
def test_a_figure_stands_there_with_its_interval(
    page: str, label: str, says: tuple[str, str, str]
) -> None:
    shown = part(page, f"<h3>{heading(label)}</h3>", "</li>")
    assert shown.endswith(" ".join(says))


@pytest.mark.parametrize(("label", "way"), [("answerable, refused", "Less is better.")])
def test_which_way_is_better_is_said(page: str, label: str, way: str) -> None:
    assert way in part(page, f"<h3>{heading(label)}</h3>", "</li>")


def test_the_summary_says_what_was_asked_and_what_came(page: str) -> None:
    head = part(page, "<header>", "<nav")
    assert head == (
        "Evaluation report questions.jsonl 8 questions (1 conversation among them) over 1,643 "
        "papers, answered by Tiny Model on 4 March 2026 in 3 min 5 s."
    )
    summary = part(page, 'class="summary"', "</section>")
    assert "What is good 100 % right to answer or not (100 to 100 %)" in summary
    assert "What is weakest 55.3 % answers with all facts (48.1 to 62.4 %)" in summary
    assert f"{len(MISSES)} of 7 samples missed" in summary
    assert (
        "worse: answers with all facts; better: words of an answer. With --gate this run fails."
        in summary
    )


def test_a_run_that_only_searched_says_so(tmp_path: Path) -> None:
    page = written(tmp_path, [row for row in rows() if row.type is SampleType.LOOKUP])
    assert "1 question over 1,643 papers, asked on 4 March 2026" in part(page, "<header>", "<nav")


def test_a_bare_run_has_a_page(tmp_path: Path) -> None:
    bare = replace(
        figures_of([]), figures=(), outcomes={}, curves={}, areas={}, seconds={}, tokens={},
        latencies=(),
    )  # fmt: skip
    page = written(tmp_path, [], bare, {"scorers": "1"})
    assert "0 questions, asked." in text_of(page)
    assert "None of 0 samples." in text_of(page)


def test_the_types_are_beside_each_other(page: str) -> None:
    table = part(page, '<table class="heat">', "</table>")
    assert table.startswith("measure single 3 lookup 1 unanswerable 2 chat 1")
    assert "answers with all facts 40.0 98.7" in table


def test_of_one_type_alone_nothing_is_beside_each_other(tmp_path: Path) -> None:
    page = written(tmp_path, [row for row in rows() if row.type is SampleType.SINGLE])
    assert "By type" not in text_of(page)


def test_the_outcomes_are_a_table_where_either_refusal_may_be_right(page: str) -> None:
    table = page.partition('<table class="numbers outcomes">')[2].partition("</table>")[0]
    assert text_of(table).endswith("answered 31 2 0 a refusal, of either kind 3 4 5")
    assert re.findall(r'<td class="(\w+)">(\d+)', table) == [
        *(("agrees", "31"), ("differs", "2"), ("none", "0")),
        *(("differs", "3"), ("agrees", "4"), ("agrees", "5")),
    ]


def test_speed_and_tokens_stand_by_stage(page: str) -> None:
    assert "total 1.2 s 1.0 s 2.0 s 7.5 s" in part(page, "Seconds by stage", "</table>")
    assert "read 600 590 800 4,200" in part(page, "Tokens that", "</table>")


def test_the_comparison_shows_what_was_won_and_lost(page: str) -> None:
    changes = page.partition('<ol class="changes">')[2].partition("</ol>")[0]
    facts, words, rank = changes.split("</li>")[:3]
    assert text_of(facts).endswith(
        "Answers with all facts worse 65.3 % before, 55.3 % now. More is better. −10.0 points "
        "−15.0 to −5.0 6 samples Won: 1 sample elsewhere Lost: 2 samples right , forgetful"
    )
    assert '<a href="#sample-1">right</a>' in facts
    assert "elsewhere</a>" not in facts
    assert "better 60.0 before, 56.2 now. Less is better. −3.8 −5.0 to −2.6" in text_of(words)
    assert text_of(words).endswith("6 samples, 2 in one run only Won: 1 sample right")
    assert "Mean reciprocal rank may be chance 0.840 before" in text_of(rank)
    assert "Not scored any more: same bytes, asked again." in text_of(page)
    assert "The same in every sample: understood follow-ups." in text_of(page)
    assert "1 sample that only one of them has" in text_of(page)


def test_of_few_samples_no_interval_is_told(tmp_path: Path) -> None:
    figure = Figure("facts", "", 1.0, None, None, 5, 0)
    change = Change("facts", 0.8, 1.0, 0.2, None, None, 5, 0, Verdict.SAME, ("right",), ())
    page = written(
        tmp_path,
        figures=replace(figures_of(rows()), figures=(figure,)),
        comparison=replace(compared(), changes=(change,)),
    )
    assert "100 % answers with all facts (too few for an interval)" in text_of(page)
    assert "100 % too few for an interval 5 questions" in text_of(page)
    assert "+20.0 points too few for an interval 5 samples" in text_of(page)


def test_the_summary_says_that_what_is_not_measured_any_more_fails(tmp_path: Path) -> None:
    unmeasured = replace(compared(), changes=())
    said = "No measure differs by more than chance explains."
    assert f"{said} With --gate this run fails." in text_of(
        written(tmp_path, comparison=unmeasured)
    )
    measured = replace(unmeasured, gone={"same again": 5})
    assert "With --gate" not in text_of(written(tmp_path, comparison=measured))


def test_without_a_baseline_nothing_is_compared(tmp_path: Path) -> None:
    assert "baseline" not in text_of(written(tmp_path).partition("<body>")[2])


def test_every_sample_is_there_once_in_the_order_of_the_questions(tmp_path: Path) -> None:
    ended = list(reversed(rows()))
    page = written(tmp_path, ended, figures_of(rows()))
    assert re.findall(r'<article class="sample" id="([^"]*)"', page) == [
        f"sample-{place}" for place in range(1, 8)
    ]
    ids = re.findall(r'<span class="id">([^<]*)</span>', page)
    assert ids == [row.id for row in rows()]


def sample(page: str, id_: str) -> str:
    samples = page.split('<article class="sample"')
    return next(each for each in samples if f'<span class="id">{id_}</span>' in each)


def test_a_sample_shows_what_came_and_what_was_expected(page: str) -> None:
    shown = text_of(sample(page, "forgetful"))
    assert (
        f"{PRUNES} ✓ citation 1 Evidence From “Tidal Networks”: {FORECASTS} citation 2 Citations"
        in shown
    )
    assert f"Citations 1 Zebra Pruning right paper “{PRUNES}” 2 Tidal Networks another" in shown
    assert "Papers found 1 Zebra Pruning right paper" in shown
    assert "✓ “weights” or “parameters” found ✗ “Antarctica” not found" in shown
    assert "Papers ✓ Zebra Pruning found at rank 1 Evidence ✗ Snow. not found" in shown
    assert "answers with all facts 0 0 of 1" in shown
    assert "facts in the answer 0.5 1 of 2 facts; missing: Antarctica" in shown
    assert "Took 2.0 s. Confidence that the papers found answer it: 0.75." in shown


def test_only_quotations_behind_what_is_written_are_called_evidence(page: str) -> None:
    kinds = ("quoted", 1), ("verified", 1), ("quoted", 1), ("quoted", 2), ("verified", 2)
    sentences = [(str(place), kind, number) for place, (kind, number) in enumerate(kinds)]
    reply = replace(rows()[0].replies[0], answer=said(*sentences, (FORECASTS, "quoted", 2)))
    shown = shown_sample(replace(rows()[0], replies=(reply,)), 1).replies[0].answer
    assert shown
    assert [each.begins_evidence for each in shown.sentences] == [
        *(False, False, True, False, False, True)
    ]
    titles = ["Zebra Pruning", "", "Zebra Pruning", "Tidal Networks", "", "Tidal Networks"]
    assert [each.lead for each in shown.sentences] == titles
    alone = text_of(sample(page, "right")).partition("Citations")[0]
    assert f"From “Zebra Pruning”: {PRUNES}" in alone
    assert "Evidence" not in alone


def test_what_failed_says_why_and_what_was_asked(page: str) -> None:
    shown = text_of(sample(page, "broken"))
    assert "Why? single error the model is gone" in shown


def test_a_refusal_and_a_conversation_are_shown(page: str) -> None:
    refused = text_of(sample(page, "weather"))
    assert "Not in this library No paper here is about that." in refused
    assert "Right outcome: a refusal, of either kind" in refused
    talk = text_of(sample(page, "talk"))
    assert talk.index("Question 1 What prunes?") < talk.index("Question 2 Who else?")


def test_of_a_long_ranking_the_first_and_the_right_ones_are_listed() -> None:
    row = rows()[2]
    found = (*(f"x{rank}" for rank in range(1, 42)), "z", "t")
    shown = shown_sample(replace(row, replies=(replace(row.replies[0], ranking=found),)), 1)
    ranking = shown.replies[0].ranking
    assert [each.rank for each in ranking] == [*range(1, 11), 42]
    assert [each.is_right for each in ranking] == [False] * 10 + [True]
    assert shown.replies[0].found == 43


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_what_is_a_miss(row: Row) -> None:
    assert bool(reasons(row)) is (row.id in MISSES)


def scored(**scores: float | None) -> Row:
    given = {name.replace("_", " "): Score(value, "") for name, value in scores.items()}
    reply = Reply("?", rows()[0].replies[0].expected, scores=given)
    return Row("s", SampleType.SINGLE, (reply,), {})


@pytest.mark.parametrize(
    ("row", "short", "why"),
    [
        (scored(facts=1.0, words=900.0, written_words=90.0, abstention=1.0), (), ()),
        (scored(facts=None), (), ()),
        (scored(false_answer=1.0), ("false answer",), ()),
        (scored(false_answer=0.0, false_abstention=0.0), (), ()),
        (scored(fact_recall=0.99), ("fact recall",), ()),
        (scored(quotes_verbatim=1 - 1e-12), (), ()),
        (scored(quotes_verbatim=0.9), ("quotes verbatim",), ("a quote differs",)),
        (scored(unheard_of=0.0), ("unheard of",), ()),
        (
            replace(scored(facts=0.0), failed="gone"),
            ("failed", "facts"),
            ("error", "a fact is missing"),
        ),
    ],
)
def test_where_a_sample_is_short(row: Row, short: tuple[str, ...], why: tuple[str, ...]) -> None:
    assert short_metrics(row) == short
    assert reasons(row) == why


def test_the_filter_counts_the_samples(page: str) -> None:
    form = part(page, '<form id="filter"', "</form>")
    assert "All 7 Misses 5 Failed 1 Not scored 1" in form
    assert "single (3) lookup (1) unanswerable (2) chat (1)" in form
    assert "answers with all facts (1)" in form


@pytest.mark.parametrize("case", [*FACTS, *EVIDENCE])
def test_what_is_marked_as_found_is_what_was_scored(case: Case) -> None:
    asked = case.arguments[0]
    is_scored = case.function in {"fact_recall", "evidence_recall"} and isinstance(
        case.gives, Score
    )
    if not isinstance(asked, AnsweredQuestion) or asked.answer is None or not is_scored:
        return
    reply = Reply("?", asked.expected, answer=answer_json(asked.answer, None, 0))
    shown = shown_sample(Row("s", SampleType.SINGLE, (reply,), {}), 1).replies[0].expected
    wanted = shown.facts if case.function == "fact_recall" else shown.evidence
    found = sum(each.is_found for each in wanted) / len(wanted)
    assert found == ((isinstance(case.gives, Score) and case.gives.value) or 0)


def test_every_measure_reason_and_curve_is_explained() -> None:
    names = {metric.score for metric in METRICS}
    assert set(MEANINGS) == names
    assert set(REASONS) <= names
    assert set(CURVES) == set(JUDGES)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (number("facts", 0.55349), "55.3\N{NO-BREAK SPACE}%"),
        (number("facts", 0.0), "0\N{NO-BREAK SPACE}%"),
        (number("facts", 0.9999), "100.0\N{NO-BREAK SPACE}%"),
        (number("ndcg@10", 1.0), "1.000"),
        (number("words", 56.25), "56.2"),
        (number("written words", 0.5), "0.5"),
        (interval("written words", 1.0, 21.04), "1.0 to 21.0"),
        (number("facts", None), "–"),
        (interval("facts", 0.48, 1.0), "48.0 to 100\N{NO-BREAK SPACE}%"),
        (interval("facts", None, None), "too few for an interval"),
        (difference("facts", -0.1), "−10.0"),
        (difference("mrr@10", 0.0044), "+0.004"),
        (difference("mrr@10", -0.0001), "0.000"),
        (score(None), "not scored"),
        (score(2 / 3), "0.67"),
        (score(1.0), "1"),
        (score(0.001), "0"),
        (score(120.0), "120"),
        (seconds(0.0031), "3 ms"),
        (seconds(59.9), "59.9 s"),
        (seconds(119.6), "2 min 0 s"),
        (seconds(3725.0), "1 h 2 min"),
        (heading("nDCG of the first 10"), "nDCG of the first 10"),
        (heading("words of an answer"), "Words of an answer"),
        (counted(1, "paper"), "1 paper"),
        (counted(1643, "paper"), "1,643 papers"),
    ],
)
def test_how_numbers_are_written(written: str, expected: str) -> None:
    assert written == expected


WRITING = {"mode": "as the probe decides", "checks": True}


def test_the_record_is_grouped_with_nested_names() -> None:
    record = {
        "seed": 3,
        "settings": {"threads": 2, "answering": {"top_k": 5, "writing": WRITING}, "model": None},
        "asking": {"types": ["single", "chat"], "ablations": {}},
    }
    assert groups(record) == [
        Group(
            "settings",
            (
                ("threads", "2"),
                ("answering.top k", "5"),
                ("answering.writing.mode", "as the probe decides"),
                ("answering.writing.checks", "yes"),
                ("model", "–"),
            ),
        ),
        Group("asking", (("types", "single, chat"), ("ablations", "none"))),
        Group("run", (("seed", "3"),)),
    ]


def test_the_record_is_in_the_page(page: str) -> None:
    made = part(page, 'id="made-with"', "</main>")
    assert "Models models chat.name Tiny Model chat.bytes 270,885,952 embedder.name Mini" in made
    assert "Questions a1b2c3d4e5f6, scorers 1, seed 7." in made


def numbers(svg: str, element: str, attribute: str) -> list[float]:
    found = re.findall(rf'<{element}[^>]* {attribute}="([^"]*)"', svg)
    return [float(each) for each in found]


def test_a_bar_is_as_long_as_its_value() -> None:
    svg = str(plots.metric_bar(0.5, (0.25, 0.75), 1.0))
    track, value = numbers(svg, "rect", "width")
    assert value == pytest.approx(track / 2)
    assert sorted(numbers(svg, "line", "x1"))[0] == pytest.approx(4 + track / 4)
    assert sorted(numbers(svg, "line", "x2"))[-1] == pytest.approx(4 + track * 3 / 4)


def test_a_bar_without_an_interval_has_no_whisker() -> None:
    bars = plots.metric_bar(0.5, (), 1.0), plots.change_bar(0.1, (), 0.2, "same")
    assert all("whisker" not in bar for bar in bars)
    assert numbers(str(bars[0]), "rect", "width")[1] == pytest.approx((240 - 8) / 2)


def test_a_difference_stands_on_its_side_of_zero() -> None:
    svg = str(plots.change_bar(-0.1, (-0.2, 0.0), 0.2, "worse"))
    assert numbers(svg, "circle", "cx") == [pytest.approx((4 + 120) / 2)]


def test_columns_are_as_high_as_answers_are_many() -> None:
    svg = str(plots.latencies((0.1, 0.2, 0.3, 4.9)))
    heights = numbers(svg, "rect", "height")
    assert heights[0] == pytest.approx(3 * heights[-1], abs=0.2)
    assert "half take up to 0.2 s, 95 % up to 4.2 s" in svg


@pytest.mark.parametrize("seconds_", [(0.0,), (1.0,), (0.001, 100.0), tuple([2.0] * 400)])
def test_any_latencies_can_be_drawn(seconds_: tuple[float, ...]) -> None:
    svg = str(plots.latencies(seconds_))
    assert "nan" not in svg
    assert all(0 <= x <= 400 for x in numbers(svg, "rect", "x"))
    assert all(0 <= y <= 250 for y in numbers(svg, "rect", "y"))


def test_a_curve_goes_through_its_points() -> None:
    half = (CurvePoint(0.9, 0.5, 0.0), CurvePoint(0.1, 1.0, 0.5))
    svg = str(plots.risk_coverage({"a": half, "nothing": ()}))
    assert re.findall(r'd="([^"]*)"', svg) == ["M208 206L372 30"]


def test_a_curve_without_risk_lies_on_the_ground() -> None:
    svg = str(plots.risk_coverage({"a": (CurvePoint(0.9, 1.0, 0.0),)}))
    assert 'd="M372 206"' in svg


HOSTILE = (
    "</script><script>window.hit=1</script>",
    "</style></title><img src=x onerror=window.hit=1>",
    "\" onmouseover='window.hit=1' x=\"",
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
)


class Elements(HTMLParser):
    """Every element with the names of its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[tuple[str, tuple[str, ...]]] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag, tuple(sorted(name for name, _ in attrs))))


def saying(row: Row, text: str) -> Row:
    """The sample with the text in the place of all its texts."""
    as_json = json.dumps(
        [
            {**reply.answer, "answer": text, "outcome": reply.answer["outcome"]}
            for reply in row.replies
            if reply.answer
        ]
    )
    for old in (PRUNES, FORECASTS, *row.titles.values()):
        as_json = as_json.replace(json.dumps(old), json.dumps(text))
    answers = iter(json.loads(as_json))
    replies = tuple(
        replace(
            reply,
            question=text,
            expected=replace(
                reply.expected, answer=text, facts=((text, text),), evidence=(text, text)
            ),
            ranking=(text, *reply.ranking),
            answer=next(answers) if reply.answer else None,
            scores={**{name: Score(0.0, text) for name in reply.scores}, text: Score(0.0, text)},
        )
        for reply in row.replies
    )
    titles = dict.fromkeys((*row.titles, text), text)
    return replace(row, id=f"{row.id} {text}", replies=replies, titles=titles, failed=text)


def page_saying(folder: Path, text: str) -> str:
    """A report whose every text from outside is this one."""
    run = [saying(row, text) for row in rows()]
    record = {"asking": {"file": text}, "models": {"chat": {"name": text}}, text: {text: [text]}}
    return written(folder, run, figures_of(run), record, replace(compared(), baseline=text))


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_stay_text(tmp_path: Path, text: str) -> None:
    page, plain = page_saying(tmp_path, text), page_saying(tmp_path, "Harmless")
    assert Elements(page).found == Elements(plain).found
    body, plain_body = (each.partition("<body>")[2] for each in (page, plain))
    # The heading has the last part of a path alone.
    assert unescape(body).count(text) in {plain_body.count("Harmless") - at for at in (0, 1)}


def test_half_a_character_is_written_as_a_question_mark(tmp_path: Path) -> None:
    page = written(tmp_path, [replace(rows()[0], id="half \ud800")])
    assert "half ?" in page


def test_the_page_allows_its_own_style_and_script_alone(page: str) -> None:
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    assert policy.startswith("default-src 'none'; ")
    for element in ("style", "script"):
        (inside,) = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy


def test_the_page_names_nothing_outside(page: str) -> None:
    assert re.findall(r"https?:|//\w|@import|url\(|@font-face", page) == []
