"""The MCP tools ask, search, lookup, audit, table and pinned.

Gradio serves them at `/gradio_api/mcp/` and describes them by their docstrings.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any

import gradio as gr
from fastapi.concurrency import run_in_threadpool
from gradio.events import api

from assistant.models.llama.decoding import LIKELIEST
from assistant.research.audit.audit import Audit
from assistant.research.pinned import pin_json, pin_question, unread
from assistant.research.pinned_store import Pin
from assistant.research.receipt import methods_of
from assistant.research.table import DEFAULT_COLUMNS, MOST_ROWS, table_json
from assistant.server.api.audit import report_json
from assistant.server.auth import owner_of
from assistant.server.service import Service, answer_of
from assistant.types import Answer, Outcome, answer_json, dumps, lookup_json, search_json
from retrieval.query.syntax import ExplicitFilters
from retrieval.types import UserError

_MOST_PAPERS = 50
_SHOWN = (
    *("question", "outcome", "answer", "sentences", "citations"),
    *("coverage", "coverage_statement"),
)
"""Fields of an answer that another assistant needs."""
_NAMES = frozenset({"ask", "search", "lookup", "audit", "table", "pinned"})


def add_tools(service: Service) -> None:
    """Add the tools to the page being built, before any of its events takes their names.

    They bypass Gradio's queue: the service has its own, and Gradio sends itself a queued call over
    the network, to an address that the first request can choose.
    """

    async def ask(
        question: str,
        request: gr.Request,
        receipt: bool = False,  # noqa: FBT001, FBT002 - it is called by names
    ) -> str:
        """Answer a question from the library of paper abstracts on this machine.

        Every sentence of the answer is quoted from an abstract or checked against one; the
        citations say which. Where no abstract answers, the outcome says so.

        Args:
            question: one question that can be understood by itself
            receipt: whether to add what the answer was made with and from, to be replayed, and
                what was searched as a paragraph for a methods section

        Returns:
            JSON with the outcome, the answer, its sentences, and citations with their quotes
        """
        answer = await answer_of(service.ask_async(question, owner=_owner(request)))
        shown = _shown(answer)
        if receipt:
            made = await run_in_threadpool(service.receipt, answer, (), LIKELIEST)
            shown |= {"methods": methods_of(made), "receipt": made}
        return dumps(shown)

    async def search(query: str, request: gr.Request, k: int = 10) -> str:
        """Find the papers of the library that fit a topic or a question best.

        Args:
            query: what the papers are about
            k: how many papers at most

        Returns:
            JSON with papers, best first, each with the part of its abstract that fits best
        """
        owner = _owner(request)
        found = await service.search_async(query, _bounded(k), reranked=True, owner=owner)
        hits = search_json(None, 0, query, found.passages)["hits"]
        return dumps({"hits": hits, "notes": found.notes})

    async def lookup(  # noqa: PLR0917 - it is called by names
        query: str = "",
        author: str = "",
        venue: str = "",
        year: int = 0,
        decision: str = "",
        k: int = 10,
    ) -> str:
        """Look papers up by their records: title, author, venue, year, decision.

        Args:
            query: a title, in part or misspelled, the nickname of a method, or names and years
            author: an author that the papers have
            venue: where they appeared
            year: when they appeared; 0 for any year
            decision: oral, spotlight, poster or an award
            k: how many papers at most

        Returns:
            JSON with papers, their records, abstracts and the reason why they were found
        """
        given = ExplicitFilters((author,) if author.strip() else (), venue, year or None, decision)
        listing = await run_in_threadpool(service.lookup, query, _bounded(k), given)
        matches = lookup_json(listing.matches)
        return dumps({"total": listing.total, "note": listing.note, "matches": matches})

    async def audit(
        draft: str,
        request: gr.Request,
        bibliography: str = "",
        insert: bool = False,  # noqa: FBT001, FBT002 - it is called by names
    ) -> str:
        """Check a draft against the library: which of its sentences do the abstracts support?

        Args:
            draft: text, Markdown or LaTeX
            bibliography: the draft's BibTeX, by which its citation keys are resolved
            insert: whether to add the draft with the suggested citations, and their BibTeX

        Returns:
            JSON with every sentence, its verdict, the sentences of abstracts that show it, and what
            became of its citations
        """
        asked = await run_in_threadpool(Audit.of, draft, "", bibliography)
        sentences = await service.audit_async(asked, owner=_owner(request))
        return dumps(report_json(asked, sentences, insert=insert))

    tools: list[Callable[..., Awaitable[str]]] = [
        *(ask, search, lookup, audit),
        *_research_tools(service),
    ]
    for tool in tools:
        api(_with_one_sentence(tool), queue=False, concurrency_limit=None)


def _research_tools(service: Service) -> list[Callable[..., Awaitable[str]]]:
    """The tools for questions beyond single answers."""

    async def table(question: str, request: gr.Request, columns: str = "", k: int = 10) -> str:
        """Lay out what papers of the library say on a question, a column for each aspect.

        Args:
            question: what the papers are about
            columns: names of columns or questions to each paper, separated by commas
            k: how many papers at most

        Returns:
            JSON with papers as rows; each cell has a statement and its quote from the abstract
        """
        named = columns.split(",") if columns.strip() else DEFAULT_COLUMNS
        most = max(1, min(int(k), MOST_ROWS))
        filled = await service.table_async(question, named, most, owner=_owner(request))
        return dumps(table_json(filled))

    async def pinned(request: gr.Request, add: str = "", remove: str = "", seen: str = "") -> str:
        """Pin questions that are asked again whenever the library has changed, or list them.

        Args:
            add: a question to be pinned; empty to pin none
            remove: the id of a pinned question to be removed; empty to remove none
            seen: the id of one whose change is to be unread no longer; empty for none

        Returns:
            JSON with the pinned questions, their latest answers, and how the evidence has changed
        """
        pins, owner = service.pins, _owner(request)

        def changed() -> Sequence[Pin]:
            if add.strip():
                pin_question(pins, owner, add)
                service.pinned.wake()
            if remove.strip():
                pins.remove(owner, remove.strip())
            if seen.strip():
                pins.mark_seen(owner, seen.strip())
            return pins.listed(owner)

        listed = await run_in_threadpool(changed)
        return dumps({"pinned": [pin_json(pin, unread(pin)) for pin in listed]})

    return [table, pinned]


def hide_all_but_tools(page: gr.Blocks) -> None:
    """Let clients call no other event of `page` by name."""
    for listener in page.fns.values():
        if listener.api_name not in _NAMES:
            listener.api_visibility = "private"


class _ToolError(gr.Error):
    """A user error as the caller reads it; it leaves no traceback in the terminal."""

    def __str__(self) -> str:
        return str(self.message)


def _with_one_sentence(tool: Callable[..., Awaitable[str]]) -> Callable[..., Awaitable[str]]:
    """`tool` with its user errors as one sentence."""

    @wraps(tool)
    async def wrapped(*arguments: Any) -> str:
        try:
            return await tool(*arguments)
        except UserError as error:
            raise _ToolError(str(error), print_exception=False) from error

    return wrapped


def _shown(answer: Answer) -> dict[str, Any]:
    known = answer_json(answer, None, 0)
    shown = {name: known[name] for name in _SHOWN}
    if answer.outcome is not Outcome.ANSWERED:
        shown["closest"] = [
            {"paper_id": each.paper.id, "title": each.paper.title} for each in answer.closest
        ]
    return shown


def _owner(request: gr.Request) -> str:
    """The owner; for a call over MCP Gradio passes the request itself, not its own wrapper."""
    return owner_of(getattr(request, "request", request).scope)


def _bounded(k: int) -> int:
    return max(1, min(int(k), _MOST_PAPERS))
