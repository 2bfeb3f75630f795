"""The whole command over the real seeds with the real models: its files, its endings, its gate."""

import json
from pathlib import Path

import pytest
from running_evaluate import Run, evaluated, rows_of

DEV = Path(__file__).with_name("dev.jsonl")
SAMPLES = 12
"""Of every type of question at least one."""
BROKEN_RANKER = """
import retrieval.search as search
fused = search.fuse
search.fuse = lambda *given: {key: -score for key, score in fused(*given).items()}
"""


@pytest.fixture(scope="module")
def whole(library_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A run over a few development questions, with its folder."""
    folder = tmp_path_factory.mktemp("evaluation") / "whole"
    return folder, evaluated(DEV, "--out", folder, "--home", library_home, "--limit", SAMPLES)


def test_a_run_leaves_rows_figures_record_and_report(whole: tuple[Path, Run]) -> None:
    folder, run = whole
    assert run.code == 0, run.stderr
    rows = rows_of(folder)
    assert len(rows) == SAMPLES == run.summary["samples"]
    assert {row["type"] for row in rows} == {"single", "multi", "lookup", "unanswerable", "chat"}
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert record["times"]["ended"]
    assert record["library"]["papers"] == 1643
    assert record["models"]["chat"]["sha256"]
    files = {path.name for path in folder.iterdir()}
    assert files - {"lock"} == {"run.json", "samples.jsonl", "figures.json", "report.html"}
