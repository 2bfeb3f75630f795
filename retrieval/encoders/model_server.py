"""Requests to a model server over HTTP: time-outs, attempts, stops, and one sentence an error.

All requests run in one event loop in a thread of its own, so that each can be cancelled at any
moment. A cancelled request closes its connection, and by that the server stops the work for it.
"""

import asyncio
import json
import queue
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar

import httpx
import tenacity

from retrieval.encoders.llamacpp import LOOK_SECONDS, Stopped
from retrieval.types import Cancelled, InputError, ModelServerError, never

T = TypeVar("T")
U = TypeVar("U")
Reply = dict[str, Any]
"""A JSON object of a server."""

_SHOWN = 120
"""Characters of a server's own words that are shown."""
_LONGEST_KEY = 4096
_BUSY = frozenset({429, 503})
"""Statuses of a server that will soon be able to answer."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds after which a request is given up."""

    connect: float = 5.0
    first: float = 300.0
    """Until a reply begins: others may come first, and a long prompt takes its time."""
    between: float = 60.0
    """Between two pieces of a reply."""
    again: float = 1.0
    """How long an unreachable server is tried again."""
    busy: float = 30.0
    """How long one that is loading its model, or has no place, is tried again."""


class ModelServer:
    """A server of models under one address. Thread-safe."""

    def __init__(
        self,
        url: str,
        *,
        key_file: Path | None = None,
        timeouts: Timeouts | None = None,
        setting: str = "model",
    ) -> None:
        """Connect to nothing yet.

        Args:
            url: `http(s)://host:port`, with or without `/v1`.
            key_file: file with the key that the server asks for.
            timeouts: see `Timeouts`.
            setting: what the flags are named after: `--model-url` or `--embedder-url`.

        Raises:
            InputError: the address or the file of the key cannot be used.
        """
        self._setting = setting
        self.root = _checked(url, f"--{setting}-url").removesuffix("/v1")
        self._timeouts = timeouts or Timeouts()
        key_flag = "--api-key-file" if setting == "model" else f"--{setting}-key-file"
        self._key_flag = key_flag
        key = _read_key(key_file, key_flag) if key_file else ""
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(None, connect=self._timeouts.connect),
            trust_env=not _is_here(self.root),
        )
        weakref.finalize(self, _end, self._client)

    def get(self, path: str) -> Reply:
        """The JSON object at `path`; `ModelServerError` if there is none."""
        return _waited(self._fetched("GET", path, None, dict), never)

    def get_list(self, path: str) -> list[Reply]:
        """The JSON array of objects at `path`; `ModelServerError` if there is none."""
        return _waited(self._fetched("GET", path, None, list), never)

    def post(self, path: str, body: Mapping[str, Any], stopped: Stopped = never) -> Reply:
        """The JSON object that `path` replies with.

        Raises:
            ModelServerError: the server cannot be reached, refuses, or replies something else.
            Cancelled: `stopped()` became true.
        """
        return _waited(self._fetched("POST", path, body, dict), stopped)

    def try_post(self, path: str, body: Mapping[str, Any]) -> Reply | None:
        """Like `post`; None if the server refuses this request, or does not know it."""
        try:
            return self.post(path, body)
        except ModelServerError as error:
            if error.status in {0, 401, 403, *_BUSY}:
                raise
            return None

    def stream(
        self, path: str, body: Mapping[str, Any], stopped: Stopped
    ) -> Generator[Reply, None, None]:
        """Yield the events of a reply, from server-sent events, until `[DONE]` or its end.

        Closing the generator cancels the request. Raises as `post`.
        """
        pieces: queue.SimpleQueue[Reply | BaseException | None] = queue.SimpleQueue()
        working = _start(self._put_events(path, body, pieces.put))
        try:
            while True:
                if stopped():
                    raise Cancelled
                try:
                    piece = pieces.get(timeout=LOOK_SECONDS)
                except queue.Empty:
                    continue
                if piece is None:
                    return
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
        finally:
            working.cancel()

    def served_name(self, wanted: str) -> tuple[str, Reply]:
        """The name of the model to ask for, and what the server says about it.

        Args:
            wanted: the model's name or another name of it; empty if the server has only one.

        Raises:
            ModelServerError: the server has no such model, or several and none is wanted.
        """
        models = self.understood(self.get("/v1/models"), _models)
        for each in models:
            if wanted in {each["id"], *(each.get("aliases") or ()), shown_name(each["id"])}:
                return each["id"], each
        names = ", ".join(shown_name(each["id"]) for each in models)[:_SHOWN] or "none"
        if wanted or len(models) != 1:
            lacks = f"has no model {wanted!r}" if wanted else f"has {len(models)} models"
            raise self._error(f"{lacks}; name one of these with --{self._setting}-name: {names}")
        return models[0]["id"], models[0]

    def understood(self, reply: T, read: Callable[[T], U]) -> U:
        """What `read` takes from a reply; `ModelServerError` if the reply does not have it."""
        try:
            return read(reply)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self.nonsense(reply) from error

    def broke_off(self) -> ModelServerError:
        """The error for a reply without its end."""
        return self._error("stopped in the middle of an answer; see its log, then ask again")

    def nonsense(self, what: object) -> ModelServerError:
        """The error for a reply that is not what was asked for."""
        shown = " ".join(str(what).split())[:_SHOWN]
        return self._error(
            f"replied {shown!r}, which is no reply of an OpenAI-compatible server; "
            f"check --{self._setting}-url"
        )

    def _error(self, what: str, status: int = 0) -> ModelServerError:
        return ModelServerError(f"The model server {self.root} {what}.", status)

    async def _fetched(
        self, method: str, path: str, body: Mapping[str, Any] | None, kind: type[T]
    ) -> T:
        limit = self._timeouts.first if body else self._timeouts.between
        async with self._explained(limit), self._opened(method, path, body) as response:
            content = await response.aread()
        return self._parsed(content.decode("utf-8", "replace"), kind)

    async def _put_events(
        self,
        path: str,
        body: Mapping[str, Any],
        put: Callable[[Reply | BaseException | None], None],
    ) -> None:
        try:
            async with (
                self._explained(self._timeouts.first) as limit,
                self._opened("POST", path, {**body, "stream": True}) as response,
            ):
                async for line in response.aiter_lines():
                    if (text := line.removeprefix("data:").strip()) == "[DONE]":
                        break
                    if line.startswith(("data:", "error:", "{", "<")):  # the rest: comments
                        put(self._parsed(text, dict))
                        now = asyncio.get_running_loop().time()
                        limit.reschedule(now + self._timeouts.between)
            put(None)
        except BaseException as error:
            put(error)
            if isinstance(error, asyncio.CancelledError):
                raise

    def _parsed(self, text: str, kind: type[T]) -> T:
        try:
            reply = json.loads(text.removeprefix("error:"))
        except ValueError:
            reply = None
        if not isinstance(reply, kind):
            raise self.nonsense(text)
        if isinstance(reply, dict) and reply.get("error"):
            raise self._error(f"reports: {_message(text)}")
        return reply

    @asynccontextmanager
    async def _opened(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> AsyncIterator[httpx.Response]:
        """The response once its head is here, of a server that does not refuse.

        Nothing was answered before that, and asking changes nothing at the server, so another
        attempt is safe; later there is none.
        """
        request = self._client.build_request(method, self.root + path, json=body)
        response: httpx.Response | None = None
        async for attempt in tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_may_pass),
            stop=self._is_given_up,
            wait=tenacity.wait_exponential(0.1, max=3.0),
            reraise=True,
        ):
            with attempt:
                response = await self._client.send(request, stream=True)
                if response.status_code in _BUSY or response.is_redirect or response.is_error:
                    await response.aread()
                    await response.aclose()
                    raise httpx.HTTPStatusError("", request=request, response=response)
        assert response is not None  # noqa: S101 - the loop ends with a response or an error
        try:
            yield response
        finally:
            await response.aclose()

    def _is_given_up(self, state: tenacity.RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        is_busy = isinstance(error, httpx.HTTPStatusError)
        return (state.seconds_since_start or 0) > (
            self._timeouts.busy if is_busy else self._timeouts.again
        )

    @asynccontextmanager
    async def _explained(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """Turn the errors of HTTP inside into one sentence; the block may move its limit."""
        try:
            async with asyncio.timeout(seconds) as limit:
                yield limit
        except TimeoutError as error:
            raise self._error(
                "sent nothing for too long; see whether it is overloaded, then ask again"
            ) from error
        except httpx.HTTPStatusError as error:
            raise self._refused(error.response) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise self._error(
                f"cannot be reached ({str(error)[:_SHOWN] or 'no connection in time'}); "
                f"start it, or correct --{self._setting}-url"
            ) from error
        except (httpx.HTTPError, UnicodeError) as error:
            raise self.broke_off() from error

    def _refused(self, response: httpx.Response) -> ModelServerError:
        status = response.status_code
        said = _message(response.text)
        if status in {401, 403}:
            what = f"refused the key; give its key with {self._key_flag} FILE"
        elif response.is_redirect:
            what = f"redirects to another address; give that one with --{self._setting}-url"
        elif status in _BUSY:
            what = f"is not ready ({said}); wait until it has loaded its model, then try again"
        else:
            what = f"answered {status} ({said}); check --{self._setting}-url and its log"
        return self._error(what, status)


def _models(listed: Reply) -> list[Reply]:
    """The models that a server lists, each with an id, and with a list of aliases or none."""
    models: list[Reply] = [each for each in listed.get("data") or () if each["id"]]
    if not all(isinstance(each["id"], str) for each in models):
        raise TypeError
    if not all(isinstance(each.get("aliases") or [], list) for each in models):
        raise TypeError
    return models


def _may_pass(error: BaseException) -> bool:
    """Whether another attempt may succeed."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in _BUSY
    return isinstance(error, httpx.ConnectError | httpx.RemoteProtocolError | httpx.ReadError)


def _message(text: str) -> str:
    """A server's own words about an error: its message, or the beginning of what it sent."""
    try:
        said: object = json.loads(text.removeprefix("error:"))
    except ValueError:
        said = text
    for name in ("error", "message", "detail"):
        said = said.get(name, said) if isinstance(said, dict) else said
    return " ".join(str(said).split())[:_SHOWN].rstrip(". ") or "no reason given"


def shown_name(name: str) -> str:
    """A served model's name without the folder and ending of a file, as llama.cpp's ids have."""
    is_file = name.endswith(".gguf")
    return name.rpartition("/")[2].removesuffix(".gguf") if is_file else name


def _checked(url: str, flag: str) -> str:
    try:
        parsed = httpx.URL(url.strip())
        valid = parsed.scheme in {"http", "https"} and parsed.host and not parsed.query
    except httpx.InvalidURL:
        valid = False
    if not valid:
        raise InputError(f"{flag} is {url[:_SHOWN]!r}; expected http://host:port/v1.")
    if parsed.userinfo:
        raise InputError(f"{flag} must not hold a name or password; give a key in a file.")
    return url.strip().rstrip("/")


def _read_key(path: Path, flag: str) -> str:
    try:
        key = path.expanduser().read_text("ascii")[:_LONGEST_KEY].strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not ASCII text"
        raise InputError(f"The key in {path} cannot be read ({why}); correct {flag}.") from error
    if not key or not key.isprintable() or " " in key:
        raise InputError(f"{path} holds no key; expected one line without spaces.")
    return key


def _is_here(url: str) -> bool:
    """Whether the server runs on this computer, where no proxy is asked."""
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all requests; its thread ends with the process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="model servers", daemon=True).start()
    return loop


def _end(client: httpx.AsyncClient) -> None:
    """Close the connections that are kept."""
    _start(client.aclose())


def _start(work: Coroutine[Any, Any, T]) -> Future[T]:
    return asyncio.run_coroutine_threadsafe(work, _loop())


def _waited(work: Coroutine[Any, Any, T], stopped: Stopped) -> T:
    """The result of `work`, which is cancelled once `stopped()`."""
    working = _start(work)
    try:
        while True:
            if stopped():
                raise Cancelled
            try:
                return working.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                if working.done():
                    raise
            except CancelledError as error:
                raise Cancelled from error
    finally:
        working.cancel()
