"""The whole command over the real seeds with the real models: what it leaves, and its gate."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from running_evaluate import Run, evaluated, rows_of

from assistant.evaluation.records.record import first_difference, read_record
from assistant.models.gguf.trained import ADAPTER

DEV = Path(__file__).with_name("dev.jsonl")
SAMPLES = 10
"""Of every type of question at least one."""
QUICKLY = ("--limit", SAMPLES, "--no-rerank")
"""Reading papers again takes most of an answer's time; the evaluation in CI has it."""
BROKEN_RANKER = """
import retrieval.search.search as search
summed = search.convex_sum
search.convex_sum = lambda *given: {id_: 1 - score for id_, score in summed(*given).items()}
"""


@pytest.fixture(scope="module")
def whole(library_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A run over a few development questions, with its folder."""
    folder = tmp_path_factory.mktemp("evaluation") / "whole"
    return folder, evaluated(DEV, "--out", folder, "--home", library_home, *QUICKLY)


def test_a_run_leaves_rows_figures_record_and_report(whole: tuple[Path, Run]) -> None:
    folder, run = whole
    assert run.code == 0, run.stderr
    rows = rows_of(folder)
    assert len(rows) == SAMPLES == run.summary["samples"]
    assert {row["type"] for row in rows} == {"single", "multi", "lookup", "unanswerable", "chat"}
    files = {path.name for path in folder.iterdir()}
    assert files - {"lock"} == {"run.json", "samples.jsonl", "figures.json", "report.html"}


def test_the_record_says_what_it_was_made_with(whole: tuple[Path, Run]) -> None:
    folder, _ = whole
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert record["times"]["ended"]
    assert record["library"]["papers"] == 1643
    assert record["asking"]["limit"] == SAMPLES
    assert record["settings"]["answering"]["rerank"] is False
    assert record["settings"]["answering"]["writing"]["mode"] == "as the probe decides"
    assert set(record["models"]) == {"chat", "embedder", "reader", "support", "cutter", "writer"}
    assert record["models"]["writer"]["file"] == str(ADAPTER)
    assert record["models"]["writer"]["sha256"] == sha256(ADAPTER.read_bytes()).hexdigest()
    assert record["packages"].keys() >= {"chromadb", "llama-cpp-python", "tantivy"}
    assert set(record["prompts"]) >= {"answer.system", "answer.user", "question.user"}
    hashes = [record["library"]["sha256"], record["code"]["sources_sha256"]]
    hashes += [model["sha256"] for model in record["models"].values()]
    hashes += [record["asking"]["sha256"], *record["prompts"].values()]
    assert all(len(each) == 64 for each in hashes)


@pytest.mark.parametrize("role", ["chat", "embedder", "reader", "support", "cutter", "writer"])
def test_of_a_model_its_file_counts_not_where_it_lies(whole: tuple[Path, Run], role: str) -> None:
    record = read_record(whole[0] / "run.json")
    assert record
    facts = record.models[role]
    moved, other = (
        replace(record, models={**record.models, role: {**facts, **change}})
        for change in ({"file": "/elsewhere/m.gguf"}, {"sha256": "0" * 64})
    )
    assert first_difference(record, moved) is None
    found = first_difference(record, other)
    assert found
    assert found[0].endswith("'s file")
    assert found[1:] == (facts["sha256"], "0" * 64)


def test_a_run_that_has_ended_is_shown_again_without_asking(
    whole: tuple[Path, Run], library_home: Path
) -> None:
    folder, first = whole
    rows = (folder / "samples.jsonl").read_bytes()
    broken = "import assistant.pipeline.startup\nassistant.pipeline.startup.open_assistant = None"
    again = evaluated(DEV, "--out", folder, "--home", library_home, *QUICKLY, program=broken)
    assert again.code == 0, again.stderr
    assert (folder / "samples.jsonl").read_bytes() == rows
    assert again.summary == first.summary


def test_an_identical_run_passes_the_gate(
    whole: tuple[Path, Run], library_home: Path, tmp_path: Path
) -> None:
    folder, _ = whole
    shutil.copy(folder / "figures.json", tmp_path)
    arguments = (DEV, "--out", folder, "--home", library_home, *QUICKLY)
    again = evaluated(*arguments, "--baseline", tmp_path, "--gate")
    assert again.code == 0, again.stderr
    assert again.summary["gate"] == "passed"
    changes = again.summary["comparison"]["changes"].values()
    assert {change["difference"] for change in changes} == {0.0}


def test_a_broken_ranker_fails_the_gate(
    whole: tuple[Path, Run], library_home: Path, tmp_path: Path
) -> None:
    folder, _ = whole
    arguments = (DEV, "--out", tmp_path, "--home", library_home, *QUICKLY)
    run = evaluated(*arguments, "--baseline", folder, "--gate", program=BROKEN_RANKER)
    assert run.code == 1
    assert run.summary["gate"] == "failed"
    assert "Worse than" in run.stderr
    assert "mrr@10" in run.stderr


def test_a_chatty_model_fails_the_gate(
    whole: tuple[Path, Run], library_home: Path, tmp_path: Path
) -> None:
    folder, _ = whole
    arguments = (DEV, "--out", tmp_path, "--home", library_home, *QUICKLY)
    run = evaluated(*arguments, "--free-writing", "--no-check", "--baseline", folder, "--gate")
    assert run.code == 1
    assert "written facts" in run.stderr


def test_a_beir_folder_has_a_library_of_its_own(embedder_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    texts = {
        "cats": "Cats sleep for fifteen hours a day in warm places.",
        "bees": "Honey bees dance to tell others where flowers are.",
        "iron": "Iron rusts when water and oxygen reach its surface.",
    }
    corpus = [{"_id": id_, "title": id_, "text": text} for id_, text in texts.items()]
    queries = [{"_id": "1", "text": "how do bees tell where flowers are?"}]
    for name, lines in {"corpus": corpus, "queries": queries}.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    judged = "query-id\tcorpus-id\tscore\n1\tbees\t2\n"
    (folder / "qrels" / "test.tsv").write_text(judged, "utf-8")
    cache = tmp_path / "cache"
    cache.mkdir()
    for model in embedder_path.parents[1].iterdir():  # the models of this machine, nothing else
        if list(model.glob("*.gguf")):
            (cache / model.name).symlink_to(model)
    run = evaluated(folder, "--out", tmp_path / "run", "--cache", cache)
    assert run.code == 0, run.stderr
    assert run.summary["metrics"]["ndcg@10"]["value"] == 1.0
    (row,) = rows_of(tmp_path / "run")
    assert row["replies"][0]["ranking"][0] == "bees"
