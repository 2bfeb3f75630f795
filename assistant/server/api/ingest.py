"""`POST /v1/ingest`: adds papers over the network if the settings allow it."""

import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from assistant.server.api.disconnects import unless_gone
from assistant.server.api.errors import ApiError, documented
from assistant.server.api.schemas import IngestOut
from assistant.server.jobs.ingest import JobState
from assistant.server.service import Service
from assistant.types import Json, ingest_json
from retrieval.types import BusyError

MOST_FILES = 20
LATEST_YEAR = 9999
_POLL_SECONDS = 0.1
"""Between two checks whether the job has ended."""
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
        """Files in the formats that `assistant ingest` reads, recognised by their contents.

        The assistant must have been started with `--allow-ingest`, and accepts one request at a
        time. Closing the connection stops the ingest; the papers written so far stay.
        """
        _check(service, request)
        async with request.form(max_files=MOST_FILES, max_fields=MOST_FILES) as form:
            return _report(await unless_gone(request.receive, _add(service, form)))

    return router


def _check(service: Service, request: Request) -> None:
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


async def _add(service: Service, form: FormData) -> JobState:
    """The final state of the job that adds the form's files."""
    files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
    if not files:
        raise ApiError(400, "There is no file in the field `files`.", param="files")
    venue, year = _venue(form), _year(form)
    with TemporaryDirectory(prefix="assistant-ingest-", ignore_cleanup_errors=True) as folder:
        names = await run_in_threadpool(_save, files, Path(folder))
        try:
            number = service.jobs.add(list(names), names=names, venue=venue, year=year)
        except BusyError as error:
            raise ApiError(409, str(error), headers={"Retry-After": "10"}) from error
        return await _ended(service, number)


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
        while (job := service.jobs.state).running:
            await asyncio.sleep(_POLL_SECONDS)
    except asyncio.CancelledError:
        service.jobs.cancel()
        raise
    if job.number != number:  # the next job has begun
        raise ApiError(409, "The files were added, and others after them; look them up.")
    return job


def _report(job: JobState) -> Json:
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
    return ingest_json(report)


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
