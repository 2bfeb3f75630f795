"""The tab "Check a draft": its form, the judged sentences, and what is saved of them."""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from assistant.research.audit.audit import Audit
from assistant.research.audit.report import (
    EXPLAINED,
    ICONS,
    page,
    suggested_bibtex,
    suggested_papers,
    with_citations,
)
from assistant.research.audit.types import AuditedSentence, Verdict, audit_json
from assistant.server.auth import owner_behind
from assistant.server.service import Service
from assistant.server.web.answering import Stops
from assistant.server.web.cards import with_decisive_words
from assistant.server.web.html import ON_LOAD, QUIET, STATIC, event_field, templates
from assistant.server.web.paper import PaperDialog
from assistant.types import dumps
from retrieval.types import Cancelled, UserError

_LOG = logging.getLogger(__name__)
_EACH = 100
"""Sentences up to which each is shown at once; of long drafts every hundredth part is."""
_FAILED = "Something unexpected went wrong; check again. The terminal shows more."
_NOTHING = "Check a draft first."
_SHOW = """
watch('value', () => requestAnimationFrame(() => element.querySelector('textarea')?.focus()));
"""
"""Shows the draft with its citations, which stands below all sentences."""

audit_html = templates(
    "audit", explained=EXPLAINED, icons=ICONS, verdicts=Verdict, decisive=with_decisive_words
)


@dataclass(slots=True)
class _Done:
    """What a page has had checked."""

    audit: Audit | None = None
    """None if the draft could not be read."""
    sentences: list[AuditedSentence] = field(default_factory=list)


def audit_session(request: gr.Request) -> str:
    """The key of a page's audit among the stops; chat has one of its own."""
    return f"audit {request.session_hash or ''}"


def audit_tab(service: Service, stops: Stops, paper: PaperDialog) -> None:
    """Build the tab and connect its components; `paper` opens the papers of the evidence."""
    script = (STATIC / "audit.js").read_text("utf-8")
    form = gr.HTML(
        audit_html("form"), elem_id="audit-form", js_on_load=ON_LOAD, apply_default_css=False
    )
    listing = gr.HTML(
        audit_html("listing"), elem_id="audit", js_on_load=ON_LOAD, apply_default_css=False
    )
    feed = gr.HTML(html_template="", js_on_load=script, elem_id="audit-feed")
    saved = gr.HTML(html_template="", js_on_load=(STATIC / "save.js").read_text("utf-8"))
    inserted = gr.HTML(elem_id="audit-inserted", js_on_load=_SHOW, apply_default_css=False)
    done = gr.State(None)
    paper.opens_from(listing)

    # Gradio passes event and request to parameters of their types, so these cannot be lambdas.
    def check(event: gr.EventData, request: gr.Request) -> Iterator[dict[Any, Any]]:
        flag = stops.begin(audit_session(request))
        text, name, bibliography = (
            event_field(event, each) for each in ("draft", "name", "bibliography")
        )
        known = _Done()
        lines = [dumps({"begun": event_field(event, "nonce")})]
        try:
            known.audit = Audit.of(text, name, bibliography)
            judged = service.audit(known.audit, flag.is_set, owner=owner_behind(request))
            for line in _lines(known, judged):
                lines.append(dumps(line))
                yield {feed: "\n".join(lines), inserted: ""}
            end: dict[str, Any] = {}
        except Cancelled:
            end = {"stopped": True}
        except UserError as error:
            end = {"error": str(error)}
        except Exception:
            _LOG.exception("A draft could not be checked.")
            end = {"error": _FAILED}
        end |= {"ended": True, "suggested": len(suggested_papers(known.sentences))}
        yield {feed: "\n".join([*lines, dumps(end)]), done: known, inserted: ""}

    def stop(request: gr.Request) -> None:
        stops.stop(audit_session(request))

    def save(known: _Done | None, event: gr.EventData) -> dict[Any, Any]:
        return {saved: _file(known, event_field(event, "what"), event_field(event, "nonce"))}

    def insert(known: _Done | None) -> dict[Any, Any]:
        if known is None or known.audit is None:
            return {inserted: ""}
        text = with_citations(known.audit.draft, known.sentences)
        return {inserted: audit_html("inserted", text, suggested_bibtex(known.sentences))}

    shown = [feed, done, inserted]
    form.submit(check, outputs=shown, concurrency_limit=None, **QUIET)
    form.clear(stop, queue=False, **QUIET)
    listing.copy(save, inputs=done, outputs=saved, queue=False, **QUIET)
    listing.edit(insert, inputs=done, outputs=inserted, queue=False, **QUIET)


def _lines(known: _Done, judged: Iterable[AuditedSentence]) -> Iterator[dict[str, Any]]:
    """What the page is told as sentences are judged; they are added to what is known."""
    assert known.audit is not None  # noqa: S101 - it was read just now
    sentences, total = known.sentences, len(known.audit.draft.sentences)
    yield {"done": 0, "total": total, "notes": known.audit.notes}
    shown = 0
    for each in judged:
        sentences.append(each)
        fresh = sentences[shown:]
        if len(fresh) * _EACH >= total or len(sentences) == total:
            shown = len(sentences)
            yield {"done": shown, "total": total, "html": audit_html("sentences", fresh)}


def _file(known: _Done | None, what: str, nonce: str) -> str:
    """A file to download, as JSON for `save.js`."""
    if known is None or known.audit is None:
        return json.dumps({"say": _NOTHING, "nonce": nonce})
    sentences = known.sentences
    notes = known.audit.notes_after(len(sentences))
    if what == "json":
        text, name = dumps(audit_json(sentences, notes)) + "\n", "audit.json"
    else:
        text, name = page(sentences, notes, "a draft"), "audit.html"
    return json.dumps({"text": text, "name": name, "nonce": nonce})
