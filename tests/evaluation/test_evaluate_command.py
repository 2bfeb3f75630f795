"""The whole command over the real seeds with the real models: what it leaves, and its gate."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from running_evaluate import Run, evaluated, rows_of

import assistant.evaluation.run as running
from assistant.evaluation.records.record import first_difference, read_record
from assistant.models.gguf.trained import ADAPTER
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.startup import open_assistant
from assistant.settings import Ablations, Settings
from retrieval.search import search
from retrieval.types import Progress

DEV = Path(__file__).with_name("dev.jsonl")
ROLES = ("chat", "embedder", "reader", "sentence_reader", "support", "cutter", "writer")
SAMPLES = 10
"""Of every type of question at least one."""
QUICKLY = ("--limit", SAMPLES, "--no-rerank")
"""Reading papers again takes most of an answer's time; the evaluation in CI has it."""


@pytest.fixture(scope="module")
def asked_with() -> list[Ablations]:
    """What was left out of each assistant that was opened."""
    return []


@pytest.fixture(scope="module")
def whole(
    library_home: Path, tmp_path_factory: pytest.TempPathFactory, asked_with: list[Ablations]
) -> tuple[Path, Run]:
    """A run over a few development questions, with its folder."""
    folder = tmp_path_factory.mktemp("evaluation") / "whole"

    def opened(settings: Settings, progress: Progress, ablations: Ablations) -> Assistant:
        asked_with.append(ablations)
        return open_assistant(settings, progress, ablations)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "open_assistant", opened)
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
    assert set(record["models"]) == set(ROLES)
    assert record["models"]["writer"]["file"] == str(ADAPTER)
    assert record["models"]["writer"]["sha256"] == sha256(ADAPTER.read_bytes()).hexdigest()
    assert record["packages"].keys() >= {"chromadb", "llama-cpp-python", "tantivy"}
    assert set(record["prompts"]) >= {"answer.system", "answer.user", "question.user"}
    hashes = [record["library"]["sha256"], record["code"]["sources_sha256"]]
    hashes += [model["sha256"] for model in record["models"].values()]
    hashes += [record["asking"]["sha256"], *record["prompts"].values()]
    assert all(len(each) == 64 for each in hashes)


@pytest.mark.parametrize("role", ROLES)
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


def test_a_flag_reaches_the_assistant(whole: tuple[Path, Run], asked_with: list[Ablations]) -> None:
    assert whole[1].code == 0
    assert asked_with == [Ablations(rerank=False)]


def test_a_run_that_has_ended_is_shown_again_and_passes_its_own_gate(
    whole: tuple[Path, Run], library_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, first = whole
    shutil.copy(folder / "figures.json", tmp_path)
    rows = (folder / "samples.jsonl").read_bytes()
    monkeypatch.setattr(running, "open_assistant", None)  # nothing is asked
    arguments = (DEV, "--out", folder, "--home", library_home, *QUICKLY)
    again = evaluated(*arguments, "--baseline", tmp_path, "--gate")
    assert again.code == 0, again.stderr
    assert (folder / "samples.jsonl").read_bytes() == rows
    assert again.summary["gate"] == "passed"
    changes = again.summary["comparison"]["changes"].values()
    assert {change["difference"] for change in changes} == {0.0}
    assert {**again.summary, "comparison": None, "gate": None} == first.summary


def test_a_beir_folder_has_a_library_of_its_own_and_a_broken_ranker_fails_the_gate(
    embedder_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    texts = {
        "cats": "Cats sleep for fifteen hours a day in warm places.",
        "bees": "Honey bees dance to tell others where flowers are.",
        "iron": "Iron rusts when water and oxygen reach its surface.",
        "tide": "Tides rise and fall because the moon pulls at the sea.",
        "salt": "Salt lowers the temperature at which water freezes.",
        "oaks": "Oaks drop their leaves when the days become short.",
    }
    corpus = [{"_id": id_, "title": id_, "text": text} for id_, text in texts.items()]
    queries = [{"_id": id_, "text": text} for id_, text in texts.items()]
    for name, lines in {"corpus": corpus, "queries": queries}.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    judged = ["query-id\tcorpus-id\tscore", *(f"{id_}\t{id_}\t2" for id_ in texts)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(judged), "utf-8")
    cache = tmp_path / "cache"
    cache.mkdir()
    for model in embedder_path.parents[1].iterdir():  # the models of this machine, nothing else
        if list(model.glob("*.gguf")):
            (cache / model.name).symlink_to(model)
    run = evaluated(folder, "--out", tmp_path / "run", "--cache", cache, "--no-rerank")
    assert run.code == 0, run.stderr
    assert run.summary["metrics"]["ndcg@10"]["value"] == 1.0
    rankings = {row["id"]: row["replies"][0]["ranking"] for row in rows_of(tmp_path / "run")}
    assert {id_: ranking[0] for id_, ranking in rankings.items()} == {id_: id_ for id_ in texts}

    summed = search.convex_sum

    def upside_down(*given: Any) -> dict[str, float]:
        return {id_: 1 - score for id_, score in summed(*given).items()}

    monkeypatch.setattr(search, "convex_sum", upside_down)
    arguments = (folder, "--out", tmp_path / "other", "--cache", cache, "--no-rerank")
    broken = evaluated(*arguments, "--baseline", tmp_path / "run", "--gate")
    assert broken.code == 1
    assert broken.summary["gate"] == "failed"
    assert "Worse than" in broken.stderr
    assert "mrr@10" in broken.stderr
