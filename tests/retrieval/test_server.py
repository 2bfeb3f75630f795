"""A library on a real Chroma server: several processes, kills, leases, wrong servers."""

import json
import multiprocessing
import random
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from chroma_server import ChromaServer
from fake_embedder import WordEmbedder
from grids import thinned
from nginx import NGINX, nginx

from retrieval.index import lease, server
from retrieval.index.chroma import ChromaStore
from retrieval.index.connection import server_client
from retrieval.index.lease import Lease
from retrieval.index.manifest import UnfinishedCopyError
from retrieval.index.place import FolderPlace
from retrieval.index.server import ServerPlace, address_of
from retrieval.library import health, move
from retrieval.library.health import check, repair
from retrieval.library.ingest import ingest, remove_source
from retrieval.library.library import Library
from retrieval.library.move import copy_library
from retrieval.search.search import search
from retrieval.text.splitting import ChunkSettings
from retrieval.types import InputError, LibraryError, LibraryInUseError, SearchSettings

CHUNKS = ChunkSettings(tokens=12)
EXHAUSTIVE = SearchSettings(dense_depth=10_000)
QUERY = "weight of herons in lakes"
_spawn = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    running = ChromaServer(tmp_path_factory.mktemp("server") / "chroma").start()
    yield running
    running.kill()


@pytest.fixture
def address(chroma: ChromaServer, request: pytest.FixtureRequest) -> str:
    """A library of the test's own on the server."""
    return f"{chroma.url}?prefix=t{abs(hash(request.node.nodeid))}"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", 2.0)
    monkeypatch.setattr(lease, "EXPIRY", 3.0)
    monkeypatch.setattr(lease, "RENEWAL", 0.5)


def opened(home: Path, address: str = "", embedder: str = "words") -> Library:
    place = ServerPlace(address_of(address), home) if address else None
    return Library(home, WordEmbedder(embedder), CHUNKS, place)


def rows(count: int, seed: int = 1) -> list[dict[str, Any]]:
    chance = random.Random(seed)  # noqa: S311 - the same papers every time
    nouns = ("heron", "lake", "reed", "vowel", "turnip", "orbit", "glacier", "lantern")
    return [
        {
            "title": f"Study {seed} {number} of {chance.choice(nouns)}{number}",
            "authors": [f"Ada Name{number}"],
            "abstract": " ".join(
                f"The {chance.choice(nouns)}{chance.randrange(99)} grows with "
                f"{chance.choice(nouns)}{chance.randrange(99)} where herons meet."
                for _ in range(chance.randint(3, 8))
            ),
        }
        for number in range(count)
    ]


def written(path: Path, papers: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, papers)), "utf-8")
    return path


def contents(library: Library) -> dict[str, Any]:
    """All that can be seen of a library."""
    library.ready_to_search()
    papers = {each.paper.id: each for each in library.store.papers()}
    ids = [f"{id_}:{n}" for id_, stored in papers.items() for n in range(stored.chunk_count)]
    found = search(library, QUERY, 10, EXHAUSTIVE)
    return {
        "count": library.store.count(),
        "papers": {id_: asdict(each.paper) for id_, each in sorted(papers.items())},
        "chunks": {k: asdict(v) for k, v in sorted(library.store.chunks_by_id(ids).items())},
        "vectors": {k: v.tolist() for k, v in sorted(library.store.vectors(ids).items())},
        "indexed": sorted(library.lexical.ids),
        "found": [(hit.paper.id, hit.chunk.id, hit.score) for hit in found],
    }


def test_a_library_on_a_server_equals_one_in_a_folder(tmp_path: Path, address: str) -> None:
    first, later = rows(80), rows(80)
    for row in later[::3]:
        row["abstract"] += " One more sentence was added."
    libraries = [opened(tmp_path / "folder"), opened(tmp_path / "replica", address)]
    for library in libraries:
        ingest(library, [written(tmp_path / "a.jsonl", first)])
        ingest(library, [written(tmp_path / "b.jsonl", rows(20, seed=2))])
        ingest(library, [written(tmp_path / "a.jsonl", later[10:])])
        remove_source(library, "b.jsonl")
        assert check(library).sound
    folder, replica = map(contents, libraries)
    assert folder == replica


def test_a_replica_follows_by_what_changed_alone(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.library.library._UPDATED_FROM", 10)
    writer, reader = (opened(tmp_path / name, address) for name in ("writer", "reader"))
    ingest(writer, [written(tmp_path / "a.jsonl", rows(100))])
    assert len(contents(reader)["indexed"]) == 100
    with monkeypatch.context() as patch:
        patch.setattr(ChromaStore, "papers", lambda _: pytest.fail("reads all papers"))
        changed = [*rows(100), *rows(2, seed=3)]
        changed[7] |= {"abstract": "A quokka was seen."}
        ingest(writer, [written(tmp_path / "a.jsonl", changed)])
        for library in (writer, reader):
            library.ready_to_search()
            assert library.lexical.size == 102
            assert library.lexical.texts_with("quokka") == 1
    ingest(writer, [written(tmp_path / "b.jsonl", rows(3, seed=5))])
    remove_source(writer, "b.jsonl")
    reader.ready_to_search()
    assert sorted(reader.lexical.ids) == sorted(writer.store.paper_ids())
    assert reader.lexical.revision == writer.revision == reader.revision


def test_an_index_that_is_missing_is_made_from_the_server(tmp_path: Path, address: str) -> None:
    library = opened(tmp_path / "one", address)
    ingest(library, [written(tmp_path / "a.jsonl", rows(12))])
    another = opened(tmp_path / "two", address)
    assert contents(another) == contents(library)


def test_a_second_writer_is_refused_while_the_first_writes(tmp_path: Path, address: str) -> None:
    first, second = (opened(tmp_path / name, address) for name in ("one", "two"))
    with first.exclusive():
        with pytest.raises(LibraryInUseError, match="is being written by process"):
            ingest(second, [written(tmp_path / "a.jsonl", rows(3))])
        time.sleep(2 * lease.EXPIRY)  # it is renewed, so it does not expire
        with pytest.raises(LibraryInUseError), second.exclusive():
            pass
    assert ingest(second, [tmp_path / "a.jsonl"]).added == 3


def test_of_many_at_once_one_writes(address: str) -> None:
    where = address_of(address)
    got: list[str] = []
    inside = threading.Semaphore(1)

    def write() -> None:
        client = server_client(where.url, {}, 60, tenant=where.tenant, database=where.database)
        mine = Lease(client, f"{where.prefix}-writer", "here")
        try:
            mine.acquire()
        except LibraryInUseError:
            got.append("refused")
            return
        got.append("alone" if inside.acquire(blocking=False) else "with another")
        time.sleep(1)
        inside.release()
        mine.release()

    threads = [threading.Thread(target=write) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(got) == ["alone", *["refused"] * 5]


def test_a_collection_made_while_they_are_listed_ends_the_list() -> None:
    names = ["b-chunks", "b-papers"]

    class Listing:
        def list_collections(self, most: int, start: int) -> list[Any]:
            page = [SimpleNamespace(name=name, metadata={}) for name in names[start:][:most]]
            if start == 0:
                names.insert(0, "a-writer-1")  # before all others, which move on by one
            calls.append(start)
            assert len(calls) < 9
            return page

    calls: list[int] = []
    assert Lease(Listing(), "b-writer", "here").holder() == "Nobody is writing."
    assert calls == [0, 2, 3]


def _held(address: str, home: Path, begun: Any) -> None:
    lease.RENEWAL = 0.5  # a process of its own has the waits of the program
    with opened(home, address).exclusive():
        begun.set()
        time.sleep(600)


@pytest.mark.parametrize("clock", thinned([0, -3600, 3600], 2))
def test_a_dead_writer_frees_its_lease_whatever_its_clock_says(
    tmp_path: Path, address: str, clock: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _spawn.Event()
    process = _spawn.Process(target=_held, args=(address, tmp_path / "dead", begun))
    process.start()
    assert begun.wait(60)
    real = time.time
    monkeypatch.setattr(lease.time, "time", lambda: real() + clock)
    file, library = written(tmp_path / "a.jsonl", rows(3)), opened(tmp_path / "own", address)
    with monkeypatch.context() as patch:
        patch.setattr(lease, "EXPIRY", 60.0)  # however late a busy machine renews it
        with pytest.raises(LibraryInUseError):  # it lives, and a wrong clock does not hide that
            ingest(library, [file])
    process.kill()
    process.join()
    if clock:  # as if it had been on another machine
        monkeypatch.setattr(lease, "_has_ended", lambda _: False)
    assert ingest(library, [file]).added == 3


def test_a_writer_that_lost_its_lease_writes_no_more(tmp_path: Path, address: str) -> None:
    stopped, other = (opened(tmp_path / name, address) for name in ("one", "two"))
    with stopped.exclusive():
        taken: Any = stopped.place.connection.check_lease.__self__  # type: ignore[attr-defined]
        taken._ended.set()  # as if the process were stopped: nothing is renewed
        taken._renewed -= 100
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lease, "_has_ended", lambda _: True)
            with other.exclusive():
                pass
        taken._ended.clear()
        with pytest.raises(LibraryError, match="another one writes there now"):
            stopped.store.delete(["x"])


def _ingested(address: str, home: Path, file: Path, done: Any) -> None:
    server.PATIENCE = 0.5
    health.BATCH = 8
    try:
        ingest(opened(home, address), [file])
        done.put("ended")
    except LibraryError as error:
        done.put(str(error))


@pytest.mark.parametrize("share", thinned([0.7, 0.3], 2))
def test_nothing_is_lost_or_doubled_if_the_server_is_killed(tmp_path: Path, share: float) -> None:
    file = written(tmp_path / "a.jsonl", rows(80))
    ingest(whole := opened(tmp_path / "whole"), [file])
    expected = contents(whole)
    chroma = ChromaServer(tmp_path / "chroma").start()
    try:
        opened(tmp_path / "home", chroma.url)
        done, begun = _spawn.Queue(), time.monotonic()
        process = _spawn.Process(target=_ingested, args=(chroma.url, tmp_path / "home", file, done))
        process.start()
        place = ServerPlace(address_of(chroma.url), tmp_path / "watcher")
        store = ChromaStore(place.connection)
        while store.count()[0] < share * 80 and time.monotonic() - begun < 60:
            pass
        chroma.kill()
        said = done.get(timeout=60)
        process.join()
        assert said == "ended" or "The Chroma server at" in said
        chroma.start()
        library = opened(tmp_path / "home", chroma.url)
        ingest(library, [file])
        assert contents(library) == expected
        assert check(library).sound
    finally:
        chroma.kill()


def test_an_ingest_outlasts_a_server_that_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 60.0)
    monkeypatch.setattr(lease, "EXPIRY", 60.0)
    monkeypatch.setattr(health, "BATCH", 8)
    chroma = ChromaServer(tmp_path / "chroma").start()
    library = opened(tmp_path / "home", chroma.url)
    killed = False

    def progress(stage: str, done: int, *_: object) -> None:
        nonlocal killed
        if stage == health.EMBEDDING and done == 20 and not killed:
            killed = True
            chroma.kill()
            threading.Timer(1, chroma.start).start()

    try:
        report = ingest(library, [written(tmp_path / "a.jsonl", rows(40))], progress=progress)
        assert (killed, report.added, library.store.count()[0]) == (True, 40, 40)
        assert check(library).sound
    finally:
        chroma.kill()


def test_a_server_whose_disk_takes_no_more(tmp_path: Path) -> None:
    chroma = ChromaServer(tmp_path / "chroma").start(largest_file=500)
    try:
        file = written(tmp_path / "a.jsonl", rows(60))
        with pytest.raises(LibraryError, match=r"could not do what was asked.*the disk's room"):
            ingest(opened(tmp_path / "home", chroma.url), [file])
        chroma.kill()
        chroma.start()
        ingest(library := opened(tmp_path / "home", chroma.url), [file])
        ingest(whole := opened(tmp_path / "whole"), [file])
        assert contents(library) == contents(whole)
        assert check(library).sound
    finally:
        chroma.kill()


# --- moves


def test_a_library_moves_to_a_server_and_back(tmp_path: Path, address: str) -> None:
    library = opened(tmp_path / "folder")
    ingest(library, [written(tmp_path / "a.jsonl", rows(30))])
    expected = contents(library)
    there = ServerPlace(address_of(address), tmp_path / "replica")
    copied = copy_library(library.place, there)
    assert (copied.papers, copied.chunks, copied.written) == (*expected["count"], 30)
    assert contents(opened(tmp_path / "replica", address)) == expected
    with pytest.raises(LibraryError, match="already, with 30 papers"):
        copy_library(library.place, there)
    copy_library(there, FolderPlace(tmp_path / "back"))
    back = opened(tmp_path / "back")
    assert contents(back) == expected
    assert check(back).sound


def test_an_interrupted_move_is_no_library_and_continues(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(move, "_AT_ONCE", 8)
    library = opened(tmp_path / "folder")
    ingest(library, [written(tmp_path / "a.jsonl", rows(30))])
    for target in (ServerPlace(address_of(address), tmp_path / "r"), FolderPlace(tmp_path / "to")):
        library = opened(tmp_path / "folder")
        with monkeypatch.context() as patch:
            write, calls = ChromaStore.write, iter(range(3))

            def dies(
                self: ChromaStore, *given: Any, calls: Any = calls, write: Any = write
            ) -> None:
                if next(calls) == 2:
                    raise KeyboardInterrupt
                write(self, *given)

            patch.setattr(ChromaStore, "write", dies)
            with pytest.raises(KeyboardInterrupt):
                copy_library(library.place, target)
        with pytest.raises(UnfinishedCopyError, match="run the same `assistant move` again"):
            Library(tmp_path / "r2", WordEmbedder(), CHUNKS, target)
        assert copy_library(library.place, target).written == 14
        assert contents(Library(target.lexical.parent, WordEmbedder(), CHUNKS, target)) == contents(
            library
        )


def test_a_copy_that_differs_is_not_taken_for_whole(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = opened(tmp_path / "folder")
    ingest(library, [written(tmp_path / "a.jsonl", rows(5))])
    there = ServerPlace(address_of(address), tmp_path / "replica")
    write = ChromaStore.write

    def wrong(self: ChromaStore, papers: Any, earlier: Any) -> None:
        vectors = tuple(-each for each in papers[0].vectors)
        write(self, [replace(papers[0], vectors=vectors), *papers[1:]], earlier)

    monkeypatch.setattr(ChromaStore, "write", wrong)
    with pytest.raises(LibraryError, match=r"1 papers of the copy .* differ"):
        copy_library(library.place, there)
    with pytest.raises(UnfinishedCopyError):
        there.read()


# --- wrong servers


class _Answers(BaseHTTPRequestHandler):
    """Answers every request with the same status and text, or as a proxy that asks for a token."""

    status, text = 200, "<html>Hello</html>"

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.text.encode())

    do_POST = do_GET  # noqa: N815 - the name is of http.server

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def answering() -> Iterator[Callable[..., str]]:
    servers: list[ThreadingHTTPServer] = []

    def serve(status: int, text: str) -> str:
        handler = type("Handler", (_Answers,), {"status": status, "text": text})
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_address[1]}"

    yield serve
    for each in servers:
        each.shutdown()
        each.server_close()


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (200, "<html>Hello</html>", "is no Chroma server"),
        (200, '{"tenant": 7}', "is no Chroma server"),
        (401, "who are you", "asks for a token"),
        (403, '{"error": "AuthError", "message": "no"}', "asks for a token"),
        (404, "not here", "refused a request (status 404: not here)"),
        (400, "The plain HTTP request was sent to HTTPS port", "asks for https://"),
        (503, "starting", "is busy or not running"),
    ],
)
def test_what_is_no_chroma_server_is_said_in_a_sentence(
    tmp_path: Path, answering: Callable[..., str], status: int, text: str, said: str
) -> None:
    with pytest.raises(LibraryError) as raised:
        opened(tmp_path, answering(status, text))
    assert said in str(raised.value)
    assert str(raised.value).count("\n") == 0


def test_a_token_that_is_not_accepted(tmp_path: Path, answering: Callable[..., str]) -> None:
    (tmp_path / "token").write_text("secret-word\n", "utf-8")
    address = address_of(answering(403, "no"), tmp_path / "token")
    with pytest.raises(LibraryError, match="does not accept the token") as raised:
        Library(tmp_path, WordEmbedder(), CHUNKS, ServerPlace(address, tmp_path))
    assert "secret-word" not in f"{raised.value!s} {address!r}"


@pytest.fixture
def guarded(chroma: ChromaServer, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The server behind nginx, which speaks TLS and asks for a token: address and certificate."""
    if NGINX is None or not (openssl := shutil.which("openssl")):
        pytest.skip("no nginx or openssl is installed: TLS before a Chroma server is not tested")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, "req", "-x509", *made, *name], check=True, capture_output=True)
    location = f"""
        ssl_certificate {certificate}; ssl_certificate_key {key};
        location / {{
            if ($http_authorization != "Bearer sesame") {{ return 401; }}
            proxy_pass {chroma.url};
        }}"""
    with nginx(tmp_path, location, tls="ssl") as port:
        yield f"https://127.0.0.1:{port}", certificate


def test_a_server_behind_tls_and_a_token(
    tmp_path: Path, guarded: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, certificate = guarded
    (tmp_path / "right").write_text("sesame", "ascii")
    (tmp_path / "wrong").write_text("thistle", "ascii")

    def library(url: str, file: str = "right") -> Library:
        address = address_of(f"{url}?prefix=guarded", tmp_path / file if file else None)
        place = ServerPlace(address, tmp_path / "replica")
        return Library(tmp_path / "replica", WordEmbedder(), CHUNKS, place)

    with pytest.raises(LibraryError, match="a certificate that is not trusted"):
        library(url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ingest(library(url), [written(tmp_path / "a.jsonl", rows(3))]).added == 3
    with pytest.raises(LibraryError, match="does not accept the token"):
        library(url, "wrong")
    with pytest.raises(LibraryError, match="asks for a token"):
        library(url, "")
    with pytest.raises(LibraryError, match="asks for https://"):
        library(url.replace("https:", "http:"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda url: url.replace("http:", "https:"), "does not speak TLS"),
        (lambda _: "http://127.0.0.1:1", "cannot be reached"),
        (lambda _: "http://nowhere.invalid:8000", "cannot be reached"),
        (lambda url: f"{url}?tenant=nobody", "check tenant= and database="),
        (lambda url: f"{url}?database=none", "check tenant= and database="),
    ],
)
def test_a_wrong_address_is_said_in_a_sentence(
    tmp_path: Path, chroma: ChromaServer, change: Callable[[str], str], said: str
) -> None:
    with pytest.raises(LibraryError) as raised:
        opened(tmp_path, change(chroma.url))
    assert said in str(raised.value)


@pytest.mark.parametrize("wrong", ["?tenant=nobody", "?database=none"])
def test_a_server_that_cannot_be_used_keeps_no_connection(
    tmp_path: Path, chroma: ChromaServer, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    made: list[httpx.Client] = []
    make = httpx.Client.__init__

    def noted(self: httpx.Client, *given: Any, **named: Any) -> None:
        made.append(self)
        make(self, *given, **named)

    monkeypatch.setattr(httpx.Client, "__init__", noted)
    with pytest.raises(LibraryError):
        opened(tmp_path, chroma.url + wrong)
    assert len(made) > 1
    assert all(each.is_closed for each in made)


def test_plain_http_where_tls_is_asked(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

        def refuse() -> None:
            taken, _ = listening.accept()
            with pytest.raises(ssl.SSLError):
                context.wrap_socket(taken, server_side=True)
            taken.close()

        threading.Thread(target=refuse, daemon=True).start()
        with pytest.raises(LibraryError, match=r"The Chroma server at .* (https|reached)"):
            opened(tmp_path, f"http://127.0.0.1:{listening.getsockname()[1]}")


@pytest.mark.parametrize(
    "text",
    [
        "localhost:8000",
        "ftp://x",
        "http://",
        "http://h:99999",
        "http://h?tenat=x",
        "http://h?tenant=",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="The Chroma server cannot be"):
        address_of(text)


def test_another_embedders_library_is_refused(tmp_path: Path, address: str) -> None:
    opened(tmp_path, address)
    with pytest.raises(
        LibraryError, match=r"was made with the embedder 'words', not 'other'.*pref"
    ):
        opened(tmp_path, address, embedder="other")


def test_a_collection_of_others_is_not_taken(tmp_path: Path, address: str) -> None:
    where = address_of(address)
    client = server_client(where.url, {}, 60, tenant=where.tenant, database=where.database)
    client.create_collection(f"{where.prefix}-papers", metadata={"theirs": 1})
    with pytest.raises(LibraryError, match="was not made by this program"):
        opened(tmp_path, address)


def test_chunks_that_a_server_lost_are_made_again(tmp_path: Path, address: str) -> None:
    library = opened(tmp_path, address)
    ingest(library, [written(tmp_path / "a.jsonl", rows(10))])
    expected = contents(library)
    where = address_of(address)
    client = server_client(where.url, {}, 60, tenant=where.tenant, database=where.database)
    client.delete_collection(f"{where.prefix}-chunks")
    library = opened(tmp_path, address)
    with pytest.raises(LibraryError, match="run `assistant doctor --repair` to mend it"):
        library._paper_count()
    assert repair(library).sound
    assert contents(library) == expected
