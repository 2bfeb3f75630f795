"""The tab for citation lookup: its form, the papers found, and their export."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import count
from typing import Any

import gradio as gr

from assistant.server.service import Service
from assistant.server.web.exports import STYLE_NAMES, export_papers
from assistant.server.web.html import ON_LOAD, QUIET, STATIC, event_field, event_list, templates
from assistant.server.web.paper import PaperDialog
from retrieval.formats.writers import authors_line
from retrieval.library.library import Library
from retrieval.query.facets import FIELDS, Facets, Record, counted, passing
from retrieval.query.lookup import Lookup, Match
from retrieval.query.syntax import ExplicitFilters
from retrieval.text.names import folded, surname
from retrieval.types import Paper, UserError

_SORTS = {
    "relevance": "Relevance",
    "title": "Title",
    "author": "First author",
    "year": "Newest first",
}
"""Orders of the papers, with their names on the page."""
_PAGE = 20
"""Papers on a page."""
_SORTED = 2000
"""Best papers that are put in order of title or author; reading more would take long."""
_LEAD = re.compile(r"^\W+")
"""Punctuation before a title's first word; sorting ignores it."""
_ENDINGS = {"bibtex": "bib", "ris": "ris", "csl-json": "json"}
"""Endings of downloads by format; others end in txt."""

lookup_html = templates(
    "lookup", asdict=asdict, authors_line=authors_line, formats=STYLE_NAMES, sorts=_SORTS
)


@dataclass(frozen=True, slots=True)
class LookupForm:
    """The fields of the form, as typed and chosen."""

    query: str = ""
    author: str = ""
    venue: str = ""
    year: str = ""
    decision: str = ""
    sort: str = "relevance"
    weak: str = ""
    """Not empty if weaker matches are shown, too."""
    page: str = "1"

    @property
    def chosen(self) -> dict[str, str]:
        """The chosen venue, year and decision; empty ones choose nothing."""
        return {name: getattr(self, name) for name in FIELDS}

    @property
    def is_filtered(self) -> bool:
        """Whether any filter is set."""
        return bool(self.author or any(self.chosen.values()))


@dataclass(frozen=True, slots=True)
class LookupPage:
    """What the listing shows."""

    matches: Sequence[Match] = ()
    first: int = 0
    """Index of the first match among all that are listed."""
    total: int = 0
    """Papers listed on all pages."""
    strong: int = 0
    """The first papers of these, which are strong matches."""
    weaker: int = 0
    """Weaker matches, whether they are listed or not."""
    note: str = ""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Number of this page, from 1."""
        return self.first // _PAGE + 1

    @property
    def pages(self) -> int:
        """Number of pages."""
        return max(1, -(-self.total // _PAGE))


def lookup_tab(service: Service, paper: PaperDialog) -> None:
    """Build the tab and connect its components; `paper` opens a paper of the listing."""
    form = gr.HTML(
        lookup_html("form"),
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
    answers, facets = count(), Facets()

    # Gradio passes the event to parameters of its type, so these cannot be lambdas.
    def search(event: gr.EventData) -> dict[Any, Any]:
        # Always a new value, by which the page sees that its search has ended.
        return {listing: f"{_found(service, facets, _read_form(event))}<!-- {next(answers)} -->"}

    def exported(event: gr.EventData) -> dict[Any, Any]:
        return {export: _export(service, event)}

    form.submit(search, outputs=[listing], **quiet)
    listing.copy(exported, outputs=export, **quiet)


def _script(name: str) -> str:
    return ON_LOAD + (STATIC / name).read_text("utf-8")


def _read_form(event: gr.EventData) -> LookupForm:
    return LookupForm(
        **{each.name: event_field(event, each.name).strip() for each in fields(LookupForm)}
    )


def _found(service: Service, facets: Facets, asked: LookupForm) -> str:
    """The listing for a form, or the error."""
    try:
        if not service.assistant.library.store.count()[0]:
            return lookup_html("empty")
        return lookup_html("listing", asked, _page(service, facets, asked))
    except UserError as error:
        return lookup_html("refused", str(error))


def _page(service: Service, facets: Facets, asked: LookupForm) -> LookupPage:
    given = ExplicitFilters(authors=tuple(filter(None, map(str.strip, asked.author.split(";")))))
    library = service.assistant.library
    lookup = Lookup.over(library)
    found = service.found(asked.query, given)
    records = facets.records(library.lexical)
    strong = passing(found.ids[: found.strong], records, asked.chosen)
    weak = passing(found.ids[found.strong :], records, asked.chosen)
    weak_are_shown = bool(asked.weak or not found.strong)
    listed = [*strong, *weak] if weak_are_shown else strong
    base = found.ids if weak_are_shown else found.ids[: found.strong]
    ordered = _in_order(listed, asked.sort, library, records)
    number = min(_number(asked.page), max(1, -(-len(ordered) // _PAGE)))
    first = (number - 1) * _PAGE
    return LookupPage(
        matches=lookup.matches(found, ordered[first : first + _PAGE]),
        first=first,
        total=len(ordered),
        strong=len(strong),
        weaker=len(weak),
        note=found.note,
        counts=counted(base, records, asked.chosen),
    )


def _number(text: str) -> int:
    return max(1, int(text)) if text.isdecimal() and len(text) < len("1000000") else 1


def _in_order(
    ids: Sequence[str], sort: str, library: Library, records: Mapping[str, Record]
) -> list[str]:
    """The papers in the chosen order; those of one year stay in order of relevance."""
    if sort == "year":
        year = FIELDS.index("year")
        return sorted(ids, key=lambda id_: records[id_][year] or "0", reverse=True)
    if key := _SORT_KEYS.get(sort):
        stored = library.store.stored_by_id(ids[:_SORTED])
        papers = [stored[id_].paper for id_ in ids[:_SORTED] if id_ in stored]
        return [paper.id for paper in sorted(papers, key=key)] + list(ids[_SORTED:])
    return list(ids)


def _by_title(paper: Paper) -> tuple[bool, str]:
    return not paper.title, _LEAD.sub("", folded(paper.shown_title))


def _by_author(paper: Paper) -> tuple[bool, str, str]:
    authors = paper.authors
    return not authors, folded(surname(authors[0])) if authors else "", folded(" ".join(authors))


_SORT_KEYS: dict[str, Callable[[Paper], Any]] = {"title": _by_title, "author": _by_author}


def _export(service: Service, event: gr.EventData) -> str:
    """The text to copy or download, as JSON for `export.js`."""
    format_ = event_field(event, "format")
    if format_ not in STYLE_NAMES:
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
