"""Exports: conversations as Markdown, papers in citation formats, answers as tables.

Text of papers, people and models is escaped: it stays text wherever it is shown.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, HTTPException, Query, Request, Response

from assistant.generation.rendering import MARKDOWN, Form, Part, parts_of_answer, write
from assistant.pipeline.intent import is_fixed
from assistant.research import table_files
from assistant.research.table_files import markdown_text
from assistant.server.auth import owner_of
from assistant.server.history import Conversation, Exchange
from assistant.server.service import Service
from assistant.server.web.cards import claims_on
from assistant.types import Answer, Completed, PartialAnswer, answer_json, by_paper, dumps
from retrieval.formats.citation_keys import citation_keys
from retrieval.formats.writers import FORMATS
from retrieval.types import Paper, UserError

STYLE_NAMES = {
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl-json": "CSL JSON",
    "apa": "APA",
    "ieee": "IEEE",
    "vancouver": "Vancouver",
    "chicago": "Chicago",
}
"""Formats of `FORMATS`, with their names on the page."""
COLUMNS = ("Paper", "Year", "What it says", "Quote")
Row = tuple[str, str, str, str]
"""What an answer says of one paper: title, year, the sentences written about it, the quotes."""
_TABLE = 3
"""Cited papers from which a table is shown without anything written about them."""
_PLAIN = "text/plain; charset=utf-8"
_COPIED: Form = {"references": "\n", "reference": "\n{marks} {paper}."}
_LISTED: Form = {"reference": "{paper}.{address}"}


def add_downloads(app: FastAPI, service: Service) -> None:
    """Add the downloads that the list of conversations links to."""
    routes = APIRouter(prefix="/conversations", include_in_schema=False)

    @routes.get("/{id_}.md")
    def markdown(id_: str, request: Request) -> Response:
        conversation = _conversation(service, request, id_)
        return _file(conversation_markdown(conversation), conversation.name, "md", "text/markdown")

    @routes.get("/{id_}.bib")
    def bibtex(id_: str, request: Request) -> Response:
        conversation = _conversation(service, request, id_)
        try:
            text = export_papers(service, cited_papers(conversation), "bibtex")
        except UserError as error:
            raise HTTPException(503, str(error)) from error
        return _file(text, conversation.name, "bib", "application/x-bibtex")

    @routes.get("/{id_}.json")
    def json(id_: str, request: Request) -> Response:
        conversation = _conversation(service, request, id_)
        text = dumps(conversation_json(conversation)) + "\n"
        return _file(text, conversation.name, "json", "application/json")

    @app.get("/cite", include_in_schema=False)
    def cite(paper: Annotated[list[str], Query()], style: str = "bibtex") -> Response:
        """The references of papers in a format of `FORMATS`, to be copied."""
        if style not in FORMATS:
            raise HTTPException(404, f"There is no format of that name; take {', '.join(FORMATS)}.")
        try:
            found = [each for each in map(service.paper, paper) if each]
            if not found:
                raise HTTPException(404, "This paper is not in the library any more.")
            return Response(export_papers(service, found, style), media_type=_PLAIN)
        except UserError as error:
            raise HTTPException(503, str(error)) from error

    app.include_router(routes)


def conversation_json(conversation: Conversation) -> dict[str, Any]:
    """The conversation as JSON: its questions with the answers as the API gives them."""
    return {
        "id": conversation.id,
        "name": conversation.name,
        "changed": conversation.changed,
        "exchanges": [
            {
                "question": each.question,
                "answer": answer_json(each.answer, conversation.id, turn) if each.answer else None,
                "notice": "" if each.answer else each.notice,
                "rating": asdict(each.rating) if each.rating else None,
            }
            for turn, each in enumerate(conversation.exchanges, start=1)
        ],
    }


def conversation_markdown(conversation: Conversation) -> str:
    """The conversation as Markdown; citations have the numbers of the papers in the references."""
    papers = cited_papers(conversation)
    number_of = {paper.id: number for number, paper in enumerate(papers, start=1)}
    blocks = [f"# {markdown_text(conversation.name)}"] if conversation.name else []
    blocks += (_exchange(each, number_of) for each in conversation.exchanges)
    if papers:
        parts = (Part("reference", paper=paper) for paper in papers)
        listed = (write(part, _LISTED, markdown_text) for part in parts)
        blocks.append("## References")
        blocks.append("\n".join(f"{at}. {each}" for at, each in enumerate(listed, start=1)))
    return "\n\n".join(blocks) + "\n"


def exchange_markdown(exchange: Exchange) -> str:
    """One question and its answer as Markdown."""
    return conversation_markdown(Conversation("", "", 0.0, (exchange,)))


def cited_papers(conversation: Conversation) -> list[Paper]:
    """The papers that the answers cite, in order of their first citation."""
    papers = (
        citation.paper
        for each in conversation.exchanges
        for citation in (each.answer or each).citations
    )
    return list({paper.id: paper for paper in papers}.values())


def export_papers(service: Service, papers: Sequence[Paper], format_: str) -> str:
    """`papers` in `format_`, one of `FORMATS`; their citation keys are the same in every export.

    Raises:
        NotReadyError: there is no assistant yet.
        LibraryError: the library cannot be read.
    """
    library = service.assistant.library
    library.ready_to_search()
    return FORMATS[format_](papers, citation_keys(papers, library.lexical.papers_with_key))


def copied_text(answer: Answer) -> str:
    """The answer as the Copy button copies it: its text, then its references."""
    parts = parts_of_answer(PartialAnswer(answer.question).add(Completed(answer)))
    return answer.text + "".join(write(part, _COPIED) for part in parts)


def table_rows(answer: Answer) -> list[Row]:
    """A row for each cited paper, in order; none where a table tells no more than the answer.

    Sentences that cite several papers together are left out, and answers from records have no rows.
    """
    rows = [
        (
            group[0].paper.shown_title,
            str(group[0].paper.year or ""),
            claims_on(group, answer.sentences),
            " ".join(f"“{citation.quote}”" for citation in group),
        )
        for group in by_paper(answer.citations)
    ]
    is_told = len(rows) >= _TABLE or sum(bool(claims) for _, _, claims, _ in rows) > 1
    return rows if is_told and answer.confidence is not None else []


def table_markdown(rows: Sequence[Row]) -> str:
    """The table as Markdown."""
    return table_files.table_markdown((COLUMNS, *rows))


def table_csv(rows: Sequence[Row]) -> str:
    """The table as CSV."""
    return table_files.table_csv((COLUMNS, *rows))


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


def _exchange(exchange: Exchange, number_of: dict[str, int]) -> str:
    """A question and its answer; citations get the numbers of their papers."""
    answer = exchange.answer
    shown = PartialAnswer(
        exchange.question, sentences=exchange.sentences, citations=exchange.citations
    )
    if answer:
        shown.add(Completed(answer))
    paper_number = {each.number: number_of[each.paper.id] for each in shown.citations}
    parts = (
        replace(part, numbers=tuple(dict.fromkeys(paper_number[at] for at in part.numbers)))
        for part in parts_of_answer(shown)
    )
    if answer and is_fixed(answer):
        text = markdown_text(answer.text)
    else:
        text = "".join(write(part, MARKDOWN, markdown_text) for part in parts)
    notice = "" if answer else f"*{markdown_text(exchange.notice)}*"
    return f"## {markdown_text(exchange.question)}\n\n{text}{notice}".rstrip()
