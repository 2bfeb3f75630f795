"""A conversation as a file to keep: Markdown with its references."""

from collections.abc import Iterable, Iterator

from assistant.conversations import Conversation, Exchange
from assistant.markdown import markdown_text
from assistant.pipeline.intent import is_fixed
from assistant.terminal import authors_line, where
from assistant.types import Answer, AnswerSentence, Citation, Kind, Outcome
from retrieval.types import Paper

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
    blocks = [f"# {markdown_text(conversation.name)}"]
    for exchange in conversation.exchanges:
        blocks += _exchange(exchange, number_of)
    if papers:
        blocks.append("## References")
        blocks.append("\n".join(f"{number_of[each.id]}. {_reference(each)}" for each in papers))
    return "\n\n".join(blocks) + "\n"


def _exchange(exchange: Exchange, number_of: dict[str, int]) -> Iterator[str]:
    yield f"## {markdown_text(exchange.question)}"
    answer = exchange.answer
    if answer and answer.standalone_question != answer.question:
        yield f"*Understood as: {markdown_text(answer.standalone_question)}*"
    if answer and is_fixed(answer):
        yield markdown_text(answer.text)
        return
    if answer and answer.outcome in _REFUSALS:
        yield from _refusal(answer)
        return
    of_number = {each.number: number_of[each.paper.id] for each in _citations(exchange)}
    yield from _sentences(answer.sentences if answer else exchange.sentences, of_number)
    if not answer:
        yield f"*{markdown_text(exchange.notice)}*"


def _sentences(sentences: Iterable[AnswerSentence], of_number: dict[int, int]) -> Iterator[str]:
    is_written = False
    for sentence in sentences:
        if is_written and sentence.kind is Kind.QUOTED:
            yield "Evidence:"
        is_written = sentence.kind is Kind.VERIFIED
        numbers = dict.fromkeys(of_number[number] for number in sentence.citations)
        marks = "".join(rf" \[{number}\]" for number in numbers)
        quoted = "> " if sentence.kind is Kind.QUOTED else ""
        yield f"{quoted}{markdown_text(sentence.text)}{marks}"


def _refusal(answer: Answer) -> Iterator[str]:
    yield f"**{_REFUSALS[answer.outcome]}** {markdown_text(answer.text)}"
    closest = [f"- {_reference(each.paper)}" for each in answer.passages[:_CLOSEST]]
    if closest:
        yield "\n".join(["Closest papers:", "", *closest])


def _citations(exchange: Exchange) -> tuple[Citation, ...]:
    return exchange.answer.citations if exchange.answer else exchange.citations


def _reference(paper: Paper) -> str:
    title = paper.title or paper.shown_title
    facts = (authors_line(paper.authors), title, where(paper), paper.url)
    return ". ".join(markdown_text(fact) for fact in facts if fact) + "."
