"""One paper as HTML for its dialog: record, abstract with the quotes marked, what to do with it."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from assistant.browser.formulas import marked, with_formulas
from assistant.reference_list import doi_address, web_address
from assistant.terminal import authors_line, where
from retrieval.search.similar import Similar
from retrieval.types import Paper

_SHOWN_AUTHORS = 8
_LINK = Markup('<a href="{}" target="_blank" rel="noreferrer noopener">{}</a>')


def paper_html(
    paper: Paper,
    quotes: Sequence[str],
    near: Sequence[Similar],
    copies: Mapping[str, str],
) -> Markup:
    """The dialog's content.

    Args:
        paper: what is shown.
        quotes: exact substrings of its abstract, to be highlighted.
        near: similar papers, the nearest first.
        copies: what can be copied, by what the button says.
    """
    parts = (
        _authors(paper.authors),
        Markup('<p class="paper-where">{}</p>').format(where(paper)) if where(paper) else "",
        _links(paper),
        Markup("<h3>Abstract</h3>"),
        Markup('<p class="paper-abstract">{}</p>').format(marked(paper.abstract, quotes)),
        _similar(near),
    )
    title = with_formulas(paper.shown_title)
    return _framed(title, Markup().join(parts), _actions(paper, copies))


def gone_html() -> Markup:
    """In place of a paper that is not here any more."""
    return _framed(
        Markup("Not in the library"),
        Markup(
            "<p>This paper is no longer in the library; it was removed or is being replaced.</p>"
        ),
    )


def refused_html(sentence: str) -> Markup:
    """In place of a paper that cannot be read."""
    return _framed(Markup("Not shown"), Markup('<p role="alert">{}</p>').format(sentence))


def _framed(title: Markup, body: Markup, footer: str = "") -> Markup:
    return Markup(
        '<article class="paper"><header>'
        '<button type="button" class="paper-icon" data-back aria-label="Back" hidden>←</button>'
        '<h2 id="paper-title" tabindex="-1">{}</h2>'
        '<button type="button" class="paper-icon" data-close aria-label="Close">✕</button>'
        '</header><div class="paper-body" tabindex="0" role="region" aria-label="Paper">{}</div>'
        "{}</article>"
    ).format(title, body, footer)


def _authors(authors: Sequence[str]) -> Markup:
    """The authors, the later ones of many folded."""
    if not authors:
        return Markup()
    first = ", ".join(authors[:_SHOWN_AUTHORS])
    rest = authors[_SHOWN_AUTHORS:]
    if not rest:
        return Markup('<p class="paper-authors">{}</p>').format(first)
    return Markup(
        '<details class="paper-authors"><summary>{} <span>and {} more</span></summary>{}</details>'
    ).format(first, len(rest), ", ".join(rest))


def _links(paper: Paper) -> Markup:
    doi, address = doi_address(paper.doi), web_address(paper.url)
    links = [_LINK.format(doi, doi.removeprefix("https://"))] if doi else []
    if address and address != doi:
        links.append(_LINK.format(address, address.split("://", 1)[1]))
    return (
        Markup('<p class="paper-links">{}</p>').format(Markup().join(links)) if links else Markup()
    )


def _actions(paper: Paper, copies: Mapping[str, str]) -> Markup:
    buttons = Markup().join(
        Markup('<button type="button" data-copy="{}">{}</button>').format(text, name)
        for name, text in copies.items()
    )
    return Markup(
        '<footer class="paper-actions"><button type="button" class="paper-ask" data-event="input" '
        'data-paper="{}">Ask about this paper</button>{}</footer>'
    ).format(paper.id, buttons)


def _similar(near: Sequence[Similar]) -> Markup:
    if not near:
        return Markup()
    entries = Markup().join(_near(each.paper) for each in near)
    return Markup('<h3>Similar papers</h3><ul class="paper-similar">{}</ul>').format(entries)


def _near(paper: Paper) -> Markup:
    facts = " · ".join(filter(None, (authors_line(paper.authors, 2), where(paper))))
    return Markup(
        '<li><button type="button" class="paper-link" data-event="select" data-paper="{}">{}'
        "</button> <span>{}</span></li>"
    ).format(paper.id, with_formulas(paper.shown_title), facts)
