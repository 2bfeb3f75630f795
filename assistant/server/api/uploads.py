"""`POST /v1/ingest`: adds papers over the network if the settings allow it."""

import asyncio
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from assistant.server.api.errors import ApiError, documented, unless_gone
from assistant.server.jobs.library import JobState
from assistant.server.service import Service
from retrieval.types import BusyError, IngestReport

_MOST_FILES = 20


def ingest_routes(service: Service) -> APIRouter:
    """The route."""

    class CheckedRoute(APIRoute):
        """Checks a request before its body is read."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            read_and_answer = super().get_route_handler()

            async def handler(request: Request) -> Response:
                _check(service, request)
                return await read_and_answer(request)

            return handler

    router = APIRouter(tags=["Library"], route_class=CheckedRoute)

    @router.post(
        "/v1/ingest",
        operation_id="ingest",
        summary="Add papers to the library",
        responses=documented(400, 401, 403, 408, 409, 413, 415, 429, 500, 503),
    )
    async def add_papers(
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
