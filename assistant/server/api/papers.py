"""Routes of papers: search, lookup, one paper as JSON, BibTeX or RIS, and ingest if allowed."""

import asyncio
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.convertors import PathConvertor, register_url_convertor

from assistant.server.api.errors import ApiError, documented, unless_gone
from assistant.server.api.schemas import LookupOut, LookupQuery, PaperOut, SearchOut, SearchRequest
from assistant.server.auth import owner_of
from assistant.server.jobs.board import JobState
from assistant.server.service import Service
from assistant.types import lookup_json, paper_json, search_json
from retrieval.formats.citation_keys import citation_keys
from retrieval.formats.writers import FORMATS
from retrieval.query.syntax import ExplicitFilters
from retrieval.types import BusyError, IngestReport, Paper

_MOST_FILES = 20
_ENDINGS = {
    ".bib": ("bibtex", "application/x-bibtex"),
    ".ris": ("ris", "application/x-research-info-systems"),
}
_TEXT = {"type": "string"}


class _Anything(PathConvertor):
    """The rest of a path, which may contain any character, even a line break."""

    regex = r"[\s\S]+"


register_url_convertor("anything", _Anything())


def paper_routes(service: Service) -> APIRouter:
    """Router of search, lookup and papers."""
    router = APIRouter(tags=["Papers"])

    @router.post(
        "/v1/search",
        summary="Rank the papers for a query",
        response_model=SearchOut,
        responses=documented(400, 401, 408, 413, 415, 429, 500, 503),
    )
    async def search(body: SearchRequest, request: Request) -> dict[str, Any]:
        """The papers that match best by meaning and by words, reranked by the model."""
        owner = owner_of(request.scope)
        work = service.search_async(body.query, body.k, reranked=body.rerank, owner=owner)
        found = await unless_gone(request.receive, work)
        return {**search_json(None, 0, body.query, found.passages), "notes": found.notes}

    @router.get(
        "/v1/lookup",
        summary="Look papers up by their records",
        response_model=LookupOut,
        responses=documented(400, 401, 429, 500, 503),
    )
    def lookup(query: Annotated[LookupQuery, Query()]) -> dict[str, Any]:
        """By title (in part, misspelled), author, venue, year, decision, or a method's nickname."""
        authors = tuple(filter(None, map(str.strip, query.author)))
        given = ExplicitFilters(authors, query.venue.strip(), query.year, query.decision.strip())
        if not query.q.strip() and not given:
            raise ApiError(400, "Nothing to look up; give `q` or a filter such as `author`.")
        listing = service.lookup(query.q, query.k, given)
        return {
            "query": query.q,
            "total": listing.total,
            "note": listing.note,
            "matches": lookup_json(listing.matches),
        }

    errors = documented(401, 404, 429, 500, 503)

    def add_export(ending: str, name: str) -> None:
        @router.get(
            f"/v1/papers/{{id:anything}}{ending}",
            name=ending[1:],
            summary=f"A paper as {name}",
            response_class=Response,
            responses={200: {"content": {_ENDINGS[ending][1]: {"schema": _TEXT}}}, **errors},
        )
        def export(id: str) -> Response:  # noqa: A002 - the path's word
            """The paper for a manuscript or a reference manager, with the key of every export."""
            return _shown(service, id, ending)

    add_export(".bib", "BibTeX")
    add_export(".ris", "RIS")

    @router.get(
        "/v1/papers/{id:anything}",
        summary="A paper",
        response_model=PaperOut,
        responses=errors,
    )
    def paper(id: str) -> Response:  # noqa: A002
        """A paper with its abstract. The id may contain any URL-encoded character."""
        return _shown(service, id, "")

    return router


def _shown(service: Service, id_: str, ending: str) -> Response:
    """The paper with the whole path as its id as JSON, else the one without the ending.

    Raises:
        ApiError: there is neither.
    """
    if found := service.paper(f"{id_}{ending}"):
        return JSONResponse(paper_json(found, _key(service, found)))
    found = service.paper(id_) if ending else None
    if not found:
        raise ApiError(404, f"There is no paper with the id {id_[:100]!r} in this library.")
    name, kind = _ENDINGS[ending]
    key = _key(service, found)
    file = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in key)[:100]
    return Response(
        FORMATS[name]([found], {found.id: key}),
        media_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{file}{ending}"'},
    )


def _key(service: Service, paper: Paper) -> str:
    index = service.assistant.library.lexical
    return citation_keys([paper], index.papers_with_key)[paper.id]


def ingest_routes(service: Service) -> APIRouter:
    """Router of ingest."""

    class CheckedRoute(APIRoute):
        """Checks a request before its body is read."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            read_and_answer = super().get_route_handler()

            async def handler(request: Request) -> Response:
                _check_upload(service, request)
                return await read_and_answer(request)

            return handler

    router = APIRouter(tags=["Library"], route_class=CheckedRoute)

    @router.post(
        "/v1/ingest",
        summary="Add papers to the library",
        responses=documented(400, 401, 403, 408, 409, 413, 415, 429, 500, 503),
    )
    async def ingest(
        request: Request,
        files: Annotated[
            list[UploadFile],
            File(max_length=_MOST_FILES, description="JSONL, BibTeX, RIS, CSV, or as in seeds/."),
        ],
        venue: Annotated[str, Form(max_length=200, description="Of papers that name none.")] = "",
        year: Annotated[
            int | None, Form(ge=0, le=9999, description="Of papers that name none.")
        ] = None,
    ) -> IngestReport:
        """Files in the formats that `assistant ingest` reads, recognised by their contents.

        The assistant must have been started with `--allow-ingest`, and accepts one request at a
        time. Closing the connection stops the ingest; the papers written so far stay.
        """
        with TemporaryDirectory(prefix="assistant-ingest-", ignore_cleanup_errors=True) as folder:
            names = await run_in_threadpool(_save, files, Path(folder))
            try:
                number = service.jobs.add(list(names), names=names, venue=venue.strip(), year=year)
            except BusyError as error:
                raise ApiError(409, str(error), headers={"Retry-After": "10"}) from error
            return _report(await unless_gone(request.receive, _ended(service, number)))

    return router


def _check_upload(service: Service, request: Request) -> None:
    """Refuse a request before its body is read.

    Raises:
        ApiError: ingest is not allowed, or the body is no form.
        NotReadyError: the setup has not ended.
    """
    if not service.settings.allow_ingest:
        raise ApiError(
            403,
            "Papers are not taken over the network here; start `assistant serve` with "
            "--allow-ingest.",
            code="ingest_not_allowed",
        )
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise ApiError(415, "The body has to be multipart/form-data with the field `files`.")
    service.assistant  # noqa: B018 - raises if it is not ready


def _save(files: list[UploadFile], folder: Path) -> dict[Path, str]:
    """Write the files under safe names; returns their paths with their original names."""
    names: dict[Path, str] = {}
    for number, file in enumerate(files):
        path = folder / str(number)
        with path.open("wb") as target:
            shutil.copyfileobj(file.file, target)
        names[path] = file.filename or ""
    return names


async def _ended(service: Service, number: int) -> JobState:
    """The final state of the job, which is cancelled if the client goes."""
    try:
        await asyncio.to_thread(service.jobs.wait)
    except asyncio.CancelledError:
        service.jobs.cancel()
        raise
    job = service.jobs.state
    if job.number != number:  # the next job has begun
        raise ApiError(409, "The files were added, and others after them; look them up.")
    return job


def _report(job: JobState) -> IngestReport:
    """The report.

    Raises:
        ApiError: the job failed or read no paper.
    """
    report = job.report
    if report is None:
        raise ApiError(503, job.error or "Adding the files was stopped; send them again.")
    papers_read = report.added + report.updated + report.unchanged + report.merged
    if report.skipped and not papers_read:
        first = report.skipped[0]
        raise ApiError(400, f"No paper could be read: {first.source}: {first.reason}.")
    return report
