"""The command line as scripts and people use it: real models, real seeds; processes are in
`test_processes.py`."""

import io
import json
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import main
from assistant.cli.output import calibration_lines
from assistant.generation.answer_builder import NO_EXAMPLE_PAPER
from assistant.pipeline.abstention import read_calibration
from assistant.research.audit.draft import DraftSentence
from assistant.research.audit.judge import Auditor
from assistant.research.audit.types import AuditedSentence

Run = Callable[..., subprocess.CompletedProcess[str]]

ANSWER_KEYS = [
    *("id", "turn", "question", "standalone_question", "outcome", "answer", "sentences"),
    *("citations", "passages", "model", "timings", "tokens", "confidence", "searched_for"),
    *("coverage", "coverage_statement", "suggestions"),
]
RIAD = "Learning Strides in Convolutional Neural Networks"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in this process, from another folder than the project's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def command(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        given = list(map(str, arguments))
        out, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(errors), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
            try:
                code: object = main(given)
            except SystemExit as ended:
                code = ended.code
        return subprocess.CompletedProcess(
            given, int(str(code or 0)), out.getvalue(), errors.getvalue()
        )

    return command


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a command that the person can mend."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("assistant: ")
    return line


def test_help_needs_nothing_heavy() -> None:
    program = (
        "import sys, assistant.cli.main as cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('chromadb', 'gradio', 'llama_cpp', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("[]")
    for command in (
        "serve",
        "ingest",
        "ask",
        "chat",
        "search",
        "lookup",
        "calibrate",
        "models",
        "cases",
    ):
        assert command in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["--frobnicate", "serve"],
        ["ask"],
        ["ask", "Why?", "--jsonl", "file"],
        ["ask", "--context", "many"],
        ["search"],
        ["search", "x", "-k", "x"],
        ["search", "x", "-k", "0"],
        ["lookup", "--year", "MMXX"],
        ["lookup", "--format", "x"],
        ["models", "burn"],
        ["ingest", "--year", "x"],
    ],
    ids=" ".join,
)
def test_wrong_usage(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.startswith("usage: assistant")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("ask", "  "), "is empty"),
        (("ask", "x" * 100_000), "100,000 characters"),
        (("search", "x" * 100_000), "has 100,000 characters"),
        (("lookup", "x" * 100_000), "has 100,000 characters"),
        (("search", " "), "is empty"),
        (("lookup", ""), "Nothing to look up"),
        (("lookup", "--author", " ", "--venue", ""), "Nothing to look up"),
        (("ask", "Why?", "--context", "10"), "The setting 'context' cannot be 10"),
        (("ask", "Why?", "--threads", "0"), "The setting 'threads' cannot be 0"),
        (("serve", "--port", "99999"), "The setting 'port' cannot be 99999"),
        (("serve", "--host", "192.0.2.1"), "The address 192.0.2.1 port 7860 cannot be used"),
        (("search", "--jsonl", "none.jsonl"), "none.jsonl cannot be read"),
        (("models", "list", "--model", "hf:x"), "hf:x"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else None,
)
def test_what_a_person_can_mend_is_one_sentence(
    run: Run, library_home: Path, arguments: tuple[str, ...], part: str
) -> None:
    line = refused(run(*arguments, "--home", library_home))
    assert part in line
    assert len(line) < 500


@pytest.mark.parametrize("place", ["before", "after", "environment", "both"])
def test_where_the_home_is_given(
    run: Run, library_home: Path, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = ["lookup", "DiffStride", "--format", "json"]
    flag = ["--home", library_home]
    if place in {"environment", "both"}:
        given = library_home if place == "environment" else tmp_path / "nowhere"
        monkeypatch.setenv("ASSISTANT_HOME", str(given))
    arguments = {"before": flag + looked_up, "environment": looked_up}.get(place, looked_up + flag)
    done = run(*arguments)
    assert json.loads(done.stdout)[0]["title"] == RIAD
    assert done.stderr == ""
    assert not (tmp_path / "nowhere").exists()


def test_a_second_ingest_of_the_seeds_changes_nothing(run: Run, library_home: Path) -> None:
    report = json.loads(run("ingest", "--json", "--home", library_home).stdout)
    assert {key: report[key] for key in ("papers", "added", "updated", "unchanged", "merged")} == {
        "papers": 1643,
        "added": 0,
        "updated": 0,
        "unchanged": 1643,
        "merged": 3,
    }
    assert [skipped["line"] for skipped in report["skipped"]] == [1, 4, 7, 1, 3, 5, 7, 9]
    assert report["skipped"][0].keys() == {"source", "line", "reason"}


def test_ask_prints_the_answer_and_its_references_without_a_connection(
    run: Run, library_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, lambda *_: pytest.fail("it connects"))
    question = "How much faster is machine unlearning of federated clusters than retraining? \udcff"
    done = run("--home", library_home, "ask", question, "--methods")
    assert done.returncode == 0
    assert "roughly 84x" in done.stdout
    assert "We searched 1,643 abstracts (2022-2023); " in done.stdout
    assert "References\n  [1]" in done.stdout
    assert done.stderr == ""


def test_ask_as_json_has_what_was_written_before_its_evidence(run: Run, library_home: Path) -> None:
    question = "How does ModelAngelo compare with manual model building?"
    answer = json.loads(run("ask", "--json", question, "--home", library_home).stdout)
    kinds = [sentence["kind"] for sentence in answer["sentences"]]
    assert {*kinds} == {"verified", "quoted"}
    assert kinds == sorted(kinds, reverse=True)
    written = answer["sentences"][0]
    marks = "".join(f"[{number}]" for number in written["citations"])
    assert answer["answer"].startswith(f"{written['text']} {marks}")
    assert answer["answer"].count(" Evidence: From “") == 1


def test_ask_answers_a_file_in_order(run: Run, library_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    turns = [{"question": "What is DiffStride?"}, {"question": "Who are the authors?"}]
    lines: list[dict[str, Any]] = [
        {"id": "b", "turns": turns},
        {"id": "a", "question": "What's the weather in Vienna tomorrow?", "other": 1},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    done = run("ask", "--jsonl", file, "--home", library_home)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(answer["id"], answer["turn"]) for answer in answers] == [("b", 0), ("b", 1), ("a", 0)]
    assert [list(answer) for answer in answers] == [ANSWER_KEYS] * 3
    assert "Rachid Riad" in answers[1]["answer"]
    assert answers[2]["outcome"] == "not_in_library"
    assert (answers[2]["sentences"], answers[2]["citations"]) == ([], [])
    papers = json.loads(
        run("lookup", "DiffStride", "--format", "json", "--home", library_home).stdout
    )
    for citation in answers[0]["citations"]:
        if citation["paper_id"] == papers[0]["paper_id"]:
            assert citation["quote"] in papers[0]["abstract"]


def test_what_no_abstract_is_about_is_refused_in_every_shape(
    run: Run, library_home: Path, tmp_path: Path
) -> None:
    far = [
        "What is stagflation?",
        "is ghee the same as butter",
        "Summarise Moby Dick",
        "overview of Victorian novels",
        "compare alpacas and llamas",
        "find papers similar to the Guinness World Records",
    ]
    near = ["what is label smoothing"]
    file = tmp_path / "far.jsonl"
    rows = ({"id": str(at), "question": each} for at, each in enumerate([*far, *near]))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = run("ask", "--jsonl", file, "--home", library_home)
    answers = list(map(json.loads, done.stdout.splitlines()))
    answered = {each["question"] for each in answers if each["outcome"] == "answered"}
    assert answered == set(near)
    assert answers[len(far) - 1]["answer"].startswith(NO_EXAMPLE_PAPER)


def test_search_ranks_papers(run: Run, library_home: Path) -> None:
    done = run("search", "learnable strides", "-k", "3", "--json", "--home", library_home)
    result = json.loads(done.stdout)
    assert [hit["rank"] for hit in result["hits"]] == [1, 2, 3]
    assert result["hits"][0]["title"] == "Learning Strides in Convolutional Neural Networks"
    assert result["hits"][0].keys() == {"rank", "paper_id", "title", "score", "passage"}


def test_search_reads_a_file(run: Run, library_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"id": 1, "query": "strides"}\n{"id": 2, "question": "skeletons"}\n')
    done = run("search", "--jsonl", file, "--no-rerank", "--home", library_home)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(result["id"], result["query"]) for result in results] == [
        ("1", "strides"),
        ("2", "skeletons"),
    ]


def test_search_needs_no_chat_model(run: Run, library_home: Path) -> None:
    query = "Which layers learn their stride?"
    missing = ("--model", "/nowhere/model.gguf", "--home", library_home)
    for flags in (["--no-rerank"], []):
        done = run("search", query, *flags, "--json", *missing)
        assert json.loads(done.stdout)["hits"]


def test_search_keeps_to_what_the_query_says_about_records(run: Run, library_home: Path) -> None:
    query = "ICLR 2022 outstanding papers on graph networks"
    done = run("search", query, "--no-rerank", "--json", "--home", library_home)
    hits = json.loads(done.stdout)["hits"]
    assert len(hits) == 7  # all that there are
    assert hits[0]["title"] == (
        "Expressiveness and Approximation Properties of Graph Neural Networks"
    )


def test_search_says_what_is_not_in_the_library(run: Run, library_home: Path) -> None:
    for query, said in (
        ("papers by Ada Lovelace on engines", "note: no paper by Ada Lovelace in this library"),
        (
            "ICLR 2022 spotlights",
            "note: no paper at ICLR 2022 with decision spotlight in this library",
        ),
    ):
        done = run("search", query, "--no-rerank", "--home", library_home)
        assert done.returncode == 0
        assert said in done.stderr.splitlines()
    assert done.stdout == ""


@pytest.mark.parametrize(
    "query",
    ["the of and", "图神经网络", 'title: "x* -y', "🙂", "a" * 1999, "strides \udcff \udcf0\udc9f"],
)
def test_search_takes_anything(run: Run, library_home: Path, query: str) -> None:
    done = run("search", query, "--no-rerank", "--json", "--home", library_home)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["hits"]) == 10
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "first", "count"),
    [
        (["papers by Yilun Du"], None, 4),
        (["lerning strides in convolutional networks"], "Learning Strides in Convolu", 1),
        (["DiffStride"], "Learning Strides in Convolutional Neural Networks", 1),
        (["ICLR 2022 outstanding papers"], None, 7),
        (["--decision", "honorable mention"], None, 3),
        (["diffusion", "--decision", "oral", "--year", "2023", "-k", "2"], None, 2),
        (["--author", "velickovic", "dual reasoning"], "Dual Algorithmic Reasoning", 1),
    ],
)
def test_lookup(
    run: Run, library_home: Path, arguments: list[str], first: str | None, count: int
) -> None:
    done = run("lookup", *arguments, "--format", "json", "--home", library_home)
    found = json.loads(done.stdout)
    assert len(found) >= count
    assert all(paper["why"] for paper in found)
    if first:
        assert found[0]["title"].startswith(first)
    else:
        assert len(found) == count
    assert found[0].keys() == {
        *("paper_id", "title", "authors", "venue", "year", "decision", "abstract", "why")
    }


def test_a_file_is_removed_and_the_library_checked_and_repaired(
    run: Run, tmp_path: Path, embedder_path: Path
) -> None:
    assert embedder_path.exists()
    for name in ("first", "second"):
        paper = {"id": name, "title": f"The {name}", "abstract": f"This is the {name} of both."}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(paper), "utf-8")
    home = ("--home", tmp_path / "home")
    run("ingest", tmp_path / "first.jsonl", tmp_path / "second.jsonl", *home)
    refused = run("remove", "frist.jsonl", *home)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "No paper was read from a file 'frist.jsonl'; the nearest of 2 are 'first" in (
        refused.stderr
    )
    removed = json.loads(run("remove", "first.jsonl", "--json", *home).stdout)
    assert removed.pop("seconds") >= 0
    counts = {"removed": 1, "kept": 0, "papers": 1}
    assert removed == {"source": "first.jsonl", **counts, "completed": False}
    assert "The library is whole." in run("doctor", *home).stdout
    shutil.rmtree(tmp_path / "home" / "lexical")
    ill = run("doctor", "--json", *home)
    assert ill.returncode == 1
    assert json.loads(ill.stdout)["unindexed"] == 1
    assert ill.stderr.endswith("repair it with `assistant doctor --repair`.\n")
    assert json.loads(run("doctor", "--repair", "--json", *home).stdout)["sound"] is True


@pytest.mark.parametrize(
    ("format_", "opening", "lines"),
    [
        ("bibtex", "@inproceedings{riad2022learning,", ["  year = {2022},"]),
        ("ris", "TY  - CPAPER", ["ID  - riad2022learning", "PY  - 2022", "ER  - "]),
        (
            "apa",
            f"Riad, R., Teboul, O., Grangier, D., & Zeghidour, N. (2022). {RIAD}. In ICLR.",
            [],
        ),
        (
            "ieee",
            f"[1] R. Riad, O. Teboul, D. Grangier, and N. Zeghidour, “{RIAD},” in ICLR, 2022.",
            [],
        ),
    ],
)
def test_lookup_exports_what_it_finds(
    run: Run, library_home: Path, format_: str, opening: str, lines: list[str]
) -> None:
    done = run("lookup", "DiffStride", "-k", "1", "--format", format_, "--home", library_home)
    printed = done.stdout.splitlines()
    assert printed[0] == opening
    assert set(lines) <= set(printed)


@pytest.mark.parametrize("format_", ["table", "bibtex", "ris"])
def test_lookup_of_nothing_prints_one_sentence_and_no_data(
    run: Run, library_home: Path, format_: str
) -> None:
    done = run("lookup", "--year", "1815", "--format", format_, "--home", library_home)
    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.strip().splitlines()) == 1


def test_calibrate_keeps_a_threshold_with_the_library(run: Run, tmp_path: Path) -> None:
    home, file = tmp_path / "library", tmp_path / "animals.jsonl"
    animals = "otter beaver owl newt mole bat heron toad vole wolf lynx crane eel carp stork hare"
    foods = "mussel reed rat slug worm moth trout ant seed deer grouse frog crab weed lizard clover"
    lines = []
    for at, (animal, food) in enumerate(zip(animals.split(), foods.split(), strict=True)):
        for place, times in (("marsh", "at night"), ("valley", "in winter")):
            name = f"{place} {animal}"
            abstract = (
                f"We study the {name}. It was counted in {at + 3} places. "
                f"The {name} eats every {food} that it finds {times}. Maps are added."
            )
            lines.append(json.dumps({"title": f"On the {name}", "abstract": abstract}))
    file.write_text("\n".join(lines), "utf-8")
    assert run("ingest", file, "--home", home).returncode == 0
    found = json.loads(run("calibrate", "--papers", "24", "--json", "--home", home).stdout)
    assert found == json.loads((home / "abstention.json").read_text("utf-8"))
    assert 20 <= found["answerable"] == found["unanswerable"] <= 24
    assert found["auc"] > 0.5
    assert 0 < found["least_confidence"] < 1
    assert {"before", "after"} <= found.keys()
    kept = read_calibration(home)
    assert kept is not None
    said, *_ = calibration_lines(kept)
    assert f"confidence of {found['least_confidence']:.3f} on" in said
    few = run("calibrate", "--papers", "1", "--home", home)
    assert (few.returncode, few.stdout) == (1, "")
    assert "too few to calibrate with" in few.stderr.splitlines()[-1]
    assert found == json.loads((home / "abstention.json").read_text("utf-8"))


def test_calibrate_reads_its_questions_before_any_model(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "a", "question": "Why?"}', "utf-8")
    none = ("--model", tmp_path / "none.gguf", "--embedder", tmp_path / "none.gguf")
    assert "line 1 has no papers" in refused(run(*none, "calibrate", "--questions", file))


def test_models_says_what_is_in_use(run: Run, library_home: Path) -> None:
    models = json.loads(run("models", "list", "--json", "--home", library_home).stdout)
    used = {model["role"]: model for model in models if model["in_use"]}
    assert used.keys() == {
        "chat",
        "embedder",
        "writer",
        "reader",
        "sentence_reader",
        "support",
        "cutter",
    }
    for model in used.values():
        assert Path(model["path"]).stat().st_size == model["size_bytes"]


def test_chat_reads_a_pipe_and_keeps_the_conversation(run: Run, library_home: Path) -> None:
    typed = "What is DiffStride?\nWho wrote it?\n/nothing\n/open 1\n/cite 1\n\nnot read\n"
    done = run("chat", "--home", library_home, stdin=typed)
    assert done.returncode == 0
    first, about, rest = done.stdout.partition(f"(About “{RIAD}”: Who wrote it?)\n")
    assert RIAD in first
    assert about
    assert "Rachid Riad" in rest
    assert f"\n{RIAD}\nRachid Riad, Olivier Teboul, David Grangier, Neil Zeghidour\n" in rest
    assert "\n@inproceedings{riad2022learning,\n" in rest
    assert "There is no command /nothing" in done.stderr
    assert ">" not in done.stdout


def test_papers_that_cannot_be_read_are_refused(
    run: Run, tmp_path: Path, embedder_path: Path
) -> None:
    assert embedder_path.exists()
    home = tmp_path / "home"
    good = tmp_path / "good.jsonl"
    good.write_text('{"id": "a", "title": "A", "abstract": "Herons are light. We weigh them."}\n')
    assert run("ingest", good, "--home", home).returncode == 0
    for name, content, expected in (
        ("empty", b"", "is empty"),
        ("junk", bytes(range(256)) * 9, "is not UTF-8 text"),
        ("broken.jsonl", b'{"abstract": \n{"title": "No abstract"}', "line 1: not valid JSON"),
        ("prose", b"Just a note.\n", "is in no format that can be read"),
    ):
        bad = tmp_path / name
        bad.write_bytes(content)
        assert expected in refused(run("ingest", good, bad, "--home", home))
    assert "There is no file" in refused(run("ingest", tmp_path / "none", "--home", home))
    report = json.loads(run("ingest", good, "--json", "--home", home).stdout)
    assert (report["papers"], report["unchanged"]) == (1, 1)


def test_a_broken_record_costs_only_itself(run: Run, tmp_path: Path, embedder_path: Path) -> None:
    assert embedder_path.exists()
    home = tmp_path / "home"
    lines = '{"abstract": "Herons are light. We weigh them."}\n{"abstract": \n'
    (tmp_path / "half.jsonl").write_text(lines)
    bib = "@article{heron, title={On Herons}, abstract={Herons wade.}}\n@article{cut, title={On"
    (tmp_path / "half.bib").write_text(bib)
    done = run("ingest", "half.jsonl", "half.bib", "--json", "--home", home)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["papers"] == 2
    places = [(skipped["source"], skipped["line"]) for skipped in report["skipped"]]
    assert places == [("half.jsonl", 2), ("half.bib", 2)]


def test_models_that_cannot_be_loaded_are_refused(
    run: Run, library_home: Path, tmp_path: Path
) -> None:
    no_model = tmp_path / "note.gguf"
    no_model.write_text("not a model")
    huge = tmp_path / "huge.gguf"
    with huge.open("wb") as file:
        file.write(b"GGUF")
        file.truncate(2**42)  # a sparse file: it takes no room
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(64))
    for model, expected in (
        (no_model, "is not a GGUF model"),
        (huge, "of memory"),
        (damaged, "cannot load"),
        (tmp_path / "none.gguf", "cannot be read"),
        ("hf:nonsense", "hf:"),
    ):
        done = run("ask", "Why?", "--model", model, "--home", library_home)
        assert expected in refused(done)


def test_a_home_that_cannot_be_written_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for command in (["ingest"], ["ask", "Why?"], ["serve", "--port", "0"], ["serve"]):
        assert refused(run(*command, "--home", tmp_path / "file" / "home"))


def test_a_port_in_use_is_refused(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = refused(run("serve", "--port", port, "--home", tmp_path / "home"))
    assert f"port {port} cannot be used" in sentence


def test_an_empty_library_is_told_how_to_be_filled(
    run: Run, tmp_path: Path, embedder_path: Path
) -> None:
    assert embedder_path.exists()
    assert "assistant ingest" in refused(run("ask", "Why?", "--home", tmp_path / "new"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [("{", "line 1 is not valid JSON"), ('{"id": 1}', "line 1 has no question"), ("", "is empty")],
)
def test_question_files_that_cannot_be_read_are_refused(
    run: Run, library_home: Path, tmp_path: Path, line: str, expected: str
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(line)
    assert expected in refused(run("ask", "--jsonl", file, "--home", library_home))


def test_receipts_replay_to_the_same_bytes_until_something_changes(
    run: Run, library_home: Path, tmp_path: Path
) -> None:
    questions, receipts = tmp_path / "questions.jsonl", tmp_path / "receipts.jsonl"
    turns = [{"question": f"How does {RIAD} work?"}, {"question": "Who wrote it?"}]
    questions.write_text(json.dumps({"id": "c", "turns": turns}) + "\n", "utf-8")
    asked = run("ask", "--jsonl", questions, "--home", library_home, "--receipt", receipts)
    assert asked.returncode == 0, asked.stderr
    first, second = map(json.loads, receipts.read_text("utf-8").splitlines())
    assert [turn["question"] for turn in second["history"]] == [first["question"]]
    done = run("replay", receipts)
    assert (done.returncode, done.stdout) == (0, "2 of 2 gave the same bytes.\n")
    other = tmp_path / "other"
    shutil.copytree(library_home, other, ignore=shutil.ignore_patterns("conversations*"))
    assert run("remove", "000_157da2c6366597ad.txt", "--home", other).returncode == 0
    changed = run("replay", receipts, "--home", other)
    assert changed.returncode == 1
    assert "differs, first in library.papers (1643 there, " in changed.stderr
    shutil.rmtree(other)
    assert "is no longer in" in refused(run("replay", receipts, "--home", other))
    taken = run("ask", "--jsonl", questions, "--home", library_home, "--receipt", questions)
    assert "has the questions" in refused(taken)


def test_small_talk_has_no_paragraph_for_a_methods_section(run: Run, library_home: Path) -> None:
    as_json = run("ask", "Hello", "--home", library_home, "--methods", "--json")
    assert "methods" not in json.loads(as_json.stdout)


def test_what_was_judged_of_a_draft_is_kept_if_it_is_stopped(
    run: Run, library_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Auditor._audited

    def judge_or_stop(self: Auditor, sentence: DraftSentence, *others: Any) -> AuditedSentence:
        if "cover" in sentence.text:
            raise KeyboardInterrupt
        return judge(self, sentence, *others)

    monkeypatch.setattr(Auditor, "_audited", judge_or_stop)
    draft = "We thank all of them. Coral reefs have lost half of their cover. It is said again."
    page = tmp_path / "report.html"
    done = run("audit", "-", "--home", library_home, "--json", "--html", page, stdin=draft)
    assert done.returncode == 130
    assert done.stderr.endswith("assistant: stopped\n")
    report = json.loads(done.stdout)
    assert [each["text"] for each in report["sentences"]] == ["We thank all of them."]
    assert report["notes"] == ["Stopped: 1 of 3 sentences are checked."]
    assert report["notes"][0] in page.read_text("utf-8")


@pytest.mark.parametrize("command", [("search", "x"), ("ask", "What is x?"), ("audit", "-")])
def test_a_mistyped_home_is_named_and_not_made(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    home = tmp_path / "mistyped"
    assert f"There is no library in {home}" in refused(
        run(*command, "--home", home, stdin="A claim of a draft.")
    )
    assert not home.exists()
