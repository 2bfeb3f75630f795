"""The chat tab as HTML: the list of conversations, questions, answers and answers in progress."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from markupsafe import Markup

from assistant.server.history import (
    LONGEST_COMMENT,
    LONGEST_NAME,
    Conversation,
    Exchange,
    Rating,
    Reason,
)
from assistant.server.web.exports import COLUMNS, table_csv, table_markdown, table_rows
from assistant.server.web.formulas import with_formulas
from assistant.server.web.html import paper_facts
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    Outcome,
    SentenceKind,
    by_paper,
)
from retrieval.formats.writers import authors_line, where
from retrieval.types import Paper, Passage

_CLOSEST = 3
"""Papers listed below an abstention, or while they are read."""
_LONG = 300
"""Characters from which a question is set as text, not as a heading."""
_LONGEST_WORD = 30
"""Characters of a last word that is kept on one line with its marks."""
_THUMB = Markup(
    '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 11h4v10H3zM9 21h8.2c.9 0 1.6-.6 '
    "1.8-1.4l2-7.5c.3-1.3-.6-2.6-2-2.6h-5.2l.9-4.2c.2-1.1-.6-2.1-1.7-2.1-.6 0-1.1.3-1.4.8L8.3 "
    '9.700c-.2.300-.3.700-.3 1V20c0 .600.400 1 1 1z"/></svg>'
)
_CHECKED = Markup(
    '<span class="checked" role="img" title="Checked against what it cites" '
    'aria-label="Checked against what it cites">✓</span>'
)
_ANSWER_REASONS = (
    Reason.WRONG_CITATION,
    Reason.WRONG_STATEMENT,
    Reason.BESIDE_THE_QUESTION,
    Reason.INCOMPLETE,
    Reason.SHOULD_HAVE_REFUSED,
    Reason.OTHER,
)
_ABSTENTION_REASONS = (Reason.WRONGLY_REFUSED, Reason.BESIDE_THE_QUESTION, Reason.OTHER)
_EVIDENCE = Markup('<h3 class="label evidence">Evidence</h3>')
_ELSEWHERE = "The answer is coming on another page; reload this one to see it."
_OUTCOMES = {
    Outcome.NOT_IN_LIBRARY: "Not in this library",
    Outcome.ABSTRACT_SILENT: "Not found in the abstract",
}


def past_html(conversations: Sequence[Conversation], current: str) -> str:
    """The list of conversations, latest first; `current` is the id of the open one."""
    if not conversations:
        return str(Markup('<p class="none">Your conversations will be listed here.</p>'))
    entries = Markup().join(_past_entry(each, is_open=each.id == current) for each in conversations)
    return str(Markup('<ul class="past">{}</ul>').format(entries))


def conversation_html(
    conversation: Conversation | None,
    examples: Sequence[str],
    running: Collection[str] = (),
) -> str:
    """The questions and answers of a conversation; example questions if it has none.

    Args:
        conversation: the open one; None for a new one.
        examples: questions to begin with.
        running: ids of exchanges that are being answered on another page.
    """
    if conversation is None or not conversation.exchanges:
        return str(_welcome(examples))
    last = len(conversation.exchanges) - 1
    exchanges = Markup().join(
        _exchange(
            replace(each, notice=_ELSEWHERE) if each.id in running else each,
            position,
            is_last=position == last,
        )
        for position, each in enumerate(conversation.exchanges)
    )
    return str(
        Markup('<div class="exchanges" data-conversation="{}">{}</div>').format(
            conversation.id, exchanges
        )
    )


def asking_html(question: str, answer: Markup) -> str:
    """A question with its answer in progress."""
    return str(
        Markup(
            '<article class="exchange">{}<div class="answer" aria-busy="true">{}</div></article>'
        ).format(_question(question), answer)
    )


def waiting_html(ahead: int, seconds: float | None) -> Markup:
    """The place in the queue, with the expected seconds; None if they are unknown."""
    others = "1 question comes" if ahead == 1 else f"{ahead} questions come"
    about = f"; about {max(1, round(seconds))} s" if seconds is not None else ""
    return _status(f"Waiting: {others} first{about}")


def searching_html() -> Markup:
    """The status until retrieval returns."""
    return _status("Searching the library")


def partial_answer_html(
    standalone: str,
    passages: Sequence[Passage],
    evidence: Sequence[Evidence],
    sentences: Sequence[AnswerSentence],
    citations: Sequence[Citation],
) -> Markup:
    """An answer in progress: the papers or the evidence being read, and the sentences so far."""
    if evidence:
        doing = _status(f"Writing from {_count(evidence)}")
        is_quoted = any(each.kind is SentenceKind.QUOTED for each in sentences)
        below = (
            Markup()
            if is_quoted
            else _EVIDENCE
            + _quotations((each.paper, with_formulas(each.text)) for each in evidence)
        )
        return _understood(standalone) + _sentences(sentences, citations) + doing + below
    number = len(passages)
    doing = _status("Reading 1 paper" if number == 1 else f"Reading {number} papers")
    titles = Markup().join(
        Markup("<li>{}</li>").format(with_formulas(passage.paper.shown_title))
        for passage in passages[:_CLOSEST]
    )
    return _understood(standalone) + doing + Markup('<ul class="read">{}</ul>').format(titles)


def copied_text(answer: Answer) -> str:
    """The answer as the Copy button copies it: its text, then its references."""
    references = [
        f"{''.join(f'[{each.number}]' for each in group)} {_line(group[0].paper)}"
        for group in by_paper(answer.citations)
    ]
    return "\n".join([answer.text, "", *references] if references else [answer.text])


def is_small_talk(answer: Answer) -> bool:
    """Whether the answer replies to no question, so that nothing was retrieved."""
    return answer.outcome is Outcome.NOT_IN_LIBRARY and not answer.passages


def _past_entry(conversation: Conversation, *, is_open: bool) -> Markup:
    return Markup(
        '<li class="{}"><button type="button" class="name" data-event="select" '
        'data-conversation="{}"{}>{}</button>{}</li>'
    ).format(
        "open" if is_open else "",
        conversation.id,
        Markup(' aria-current="true"') if is_open else "",
        conversation.name,
        _menu(conversation),
    )


def _menu(conversation: Conversation) -> Markup:
    """Rename, export and delete; deleting asks for confirmation."""
    id_, name = conversation.id, conversation.name
    return Markup(
        '<details class="menu"><summary aria-label="What to do with “{}”">⋯</summary><div>'
        '<form data-event="edit" data-conversation="{}"><label>Name'
        '<input name="name" value="{}" maxlength="{}" required></label>'
        '<button type="submit">Rename</button></form>'
        '<a href="conversations/{}.md" download>Export as Markdown</a>'
        '<a href="conversations/{}.bib" download>Export references as BibTeX</a>'
        '<details class="sure"><summary>Delete …</summary>'
        '<button type="button" class="stop" data-event="delete" data-conversation="{}">'
        "Delete “{}” for good</button></details></div></details>"
    ).format(name, id_, name, LONGEST_NAME, id_, id_, id_, name)


def _exchange(exchange: Exchange, position: int, *, is_last: bool) -> Markup:
    return Markup('<article class="exchange">{}{}<div class="answer">{}{}</div></article>').format(
        _question(exchange.question),
        _question_tools(exchange, position),
        _answer(exchange.answer) if exchange.answer else _unfinished(exchange),
        _answer_tools(exchange, position, is_last=is_last),
    )


def _question(question: str) -> Markup:
    lines = Markup("<br>").join(map(with_formulas, question.splitlines()))
    length = " long" if len(question) > _LONG else ""
    return Markup('<h2 class="question{}">{}</h2>').format(length, lines)


def _question_tools(exchange: Exchange, position: int) -> Markup:
    return Markup(
        '<div class="tools asked"><button type="button" data-event="edit" data-position="{}" '
        'data-question="{}">Edit</button></div>'
    ).format(position, exchange.question)


def _answer(answer: Answer) -> Markup:
    understood = answer.standalone_question
    head = _understood(understood if understood != answer.question else "")
    if is_small_talk(answer):
        return Markup('<p class="written">{}</p>').format(answer.text)
    if answer.outcome in _OUTCOMES:
        return head + _refusal(answer) + _closest(answer.passages)
    return (
        head
        + _sentences(answer.sentences, answer.citations)
        + _table(answer)
        + _references(answer.citations)
    )


def _table(answer: Answer) -> Markup:
    """A folded table of the answer; empty if it has claims on fewer than two papers."""
    rows = table_rows(answer) if answer.confidence is not None else []
    if not rows:
        return Markup()
    head = Markup().join(Markup('<th scope="col">{}</th>').format(name) for name in COLUMNS)
    body = Markup().join(
        Markup('<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>').format(
            with_formulas(row.paper), with_formulas(row.claim), with_formulas(row.evidence)
        )
        for row in rows
    )
    return Markup(
        '<details class="answer-table"><summary>As a table</summary>'
        '<div class="scrolls"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
        '<div class="tools"><button type="button" data-copy="{}">Copy as Markdown</button>'
        '<button type="button" data-copy="{}">Copy as CSV</button></div></details>'
    ).format(head, body, table_markdown(rows), table_csv(rows))


def _refusal(answer: Answer) -> Markup:
    return Markup(
        '<div class="refusal {}"><p class="outcome">{}</p><p class="silent">{}</p></div>'
    ).format(answer.outcome.value, _OUTCOMES[answer.outcome], answer.text)


def _unfinished(exchange: Exchange) -> Markup:
    notice = Markup('<p class="notice">{}</p>').format(exchange.notice)
    shown = _sentences(exchange.sentences, exchange.citations)
    return shown + notice + (_references(exchange.citations) if exchange.citations else Markup())


def _sentences(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> Markup:
    """Written sentences as a paragraph, then the quoted ones as evidence."""
    of_number = {citation.number: citation for citation in citations}
    parts: list[Markup] = []
    for kind, group in groupby(sentences, key=lambda each: each.kind):
        if kind is SentenceKind.VERIFIED:
            parts.append(_verified(list(group), of_number))
            continue
        if parts:
            parts.append(_EVIDENCE)
        parts.append(
            _quotations(
                (
                    of_number[each.citations[0]].paper,
                    _ending_with(each.text, _chips(each, of_number)),
                )
                for each in group
            )
        )
    return Markup().join(parts)


def _quotations(quotations: Iterable[tuple[Paper, Markup]]) -> Markup:
    """Quotations, grouped under the titles of their papers."""
    parts: list[Markup] = []
    for _, group in groupby(quotations, key=lambda each: each[0].id):
        of_paper = list(group)
        title = with_formulas(of_paper[0][0].shown_title)
        parts.append(Markup('<p class="lead">From “{}”:</p>').format(title))
        parts += (
            Markup('<blockquote class="quoted"><p>{}</p></blockquote>').format(text)
            for _, text in of_paper
        )
    return Markup().join(parts)


def _verified(sentences: Sequence[AnswerSentence], of_number: dict[int, Citation]) -> Markup:
    spans = (
        Markup('<span class="verified">{}</span>').format(
            _ending_with(each.text, _CHECKED + _chips(each, of_number))
        )
        for each in sentences
    )
    return Markup('<p class="written">{}</p>').format(Markup(" ").join(spans))


def _ending_with(text: str, marks: Markup) -> Markup:
    """The text with its marks, which stay on the line of the last word."""
    *before, last = text.rsplit(" ", 1)
    if "$" in last or len(last) > _LONGEST_WORD:
        return with_formulas(text) + marks
    begins = with_formulas(f"{before[0]} ") if before else Markup()
    return begins + Markup('<span class="end">{}{}</span>').format(last, marks)


def _chips(sentence: AnswerSentence, of_number: dict[int, Citation]) -> Markup:
    """A button for each citation; pointing at it shows the quote, a click opens the paper."""
    return Markup().join(_chip(of_number[number]) for number in sentence.citations)


def _chip(citation: Citation) -> Markup:
    return Markup(
        '<button type="button" class="chip" data-event="select" data-paper="{}" data-quotes="{}" '
        'data-title="{}" data-quote="{}" aria-label="Citation {}: {}">{}</button>'
    ).format(
        citation.paper.id,
        json.dumps([citation.quote]),
        citation.paper.shown_title,
        citation.quote,
        citation.number,
        citation.paper.shown_title,
        citation.number,
    )


def _references(citations: Sequence[Citation]) -> Markup:
    """One entry for each paper; it opens with its quotes marked."""
    entries = (
        _entry(
            group[0].paper,
            [each.quote for each in group],
            "".join(f"[{each.number}]" for each in group),
        )
        for group in by_paper(citations)
    )
    return _papers("References", entries)


def _closest(passages: Sequence[Passage]) -> Markup:
    if not passages:
        return Markup()
    return _papers("Closest papers", (_entry(each.paper) for each in passages[:_CLOSEST]))


def _papers(label: str, entries: Iterable[Markup]) -> Markup:
    return Markup('<div class="references"><h3 class="label">{}</h3><ul>{}</ul></div>').format(
        label, Markup().join(entries)
    )


def _entry(paper: Paper, quotes: Sequence[str] = (), numbers: str = "") -> Markup:
    mark = Markup('<span class="mark">{}</span> ').format(numbers) if numbers else Markup()
    return Markup(
        '<li>{}<div><button type="button" class="paper" data-event="select" data-paper="{}" '
        'data-quotes="{}">{}</button> <span class="record">{}</span></div></li>'
    ).format(
        mark,
        paper.id,
        json.dumps(list(quotes)),
        with_formulas(paper.shown_title),
        paper_facts(paper),
    )


def _answer_tools(exchange: Exchange, position: int, *, is_last: bool) -> Markup:
    parts: list[Markup] = []
    if exchange.answer:
        parts.append(
            Markup('<button type="button" data-copy="{}">Copy</button>').format(
                copied_text(exchange.answer)
            )
        )
    if is_last:
        parts.append(
            Markup(
                '<button type="button" data-event="retry" data-position="{}" '
                'data-question="{}">Ask again</button>'
            ).format(position, exchange.question)
        )
    if exchange.answer and not is_small_talk(exchange.answer):
        parts.append(_rating(exchange, exchange.answer))
    return Markup('<div class="tools">{}</div>').format(Markup().join(parts))


def _rating(exchange: Exchange, answer: Answer) -> Markup:
    rating = exchange.rating
    is_good = rating is not None and rating.reason is Reason.GOOD
    good = Markup(
        '<button type="button" class="thumb" data-event="{}" data-exchange="{}" '
        'aria-pressed="{}" aria-label="Good answer" title="Good answer">{}</button>'
    ).format("undo" if is_good else "like", exchange.id, str(is_good).lower(), _THUMB)
    if rating and not is_good:
        return good + _rated(exchange, rating)
    is_answered = answer.outcome is Outcome.ANSWERED
    reasons = _ANSWER_REASONS if is_answered else _ABSTENTION_REASONS
    return good + _report(exchange, reasons)


def _rated(exchange: Exchange, rating: Rating) -> Markup:
    return Markup(
        '<span class="rated">Kept as a case for evaluation: {}.</span>'
        '<button type="button" data-event="undo" data-exchange="{}">Take back</button>'
    ).format(rating.reason.value, exchange.id)


def _report(exchange: Exchange, reasons: Sequence[Reason]) -> Markup:
    choices = Markup().join(
        Markup('<label><input type="radio" name="reason" value="{}" required> {}</label>').format(
            reason.value, reason.value.capitalize()
        )
        for reason in reasons
    )
    return Markup(
        '<details class="report"><summary class="thumb down" aria-label="Bad answer: say why" '
        'title="Bad answer: say why">{}</summary>'
        '<form data-event="submit" data-exchange="{}"><fieldset><legend>What is wrong?</legend>{}'
        '</fieldset><label class="comment">Comment (optional)'
        '<textarea name="comment" rows="2" maxlength="{}"></textarea></label>'
        '<p class="hint">Question and answer are kept on this machine as a case for evaluation.'
        '</p><button type="submit">Send</button></form></details>'
    ).format(_THUMB, exchange.id, choices, LONGEST_COMMENT)


def _welcome(examples: Sequence[str]) -> Markup:
    buttons = Markup().join(
        Markup(
            '<li><button type="button" data-event="example_select" data-question="{}">{}</button>'
            "</li>"
        ).format(example, example)
        for example in examples
    )
    return Markup(
        '<div class="welcome"><h2>Ask about the papers in this library</h2>'
        "<p>Every sentence of an answer is quoted from an abstract or checked against it. What no "
        'abstract says is not answered.</p><ul class="examples">{}</ul></div>'
    ).format(buttons)


def _count(evidence: Sequence[Evidence]) -> str:
    count = "1 sentence" if len(evidence) == 1 else f"{len(evidence)} sentences"
    papers = len({each.paper.id for each in evidence})
    of_what = f"{papers} papers" if papers > 1 else f"“{evidence[0].paper.shown_title}”"
    return f"{count} of {of_what}"


def _line(paper: Paper) -> str:
    facts = (authors_line(paper.authors, 3), paper.shown_title, where(paper))
    return ". ".join(filter(None, facts)) + "."


def _understood(standalone: str) -> Markup:
    if not standalone:
        return Markup()
    return Markup('<p class="understood">Understood as: {}</p>').format(with_formulas(standalone))


def _status(text: str) -> Markup:
    return Markup('<p class="status">{}<span class="dots" aria-hidden="true">…</span></p>').format(
        text
    )
