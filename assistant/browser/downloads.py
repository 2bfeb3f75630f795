"""Conversations as files to download, each by its owner alone."""

from urllib.parse import quote

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response

from assistant.access import owner_of
from assistant.browser.export import exported
from assistant.conversations import Conversation
from assistant.service import Service
from assistant.transcript import cited_papers, markdown
from retrieval.errors import UserError


def add_downloads(app: FastAPI, service: Service) -> None:
    """Add the addresses that the list of conversations links to."""
    routes = APIRouter(prefix="/conversations", include_in_schema=False)

    @routes.get("/{id_}.md")
    def as_markdown(id_: str, request: Request) -> Response:
        conversation = _conversation(service, request, id_)
        return _file(markdown(conversation), conversation.name, "md", "text/markdown")

    @routes.get("/{id_}.bib")
    def as_bibtex(id_: str, request: Request) -> Response:
        conversation = _conversation(service, request, id_)
        try:
            text = exported(service, cited_papers(conversation), "bibtex")
        except UserError as error:
            raise HTTPException(503, str(error)) from error
        return _file(text, conversation.name, "bib", "application/x-bibtex")

    app.include_router(routes)


def _conversation(service: Service, request: Request, id_: str) -> Conversation:
    try:
        conversation = service.conversations.read(owner_of(request.scope), id_)
    except UserError as error:
        raise HTTPException(503, str(error)) from error
    if conversation is None:
        raise HTTPException(404, "This conversation was deleted, or it is somebody else's.")
    return conversation


def _file(text: str, name: str, ending: str, media_type: str) -> Response:
    plain = "".join(sign if sign.isalnum() or sign in " -_" else " " for sign in name)
    file = f"{' '.join(plain.split()) or 'conversation'}.{ending}"
    disposition = f"attachment; filename*=UTF-8''{quote(file)}"
    headers = {"Content-Disposition": disposition}
    return Response(text, media_type=f"{media_type}; charset=utf-8", headers=headers)
