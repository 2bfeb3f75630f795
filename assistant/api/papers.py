"""Papers found, looked up, and one by one."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.convertors import CONVERTOR_TYPES, Convertor, register_url_convertor

from assistant.access import owner_of
from assistant.api.asking import ClientGone, unless_gone
from assistant.api.errors import CLIENT_GONE, ApiError, documented
from assistant.api.schemas import (
    LookupOut,
    LookupQuery,
    PaperOut,
    SearchOut,
    SearchRequest,
)
from assistant.bibliography import FORMATS
from assistant.json_output import lookup_json, paper_json, search_json
from assistant.service import Service
from retrieval.keys import citation_keys
from retrieval.query.syntax import ExplicitFilters
from retrieval.types import Paper

_ENDINGS = {
    ".bib": ("bibtex", "application/x-bibtex"),
    ".ris": ("ris", "application/x-research-info-systems"),
}


class _Anything(Convertor[str]):
    """A rest of a path that may hold any character, a line break too."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


if "anything" not in CONVERTOR_TYPES:
    register_url_convertor("anything", _Anything())


def paper_routes(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["Papers"])

    @router.post(
        "/v1/search",
        operation_id="search",
        summary="Rank the papers for a query",
        response_model=SearchOut,
        responses=documented(400, 401, 408, 413, 415, 429, 500, 503),
    )
    async def search(asked: SearchRequest, request: Request) -> Any:
        """The papers that fit best, by meaning and by words, read again by the model."""
        if asked.rerank:
            owner = owner_of(request.scope)
            work = service.search_async(asked.query, asked.k, reranked=True, owner=owner)
        else:
            work = run_in_threadpool(service.search, asked.query, asked.k, reranked=False)
        try:
            found = await unless_gone(request.receive, work)
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        hits = search_json(None, 0, asked.query, found.passages)
        return {**hits, "notes": list(found.notes)}

    @router.get(
        "/v1/lookup",
        operation_id="lookup",
        summary="Look papers up by their records",
        response_model=LookupOut,
        responses=documented(400, 401, 429, 500, 503),
    )
    def lookup(asked: Annotated[LookupQuery, Query()]) -> dict[str, Any]:
        """By title (in part, misspelled), author, venue, year, decision, or a method's nickname."""
        authors = tuple(filter(None, map(str.strip, asked.author)))
        given = ExplicitFilters(authors, asked.venue.strip(), asked.year, asked.decision.strip())
        if not asked.q.strip() and not given:
            raise ApiError(400, "Nothing to look up; give `q` or a filter such as `author`.")
        listing = service.lookup(asked.q, asked.k, given)
        return {
            "query": asked.q,
            "total": listing.total,
            "note": listing.note,
            "matches": lookup_json(listing.matches),
        }

    _add_paper_routes(router, service)
    return router


def _add_paper_routes(router: APIRouter, service: Service) -> None:
    """A paper as JSON, BibTeX or RIS. An id that is all of the path comes before one without."""

    def paper(id: str) -> Response:  # noqa: A002 - the path's word
        """A paper with its abstract. The id may hold any character, encoded as URLs need it."""
        return _shown(service, id, "")

    def bib(id: str) -> Response:  # noqa: A002
        """The paper for a manuscript; its citation key is the same in every export."""
        return _shown(service, id, ".bib")

    def ris(id: str) -> Response:  # noqa: A002
        """The paper for a reference manager."""
        return _shown(service, id, ".ris")

    errors = documented(401, 404, 429, 500, 503)
    for endpoint, ending, summary in (
        (bib, ".bib", "A paper as BibTeX"),
        (ris, ".ris", "A paper as RIS"),
    ):
        content = {_ENDINGS[ending][1]: {"schema": {"type": "string"}}}
        router.get(
            f"/v1/papers/{{id:anything}}{ending}",
            operation_id=endpoint.__name__,
            summary=summary,
            response_class=Response,
            responses={200: {"content": content, "description": summary}, **errors},
        )(endpoint)
    router.get(
        "/v1/papers/{id:anything}",
        operation_id="paper",
        summary="A paper",
        response_model=PaperOut,
        responses=errors,
    )(paper)


def _shown(service: Service, id_: str, ending: str) -> Response:
    """The paper whose id is the whole path as JSON, else the one without the ending as that."""
    if found := service.paper(f"{id_}{ending}"):
        return JSONResponse(paper_json(found, _key(service, found)))
    found = service.paper(id_) if ending else None
    if not found:
        raise ApiError(404, f"There is no paper with the id {id_[:100]!r} in this library.")
    name, kind = _ENDINGS[ending]
    key = _key(service, found)
    return Response(
        FORMATS[name]([found], {found.id: key}),
        media_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{_file_name(key)}{ending}"'},
    )


def _key(service: Service, paper: Paper) -> str:
    index = service.assistant.library.lexical
    return citation_keys([paper], index.papers_with_key)[paper.id]


def _file_name(key: str) -> str:
    """The key as a file's name in a header."""
    return "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in key)[:100]
