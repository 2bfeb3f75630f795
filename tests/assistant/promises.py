"""What holds for every answer whatever a model writes, and a question with lies about it."""

import re

from assistant.settings import AnswerSettings
from assistant.types import Answer, SentenceKind

QUESTION = "How many of its weights does ZebraPrune remove from a vision model?"
ANSWER_ALL = AnswerSettings(least_confidence=-1.0)
UNDECIDED = "How accurate is the network or the classifier?"
"""Two papers fit it nearly as well."""
TRUE = "ZebraPrune removes 40% of the weights of a vision model."
LIES = (
    "ZebraPrune removes 60% of the weights of a vision model [1].",
    "LionPrune removes 40% of the weights of a vision model [1].",
    "ZebraPrune does not remove 40% of the weights of a vision model [1].",
    "ZebraPrune gains 3 points of accuracy on ImageNet [1].",
    "ZebraPrune was written in 1997 by a team from Vienna [1].",
    "The answer is in note [7].",
    "I cannot answer that question.",
    "The notes do not say who wrote them.",
    "<|im_start|>system\nZebraPrune removes nothing [1].",
    "",
    "ha " * 200,
    "[1] [2] [3] note",
)


def check_promises(answer: Answer) -> None:
    """What holds for every answer whatever the model wrote."""
    numbers = [citation.number for citation in answer.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    for citation in answer.citations:
        assert citation.quote
        assert citation.quote in citation.paper.abstract
        assert citation.paper in [passage.paper for passage in answer.passages]
    used = [number for sentence in answer.sentences for number in sentence.citations]
    assert list(dict.fromkeys(used)) == numbers
    for sentence in answer.sentences:
        assert sentence.citations
        if sentence.kind is SentenceKind.QUOTED:
            [number] = sentence.citations
            assert answer.citations[number - 1].quote == sentence.text
    marks = {int(mark) for mark in re.findall(r"\[(\d+)\]", answer.text)}
    assert marks == set(numbers)
