"""Citation lookup: search by title, author, venue, year and decision."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import count
from pathlib import Path
from typing import Any

import gradio as gr

from assistant.browser.actions import ON_LOAD, told
from assistant.browser.export import exported
from assistant.browser.lookup_html import EXPORTS, Asked, form_html, listing_html, refused_html
from assistant.browser.paper import PaperDialog
from assistant.service import Service
from retrieval.errors import UserError
from retrieval.name_order import surname
from retrieval.names import folded
from retrieval.query.lookup import Listing, Lookup, Match
from retrieval.query.syntax import ExplicitFilters

_STATIC = Path(__file__).with_name("static")
_FIRST = 25
"""Papers shown at first."""
_MORE = 50
"""Papers that "Show more" adds."""
_SORTED = 2000
"""Papers, the best first, that are sorted by something else; more would take long to read."""
_FILTERED = ("venue", "year", "decision")
_LEAD = re.compile(r"^\W+")
"""Marks before the first word of a title, by which it is not sorted."""
_NAMES = {"bibtex": "papers.bib", "ris": "papers.ris", "apa": "papers.txt", "ieee": "papers.txt"}
"""What a download is called, by its format."""


def lookup_tab(service: Service, paper: PaperDialog) -> None:
    """The tab's components and what they do."""
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
    quiet: dict[str, Any] = {
        "show_progress": "hidden",
        "api_visibility": "private",
        "queue": False,
        "trigger_mode": "multiple",
    }
    answers = count()

    # Gradio passes the event to parameters of its type, so these cannot be lambdas.
    def shown(event: gr.EventData) -> tuple[str, Any]:
        listed = told(event, "opened")
        return _form(service, answers), gr.skip() if listed else _found(service, Asked())

    def search(event: gr.EventData) -> tuple[str, str]:
        return _form(service, answers), _found(service, _asked(event))

    def more(event: gr.EventData) -> str:
        return _found(service, _asked(event), _number(told(event, "shown")))

    def copy(event: gr.EventData) -> str:
        return _export(service, event, "copy")

    def download(event: gr.EventData) -> str:
        return _export(service, event, "download")

    form.focus(shown, outputs=[form, listing], **quiet)
    form.submit(search, outputs=[form, listing], **quiet)
    listing.input(more, outputs=listing, **quiet)
    listing.copy(copy, outputs=export, **quiet)
    listing.download(download, outputs=export, **quiet)


def _script(name: str) -> str:
    return ON_LOAD + (_STATIC / name).read_text("utf-8")


def _form(service: Service, answers: Iterator[int]) -> str:
    """The form as a new value, by which the page sees that it was answered."""
    try:
        index = service.assistant.library.lexical
        html = form_html({name: index.counts(name) for name in _FILTERED})
    except UserError:  # the listing says it
        html = form_html({})
    return f"{html}<!-- {next(answers)} -->"


def _asked(event: gr.EventData) -> Asked:
    return Asked(**{each.name: told(event, each.name).strip() for each in fields(Asked)})


def _number(said: str) -> int:
    return int(said) if said.isdecimal() and len(said) < len("1000000") else _FIRST


def _found(service: Service, asked: Asked, shown: int = _FIRST) -> str:
    """The listing for what is asked, or why there is none."""
    is_sorted = asked.sort in _KEYS
    try:
        listing = _listing(service, asked, max(_SORTED, shown) if is_sorted else shown)
    except UserError as error:
        return refused_html(str(error))
    matches = _sorted(listing.matches, asked.sort)[:shown]
    more = min(_MORE, listing.total - len(matches)) if len(matches) == shown else 0
    return listing_html(asked, matches, listing.total, listing.note, more)


def _listing(service: Service, asked: Asked, limit: int) -> Listing:
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


def _sorted(matches: Sequence[Match], sort: str) -> list[Match]:
    return sorted(matches, key=_KEYS[sort]) if sort in _KEYS else list(matches)


def _by_title(match: Match) -> tuple[bool, str]:
    return not match.paper.title, _LEAD.sub("", folded(match.paper.shown_title))


def _by_author(match: Match) -> tuple[bool, str, str]:
    authors = match.paper.authors
    return not authors, folded(surname(authors[0])) if authors else "", folded(" ".join(authors))


def _by_year(match: Match) -> int:
    return -(match.paper.year or 0)


_KEYS: dict[str, Any] = {"title": _by_title, "author": _by_author, "year": _by_year}


def _export(service: Service, event: gr.EventData, how: str) -> str:
    """What is to be copied or downloaded, for the page's script, as JSON."""
    format_ = told(event, "format")
    if format_ not in EXPORTS:
        return ""
    nonce = told(event, "nonce")  # the same papers exported again must be a new value
    ids = _ids(told(event, "papers"))
    try:
        stored = service.assistant.library.store.stored_by_id(ids)
        papers = [stored[id_].paper for id_ in ids if id_ in stored]
        text = exported(service, papers, format_)
    except UserError as error:
        return json.dumps({"how": "say", "text": str(error), "nonce": nonce})
    return json.dumps(
        {"how": how, "text": text, "name": _NAMES[format_], "count": len(papers), "nonce": nonce}
    )


def _ids(said: str) -> list[str]:
    """The ids of the papers selected, in the order shown."""
    try:
        ids = json.loads(said or "[]")
    except ValueError:
        return []
    return [each for each in ids if isinstance(each, str)] if isinstance(ids, list) else []
