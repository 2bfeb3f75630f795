"""What the page is told while models and papers are prepared, and when that fails."""

import json
from pathlib import Path

import pytest

from assistant.server.jobs import setup as module
from assistant.server.jobs.setup import Setup
from assistant.server.web.answering import Stops
from assistant.settings import Settings
from retrieval.library.ingest import ingest, remove_source
from retrieval.types import LibraryError, Progress


def finished(setup: Setup) -> Setup:
    setup.start()
    setup._thread.join()
    return setup


def settings(home: Path, cache: Path, **fields: object) -> Settings:
    return Settings.model_validate({"home": home, "cache": cache, **fields})


def test_a_model_that_is_none(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "no.gguf"
    path.write_bytes(b"no model")
    state = finished(Setup(settings(tmp_path / "home", cache, embedder=str(path)))).state
    assert state.assistant is None
    assert state.error.startswith(f"{path} is not a GGUF model")


@pytest.mark.usefixtures("embedder_path")
def test_a_home_that_cannot_be_made(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "file").write_text("x")
    state = finished(Setup(settings(tmp_path / "file" / "home", cache))).state
    assert state.assistant is None
    assert "cannot be made (Not a directory); choose another --home." in state.error


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_is_told_and_keeps_its_traceback(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_settings: Settings, _progress: Progress) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(module, "open_library", broken)
    state = finished(Setup(settings(tmp_path, cache))).state
    assert state.error == "Something unexpected went wrong; the terminal shows more."


@pytest.fixture
def one_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Seeds of one paper."""
    folder = tmp_path / "seeds"
    folder.mkdir()
    paper = {"id": "a", "title": "A title", "abstract": "We weigh seven herons. They are light."}
    (folder / "papers.jsonl").write_text(json.dumps(paper), "utf-8")
    monkeypatch.setattr(module, "resource_folder", lambda _name: folder)
    return folder


@pytest.mark.usefixtures("embedder_path", "chat_model_path", "one_paper")
def test_a_first_start_reads_the_seeds(tmp_path: Path, cache: Path) -> None:
    first = finished(Setup(settings(tmp_path / "home", cache, threads=1))).state
    assert first.error == ""
    assert first.assistant is not None
    assert first.papers == 1
    assert [(stage.name, stage.done, stage.total) for stage in first.stages] == [
        ("Embedding papers", 1, 1)
    ]
    second = finished(Setup(settings(tmp_path / "home", cache, threads=1))).state
    assert (second.papers, second.stages) == (1, ())


@pytest.mark.usefixtures("embedder_path", "chat_model_path")
def test_seeds_that_were_removed_stay_away(tmp_path: Path, cache: Path, one_paper: Path) -> None:
    own = settings(tmp_path / "home", cache, threads=1)
    first = finished(Setup(own)).state.assistant
    assert first is not None
    remove_source(first.library, "papers.jsonl")
    emptied = finished(Setup(own)).state
    assert (emptied.error, emptied.papers, emptied.stages) == ("", 0, ())
    assert emptied.assistant is not None
    with pytest.raises(LibraryError, match="has no papers"):
        emptied.assistant.answer("How many herons?")
    assert ingest(emptied.assistant.library, [one_paper]).added == 1
    assert finished(Setup(own)).state.papers == 1


@pytest.mark.usefixtures("embedder_path", "one_paper")
def test_stopping(tmp_path: Path, cache: Path) -> None:
    setup = Setup(settings(tmp_path / "home", cache))
    setup._progress.stop.set()
    assert finished(setup).state.error == "The setup was stopped."
    setup.stop()


def test_a_session_has_one_flag() -> None:
    stops = Stops()
    first, other = stops.begin("a"), stops.begin("b")
    assert not first.is_set()
    second = stops.begin("a")
    assert (first.is_set(), second.is_set(), other.is_set()) == (True, False, False)
    assert [stops.is_current("a", flag) for flag in (first, second, other)] == [False, True, False]
    stops.stop("a")
    assert (second.is_set(), other.is_set()) == (True, False)
    stops.end("b")
    assert other.is_set()
    assert not stops.is_current("b", other)
    stops.stop("b")
    stops.end("nobody")
