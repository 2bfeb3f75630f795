"""A conversation as a file to keep: Markdown with its references."""

import re
from collections.abc import Iterable, Iterator

from assistant.conversations import Conversation, Exchange
from assistant.pipeline.intent import is_fixed
from assistant.terminal import authors_line, where
from assistant.types import Answer, AnswerSentence, Citation, Kind, Outcome
from retrieval.latex import split_formulas
from retrieval.types import Paper

_SIGNS = re.compile(r"[\\`*_{}\[\]<>#|~$&]|^[+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")
"""What Markdown would take for more than text, at the beginning of a line the marks of lists."""
_CLOSEST = 3
_REFUSALS = {
    Outcome.NOT_IN_LIBRARY: "Not in this library.",
    Outcome.ABSTRACT_SILENT: "Not found in the abstract.",
}


def cited_papers(conversation: Conversation) -> list[Paper]:
    """The papers that its answers cite, in the order in which they first do."""
    papers = (citation.paper for each in conversation.exchanges for citation in _citations(each))
    return list({paper.id: paper for paper in papers}.values())


def markdown(conversation: Conversation) -> str:
    """The conversation as Markdown; a citation's number is that of its paper in the references.

    Text of papers, people and models is escaped: it stays text wherever the file is shown.
    """
    papers = cited_papers(conversation)
    number_of = {paper.id: number for number, paper in enumerate(papers, start=1)}
    blocks = [f"# {_text(conversation.name)}"]
    for exchange in conversation.exchanges:
        blocks += _exchange(exchange, number_of)
    if papers:
        blocks.append("## References")
        blocks.append("\n".join(f"{number_of[each.id]}. {_reference(each)}" for each in papers))
    return "\n\n".join(blocks) + "\n"


def _exchange(exchange: Exchange, number_of: dict[str, int]) -> Iterator[str]:
    yield f"## {_text(exchange.question)}"
    answer = exchange.answer
    if answer and answer.standalone_question != answer.question:
        yield f"*Understood as: {_text(answer.standalone_question)}*"
    if answer and is_fixed(answer):
        yield _text(answer.text)
        return
    if answer and answer.outcome in _REFUSALS:
        yield from _refusal(answer)
        return
    of_number = {each.number: number_of[each.paper.id] for each in _citations(exchange)}
    yield from _sentences(answer.sentences if answer else exchange.sentences, of_number)
    if not answer:
        yield f"*{_text(exchange.notice)}*"


def _sentences(sentences: Iterable[AnswerSentence], of_number: dict[int, int]) -> Iterator[str]:
    for sentence in sentences:
        numbers = dict.fromkeys(of_number[number] for number in sentence.citations)
        marks = "".join(rf" \[{number}\]" for number in numbers)
        quoted = "> " if sentence.kind is Kind.QUOTED else ""
        yield f"{quoted}{_text(sentence.text)}{marks}"


def _refusal(answer: Answer) -> Iterator[str]:
    yield f"**{_REFUSALS[answer.outcome]}** {_text(answer.text)}"
    closest = [f"- {_reference(each.paper)}" for each in answer.passages[:_CLOSEST]]
    if closest:
        yield "\n".join(["Closest papers:", "", *closest])


def _citations(exchange: Exchange) -> tuple[Citation, ...]:
    return exchange.answer.citations if exchange.answer else exchange.citations


def _reference(paper: Paper) -> str:
    title = paper.title or paper.shown_title
    facts = (authors_line(paper.authors), title, where(paper), paper.url)
    return ". ".join(_text(fact) for fact in facts if fact) + "."


def _text(text: str) -> str:
    """Text that Markdown shows as it is, on one line; formulas stay formulas."""
    line = " ".join(text.split())
    return "".join(
        piece.replace("<", r"\lt ").replace(">", r"\gt ") if is_formula else _escaped(piece)
        for piece, is_formula in split_formulas(line)
    )


def _escaped(prose: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", prose)
