"""What was searched for an answer, as a paragraph for the methods section of a manuscript."""

from assistant import __version__
from assistant.types import Answer, SearchRecord

MATCHED = (
    "Matched: abstracts that share a word with the question which at most one in twenty has, or "
    "that the search by words and meaning returned. Read: read in full together with the question."
)
"""The counts of `SearchRecord.statement`, explained."""


def methods_paragraph(
    search: SearchRecord, cited: int, model: str, *, version: str = __version__, date: str = ""
) -> str:
    """The paragraph.

    Args:
        search: what was searched.
        cited: the number of papers cited.
        model: the chat model's name.
        version: of the program.
        date: ISO 8601, as receipts have it; left out if empty.
    """
    counts = search.counts(cited)
    day = f" on {date[:10]}" if date else ""
    said = f"We searched{day} {counts} (Abstracts assistant {version}; query: “{search.query}”)."
    if search.threshold is None:
        return f"{said} The answer was made from the records and abstracts, without a chat model."
    return (
        f"{said} An abstract matched if it shares a word with the query that at most one abstract "
        f"in twenty has, or if a search by words (BM25) and meaning ({search.embedder}) returned "
        "it. The best were read together with the query by a cross-encoder; the query is answered "
        f"only if the probability that one of them answers it is at least {search.threshold:.2f}. "
        "Every sentence of the answer is quoted from a cited abstract or was checked against the "
        f"sentence that it cites (chat model: {model})."
    )


def methods_of_answer(answer: Answer) -> str:
    """The paragraph on an answer; empty if nothing was searched for it."""
    cited = len({each.paper.id for each in answer.citations})
    return methods_paragraph(answer.search, cited, answer.model) if answer.search else ""
