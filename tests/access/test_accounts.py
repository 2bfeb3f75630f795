"""Who may come in: hashes computed, sessions kept, attempts counted."""

import asyncio
import threading

import pytest
from protected_app import PASSWORD, Known

from assistant.server.auth import accounts as accounts_module
from assistant.server.auth.accounts import (
    Accounts,
    add_user,
    key_id_of,
    matches,
    remove_user,
    revoke_key,
)
from assistant.server.auth.login import LIFETIME, Attempts, Sessions, TooManyAttempts
from assistant.storage.database import Database


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes that were compared, in turn."""
    hashes: list[str] = []

    def counted(hash_: str, secret: str) -> bool:
        hashes.append(hash_)
        return matches(hash_, secret)

    monkeypatch.setattr(accounts_module, "matches", counted)
    return hashes


def test_every_attempt_computes_one_hash(known: Known, computed: list[str]) -> None:
    accounts = Accounts(known.file)
    assert accounts.with_password("ann", PASSWORD) == "ann"
    assert accounts.with_password("ann", "wrong") is None
    assert accounts.with_password("nobody", PASSWORD) is None
    assert accounts.with_key("aa_00000000_secret") is None
    assert accounts.with_key(known.key + "x") is None
    assert len(computed) == 5
    assert [hash_ == accounts_module.DUMMY_HASH for hash_ in computed] == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_a_key_is_hashed_once(known: Known, computed: list[str]) -> None:
    accounts = Accounts(known.file)
    assert accounts.with_verified_key(known.key) is None
    assert accounts.with_key(known.key) == "ann"
    assert accounts.with_verified_key(known.key) == "ann"
    assert accounts.with_verified_key(known.key + "x") is None
    assert accounts.with_verified_key("aa_00000000_x") is None
    assert len(computed) == 1


def test_what_the_file_no_longer_says_ends_at_once(known: Known) -> None:
    accounts = Accounts(known.file)
    add_user(known.file, "bob", "another horse")
    assert accounts.user("bob") is not None
    assert accounts.with_key(known.key) == "ann"
    revoke_key(known.file, key_id_of(known.key))
    assert accounts.with_verified_key(known.key) is None
    remove_user(known.file, "ann")
    assert accounts.user("ann") is None


@pytest.mark.parametrize("text", ["{", None])
def test_a_file_that_breaks_lets_nobody_in(
    known: Known, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    accounts = Accounts(known.file)
    whole = known.file.read_bytes()
    known.file.unlink()
    if text:
        known.file.write_text(text)
    assert accounts.user("ann") is None
    assert accounts.user("ann") is None
    assert capsys.readouterr().err.count("nobody can sign in") == 1
    known.file.write_bytes(whole)
    assert accounts.user("ann") is not None


def test_sessions_end_and_are_bounded(monkeypatch: pytest.MonkeyPatch, database: Database) -> None:
    now = [0.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    sessions = Sessions(database)
    token = sessions.begin("ann", "hash")
    session = sessions.find(token)
    assert session is not None
    assert session.name == "ann"
    assert sessions.find(token + "x") is None
    assert sessions.find("") is None
    now[0] = LIFETIME
    assert sessions.find(token) is None
    assert sessions.find(sessions.begin("bob", "hash")) is not None
    monkeypatch.setattr("assistant.server.auth.login._MAX_SESSIONS", 3)
    tokens = []
    for number in range(5):
        now[0] += 1
        tokens.append(sessions.begin(str(number), "hash"))
    assert [sessions.find(each) is not None for each in tokens] == [False, False, True, True, True]
    sessions.end(tokens[-1])
    assert sessions.find(tokens[-1]) is None


def test_failures_are_counted_for_a_minute(
    monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.time", lambda: now[0])

    async def run() -> None:
        attempts = Attempts(database)
        for number in range(10):
            now[0] += 1
            await attempts.make("here", f"name {number}", lambda: None)
        now[0] = 1021.0
        with pytest.raises(TooManyAttempts) as raised:
            await attempts.make("here", "ann", lambda: "ann")
        assert raised.value.seconds == 40
        now[0] = 1062.0
        assert await attempts.make("here", "ann", lambda: "ann") == "ann"

    asyncio.run(run())


def test_attempts_are_limited_by_address_and_by_name(database: Database) -> None:
    async def run() -> None:
        attempts = Attempts(database)
        for number in range(10):
            assert await attempts.make("here", f"name {number}", lambda: None) is None
        with pytest.raises(TooManyAttempts) as raised:
            await attempts.make("here", "ann", lambda: "ann")
        assert 55 <= raised.value.seconds <= 60
        assert await attempts.make("there", "ann", lambda: "ann") == "ann"
        for number in range(20):
            assert await attempts.make(f"address {number}", "bob", lambda: None) is None
        with pytest.raises(TooManyAttempts):
            await attempts.make("elsewhere", "bob", lambda: "bob")

    asyncio.run(run())


def test_attempts_go_one_by_one_and_wait_for_seconds(
    monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    monkeypatch.setattr("assistant.server.auth.login._MAX_WAIT", 0.05)
    go_on = threading.Event()
    running: list[int] = []

    def verify() -> str:
        running.append(1)
        assert go_on.wait(60)
        return "ann"

    async def run() -> None:
        attempts = Attempts(database)
        await attempts.make("elsewhere", "bob", lambda: "bob")  # the tables are made
        first = asyncio.create_task(attempts.make("here", "ann", verify))
        others = [attempts.make("here", "ann", verify) for _ in range(4)]
        done = await asyncio.gather(*others, return_exceptions=True)
        assert all(isinstance(each, TooManyAttempts) for each in done)
        assert len(running) == 1
        go_on.set()
        assert await first == "ann"

    asyncio.run(run())
