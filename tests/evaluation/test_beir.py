"""Folders laid out as BEIR does: what is judged is asked, and every fault is named by its line."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.evaluation.questions.beir import read_beir
from assistant.evaluation.questions.question_set import read_question_set
from assistant.evaluation.types import Expected, Question, Sample, SampleType
from retrieval.index.chroma import ChromaStore
from retrieval.types import InputError

CORPUS = [
    {"_id": "p1", "title": "Turnips", "text": "Turnips grow in rows. They are eaten in winter."},
    {"_id": "p2", "title": "Carrots", "text": "Carrots are orange, and rabbits like to eat them."},
    {"_id": "p3", "title": "Carrots", "text": "Carrots are orange, and rabbits like to eat them."},
    {"_id": "p4", "title": "No more than a title", "text": ""},
]
QUERIES = [
    {"_id": "q1", "text": "winter vegetables", "metadata": {}},
    {"_id": "q2", "text": " what do rabbits eat? "},
    {"_id": "q3", "text": "nobody judged this"},
    {"_id": "q4", "text": "nothing is relevant to this"},
]
HEADER = "query-id\tcorpus-id\tscore"
JUDGED = (HEADER, "q2\tp2\t2", "q2\tp1\t0", "q1\tp1\t1", "q2\tp3\t1.5", "q4\tp1\t0", "q4\tp2\t-1")
LIBRARY = {"p1", "p2", "p3"}
SAMPLES = (
    Sample("q1", SampleType.RETRIEVAL, (Question("winter vegetables", Expected({"p1": 1.0})),)),
    Sample(
        "q2",
        SampleType.RETRIEVAL,
        (Question("what do rabbits eat?", Expected({"p2": 2.0, "p3": 1.5})),),
    ),
)

Folder = Callable[..., Path]


def jsonl(objects: Iterable[object]) -> str:
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in objects)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes a folder, its files as they are given."""

    def written(
        queries: Iterable[object] = QUERIES,
        judged: Iterable[str] = JUDGED,
        corpus: Iterable[object] = CORPUS,
        name: str = "test.tsv",
    ) -> Path:
        made = tmp_path / "garden"
        (made / "qrels").mkdir(parents=True)
        (made / "corpus.jsonl").write_text(jsonl(corpus), "utf-8")
        (made / "queries.jsonl").write_text(jsonl(queries), "utf-8")
        (made / "qrels" / name).write_text("\n".join(judged), "utf-8")
        return made

    return written


def test_the_judged_queries_with_their_gains(folder: Folder) -> None:
    made = folder()
    judged = read_beir(made, LIBRARY)
    assert judged.samples == SAMPLES
    assert judged.notes == ()
    content = (made / "queries.jsonl").read_bytes() + (made / "qrels" / "test.tsv").read_bytes()
    assert judged.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "judged",
    [
        ["\ufeff" + HEADER + "\r", "", "q1\tp1\t1\r", " "],
        ["score\tcorpus-id\tmore\tquery-id", "1\tp1\tx\tq1"],
        [HEADER, " q1 \t p1 \t 1 "],
    ],
)
def test_judgements_as_others_write_them(folder: Folder, judged: list[str]) -> None:
    assert read_beir(folder(judged=judged), LIBRARY).samples == SAMPLES[:1]


def test_ids_that_are_numbers(folder: Folder) -> None:
    made = folder(queries=[{"_id": 1, "text": "x"}], judged=[HEADER, "1\tp1\t1"])
    assert [sample.id for sample in read_beir(made, LIBRARY).samples] == ["1"]


def test_the_only_judgements_are_taken_whatever_their_name(folder: Folder) -> None:
    made = folder(name="dev.tsv")
    (made / "qrels" / "._dev.tsv").write_bytes(b"\x00\xff")
    assert read_beir(made, LIBRARY).samples == SAMPLES
    shutil.copy(made / "qrels" / "dev.tsv", made / "qrels" / "train.tsv")
    with pytest.raises(InputError, match=r"qrels has dev\.tsv, train\.tsv and no test\.tsv; name"):
        read_beir(made, LIBRARY)
    (made / "qrels" / "test.tsv").write_text(f"{HEADER}\nq1\tp1\t1\n")
    assert read_beir(made, LIBRARY).samples == SAMPLES[:1]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([HEADER, "q1\tp1\t1", "q9\tp1\t1"], "line 3 judges the query “q9”, which "),
        ([HEADER, "q1\tp1\tx"], "line 2 has the score “x”; expected a number such as 1"),
        ([HEADER, "q1\tp1\tnan"], "line 2 has the score “nan”; expected a number"),
        ([HEADER, "", "q1\tp1"], "line 3 has no score; expected a header with query-id"),
        ([HEADER, "q1\t\t1"], "line 2 has no corpus-id; expected"),
        ([HEADER, "q1 p1 1"], "line 2 has no corpus-id; expected"),
        (["q1\t0\tp1\t1"], "line 1 has no column query-id; expected a header"),
        (["query-id\tcorpus-id", "q1\tp1"], "line 1 has no column score; expected a header"),
        (
            [HEADER, "q1\tp1\t1", "q2\tp1\t1", "q1\tp1\t0"],
            "line 4 judges the paper “p1” for the query “q1” as line 2 did; keep one of the two",
        ),
        ([HEADER, "q1\tp1\t1", "q1\tp9\t1"], "line 3 judges the paper “p9”, which "),
        ([], "is empty; expected a header"),
    ],
)
def test_a_judgement_that_does_not_fit_is_named(
    folder: Folder, lines: list[str], problem: str
) -> None:
    made = folder(judged=lines)
    comma = "," if problem.startswith("line") else ""
    beginning = f"{made / 'qrels' / 'test.tsv'}{comma} {problem}"
    with pytest.raises(InputError, match=f"^{re.escape(beginning)}"):
        read_beir(made, LIBRARY)


@pytest.mark.parametrize("rows", [[], ["q1\tp1\t0"]])
def test_judgements_without_a_relevant_paper(folder: Folder, rows: list[str]) -> None:
    made = folder(judged=[HEADER, *rows])
    with pytest.raises(InputError, match=r"test\.tsv judges no paper as relevant; expected"):
        read_beir(made, LIBRARY)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("{", " is not valid JSON"),
        ({"id": "q2", "text": "x"}, " has no id; expected an object with “_id”"),
        ({"_id": "q1", "text": "x"}, " has the id “q1” of line 1 again; give"),
        ({"_id": "q2"}, " has no text; expected “text” with the query"),
        ({"_id": "q2", "text": 5}, " has no text; expected “text” with the query"),
        ({"_id": "q2", "text": " "}, ": The question is empty"),
    ],
)
def test_a_query_that_does_not_fit_is_named(folder: Folder, query: object, problem: str) -> None:
    made = folder(queries=[QUERIES[0], query, *QUERIES[2:]])
    beginning = f"{made / 'queries.jsonl'}, line 2{problem}"
    with pytest.raises(InputError, match=f"^{re.escape(beginning)}"):
        read_beir(made, LIBRARY)


def test_a_query_that_is_too_long_is_cut_and_the_cut_is_said(folder: Folder) -> None:
    """What cannot be seen does not count; nor does a query that nobody judged."""
    long = {"_id": "q2", "text": f" \u200b{'rabbit ' * 400}"}
    nobody_judged = {"_id": "q3", "text": "x" * 9000}
    made = folder(queries=[QUERIES[0], long, nobody_judged, QUERIES[3]])
    judged = read_beir(made, LIBRARY)
    assert judged.samples[0] == SAMPLES[0]
    (cut,) = judged.samples[1].questions
    assert cut.text == ("rabbit " * 400)[:2000]
    assert cut.expected == SAMPLES[1].questions[0].expected
    (note,) = judged.notes
    assert note == (
        f"1 of the judged queries in {made / 'queries.jsonl'} has more than 2,000 characters; "
        "only the first 2,000 are searched for."
    )


def test_a_query_of_exactly_the_most_characters_is_asked_whole(folder: Folder) -> None:
    whole = {"_id": "q2", "text": f" {'x' * 2000} \u200b"}
    judged = read_beir(folder(queries=[QUERIES[0], whole, *QUERIES[2:]]), LIBRARY)
    assert judged.samples[1].questions[0].text == "x" * 2000
    assert judged.notes == ()


@pytest.mark.parametrize(
    ("gone", "problem"),
    [
        ("queries.jsonl", "queries.jsonl cannot be read (No such file or directory); check"),
        ("qrels/test.tsv", "garden has no judgements; expected a folder with corpus.jsonl, querie"),
    ],
)
def test_a_folder_that_lacks_a_file(folder: Folder, gone: str, problem: str) -> None:
    made = folder()
    (made / gone).unlink()
    with pytest.raises(InputError, match=re.escape(problem)):
        read_beir(made, LIBRARY)


def test_judgements_that_are_not_text(folder: Folder) -> None:
    made = folder()
    (made / "qrels" / "test.tsv").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"test\.tsv is not UTF-8 text; expected a header with"):
        read_beir(made, LIBRARY)


def test_a_corpus_that_was_not_ingested_is_named(folder: Folder) -> None:
    made = folder()
    with pytest.raises(InputError, match=re.escape(f"`assistant ingest {made}`")) as caught:
        read_beir(made, {"p1", "p2"})
    assert "line 5 judges the paper “p3”, which the library does not have" in str(caught.value)


def test_a_folder_beside_a_library_that_holds_its_corpus(
    folder: Folder, tmp_path: Path, embedder_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Copies keep their ids: those within the corpus, and one that was there without an id."""
    assert embedder_path.exists()
    made = folder(judged=[*JUDGED, "q1\tp4\t1"])
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text(jsonl([{"title": "Turnips", "abstract": CORPUS[0]["text"]}]), "utf-8")
    home = tmp_path / "home"
    for source in (earlier, made):
        assert main(["ingest", str(source), "--home", str(home)]) == 0, capsys.readouterr().err
    stored = [each.paper for each in ChromaStore(home / "chroma").papers()]
    assert {paper.id for paper in stored} == LIBRARY
    questions = read_question_set(made, stored)
    assert questions.samples[0].questions[0].expected.papers == {"p1": 1.0, "p4": 1.0}
    assert questions.samples[1] == SAMPLES[1]
    (note,) = questions.notes
    assert note.endswith("corpus.jsonl has no abstract and counts as not found.")
