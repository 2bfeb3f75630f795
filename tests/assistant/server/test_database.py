"""The same tables in SQLite and PostgreSQL, upgraded once, shared by processes."""

import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from postgres import free_port
from sqlalchemy import create_engine, text
from test_history import ANSWER

from assistant.research.pinned import ask_due
from assistant.research.pinned_store import Pins
from assistant.server.api.recent import RecentAnswers
from assistant.server.api.schemas import Message
from assistant.server.auth.login import Sessions
from assistant.server.history import Conversations, Rating, Reason
from assistant.server.jobs.board import JobBoard, Stage
from assistant.settings import Settings
from assistant.storage.database import FILE, Database, database_of
from assistant.storage.tables import METADATA
from assistant.types import Answer
from retrieval.types import BusyError, InputError, LibraryError

FORMER_TABLES = """
CREATE TABLE conversations (
  id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, changed REAL NOT NULL);
CREATE INDEX conversations_of ON conversations (owner, changed);
CREATE TABLE exchanges (
  id TEXT PRIMARY KEY,
  conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  position INTEGER NOT NULL, question TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE cases (
  exchange TEXT PRIMARY KEY, owner TEXT NOT NULL, rated REAL NOT NULL, record TEXT NOT NULL);
INSERT INTO conversations VALUES ('c', 'ann', 'Kept before', 7.0);
INSERT INTO exchanges VALUES
  ('e', 'c', 0, 'What grows?', '{"answer": {"text": "A Turnip, 100%"}}'),
  ('f', 'c', 1, 'What else?', 'torn');
"""
"""A file as versions before the database's upgrades made it."""


@pytest.fixture
def postgres(postgres_url: str) -> str:
    """The URL of an empty PostgreSQL database."""
    server = create_engine(
        postgres_url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with server.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS own WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE own"))
    server.dispose()
    return postgres_url.rpartition("/")[0] + "/own"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / FILE}"
    return str(request.getfixturevalue("postgres"))


@pytest.fixture(autouse=True)
def _closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every database that a test opens."""
    opened: list[Database] = []
    begin = Database.__init__

    def noted(database: Database, url: str) -> None:
        begin(database, url)
        opened.append(database)

    monkeypatch.setattr(Database, "__init__", noted)
    yield
    for each in opened:
        each.close()


def test_conversations_and_ratings(url: str) -> None:
    kept = Conversations(Database(url))
    id_, other = kept.begin("ann", "Do turnips grow?"), kept.begin("bob", "Do turnips grow?")
    first = kept.ask("ann", id_, "Do they?")
    kept.keep(replace(first, answer=ANSWER, notice=""))
    second = kept.ask("ann", id_, "Why 100% of them_?")
    again = Conversations(Database(url))
    read = again.read("ann", id_)
    assert read is not None
    assert [each.question for each in read.exchanges] == ["Do they?", "Why 100% of them_?"]
    assert read.turns[0].answer == ANSWER
    assert again.read("ann", other) is None
    for words, found in (("TURNIPS 100%", 1), ("them_", 1), ("themx", 0), ("1%0", 0)):
        assert len(again.listed("ann", words)) == found, words
    kept.rate("ann", id_, first.id, Rating(Reason.GOOD))
    assert kept.ask("ann", id_, "Instead?", position=2).id != second.id
    kept.delete("ann", id_)
    assert again.listed("ann") == []
    assert [case.questions for case in again.cases()] == [("Do they?",)]


def test_exchanges_at_the_same_time_have_places_of_their_own(url: str) -> None:
    kept = Conversations(Database(url))
    id_ = kept.begin("ann", "one")
    asking = [
        threading.Thread(target=Conversations(Database(url)).ask, args=("ann", id_, str(number)))
        for number in range(8)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    read = kept.read("ann", id_)
    assert read is not None
    assert sorted(each.question for each in read.exchanges) == [*map(str, range(8))]


def test_two_processes_begin_with_the_same_new_database(url: str) -> None:
    names: list[str] = []

    def begin() -> None:
        names.append(Conversations(Database(url)).begin("ann", "one"))

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Conversations(Database(url)).listed("ann")) == len(names) == 4


def test_the_migrations_make_the_tables_that_are_queried(url: str) -> None:
    database = Database(url)
    with database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_sessions_answers_and_jobs_are_known_to_another_process(url: str) -> None:
    one, two = Database(url), Database(url)
    token = Sessions(one).begin("ann", "hash")
    found = Sessions(two).find(token)
    assert found is not None
    assert found.name == "ann"
    Sessions(two).end(token)
    assert Sessions(one).find(token) is None

    asked = Message(role="user", content="Do turnips grow?")
    RecentAnswers(one).remember([asked], ANSWER)
    said = [asked, Message(role="assistant", content=ANSWER.text), asked]
    (turn,) = RecentAnswers(two).history(said)
    assert turn.answer == ANSWER

    board, other = JobBoard(one), JobBoard(two)
    begun = board.begin("ingest")
    with pytest.raises(BusyError, match="Files are being added"):
        other.begin("check")
    assert not board.report(replace(begun, stages=(Stage("reading", 1, 3),)))
    seen = other.latest()
    assert seen is not None
    assert (seen.number, seen.running, seen.stages[0].done) == (begun.number, True, 1)
    other.stop()
    assert board.report(begun)
    board.report(replace(begun, running=False, added=3))
    seen = other.latest()
    assert seen is not None
    assert (seen.running, seen.stopping, seen.added) == (False, False, 3)
    board.report(begun)  # a sign of life on its way when the job ended
    assert other.latest() == seen
    assert other.begin("check").number > begun.number


def test_of_two_processes_one_asks_a_pinned_question(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, asked = SimpleNamespace(revision="r1"), list[str]()
    together = threading.Barrier(2, timeout=60)

    def answer(question: str, *_: object) -> Answer:
        asked.append(question)
        together.wait()  # while the other process looks for what to ask, too
        return ANSWER

    assistant: Any = SimpleNamespace(library=library, answer=answer)
    first = Pins(Database(url))
    pins = [first.add("ann", f"Do {what} grow?") for what in ("turnips", "reeds", "eels", "elms")]
    processes = [
        threading.Thread(target=lambda: list(ask_due(Pins(Database(url)), assistant)))
        for _ in range(2)
    ]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    assert sorted(asked) == sorted(pin.question for pin in pins)
    assert first.due("r1") == []

    assert first.claim(pins[0], "r2")
    assert not Pins(Database(url)).claim(pins[0], "r2")
    monkeypatch.setattr("assistant.research.pinned_store.CLAIM_SECONDS", -1.0)  # its process died
    assert Pins(Database(url)).claim(pins[0], "r2")


def test_a_job_whose_process_died_gives_way(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    board = JobBoard(Database(url))
    assert board.begin("ingest").running
    monkeypatch.setattr("assistant.server.jobs.board._SILENT_SECONDS", -1.0)
    dead = board.latest()
    assert dead is not None
    assert (dead.running, "has ended" in dead.error) == (False, True)
    assert board.begin("repair").running


def test_a_file_of_a_version_before_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with sqlite3.connect(path) as former:
        former.executescript(FORMER_TABLES)
    former.close()
    kept = Conversations(database_of(Settings(home=tmp_path)))
    assert [each.name for each in kept.listed("ann", "turnip 100%")] == ["Kept before"]
    kept.ask("ann", "c", "And now?")
    read = kept.read("ann", "c")
    assert read is not None
    assert [each.question for each in read.exchanges] == ["What grows?", "What else?", "And now?"]


def test_a_file_that_was_moved_away_is_made_again(tmp_path: Path) -> None:
    kept = Conversations(Database(f"sqlite:///{tmp_path / FILE}"))
    kept.begin("ann", "one")
    (tmp_path / FILE).rename(tmp_path / "away")
    kept.begin("ann", "two")
    assert [each.name for each in kept.listed("ann")] == ["two"]


def test_a_failed_block_changes_nothing(url: str) -> None:
    database = Database(url)
    Conversations(database).begin("ann", "one")

    def fail() -> None:
        with database.writing() as connection:
            connection.execute(text("DELETE FROM conversations"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert len(Conversations(database).listed("ann")) == 1


def test_a_newer_version_is_named(url: str) -> None:
    with Database(url).writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(LibraryError, match="newer version of the assistant"):
        Conversations(Database(url)).listed("ann")


@pytest.mark.parametrize("given", ["mysql://ann@db/own", "papers", "://", "http://x"])
def test_a_url_of_another_kind(given: str) -> None:
    with pytest.raises(InputError, match=r"expected sqlite:///FILE or postgresql://"):
        Database(given)


def test_a_server_that_cannot_be_used_is_named_without_its_password(
    postgres: str,
) -> None:
    gone = f"postgresql://ann:secret@127.0.0.1:{free_port()}/own"
    with pytest.raises(LibraryError, match=r"cannot be used .*see that the server is up") as raised:
        Conversations(Database(gone)).listed("ann")
    assert "secret" not in str(raised.value)
    missing = postgres.replace("/own", "/other").replace("ann@", "ann:secret@")
    with pytest.raises(LibraryError, match='"other" does not exist') as raised:
        Conversations(Database(missing)).listed("ann")
    assert "secret" not in str(raised.value)


def test_a_user_without_rights_is_told(postgres: str) -> None:
    Conversations(Database(postgres)).begin("ann", "one")
    with Database(postgres).writing() as connection:
        connection.execute(text("DROP ROLE IF EXISTS bob"))
        connection.execute(text("CREATE ROLE bob LOGIN"))
    with pytest.raises(LibraryError, match=r"permission denied.*rights in --database"):
        Conversations(Database(postgres.replace("ann@", "bob@"))).listed("ann")


def test_an_unknown_state_of_a_job_is_not_shown(database: Database) -> None:
    board = JobBoard(database)
    assert board.latest() is None
    board.begin("check")
    with database.writing() as connection:
        connection.execute(text("UPDATE library_jobs SET record = '{\"kind\": 3}'"))
    assert board.latest() is None
