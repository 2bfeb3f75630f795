"""Routes of papers: search, lookup, and one paper as JSON, BibTeX or RIS."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.convertors import CONVERTOR_TYPES, Convertor, register_url_convertor

from assistant.server.api.disconnects import unless_gone
from assistant.server.api.errors import ApiError, documented
from assistant.server.api.schemas import (
    LookupOut,
    LookupQuery,
    PaperOut,
    SearchOut,
    SearchRequest,
)
from assistant.server.auth import owner_of
from assistant.server.service import Service
from assistant.types import lookup_json, paper_json, search_json
from retrieval.formats.citation_keys import citation_keys
from retrieval.formats.writers import FORMATS
from retrieval.query.syntax import ExplicitFilters
from retrieval.types import Paper

_ENDINGS = {
    ".bib": ("bibtex", "application/x-bibtex"),
    ".ris": ("ris", "application/x-research-info-systems"),
}


class _Anything(Convertor[str]):
    """The rest of a path, which may contain any character, even a line break."""

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
    async def search(body: SearchRequest, request: Request) -> dict[str, Any]:
        """The papers that match best by meaning and by words, reranked by the model."""
        if body.rerank:
            owner = owner_of(request.scope)
            work = service.search_async(body.query, body.k, reranked=True, owner=owner)
        else:
            work = run_in_threadpool(service.search, body.query, body.k, reranked=False)
        found = await unless_gone(request.receive, work)
        hits = search_json(None, 0, body.query, found.passages)
        return {**hits, "notes": list(found.notes)}

    @router.get(
        "/v1/lookup",
        operation_id="lookup",
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

    _add_paper_routes(router, service)
    return router


def _add_paper_routes(router: APIRouter, service: Service) -> None:
    """A paper as JSON, BibTeX or RIS; an id that equals the whole path takes precedence."""

    def paper(id: str) -> Response:  # noqa: A002 - the path's word
        """A paper with its abstract. The id may contain any URL-encoded character."""
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
    """The paper with the whole path as its id as JSON, else the one without the ending."""
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
    """The citation key as a file name that is safe in a header."""
    return "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in key)[:100]
