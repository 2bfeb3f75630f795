"""`POST /v1/ingest`: papers added over the network, where that was allowed."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from assistant.api.asking import ClientGone, unless_gone
from assistant.api.errors import CLIENT_GONE, ApiError, documented
from assistant.api.schemas import IngestOut
from assistant.ingesting import Work
from assistant.json_output import Json, ingest_json
from assistant.service import Service
from retrieval.errors import BusyError

MOST_FILES = 20
LATEST_YEAR = 9999
_LOOK_SECONDS = 0.1
"""Between two looks at whether it has ended."""
_BODY: Json = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["files"],
                "properties": {
                    "files": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": MOST_FILES,
                        "items": {"type": "string", "contentMediaType": "application/octet-stream"},
                        "description": "JSONL, BibTeX, RIS, CSV, or pages as in seeds/.",
                    },
                    "venue": {"type": "string", "description": "Of papers that name none."},
                    "year": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": LATEST_YEAR,
                        "description": "Of papers that name none.",
                    },
                },
            }
        }
    },
}


def ingest_routes(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(tags=["Library"])

    @router.post(
        "/v1/ingest",
        operation_id="ingest",
        summary="Add papers to the library",
        response_model=IngestOut,
        responses=documented(400, 401, 403, 408, 409, 413, 415, 429, 500, 503),
        openapi_extra={"requestBody": _BODY},
    )
    async def add_papers(request: Request) -> Any:
        """Files in the formats that `assistant ingest` reads; what a file holds decides.

        Only where the assistant was started with `--allow-ingest`, and one request at a time. A
        client that goes away stops it; the papers that were written stay.
        """
        _check(service, request)
        try:
            async with request.form(max_files=MOST_FILES, max_fields=MOST_FILES) as form:
                work = await unless_gone(request.receive, _added(service, form))
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        return _told(work)

    return router


def _check(service: Service, request: Request) -> None:
    """Refuse before a body is read.

    Raises:
        ApiError: it is not allowed, or the body is of another kind.
        NotReadyError: there is no library yet.
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
    service.assistant  # noqa: B018 - there has to be one


async def _added(service: Service, form: FormData) -> Work:
    """How adding the files of a form ended."""
    files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
    if not files:
        raise ApiError(400, "There is no file in the field `files`.", param="files")
    venue, year = _venue(form), _year(form)
    with _folder() as folder:
        names = await run_in_threadpool(_kept, files, folder)
        try:
            number = service.ingesting.start(list(names), names=names, venue=venue, year=year)
        except BusyError as error:
            raise ApiError(409, str(error), headers={"Retry-After": "10"}) from error
        return await _ended(service, number)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for what was sent."""
    folder = Path(tempfile.mkdtemp(prefix="assistant-ingest-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _kept(files: list[UploadFile], folder: Path) -> dict[Path, str]:
    """The files on disk, under names of ours, with the names that they are shown by."""
    names: dict[Path, str] = {}
    for number, file in enumerate(files):
        path = folder / str(number)
        with path.open("wb") as target:
            shutil.copyfileobj(file.file, target)
        names[path] = file.filename or ""
    return names


async def _ended(service: Service, number: int) -> Work:
    """The work, once it has ended; it is stopped if nobody waits for it any more."""
    try:
        while (work := service.ingesting.state).running:
            await asyncio.sleep(_LOOK_SECONDS)
    except asyncio.CancelledError:
        service.ingesting.cancel()
        raise
    if work.number != number:  # the next has begun already
        raise ApiError(409, "The files were added, and others after them; look them up.")
    return work


def _told(work: Work) -> Json:
    """The report.

    Raises:
        ApiError: there is none.
    """
    if work.report is None:
        raise ApiError(503, work.error or "Adding the files was stopped; send them again.")
    if work.report.skipped and not _papers_read(work):
        first = work.report.skipped[0]
        raise ApiError(400, f"No paper could be read: {first.source}: {first.reason}.")
    return ingest_json(work.report)


def _papers_read(work: Work) -> int:
    report = work.report
    return report.added + report.updated + report.unchanged + report.merged if report else 0


def _venue(form: FormData) -> str:
    venue = form.get("venue") or ""
    if not isinstance(venue, str):
        raise ApiError(400, "venue: has to be text.", param="venue")
    return venue.strip()[:200]


def _year(form: FormData) -> int | None:
    year = form.get("year") or None
    if year is None:
        return None
    if not (isinstance(year, str) and year.isascii() and year.isdigit() and len(year) <= 4):  # noqa: PLR2004
        raise ApiError(400, f"year: has to be a number up to {LATEST_YEAR}.", param="year")
    return int(year)
