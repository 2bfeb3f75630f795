"""A run that is killed, stopped, out of room, given what is wrong, and resumed."""

import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from running_evaluate import ASSISTANT, ENVIRONMENT, evaluated, process, rows_of, timeless

from assistant.cli.main import main
from assistant.evaluation.records.replay import replayed
from assistant.pipeline.assistant import Assistant

AFTER_ROWS = """
import os, signal
from contextlib import contextmanager
from pathlib import Path
import assistant.evaluation.run as running
appending = running.appending

@contextmanager
def watched(path):
    with appending(path) as append:
        rows = []
        def append_and_look(row):
            append(row)
            rows.append(row)
            if len(rows) == {rows}:
                {action}
        yield append_and_look

running.appending = watched
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"


def after(rows: int, action: str) -> str:
    """A program in which something happens as so many rows have been written."""
    return AFTER_ROWS.format(rows=rows, action=action)


PAPERS = {
    "Otters at Work": "We study otters. They swim, and 12 of 15 otters open mussels with stones.",
    "Beavers of the North": "Beavers build dams. A dam of 3 metres holds a lake for 20 years.",
    "Owls in Cities": "Owls hunt at night. In cities they hunt rats near lamps, as 7 cameras show.",
    "Moss on Roofs": "Moss keeps roofs cool. A roof with moss is 4 degrees cooler in July.",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, embedder_path: Path) -> Path:
    """A library of four papers."""
    assert embedder_path.exists()
    folder = tmp_path_factory.mktemp("library")
    ingested(folder, PAPERS)
    return folder / "home"


def ingested(folder: Path, papers: dict[str, str]) -> None:
    """Put papers into the library in `folder`."""
    file = folder / "papers.jsonl"
    lines = [{"title": title, "abstract": text} for title, text in papers.items()]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert main(["ingest", str(file), "--home", str(folder / "home"), "--json"]) == 0


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three lookups, then a question whose row is long."""
    lookups = [
        {"id": f"L{at}", "type": "lookup", "question": title, "papers": [title]}
        for at, title in enumerate(list(PAPERS)[:3])
    ]
    asked = {"id": "S1", "type": "single", "question": "How do otters open mussels?"}
    path = tmp_path_factory.mktemp("questions") / "four.jsonl"
    expected = {"papers": ["Otters at Work"], "facts": [["stones"]], "answer": "Stones. " * 800}
    lines = [*lookups, {**asked, **expected}]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


@pytest.fixture(scope="module")
def whole(questions: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole run") / "größer"
    run = evaluated(questions, "--out", folder, "--home", home)
    assert run.code == 0, run.stderr
    assert run.summary["out"] == str(folder)
    noise = [line for line in run.stderr.splitlines() if not line.startswith("asking")]
    assert noise == [f"The report is {folder / 'report.html'}."]
    return folder


def figures_of(folder: Path) -> Any:
    return timeless(json.loads((folder / "figures.json").read_text("utf-8")))


def assert_same_run(folder: Path, whole: Path) -> None:
    """No sample was left out, doubled or answered otherwise; figures and pages are equal."""
    by_id = {row["id"]: timeless(row) for row in rows_of(whole)}
    assert len(rows_of(folder)) == len(by_id)
    assert {row["id"]: timeless(row) for row in rows_of(folder)} == by_id
    assert figures_of(folder) == figures_of(whole)
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert record["times"]["ended"]
    assert len(page_of(folder)) == len(page_of(whole))


def page_of(folder: Path) -> list[str]:
    return (folder / "report.html").read_text("utf-8").splitlines()


def test_a_run_killed_again_and_again_is_the_run_that_was_not(
    questions: Path, whole: Path, home: Path, tmp_path: Path
) -> None:
    command = (questions, "--out", tmp_path, "--home", home)
    assert process(*command, program=after(1, KILL)).code == -signal.SIGKILL
    assert len(rows_of(tmp_path)) == 1
    rows = tmp_path / "samples.jsonl"
    rows.write_bytes(rows.read_bytes() + rows.read_bytes()[:500])  # as killed while it wrote
    assert process(*command, program=after(3, KILL)).code == -signal.SIGKILL
    assert not (tmp_path / "figures.json").exists()
    assert evaluated(*command).code == 0
    assert_same_run(tmp_path, whole)
    assert json.loads((tmp_path / "run.json").read_text("utf-8"))["times"]["beginnings"] == 3


def test_ctrl_c_stops_with_a_sentence(questions: Path, home: Path, tmp_path: Path) -> None:
    to_all = "os.killpg(os.getpgid(0), signal.SIGINT)"
    run = process(
        questions,
        *("--out", tmp_path, "--home", home),
        program=f"import os\nos.setpgid(0, 0)\n{after(1, to_all)}",
    )
    assert run.code == 130
    assert run.stdout == ""
    assert "The answers so far are kept; the same command resumes the run." in run.stderr
    assert "Traceback" not in run.stderr
    assert 1 <= len(rows_of(tmp_path)) < 4


def test_ctrl_c_while_a_model_is_loaded_is_noticed(
    questions: Path, home: Path, tmp_path: Path
) -> None:
    program = """
import os, signal, threading
from llama_cpp import llama_cpp
load = llama_cpp.llama_model_load_from_file

def loading(*given):
    begun = threading.Event()
    def stop():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop).start()
    begun.set()
    return load(*given)

llama_cpp.llama_model_load_from_file = loading
"""
    run = process(questions, "--out", tmp_path, "--home", home, program=program)
    assert run.code == 130
    assert "Traceback" not in run.stderr


def test_a_full_disk_ends_the_run_with_a_sentence_and_no_row_is_lost(
    questions: Path, whole: Path, home: Path, tmp_path: Path
) -> None:
    full = (  # run.json still has to fit, and the row of the answer does not
        "import resource; most = max(path.stat().st_size + 400, 7_000); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))"
    )
    command = (questions, "--out", tmp_path, "--home", home)
    run = process(*command, program=after(2, full))
    assert run.code == 1
    assert run.stdout == ""
    assert "samples.jsonl cannot be written any more (File too large); make room" in run.stderr
    assert "Traceback" not in run.stderr
    assert evaluated(*command).code == 0
    assert_same_run(tmp_path, whole)


def test_a_replay_goes_on_after_a_kill_gives_way_to_the_next_and_names_what_differs(
    whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    assert process("--replay", run, program=after(2, KILL)).code == -signal.SIGKILL
    same = evaluated("--replay", run)
    assert same.code == 0, same.stderr
    assert "4 samples gave the same bytes" in same.stdout
    assert same.summary["same"] is True
    record = json.loads((run / "replay" / "run.json").read_text("utf-8"))
    assert record["times"]["beginnings"] == 2

    (run / "replay" / "notes.txt").write_text("mine", "utf-8")
    rows = rows_of(run)
    rows[-1]["replies"][0]["answer"]["answer"] = "Something else."
    (run / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    other = evaluated("--replay", run)
    assert other.code == 1
    assert other.summary["row_difference"]["part"] == "answer"
    assert f"The replies differ first in {rows[-1]['id']}, turn 0, answer." in other.stdout
    assert f"first in {rows[-1]['id']}" in other.stderr
    assert (run / "replay" / "notes.txt").exists()


def test_what_a_later_version_adds_to_answers_is_no_difference(whole: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(whole, before)
    rows = rows_of(before)
    del rows[-1]["replies"][0]["answer"]["tokens"]
    (before / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert replayed(before, whole)["same"] is True


def test_samples_that_fail_are_kept_and_told_of(
    questions: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise ValueError("nothing\ncame")

    monkeypatch.setattr(Assistant, "answer", fail)
    some, none = tmp_path / "some", tmp_path / "none"
    run = evaluated(questions, "--out", some, "--home", home)
    assert run.code == 0
    assert "note: 1 of 4 samples failed, first S1: ValueError: nothing came" in run.stderr
    assert run.summary["failed"] == 1
    assert "ValueError: nothing came" in (some / "report.html").read_text("utf-8")
    run = evaluated(questions, "--out", none, "--home", home, "--types", "single")
    assert run.code == 1
    assert run.summary["failed"] == 1
    assert "Every sample failed" in run.stderr
    assert (none / "report.html").exists()


def test_a_library_that_changes_meanwhile_has_no_figures(
    questions: Path, home: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "home"
    shutil.copytree(home, copied)
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps({"title": "Newts", "abstract": "Newts walk to ponds."}), "utf-8")
    command = (questions, "--out", tmp_path / "out", "--home", copied)
    ingest = [*ASSISTANT, "ingest", str(more), "--home", str(copied)]
    change = f"import subprocess; subprocess.run({ingest!r}, check=True)"
    run = process(*command, program=after(1, change))
    assert run.code == 1
    assert "was changed while its questions were asked" in run.stderr
    assert not (tmp_path / "out" / "figures.json").exists()
    assert "library.papers (4 there, 5 now)" in evaluated(*command).refusal


def test_whoever_reads_only_the_beginning_sees_no_traceback(
    questions: Path, whole: Path, home: Path
) -> None:
    command = [*ASSISTANT, "evaluate", str(questions), "--out", str(whole), "--home", str(home)]
    run = subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout
    assert run.stderr
    run.stdout.close()
    assert "Traceback" not in run.stderr.read()
    run.stderr.close()
    run.wait()


Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]) -> Refused:
    """Gives the sentence of a command that loads and fetches nothing: no model can be had."""

    def said(*arguments: object) -> str:
        nowhere = ("--cache", tmp_path / "cache", "--model", "/no/m.gguf", "--embedder", "/no/e")
        code = main(["evaluate", "--home", str(home), *map(str, (*nowhere, *arguments))])
        told = capfd.readouterr()
        assert (code, told.out) == (1, "")
        assert not (tmp_path / "cache").exists()
        (line,) = told.err.splitlines()
        return line.removeprefix("assistant: ")

    return said


ASKED: dict[str, Any] = {"id": "1", "type": "lookup", "question": "What?", "papers": []}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "is empty"),
        ([ASKED, {"id": "2", "type": "lookup", "papers": []}], "line 2 has no “question”"),
        ([ASKED, {**ASKED, "id": "2", "type": "odd"}], "line 2 has “odd” as “type”"),
        ([ASKED, ASKED], "line 2 has the id “1” of line 1 again"),
        ([ASKED, {**ASKED, "id": "2", "papers": ["No Such Paper At All"]}], "line 2"),
    ],
)
def test_bad_questions_are_named_before_any_model(
    refused: Refused, tmp_path: Path, lines: Sequence[dict[str, Any]], said: str
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    sentence = refused(file, "--out", tmp_path / "out")
    assert sentence.startswith(str(file))
    assert said in sentence
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_evaluated_is_refused_before_any_model(
    refused: Refused, questions: Path, tmp_path: Path
) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.write_text("", "utf-8")
    out = ("--out", tmp_path / "out")
    assert "corpus.jsonl cannot be read" in refused(folder, *out)
    assert "cannot be read (No such file" in refused(tmp_path / "none.jsonl", *out)
    assert "has no papers" in refused(questions, *out, "--home", folder)
    assert "cannot be written (File exists)" in refused(questions, "--out", file)
    assert "is no folder" in refused(questions, *out, "--baseline", tmp_path / "none")
    assert "holds no evaluation run" in refused(questions, *out, "--baseline", folder)
    assert "name it by --baseline" in refused(questions, *out, "--gate")
    assert "are one folder" in refused(questions, "--out", folder, "--baseline", folder)
    assert "--types cannot be" in refused(questions, *out, "--types", "odd")
    assert "is of the types asked for" in refused(questions, *out, "--types", "chat")
    (folder / "figures.json").write_text("{", "utf-8")
    assert "has no figures" in refused(questions, *out, "--baseline", folder)
    (folder / "figures.json").unlink()
    (folder / "samples.jsonl").write_text("", "utf-8")
    assert "did not end" in refused(questions, *out, "--baseline", folder)


def test_what_cannot_be_replayed_is_refused_before_any_model(
    refused: Refused, questions: Path, whole: Path, tmp_path: Path
) -> None:
    run, asked = tmp_path / "run", tmp_path / "asked.jsonl"
    assert "has no run.json" in refused("--replay", tmp_path / "none")
    shutil.copytree(whole, run)
    for flags in (["--baseline", whole], ["--gate"], ["--limit", 2], ["--no-rerank"], [questions]):
        assert "cannot be given with it" in refused("--replay", run, *flags)
    assert "has a run that has ended" in refused("--replay", run, "--out", run)
    record = json.loads((run / "run.json").read_text("utf-8"))
    record["asking"]["file"] = str(asked)
    (run / "run.json").write_text(json.dumps(record), "utf-8")
    assert "are no longer in" in refused("--replay", run)
    asked.write_bytes(questions.read_bytes() + b"\n")
    assert "was changed after the run" in refused("--replay", run)
    record["times"]["ended"] = ""
    (run / "run.json").write_text(json.dumps(record), "utf-8")
    assert "has not ended" in refused("--replay", run)
    (run / "run.json").write_text("{", "utf-8")
    assert "is no record" in refused("--replay", run)


def test_another_run_and_damaged_files_are_refused(
    questions: Path, whole: Path, home: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    command = (questions, "--out", run, "--home", home)
    assert "--limit (nothing there, 2 now)" in evaluated(*command, "--limit", 2).refusal
    (run / "samples.jsonl").write_text("{}\n", "utf-8")
    assert "samples.jsonl, line 1 is no row" in evaluated(*command).refusal
    (run / "run.json").unlink()
    assert "has a samples.jsonl of something else" in evaluated(*command).refusal
