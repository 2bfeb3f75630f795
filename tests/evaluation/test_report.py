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

from assistant.evaluation.figures.compare import Change, Comparison, Verdict
from assistant.evaluation.figures.figures import CurvePoint, Figure, Figures
from assistant.evaluation.records.record import Asking, RunRecord
from assistant.evaluation.report.page import (
    difference,
    heading,
    number,
    reported,
    score,
    seconds,
    write_report,
)
from assistant.evaluation.scorers import METRICS
from assistant.evaluation.types import Reply, Row, SampleType, Score
from assistant.types import answer_json


def written(
    folder: Path,
    run: list[Row] | None = None,
    figures: Figures | None = None,
    record: RunRecord = RECORD,
    comparison: Comparison | None = None,
) -> str:
    run = rows() if run is None else run
    path = folder / "report.html"
    write_report(path, figures or figures_of(run), run, record, comparison)
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
    page = written(tmp_path, [], bare)
    assert "0 questions over 1,643 papers, asked on 4 March 2026" in text_of(page)
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


def test_every_sample_is_there_once(page: str) -> None:
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


def test_only_quotations_behind_what_is_written_are_called_evidence(
    page: str, tmp_path: Path
) -> None:
    kinds = ("quoted", 1), ("verified", 1), ("quoted", 1), ("quoted", 2), ("verified", 2)
    sentences = [(str(place), kind, number) for place, (kind, number) in enumerate(kinds)]
    reply = replace(rows()[0].replies[0], answer=said(*sentences, (FORECASTS, "quoted", 2)))
    shown = sample(written(tmp_path, [replace(rows()[0], replies=(reply,))]), "right")
    leads = r'<h5 class="label">(Evidence)</h5>|<p class="lead">([^<]*)</p>|<p>(\d) '
    marks = ["".join(each) for each in re.findall(leads, shown.partition("Citations")[0])]
    zebra, tidal = "From “Zebra Pruning”:", "From “Tidal Networks”:"
    assert marks == [zebra, "0", "1", "Evidence", zebra, "2", tidal, "3", "4", "Evidence", tidal]
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


def test_of_a_long_ranking_the_first_and_the_right_ones_are_listed(tmp_path: Path) -> None:
    row = rows()[2]
    found = (*(f"x{rank}" for rank in range(1, 42)), "z", "t")
    page = written(tmp_path, [replace(row, replies=(replace(row.replies[0], ranking=found),))])
    ranking = page.partition('<ol class="ranking">')[2].partition("</ol>")[0]
    ranks = re.findall(r'<li( class="is-right")?><span class="rank">(\d+)', ranking)
    assert ranks == [*(("", str(rank)) for rank in range(1, 11)), (' class="is-right"', "42")]
    assert "32 papers more, none of them expected." in page


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_what_is_a_miss(row: Row) -> None:
    assert bool(reported(row, 1).reasons) is (row.id in MISSES)


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
        (
            replace(scored(facts=0.0), failed="gone"),
            ("failed", "facts"),
            ("error", "a fact is missing"),
        ),
    ],
)
def test_where_a_sample_is_short(row: Row, short: tuple[str, ...], why: tuple[str, ...]) -> None:
    shown = reported(row, 1)
    assert shown.short == short
    assert tuple(shown.reasons) == why


def test_the_filter_counts_the_samples(page: str) -> None:
    form = part(page, '<form id="filter"', "</form>")
    assert "All 7 Misses 5 Failed 1 Not scored 1" in form
    assert "single (3) lookup (1) unanswerable (2) chat (1)" in form
    assert "answers with all facts (1)" in form


SHARES = [case for case in (*FACTS, *EVIDENCE) if case.metric in {"fact recall", "evidence recall"}]


@pytest.mark.parametrize("case", [case for case in SHARES if case.asked.answer and case.score])
def test_what_is_marked_as_found_is_what_was_scored(tmp_path: Path, case: Case) -> None:
    assert case.asked.answer
    assert case.score
    expected = replace(case.asked.expected, papers=None)
    reply = Reply("?", expected, answer=answer_json(case.asked.answer, None, 0))
    page = written(tmp_path, [Row("s", SampleType.SINGLE, (reply,), {})])
    marks = re.findall(r'<li class="(found|absent)">', page)
    assert marks.count("found") / len(marks) == (case.score.value or 0)


def test_every_measure_is_explained(tmp_path: Path) -> None:
    figures = tuple(Figure(each.name, "", 1.0, None, None, 9, 0) for each in METRICS)
    page = written(tmp_path, figures=replace(figures_of(rows()), figures=figures))
    meanings = re.findall(r'<p class="meaning">(.*?) <span', page)
    assert len(set(meanings)) == len(METRICS)
    assert all(meaning.endswith(".") for meaning in meanings)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (number(0.55349, "facts"), "55.3\N{NO-BREAK SPACE}%"),
        (number(0.0, "facts"), "0\N{NO-BREAK SPACE}%"),
        (number(0.9999, "facts"), "100.0\N{NO-BREAK SPACE}%"),
        (number(1.0, "ndcg@10"), "1.000"),
        (number(56.25, "words"), "56.2"),
        (number(0.5, "written words"), "0.5"),
        (number(None, "facts"), "–"),
        (difference(-0.1, "facts"), "−10.0"),
        (difference(0.0044, "mrr@10"), "+0.004"),
        (difference(-0.0001, "mrr@10"), "0.000"),
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
    ],
)
def test_how_numbers_are_written(written: str, expected: str) -> None:
    assert written == expected


def test_the_record_is_in_the_page_with_nested_names(page: str) -> None:
    made = part(page, 'id="made-with"', "</main>")
    assert "Models models chat.name Tiny Model chat.bytes 270,885,952 embedder.name Mini" in made
    assert "threads 2 answering.top k 5 answering.writing.checks yes model –" in made
    assert "limit – types single samples 7 repeats 0 seed 7" in made
    assert made.endswith("Run run scorers 1 Questions a1b2c3d4e5f6, scorers 1, seed 7.")


def numbers(svg: str, element: str, attribute: str) -> list[float]:
    found = re.findall(rf'<{element}[^>]* {attribute}="([^"]*)"', svg)
    return [float(each) for each in found]


def svg_of(page: str, class_: str) -> str:
    found = re.search(rf'<svg class="{class_}".*?</svg>', page, re.DOTALL)
    assert found
    return found[0]


def drawn(folder: Path, class_: str, **changes: object) -> str:
    """The first plot of a class in a report whose figures are changed."""
    figures = replace(figures_of(rows()), **changes)  # type: ignore[arg-type]
    return svg_of(written(folder, figures=figures), class_)


def test_a_bar_is_as_long_as_its_value(tmp_path: Path) -> None:
    svg = drawn(tmp_path, "bar", figures=(Figure("facts", "", 0.5, 0.25, 0.75, 9, 0),))
    track, value = numbers(svg, "rect", "width")
    assert value == pytest.approx(track / 2)
    assert sorted(numbers(svg, "line", "x1"))[0] == pytest.approx(4 + track / 4)
    assert sorted(numbers(svg, "line", "x2"))[-1] == pytest.approx(4 + track * 3 / 4)


def test_a_bar_without_an_interval_has_no_whisker(tmp_path: Path) -> None:
    svg = drawn(tmp_path, "bar", figures=(Figure("facts", "", 0.5, None, None, 5, 0),))
    assert "whisker" not in svg
    assert numbers(svg, "rect", "width")[1] == pytest.approx((240 - 8) / 2)


def test_a_difference_stands_on_its_side_of_zero(tmp_path: Path) -> None:
    change = Change("facts", 0.3, 0.2, -0.1, -0.2, 0.0, 9, 0, Verdict.SAME, (), ("right",))
    page = written(tmp_path, comparison=replace(compared(), changes=(change,)))
    assert numbers(svg_of(page, "bar change same"), "circle", "cx") == [
        pytest.approx((4 + 120) / 2)
    ]


def test_columns_are_as_high_as_answers_are_many(tmp_path: Path) -> None:
    page = written(
        tmp_path, figures=replace(figures_of(rows()), curves={}, latencies=(0.1, 0.2, 0.3, 4.9))
    )
    svg = svg_of(page, "plot")
    heights = numbers(svg, "rect", "height")
    assert heights[0] == pytest.approx(3 * heights[-1], abs=0.2)
    assert "half take up to 0.2 s, 95 % up to 4.2 s" in svg


@pytest.mark.parametrize("seconds_", [(0.0,), (1.0,), (0.001, 100.0), tuple([2.0] * 400)])
def test_any_latencies_can_be_drawn(tmp_path: Path, seconds_: tuple[float, ...]) -> None:
    svg = drawn(tmp_path, "plot", curves={}, latencies=seconds_)
    assert "nan" not in svg
    assert all(0 <= x <= 400 for x in numbers(svg, "rect", "x"))
    assert all(0 <= y <= 250 for y in numbers(svg, "rect", "y"))


@pytest.mark.parametrize(
    ("points", "path"),
    [
        ((CurvePoint(0.9, 0.5, 0.0), CurvePoint(0.1, 1.0, 0.5)), "M208 206L372 30"),
        ((CurvePoint(0.9, 1.0, 0.0),), "M372 206"),  # a curve without risk lies on the ground
    ],
)
def test_a_curve_goes_through_its_points(
    tmp_path: Path, points: tuple[CurvePoint, ...], path: str
) -> None:
    svg = drawn(tmp_path, "plot", curves={"not right": points})
    assert re.findall(r'd="([^"]*)"', svg) == [path]


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
            scores={name: Score(0.0, text) for name in reply.scores},
        )
        for reply in row.replies
    )
    titles = dict.fromkeys((*row.titles, text), text)
    return replace(row, id=f"{row.id} {text}", replies=replies, titles=titles, failed=text)


def page_saying(folder: Path, text: str) -> str:
    """A report whose every text from outside is this one."""
    run = [saying(row, text) for row in rows()]
    record = replace(
        RECORD,
        asking=Asking(text),
        models={"chat": {"name": text}},
        settings={text: {text: [text]}},
    )
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
