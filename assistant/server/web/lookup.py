"""The tab for citation lookup: its form, the papers found, and their export."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from itertools import count
from typing import Any

import gradio as gr

from assistant.server.service import Service
from assistant.server.web.exports import export_papers
from assistant.server.web.html import ON_LOAD, QUIET, STATIC, event_field, event_list, templates
from assistant.server.web.paper import PaperDialog
from retrieval.query.lookup import Listing, Lookup, Match
from retrieval.query.syntax import ExplicitFilters
from retrieval.text.names import folded, surname
from retrieval.types import UserError

_SORTS = {
    "relevance": "Relevance",
    "title": "Title",
    "author": "First author",
    "year": "Newest first",
}
"""Orders of the papers, with their names on the page."""
_FORMATS = {
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl-json": "CSL JSON",
    "apa": "References (APA)",
    "ieee": "References (IEEE)",
    "vancouver": "References (Vancouver)",
    "chicago": "References (Chicago)",
}
"""Formats of `retrieval.formats.writers`, with their names on the page."""
_FIRST = 25
"""Papers shown for a new search."""
_MORE = 50
"""Papers that "Show more" adds."""
_SORTED = 2000
"""Best papers that are put in another order; reading more would take long."""
_FILTERED = ("venue", "year", "decision")
_NO_COUNTS: dict[str, dict[str, int]] = {name: {} for name in _FILTERED}
_LEAD = re.compile(r"^\W+")
"""Punctuation before a title's first word; sorting ignores it."""
_ENDINGS = {"bibtex": "bib", "ris": "ris", "csl-json": "json"}
"""Endings of downloads by format; others end in txt."""

lookup_html = templates("lookup", asdict=asdict, formats=_FORMATS, sorts=_SORTS)


@dataclass(frozen=True, slots=True)
class LookupForm:
    """The fields of the form as typed."""

    query: str = ""
    author: str = ""
    venue: str = ""
    year: str = ""
    decision: str = ""
    sort: str = "relevance"

    @property
    def is_filtered(self) -> bool:
        """Whether any filter is set."""
        return bool(self.author or self.venue or self.year or self.decision)


def lookup_tab(service: Service, paper: PaperDialog) -> None:
    """Build the tab and connect its components; `paper` opens a paper of the listing."""
    form = gr.HTML(
        lookup_html("form", _NO_COUNTS),
        elem_id="lookup-form",
        js_on_load=_script("lookup_form.js"),
        apply_default_css=False,
    )
    listing = gr.HTML(
        elem_id="lookup-listing", js_on_load=_script("lookup_listing.js"), apply_default_css=False
    )
    export = gr.HTML(html_template="", js_on_load=_script("export.js"))
    paper.opens_from(listing)
    quiet: dict[str, Any] = QUIET | {"queue": False, "trigger_mode": "multiple"}
    answers = count()

    # Gradio passes the event to parameters of its type, so these cannot be lambdas.
    def opened(event: gr.EventData) -> dict[Any, Any]:
        is_listed = event_field(event, "opened")
        found = {} if is_listed else {listing: _found(service, LookupForm())}
        return {form: _form(service, answers), **found}

    def search(event: gr.EventData) -> dict[Any, Any]:
        return {form: _form(service, answers), listing: _found(service, _read_form(event))}

    def more(event: gr.EventData) -> dict[Any, Any]:
        shown = _number(event_field(event, "shown"))
        return {listing: _found(service, _read_form(event), shown)}

    def exported(event: gr.EventData) -> dict[Any, Any]:
        return {export: _export(service, event)}

    form.focus(opened, outputs=[form, listing], **quiet)
    form.submit(search, outputs=[form, listing], **quiet)
    listing.input(more, outputs=listing, **quiet)
    listing.copy(exported, outputs=export, **quiet)


def _script(name: str) -> str:
    return ON_LOAD + (STATIC / name).read_text("utf-8")


def _form(service: Service, answers: Iterator[int]) -> str:
    """The form as a new value, by which the page sees that its search has ended."""
    try:
        index = service.assistant.library.lexical
        counts = {name: index.counts(name) for name in _FILTERED}
    except UserError:  # the listing shows it
        counts = _NO_COUNTS
    return f"{lookup_html('form', counts)}<!-- {next(answers)} -->"


def _read_form(event: gr.EventData) -> LookupForm:
    return LookupForm(
        **{each.name: event_field(event, each.name).strip() for each in fields(LookupForm)}
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < len("1000000") else _FIRST


def _found(service: Service, asked: LookupForm, shown: int = _FIRST) -> str:
    """The listing for a form, or the error."""
    key = _SORT_KEYS.get(asked.sort)
    try:
        listing = _listing(service, asked, max(_SORTED, shown) if key else shown)
    except UserError as error:
        return lookup_html("refused", str(error))
    matches = (sorted(listing.matches, key=key) if key else listing.matches)[:shown]
    more = min(_MORE, listing.total - len(matches)) if len(matches) == shown else 0
    return lookup_html("listing", asked, matches, listing.total, listing.note, more)


def _listing(service: Service, asked: LookupForm, limit: int) -> Listing:
    if not asked.query and not asked.is_filtered:
        library = service.assistant.library
        library.ready_to_search()
        return Lookup.over(library).everything(limit)
    given = ExplicitFilters(
        authors=tuple(filter(None, map(str.strip, asked.author.split(";")))),
        venue=asked.venue,
        year=int(asked.year) if asked.year.isdecimal() else None,
        decision=asked.decision,
    )
    return service.lookup(asked.query, limit, given)


def _by_title(match: Match) -> tuple[bool, str]:
    return not match.paper.title, _LEAD.sub("", folded(match.paper.shown_title))


def _by_author(match: Match) -> tuple[bool, str, str]:
    authors = match.paper.authors
    return not authors, folded(surname(authors[0])) if authors else "", folded(" ".join(authors))


_SORT_KEYS: dict[str, Callable[[Match], Any]] = {
    "title": _by_title,
    "author": _by_author,
    "year": lambda match: -(match.paper.year or 0),
}


def _export(service: Service, event: gr.EventData) -> str:
    """The text to copy or download, as JSON for `export.js`."""
    format_ = event_field(event, "format")
    if format_ not in _FORMATS:
        return ""
    nonce = event_field(event, "nonce")  # the same papers exported again must be a new value
    ids = event_list(event, "papers")
    try:
        stored = service.assistant.library.store.stored_by_id(ids)
        papers = [stored[id_].paper for id_ in ids if id_ in stored]
        text = export_papers(service, papers, format_)
    except UserError as error:
        return json.dumps({"how": "say", "text": str(error), "nonce": nonce})
    return json.dumps(
        {
            "how": event_field(event, "how"),
            "text": text,
            "name": f"papers.{_ENDINGS.get(format_, 'txt')}",
            "count": len(papers),
            "nonce": nonce,
        }
    )
