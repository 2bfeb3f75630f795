"""The real default models, fetched on the first run and kept in the user's cache."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest
from app_process import Served, served
from filelock import FileLock
from postgres import postgres_server

from assistant.models import resolve_chat_model, resolve_embedder
from assistant.settings import Settings
from assistant.storage.database import FILE, Database

hypothesis.settings.register_profile("patient", deadline=None)  # machines may be busy
hypothesis.settings.load_profile("patient")

# A shell that runs the tests in the background has Ctrl-C ignored, and so would the processes that
# the tests start to send it to; a handler of our own is not inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


REMEMBERING = Path(__file__).with_name("remembering_app.py")
LONGEST = """
    test_command_line browser api test_evaluate_process test_processes test_evaluate_command
    test_audit test_injection test_interruption test_server test_no_egress
""".split()
"""Files and folders that begin before the others: the shorter those at the end, the sooner both
processes of the tests are done."""

SLOW_FOLDERS = {"browser", "api"}
"""Tests of a served app."""
SLOW_FILES = """
    test_command_line test_damage test_evaluate_process test_fetch test_header_timeout test_hub
    test_interruption test_other_models test_packaging test_page_handlers test_processes
    test_bibliography test_server
""".split()
"""Tests of whole processes, of models of other makers, of the clock, and of every damaged file."""
SLOW_TESTS = """
    test_a_library_can_be_searched_while_another_process_writes
    test_a_second_worker_waits_says_so_and_finds_the_file
    test_an_open_library_sees_all_that_another_process_adds
    test_ten_thousand_entries_take_seconds
    test_ten_thousand_records_take_seconds
    test_thousands_of_records_that_share_a_text_an_id_or_a_title_take_seconds
    test_two_processes_at_once_fetch_once
""".split()
"""Others that start processes or read large files."""


def _is_slow(path: Path) -> bool:
    return path.parent.name in SLOW_FOLDERS or path.stem in SLOW_FILES


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full-grids", action="store_true", help="run all cases of thinned grids")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which `pytest -m "not slow"` runs nothing."""
    is_left_out = config.option.markexpr == "not slow" and _is_slow(collection_path)
    return True if is_left_out else None


def _rank(item: pytest.Item) -> int:
    """The place of a test's file in `LONGEST`."""
    names = (item.path.stem, item.path.parent.name)
    return min((LONGEST.index(name) for name in names if name in LONGEST), default=len(LONGEST))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest first, leave out what `--full-grids` adds, and mark what is slow.

    Slow is what needs models, a served app or processes: `pytest -m "not slow"` leaves it out.
    """
    items.sort(key=_rank)
    if not config.option.full_grids:
        rest = [item for item in items if item.get_closest_marker("full_grid")]
        config.hook.pytest_deselected(items=rest)
        items[:] = [item for item in items if not item.get_closest_marker("full_grid")]
    for item in items:
        needs_models = "cache" in getattr(item, "fixturenames", ())
        name = getattr(item, "originalname", item.name)
        if needs_models or _is_slow(item.path) or name in SLOW_TESTS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="module")
def _closed_stores() -> Iterator[None]:
    """Close the stores whose folders are gone; a process has at most 1,024 files open."""
    yield
    if chroma := sys.modules.get("chromadb.api.shared_system_client"):
        systems = chroma.SharedSystemClient._identifier_to_system
        for folder in [each for each in systems if not Path(each).exists()]:
            with suppress(AttributeError):  # it could not be opened
                systems.pop(folder).stop()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a PostgreSQL server's database `postgres`."""
    with postgres_server() as url:
        yield f"{url}postgres"


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A SQLite database of the test's own."""
    return Database(f"sqlite:///{tmp_path / FILE}")


@pytest.fixture(scope="session")
def cache() -> Path:
    """The folder of the models."""
    return Settings().cache


@pytest.fixture(scope="session")
def chat_model_path(cache: Path) -> Path:
    """The default chat model."""
    return resolve_chat_model("default", cache, Settings().threads)


@pytest.fixture(scope="session")
def embedder_path(cache: Path) -> Path:
    """The default embedder."""
    return resolve_embedder("default", cache)


@pytest.fixture(scope="session")
def library_home(cache: Path, chat_model_path: Path, embedder_path: Path) -> Path:
    """A library of the real seeds, made by the real command.

    It is kept beside the models: the first run embeds the seeds, later ones find them unchanged.
    A first question has been asked, so that commands have no progress of first use on stderr.
    """
    home = cache / "test-library"
    assert chat_model_path.exists()
    assert embedder_path.exists()
    program = [sys.executable, "-m", "assistant"]
    ingest = [*program, "ingest", "--json", "--home", str(home)]
    ask = [*program, "ask", "What is DiffStride?", "--home", str(home)]
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    made_in = cache / "test-library.run"
    with FileLock(cache / "test-library.lock"):  # the tests run in two processes
        if made_in.exists() and made_in.read_text("utf-8") == run:
            return home
        done = subprocess.run(ingest, check=True, capture_output=True, text=True)
        subprocess.run(ask, check=True, capture_output=True)
        assert json.loads(done.stdout)["papers"] == 1643
        made_in.write_text(run, "utf-8")
    return home


@pytest.fixture(scope="session")
def app(library_home: Path) -> Iterator[Served]:
    """The app over the seeds, ready, for the browser and for the clients of its API."""
    with served(library_home, program=(str(REMEMBERING),)) as running:
        running.wait_until_ready()
        yield running
