"""Citation lookup as HTML: the form, and what was found."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from markupsafe import Markup

from assistant.browser.formulas import with_formulas
from assistant.terminal import authors_line, where
from retrieval.query.lookup import Match

SORTS = {
    "relevance": "Relevance",
    "title": "Title",
    "author": "First author",
    "year": "Newest first",
}
"""What papers can be sorted by, and what the page calls it."""
EXPORTS = {
    "bibtex": "BibTeX",
    "ris": "RIS",
    "apa": "References (APA)",
    "ieee": "References (IEEE)",
}
"""Formats of `assistant.bibliography`, and what the page calls them."""
_SHOWN_AUTHORS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form says, as it says it."""

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


def form_html(counts: Mapping[str, Mapping[str, int]]) -> str:
    """The form, its filters filled with the library's values.

    Args:
        counts: of `venue`, `year` and `decision`, how many papers have each value.
    """
    filters = Markup().join(
        _select(name, name.capitalize(), _values(counts.get(name, {}), newest_first=name == "year"))
        for name in ("venue", "year", "decision")
    )
    sorts = _select("sort", "Sort by", list(SORTS.items()))
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


def listing_html(asked: Asked, matches: Sequence[Match], total: int, note: str, more: int) -> str:
    """What was found.

    Args:
        asked: for what.
        matches: what is shown of it, in order.
        total: how many there are.
        note: what was not found, in a sentence.
        more: how many to show next; 0 where all are shown.
    """
    papers = "paper" if total == 1 else "papers"
    count = (
        f"{len(matches):,} of {total:,} {papers}" if len(matches) < total else f"{total:,} {papers}"
    )
    said = note if not matches else " ".join(filter(None, (note, count)))
    return str(
        Markup(
            '<div class="lookup"><p class="lookup-count" role="status">{}</p>{}{}{}</div>'
        ).format(
            said,
            _bar() if matches else _nothing(asked),
            Markup('<ul class="lookup-list">{}</ul>').format(Markup().join(map(_entry, matches))),
            _more(asked, len(matches), more) if more else "",
        )
    )


def refused_html(sentence: str) -> str:
    """Why nothing can be looked up."""
    return str(Markup('<p class="lookup-refused" role="alert">{}</p>').format(sentence))


def _select(name: str, label: str, options: Sequence[tuple[str, str]]) -> Markup:
    entries = Markup().join(
        Markup('<option value="{}">{}</option>').format(*each) for each in options
    )
    return Markup('<label>{}<select name="{}">{}</select></label>').format(label, name, entries)


def _values(counts: Mapping[str, int], *, newest_first: bool) -> list[tuple[str, str]]:
    ordered = sorted(counts, reverse=newest_first)
    return [("", "Any"), *((value, f"{value} ({counts[value]:,})") for value in ordered)]


def _bar() -> Markup:
    """What can be done with the papers selected; disabled by the page while there are none."""
    formats = Markup().join(
        Markup('<option value="{}">{}</option>').format(*each) for each in EXPORTS.items()
    )
    return Markup(
        '<div class="lookup-bar"><label class="lookup-all"><input type="checkbox" data-all>'
        "<span>Select all shown</span></label>"
        '<span class="lookup-selected" data-selected></span>'
        '<label class="lookup-format">Format<select data-formats>{}</select></label>'
        '<button type="button" data-event="copy">Copy</button>'
        '<button type="button" data-event="download">Download</button></div>'
    ).format(formats)


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


def _more(asked: Asked, shown: int, more: int) -> Markup:
    attributes = Markup().join(
        Markup(' data-{}="{}"').format(name, value) for name, value in asdict(asked).items()
    )
    return Markup(
        '<button type="button" class="lookup-more" data-event="input" data-shown="{}"{}>'
        "Show {} more</button>"
    ).format(shown + more, attributes, more)


def _nothing(asked: Asked) -> Markup:
    tips = ["Check the spelling, or try fewer words: a surname, or one rare word of the title."]
    if asked.is_filtered:
        tips.append("The filters narrow the search, too.")
    return Markup('<p class="lookup-tip">{}</p>{}').format(
        " ".join(tips),
        Markup('<button type="button" data-unfilter>Search without the filters</button>')
        if asked.is_filtered and asked.query
        else "",
    )
