"""What `assistant evaluate` is given is checked as a whole; every fault is named by its line."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from assistant.evaluation.questions.question_set import read_question_set
from assistant.evaluation.types import Expected, Question, QuestionSet, Sample, SampleType
from assistant.types import Outcome
from retrieval.index.chroma import ChromaStore
from retrieval.types import InputError, Paper, Source, first_words

DEV = Path(__file__).parent / "dev.jsonl"
COLD = (
    "Frost hardens turnips. A cold winter makes their leaves taste sweeter, as we show in 3 fields."
)


def paper(id_: str, title: str, abstract: str) -> Paper:
    return Paper(id_, title, (), "", None, "", abstract, (Source("a.txt", 1),))


PAPERS = [
    paper("turnips", "Turnips: a Résumé", "Turnips grow in $n^2$ rows. They are eaten in winter."),
    paper("41", "On Carrots", "Carrots are orange."),
    paper("42", "On Peas", "Peas are green."),
    paper("43", "on peas!", "Peas are sold by weight."),
    paper("cold", "", COLD),
    paper("odd", "???", "Marks alone make no name."),
]
SINGLE = {"id": "a", "type": "single", "question": "What?", "papers": ["turnips"]}


def line(**fields: Any) -> dict[str, Any]:
    """A good line but for these fields; `...` leaves one out."""
    return {key: value for key, value in {**SINGLE, **fields}.items() if value is not ...}


def read(file: Path, *lines: Any) -> QuestionSet:
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    file.write_text("\n".join(texts), "utf-8")
    return read_question_set(file, PAPERS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.jsonl"


def expected(file: Path, **fields: Any) -> Expected:
    (sample,) = read(file, line(**fields)).samples
    return sample.questions[-1].expected


def test_the_example_set_reads_over_the_seeds(library_home: Path) -> None:
    stored = ChromaStore(library_home / "chroma").papers()
    questions = read_question_set(DEV, (each.paper for each in stored))
    kinds = [sample.type for sample in questions.samples]
    counts = {type_.value: kinds.count(type_) for type_ in SampleType}
    answerable = {"single": 100, "multi": 15, "lookup": 25}
    assert counts == answerable | {"unanswerable": 30, "chat": 12, "retrieval": 0}
    assert questions.sha256 == hashlib.sha256(DEV.read_bytes()).hexdigest()
    assert questions.notes == ()
    asked = [question for sample in questions.samples for question in sample.questions]
    assert all(question.expected.papers is not None for question in asked)
    assert {sample.id for sample in questions.samples} == {f"D{at:03}" for at in range(1, 183)}
    first = questions.samples[0].questions[0].expected
    assert first.papers == {"dual-algorithmic-reasoning-dd2ed24c": 1.0}
    assert first.facts == (("vessel",),)


def test_the_example_in_the_readme_reads_over_the_seeds(library_home: Path, file: Path) -> None:
    readme = Path(__file__).with_name("README.md").read_text("utf-8")
    (example,) = re.findall(r"```jsonl\n(.*?)```", readme, re.DOTALL)
    file.write_text(example, "utf-8")
    stored = [each.paper for each in ChromaStore(library_home / "chroma").papers()]
    types = [sample.type.value for sample in read_question_set(file, stored).samples]
    assert types == ["single", "lookup", "unanswerable", "chat"]


def test_all_that_a_line_says(file: Path) -> None:
    said = line(
        id=7,
        question=" What? ",
        papers=["Turnips: a Résumé"],
        facts=[["rows", "lines"], ["winter"]],
        evidence=["They are eaten in winter."],
        answer="In winter.",
        more={"kept": "by nobody"},
    )
    assert read(file, said) == QuestionSet(
        (
            Sample(
                "7",
                SampleType.SINGLE,
                (
                    Question(
                        "What?",
                        Expected(
                            {"turnips": 1.0},
                            Outcome.ANSWERED,
                            (("rows", "lines"), ("winter",)),
                            ("They are eaten in winter.",),
                            "In winter.",
                        ),
                    ),
                ),
            ),
        ),
        hashlib.sha256(file.read_bytes()).hexdigest(),
    )


def test_a_conversation(file: Path) -> None:
    turns = [
        {"question": "What?", "papers": ["turnips"], "facts": [["rows"]]},
        {"question": "And the price?", "papers": []},
        {"question": "And why?", "papers": None},
    ]
    (sample,) = read(file, {"id": "c", "type": "chat", "turns": turns}).samples
    assert [question.text for question in sample.questions] == [turn["question"] for turn in turns]
    assert [question.expected for question in sample.questions] == [
        Expected({"turnips": 1.0}, Outcome.ANSWERED, (("rows",),)),
        Expected({}),
        Expected(None),
    ]


@pytest.mark.parametrize(
    ("fields", "papers", "outcome"),
    [
        ({}, {"turnips": 1.0}, "answered"),
        ({"papers": ["turnips", "41"], "type": "multi"}, {"turnips": 1.0, "41": 1.0}, "answered"),
        ({"papers": {"turnips": 2, "41": 0.5}}, {"turnips": 2.0, "41": 0.5}, "answered"),
        ({"type": "unanswerable", "papers": []}, {}, None),
        ({"type": "unanswerable", "papers": None}, {}, None),
        (
            {"type": "unanswerable", "papers": [], "outcome": "not_in_library"},
            {},
            "not_in_library",
        ),
        ({"type": "unanswerable", "papers": [], "answer": "nothing"}, {}, None),
        ({"papers": None}, None, None),
        ({"papers": None, "outcome": None}, None, None),
        ({"papers": None, "outcome": "answered"}, None, "answered"),
        ({"papers": None, "facts": [["x"]]}, None, "answered"),
        ({"papers": None, "evidence": ["x"]}, None, "answered"),
        ({"papers": None, "answer": "x"}, None, None),
        ({"type": "lookup", "papers": []}, {}, None),
        ({"type": "lookup", "papers": None, "outcome": "abstract_silent"}, {}, "abstract_silent"),
        ({"type": "retrieval"}, {"turnips": 1.0}, None),
        ({"type": "retrieval", "papers": None}, None, None),
    ],
)
def test_what_a_right_answer_is(
    file: Path, fields: dict[str, Any], papers: dict[str, float] | None, outcome: str | None
) -> None:
    found = expected(file, **fields)
    assert found.papers == papers
    assert found.outcome == outcome


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("turnips", "turnips"),
        (" turnips ", "turnips"),
        ("Turnips: a Résumé", "turnips"),
        ("TURNIPS – a resume", "turnips"),
        ("\\emph{Turnips}: a Résumé", "turnips"),
        ("41", "41"),
        (41, "41"),
        ("43", "43"),
        (COLD[:80], "cold"),
        (first_words(COLD), "cold"),
    ],
)
def test_how_a_paper_is_named(file: Path, name: str | int, id_: str) -> None:
    assert expected(file, papers=[name]).papers == {id_: 1.0}


def test_an_id_comes_before_a_title_that_reads_the_same(file: Path) -> None:
    file.write_text(json.dumps(line(papers=["b"])))
    papers = [paper("a", "B", "One."), paper("b", "C", "Another.")]
    (sample,) = read_question_set(file, papers).samples
    assert sample.questions[0].expected.papers == {"b": 1.0}


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("{broken", " is not valid JSON"),
        ("[" * 100_000, " is not valid JSON"),
        ('"text"', " has no id"),
        (line(id=...), " has no id"),
        (line(id=None), " has no id"),
        (line(id=" "), " has an empty id; give"),
        (line(id="first"), " has the id “first” of line 1 again; give each line an id of its own"),
        (line(type=...), " has no “type”; expected one of single, multi, lookup, unanswerable,"),
        (line(type="quiz"), " has “quiz” as “type”; expected “type” with one of single, multi,"),
        (line(type=["single"]), " has a list as “type”; expected"),
        (line(type=None), " has null as “type”; expected"),
        (line(question=...), " has no “question”; expected a text"),
        (line(question=5), " has 5 as “question”; expected “question” with a text"),
        (line(question="  "), ": The question is empty"),
        (line(question="x" * 2001), ": The question has 2,001 characters"),
        (line(question="x" * 5_000_000), ": The question has 5,000,000 characters"),
        (line(papers=...), " has no “papers”; expected a list of titles or ids, empty where"),
        (line(papers="turnips"), " has “turnips” as “papers”; expected “papers” with a list"),
        (line(papers=7), " has 7 as “papers”; expected"),
        (line(papers=[["turnips"]]), " has a list as “papers[0]"),
        (line(papers=["turnips", ""]), " has “” as “papers[1]"),
        (line(papers=["turnips", True]), " has true as “papers[1]"),
        (line(papers={"turnips": "1"}), " has “1” as “papers[0]"),
        (line(papers={"turnips": 0}), " has 0 as “papers[0]"),
        (line(papers={"turnips": float("nan")}), " has NaN as “papers[0]"),
        (line(papers=["turnip"]), " names a paper that the library does not have, “turnip”; write"),
        (
            line(papers=["Turnips, a resumé of"]),
            " names a paper that the library does not have, “Turnips, a resumé of”; the closest "
            "title is “Turnips: a Résumé”.",
        ),
        (line(papers=["???"]), " names a paper that the library does not have, “???”; write"),
        (line(papers=["odd words " * 500_000]), " names a paper that the library does not have"),
        (line(papers=["x" * 5_000_000]), " names a paper that the library does not have, “xxx"),
        (
            line(papers=["On Peas"]),
            " names “On Peas”, and 2 papers are called so; name the one that is meant by its id "
            "(42 or 43).",
        ),
        (line(papers=["turnips", "Turnips: a Résumé"]), " names the paper “Turnips: a Résumé” twi"),
        (line(papers=[]), " is of the type single, but nothing answers it; name its papers, write"),
        (
            line(papers=None, outcome="not_in_library"),
            " is of the type single, but nothing answers",
        ),
        (line(type="multi", papers=[]), " is of the type multi, but nothing answers it"),
        (line(type="retrieval", papers=[]), " is of the type retrieval, but nothing answers it"),
        (line(type="unanswerable"), " is to be refused and to be answered; leave papers, facts"),
        (line(type="unanswerable", papers=[], facts=[["x"]]), " is to be refused and to be answ"),
        (line(type="unanswerable", papers=[], evidence=["x"]), " is to be refused and to be answ"),
        (line(type="unanswerable", papers=[], outcome="answered"), " is to be refused and to be"),
        (line(type="lookup", papers=[], outcome="answered"), " is to be refused and to be answ"),
        (line(facts="rows"), " has “rows” as “facts”; expected “facts” with a list with a list of"),
        (line(facts=["rows"]), " has “rows” as “facts[0]”; expected"),
        (line(facts=[["rows"], []]), " has a list as “facts[1]”; expected"),
        (line(facts=[["rows", " "]]), " has “” as “facts[0][1]”; expected"),
        (line(facts=[["rows", 3]]), " has 3 as “facts[0][1]”; expected"),
        (line(facts=None), " has null as “facts”; expected"),
        (line(evidence="They grow."), " has “They grow.” as “evidence”; expected “evidence” with"),
        (line(evidence=[""]), " has “” as “evidence[0]”; expected"),
        (line(answer=["x"]), " has a list as “answer”; expected “answer” with a text"),
        (
            line(outcome="refused"),
            " has “refused” as “outcome”; expected “outcome” with one of ans",
        ),
        (line(facts=[["\u200b"]]), " has “” as “facts[0][0]”; expected"),
        (line(type="chat"), " has no “turns”; expected a list of at least one turn, each with"),
        (line(type="chat", turns=[]), " has a list as “turns”; expected “turns” with a list of at"),
        (line(type="chat", turns="x"), " has “x” as “turns”; expected"),
        (line(type="chat", turns=["x"]), ", turn 1 is no object; expected an object with “quest"),
        (
            line(type="chat", turns=[{"question": "A?", "papers": []}, {"question": "B?"}]),
            ", turn 2 has no “papers”; expected",
        ),
        (
            line(type="chat", turns=[{"question": " ", "papers": []}]),
            ", turn 1: The question is empty",
        ),
        (
            line(type="chat", turns=[{"question": "A?", "papers": ["none"]}]),
            ", turn 1 names a paper that the library does not have, “none”",
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_line_that_does_not_fit_is_named(file: Path, wrong: Any, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read(file, line(id="first"), "", wrong, line(id="last"))
    sentence = str(caught.value)
    assert sentence.startswith(f"{file}, line 3{problem}")
    assert len(sentence) < len(str(file)) + 400
    assert "\n" not in sentence


def test_ids_are_the_same_as_text_and_as_numbers(file: Path) -> None:
    with pytest.raises(InputError, match="line 2 has the id “7” of line 1 again"):
        read(file, line(id=7), line(id="7"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"", "is empty; expected one JSON"), (b" \r\n\n", "is empty"), (b"\xff{}", "is not UTF-8")],
)
def test_a_file_without_lines(file: Path, content: bytes, problem: str) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{file} {problem}")):
        read_question_set(file, PAPERS)


def test_a_file_that_is_not_there(file: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(No such file or directory\); check"):
        read_question_set(file, PAPERS)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_file_as_other_editors_write_it(file: Path, end: str) -> None:
    lines = [json.dumps(line(id=id_)) for id_ in ("b", "a")]
    file.write_bytes(f"\ufeff{end}{lines[0]}{end}{end}{lines[1]}".encode())
    questions = read_question_set(file, PAPERS)
    assert [sample.id for sample in questions.samples] == ["b", "a"]
    assert questions.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_evidence_that_no_right_paper_has_is_noted(file: Path) -> None:
    has = line(evidence=["Turnips grow in \\$n^2\\$ rows.", "THEY are eaten in winter"])
    lacks = line(id="b", evidence=["Carrots are orange."])
    unknown = line(id="c", papers=None, evidence=["No paper says this."])
    (note,) = read(file, has, lacks, unknown).notes
    assert note.startswith(f"{file}, line 2: the evidence “Carrots are orange.” stands in")


def test_half_a_character_is_no_text_that_a_row_could_hold(file: Path) -> None:
    half = "?\ud83d"
    (sample,) = read(
        file, line(id=half, question=half, answer=half, facts=[[half]], evidence=[half])
    ).samples
    assert TypeAdapter(Sample).dump_json(sample).count(b"??") == 5


_VALUES = (
    *(None, True, 0, -1, 10**400, 1.5, float("nan"), float("inf"), "", " ", "turnips", "\ud83d"),
    *("answered", "single", [], {}, [[]], [None], ["turnips"], [["rows"]], [{}], {"turnips": 1}),
    *({"": None}, {"turnips": [[]]}, [["turnips", 1]], [SINGLE], [[["rows"]]]),
)
_FIELDS = ("id", "type", "question", "papers", "facts", "evidence", "answer", "outcome", "turns")


@given(
    st.dictionaries(st.sampled_from(_FIELDS), st.sampled_from(_VALUES), max_size=3),
    st.sampled_from([*SampleType]),
)
def test_whatever_a_line_holds_it_is_read_or_named(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any], type_: SampleType
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    turns = [{**SINGLE, **fields}]
    try:
        (sample,) = read(file, {**SINGLE, "type": type_, "turns": turns, **fields}).samples
    except InputError as error:
        assert str(error).startswith(f"{file}, line 1")  # noqa: PT017 - either is right
    else:
        assert TypeAdapter(Sample).dump_json(sample)
