"""Answers as HTML. Every text from papers, people and models is escaped here.

What is returned is one block without blank lines: the chat reads messages as Markdown, and an
HTML block without them is passed through as it is. Formulas are rendered by the page from `$…$`.
"""

from collections.abc import Sequence

from markupsafe import Markup, escape

from assistant.setup import State
from assistant.stages import Stage
from assistant.terminal import authors_line, where
from assistant.types import Answer, AnswerSentence, Citation, Evidence, Kind, Outcome, by_paper
from retrieval.types import Paper, Passage

_MANY_AUTHORS = 12
_BYTES_IN_MEGABYTE = 1_000_000


def question_html(question: str) -> str:
    """What the person asked."""
    return _block(Markup('<div class="question">{}</div>').format(_lines(question)))


def searching_html() -> str:
    """Before anything is found."""
    return _block(_status("Searching the library"))


def waiting_html(ahead: int, seconds: float | None) -> str:
    """While others have their answers first."""
    others = "1 question is" if ahead == 1 else f"{ahead} questions are"
    about = f", about {max(1, round(seconds))} s" if seconds is not None else ""
    return _block(_status(f"{others} answered first{about}"))


def progress_html(
    standalone: str,
    passages: Sequence[Passage],
    chosen: Sequence[Evidence],
    sentences: Sequence[AnswerSentence],
    citations: Sequence[Citation],
) -> str:
    """An answer that is still coming: what is read, and the sentences so far."""
    best = passages[0].paper.shown_title if passages else ""
    doing = f"Writing from {_sentences_of(chosen)}" if chosen else f"Reading “{best}”"
    return _block(_understood(standalone) + _sentences(sentences, citations) + _status(doing))


def _sentences_of(chosen: Sequence[Evidence]) -> str:
    count = "1 sentence" if len(chosen) == 1 else f"{len(chosen)} sentences"
    papers = len({each.paper.id for each in chosen})
    return (
        f"{count} of “{chosen[0].paper.shown_title}”"
        if papers == 1
        else f"{count} of {papers} papers"
    )


def answer_html(answer: Answer) -> str:
    """A whole answer with its references."""
    understood = answer.standalone_question
    head = _understood(understood if understood != answer.question else "")
    if answer.outcome is not Outcome.ANSWERED:
        notice = Markup('<p class="silent">{}</p>').format(answer.text)
        return _block(head + notice + _closest(answer.passages))
    return _block(
        head + _sentences(answer.sentences, answer.citations) + _references(answer.citations)
    )


def stopped_html(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> str:
    """What was shown of an answer when it was stopped."""
    notice = Markup('<p class="silent">Stopped.</p>')
    references = _references(citations) if citations else Markup()
    return _block(_sentences(sentences, citations) + notice + references)


def error_html(sentence: str) -> str:
    """Something that the person can fix."""
    return _block(Markup('<p class="error" role="alert">{}</p>').format(sentence))


def setup_html(state: State) -> str:
    """How far the first start is."""
    if state.error:
        return error_html(state.error)
    intro = Markup(
        "<p><strong>Setting up.</strong> The first start fetches two small models and reads the "
        "papers; this takes a few minutes and happens once.</p>"
    )
    stages = Markup().join(_stage(stage) for stage in state.stages)
    return _block(intro + Markup('<ul class="stages">{}</ul>').format(stages))


def library_html(papers: int, model: str) -> str:
    """What is being chatted with."""
    return _block(
        Markup("<span>{} papers · answered on this machine by {}</span>").format(
            f"{papers:,}", model
        )
    )


def _sentences(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> Markup:
    """The sentences; quotations of one paper together, led in by its title."""
    paper_of = {citation.number: citation.paper for citation in citations}
    parts: list[Markup] = []
    led_in = ""
    for sentence in sentences:
        marks = Markup("").join(
            Markup('<sup class="mark">[{}]</sup>').format(number) for number in sentence.citations
        )
        if sentence.kind is Kind.VERIFIED:
            parts.append(Markup('<p class="verified">{}{}</p>').format(sentence.text, marks))
            led_in = ""
            continue
        paper = paper_of[sentence.citations[0]]
        if paper.id != led_in:
            parts.append(Markup('<p class="lead">From “{}”:</p>').format(paper.shown_title))
        led_in = paper.id
        parts.append(
            Markup('<blockquote class="quoted">{}{}</blockquote>').format(sentence.text, marks)
        )
    return Markup("").join(parts)


def _references(citations: Sequence[Citation]) -> Markup:
    """One entry a paper, to be opened: its record, and its abstract with the quotes marked."""
    entries = Markup("").join(_reference(group) for group in by_paper(citations))
    return Markup('<div class="references"><p class="label">References</p>{}</div>').format(entries)


def _reference(citations: Sequence[Citation]) -> Markup:
    paper = citations[0].paper
    numbers = "".join(f"[{citation.number}]" for citation in citations)
    return Markup(
        '<details class="reference"><summary><span class="mark">{}</span> {}{}</summary>'
        '{}<p class="abstract">{}</p></details>'
    ).format(
        numbers,
        paper.shown_title,
        _short_record(paper),
        _record(paper),
        _marked(paper.abstract, [citation.quote for citation in citations]),
    )


def _closest(passages: Sequence[Passage], most: int = 3) -> Markup:
    if not passages:
        return Markup("")
    entries = Markup("").join(
        Markup(
            '<details class="reference"><summary>{}{}</summary>{}<p class="abstract">{}</p>'
            "</details>"
        ).format(
            passage.paper.shown_title,
            _short_record(passage.paper),
            _record(passage.paper),
            passage.paper.abstract,
        )
        for passage in passages[:most]
    )
    return Markup('<div class="references"><p class="label">Closest papers</p>{}</div>').format(
        entries
    )


def _short_record(paper: Paper) -> Markup:
    facts = " · ".join(filter(None, (authors_line(paper.authors, 2), where(paper))))
    return Markup('<span class="record"> — {}</span>').format(facts) if facts else Markup("")


def _record(paper: Paper) -> Markup:
    """Title, authors, venue and decision, each on a line."""
    shown = list(paper.authors[:_MANY_AUTHORS])
    more = len(paper.authors) - len(shown)
    authors = ", ".join(shown) + (f" and {more} more" if more else "")
    rows = (
        ("Title", paper.title or "(none given)"),
        ("Authors", authors),
        ("Venue", f"{paper.venue} {paper.year or ''}".strip()),
        ("Decision", paper.decision),
    )
    lines = (Markup("<dt>{}</dt><dd>{}</dd>").format(name, text) for name, text in rows if text)
    return Markup("<dl>{}</dl>").format(Markup("").join(lines))


def _marked(abstract: str, quotes: Sequence[str]) -> Markup:
    """The abstract with the quotes, exact substrings of it, highlighted."""
    spans = sorted((abstract.find(quote), quote) for quote in set(quotes))
    parts: list[Markup] = []
    at = 0
    for start, quote in spans:
        if start < at:
            continue
        parts += [escape(abstract[at:start]), Markup("<mark>{}</mark>").format(quote)]
        at = start + len(quote)
    return Markup("").join([*parts, escape(abstract[at:])])


def _understood(standalone: str) -> Markup:
    if not standalone:
        return Markup("")
    return Markup('<p class="understood">Understood as: {}</p>').format(standalone)


def _status(text: str) -> Markup:
    return Markup('<p class="status" role="status">{}<span class="dots">…</span></p>').format(text)


def _stage(stage: Stage) -> Markup:
    total, done, unit = stage.total, stage.done, stage.unit
    if unit == "B":
        total, done, unit = total // _BYTES_IN_MEGABYTE, done // _BYTES_IN_MEGABYTE, "MB"
    if not total:
        return Markup("<li>{}<progress></progress></li>").format(stage.name)
    return Markup(
        '<li>{} <progress max="{}" value="{}" aria-label="{}"></progress> {:,} of {:,} {}</li>'
    ).format(stage.name, total, done, stage.name, done, total, unit)


def _lines(text: str) -> Markup:
    return Markup("<br>").join(text.splitlines())


def _block(html: Markup) -> str:
    block = str(Markup('<div class="assistant-block">{}</div>').format(html))
    return " ".join(block.splitlines())  # Markdown takes a carriage return for a line's end, too
