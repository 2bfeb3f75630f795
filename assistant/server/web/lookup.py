"""The tab for citation lookup: its form, the papers found, and their export."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from assistant.server.service import Service
from assistant.server.web.exports import export_papers
from assistant.server.web.formulas import with_formulas
from assistant.server.web.html import ON_LOAD, QUIET, event_field, event_list
from assistant.server.web.paper import PaperDialog
from retrieval.formats.writers import authors_line, where
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
_STATIC = Path(__file__).with_name("static")
_FIRST = 25
"""Papers shown for a new search."""
_MORE = 50
"""Papers that "Show more" adds."""
_SORTED = 2000
"""Best papers that are put in another order; reading more would take long."""
_FILTERED = ("venue", "year", "decision")
_LEAD = re.compile(r"^\W+")
"""Punctuation before a title's first word; sorting ignores it."""
_SHOWN_AUTHORS = 4
_ENDINGS = {"bibtex": "bib", "ris": "ris", "csl-json": "json"}
"""Endings of downloads by format; others end in txt."""


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
        form_html({}),
        elem_id="lookup-form",
        js_on_load=_script("lookup_form.js"),
        apply_default_css=False,
    )
    listing = gr.HTML(
        "",
        elem_id="lookup-listing",
        js_on_load=_script("lookup_listing.js"),
        apply_default_css=False,
    )
    export = gr.HTML("", html_template="", js_on_load=_script("export.js"))
    paper.opens_from(listing)
    quiet: dict[str, Any] = QUIET | {"queue": False, "trigger_mode": "multiple"}
    answers = count()

    # Gradio passes the event to parameters of its type, so these cannot be lambdas.
    def opened(event: gr.EventData) -> tuple[str, Any]:
        is_listed = event_field(event, "opened")
        return _form(service, answers), gr.skip() if is_listed else _found(service, LookupForm())

    def search(event: gr.EventData) -> tuple[str, str]:
        return _form(service, answers), _found(service, _read_form(event))

    def more(event: gr.EventData) -> str:
        return _found(service, _read_form(event), _number(event_field(event, "shown")))

    def copy(event: gr.EventData) -> str:
        return _export(service, event, "copy")

    def download(event: gr.EventData) -> str:
        return _export(service, event, "download")

    form.focus(opened, outputs=[form, listing], **quiet)
    form.submit(search, outputs=[form, listing], **quiet)
    listing.input(more, outputs=listing, **quiet)
    listing.copy(copy, outputs=export, **quiet)
    listing.download(download, outputs=export, **quiet)


def form_html(counts: Mapping[str, Mapping[str, int]]) -> str:
    """The form with the library's values as filters.

    Args:
        counts: the number of papers by value of `venue`, `year` and `decision`.
    """
    filters = Markup().join(
        _select(name, name.capitalize(), _values(counts.get(name, {}), newest_first=name == "year"))
        for name in _FILTERED
    )
    sorts = _select("sort", "Sort by", _SORTS.items())
    return str(
        Markup(
            '<form class="lookup-form" data-event="submit" role="search" autocomplete="off">'
            '<div class="lookup-query"><label for="lookup-query">Find papers</label>'
            '<input id="lookup-query" name="query" type="search" maxlength="1000" '
            'placeholder="Title, author, venue, year or a method’s name; misspelled is fine">'
            '<button type="submit">Search</button></div>'
            '<div class="lookup-filters"><label>Author<input name="author" type="text" '
            'maxlength="200" placeholder="Any"></label>{}{}'
            '<button type="reset">Clear</button></div></form>'
        ).format(filters, sorts)
    )


def listing_html(
    asked: LookupForm, matches: Sequence[Match], total: int, note: str, more: int
) -> str:
    """The papers found.

    Args:
        asked: the form that they were found for.
        matches: the papers shown, in order.
        total: how many were found.
        note: a sentence on what was not found.
        more: how many more a button adds; 0 if all are shown.
    """
    of_all = f"{len(matches):,} of " if len(matches) < total else ""
    count = f"{of_all}{total:,} paper{'' if total == 1 else 's'}"
    status = " ".join(filter(None, (note, count))) if matches else note
    return str(
        Markup(
            '<div class="lookup"><p class="lookup-count" role="status">{}</p>{}{}{}</div>'
        ).format(
            status,
            _bar() if matches else _nothing(asked),
            Markup('<ul class="lookup-list">{}</ul>').format(Markup().join(map(_entry, matches))),
            _more(asked, len(matches), more) if more else "",
        )
    )


def refused_html(sentence: str) -> str:
    """The error in place of a listing."""
    return str(Markup('<p class="lookup-refused" role="alert">{}</p>').format(sentence))


def _script(name: str) -> str:
    return ON_LOAD + (_STATIC / name).read_text("utf-8")


def _form(service: Service, answers: Iterator[int]) -> str:
    """The form as a new value, by which the page sees that its search has ended."""
    try:
        index = service.assistant.library.lexical
        html = form_html({name: index.counts(name) for name in _FILTERED})
    except UserError:  # the listing shows it
        html = form_html({})
    return f"{html}<!-- {next(answers)} -->"


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
        return refused_html(str(error))
    matches = (sorted(listing.matches, key=key) if key else listing.matches)[:shown]
    more = min(_MORE, listing.total - len(matches)) if len(matches) == shown else 0
    return listing_html(asked, matches, listing.total, listing.note, more)


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


def _export(service: Service, event: gr.EventData, how: str) -> str:
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
            "how": how,
            "text": text,
            "name": f"papers.{_ENDINGS.get(format_, 'txt')}",
            "count": len(papers),
            "nonce": nonce,
        }
    )


def _select(name: str, label: str, options: Iterable[tuple[str, str]]) -> Markup:
    return Markup('<label>{}<select name="{}">{}</select></label>').format(
        label, name, _options(options)
    )


def _options(options: Iterable[tuple[str, str]]) -> Markup:
    return Markup().join(Markup('<option value="{}">{}</option>').format(*each) for each in options)


def _values(counts: Mapping[str, int], *, newest_first: bool) -> list[tuple[str, str]]:
    ordered = sorted(counts, reverse=newest_first)
    return [("", "Any"), *((value, f"{value} ({counts[value]:,})") for value in ordered)]


def _bar() -> Markup:
    """The actions for selected papers; the page's script disables them if none is selected."""
    return Markup(
        '<div class="lookup-bar"><label class="lookup-all"><input type="checkbox" data-all>'
        "<span>Select all shown</span></label>"
        '<span class="lookup-selected" data-selected></span>'
        '<label class="lookup-format">Format<select data-formats>{}</select></label>'
        '<button type="button" data-event="copy">Copy</button>'
        '<button type="button" data-event="download">Download</button></div>'
    ).format(_options(_FORMATS.items()))


def _entry(match: Match) -> Markup:
    paper = match.paper
    title = paper.shown_title
    facts = (
        ("lookup-authors", authors_line(paper.authors, _SHOWN_AUTHORS)),
        ("lookup-where", where(paper)),
        ("lookup-why", match.why),
    )
    lines = Markup().join(Markup('<p class="{}">{}</p>').format(*each) for each in facts if each[1])
    return Markup(
        '<li><input type="checkbox" value="{}" aria-label="Select {}"><div>'
        '<button type="button" class="lookup-title" data-event="select" data-paper="{}">{}</button>'
        "{}</div></li>"
    ).format(paper.id, title, paper.id, with_formulas(title), lines)


def _more(asked: LookupForm, shown: int, more: int) -> Markup:
    attributes = Markup().join(
        Markup(' data-{}="{}"').format(name, value) for name, value in asdict(asked).items()
    )
    return Markup(
        '<button type="button" class="lookup-more" data-event="input" data-shown="{}"{}>'
        "Show {} more</button>"
    ).format(shown + more, attributes, more)


def _nothing(asked: LookupForm) -> Markup:
    tips = ["Check the spelling, or try fewer words: a surname, or one rare word of the title."]
    if asked.is_filtered:
        tips.append("The filters narrow the search, too.")
    return Markup('<p class="lookup-tip">{}</p>{}').format(
        " ".join(tips),
        Markup('<button type="button" data-unfilter>Search without the filters</button>')
        if asked.is_filtered and asked.query
        else "",
    )
