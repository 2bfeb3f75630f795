"""A conversation as Markdown reads as it was held, and nothing in it is more than text."""

from dataclasses import replace

import pytest
from test_history import ANSWER, PAPER

from assistant.pipeline.intent import GREETING
from assistant.server.history import Conversation, Exchange
from assistant.server.web.exports import cited_papers, conversation_markdown
from assistant.types import AnswerSentence, Citation, Outcome, SentenceKind

OTHER = replace(PAPER, id="p2", title="Beets", abstract="Beets grow, too.", url="")
BEETS = replace(
    ANSWER,
    question="And beets?",
    standalone_question="Do beets grow?",
    sentences=(AnswerSentence("Beets grow.", SentenceKind.VERIFIED, (1, 2)),),
    citations=(Citation(1, OTHER, "Beets grow, too."), Citation(2, PAPER, "Turnips grow.")),
)


def held(*exchanges: Exchange) -> Conversation:
    return Conversation("c", "On turnips", 0.0, exchanges)


def test_questions_answers_and_references() -> None:
    conversation = held(
        Exchange("1", "Do they grow?", replace(ANSWER, standalone_question="Do they grow?")),
        Exchange("2", "And beets?", BEETS),
    )
    turnips = "Ann Ä. One, 李四. On “Turnips” \\& $x_i$. ICLR 2023, oral."
    assert conversation_markdown(conversation) == "\n".join(
        [
            "# On turnips\n",
            "## Do they grow?\n",
            r"> Turnips grow. \[1\]" + "\n",
            "## And beets?\n",
            "*Understood as: Do beets grow?*\n",
            r"Beets grow. \[2\]\[1\]" + "\n",
            "## References\n",
            f"1. {turnips}",
            "2. Ann Ä. One, 李四. Beets. ICLR 2023, oral.\n",
        ]
    )
    assert [paper.id for paper in cited_papers(conversation)] == ["p1", "p2"]


def test_evidence_behind_what_is_written_is_announced_once() -> None:
    sentences = (
        *BEETS.sentences,
        AnswerSentence("Beets grow, too.", SentenceKind.QUOTED, (1,)),
        AnswerSentence("Turnips grow.", SentenceKind.QUOTED, (2,)),
    )
    text = conversation_markdown(
        held(Exchange("1", "And beets?", replace(BEETS, sentences=sentences)))
    )
    assert (
        "\n\n".join(
            [
                r"Beets grow. \[1\]\[2\]",
                "Evidence:",
                r"> Beets grow, too. \[1\]",
                r"> Turnips grow. \[2\]",
                "## References",
            ]
        )
        in text
    )
    assert "Evidence:" not in conversation_markdown(held(Exchange("1", "And beets?", BEETS)))


def test_a_refusal_offers_the_closest_papers() -> None:
    refused = replace(
        ANSWER,
        standalone_question=ANSWER.question,
        outcome=Outcome.NOT_IN_LIBRARY,
        text="No abstract answers that.",
        sentences=(),
        citations=(),
    )
    text = conversation_markdown(held(Exchange("1", "Why?", refused)))
    assert "**Not in this library.** No abstract answers that.\n\nClosest papers:\n\n- Ann" in text
    assert "## References" not in text


def test_a_fixed_reply_is_no_refusal() -> None:
    replied = replace(
        ANSWER,
        question="hi",
        standalone_question="hi",
        outcome=Outcome.NOT_IN_LIBRARY,
        text=GREETING,
        sentences=(),
        citations=(),
        passages=(),
    )
    assert conversation_markdown(held(Exchange("1", "hi", replied))).endswith(
        f"## hi\n\n{GREETING}\n"
    )


def test_what_was_stopped_says_so() -> None:
    stopped = Exchange(
        "1",
        "Why?",
        sentences=(AnswerSentence("Turnips grow.", SentenceKind.QUOTED, (1,)),),
        citations=(Citation(1, PAPER, "Turnips grow."),),
        notice="Stopped.",
    )
    text = conversation_markdown(held(stopped))
    assert "> Turnips grow. \\[1\\]\n\n*Stopped.*" in text
    assert "1. Ann" in text


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("<img src=x>", r"\<img src=x\>"),
        ("![x](http://192.0.2.1/x.png)", r"!\[x\](http://192.0.2.1/x.png)"),
        ("*a* _b_ `c` # d", r"\*a\* \_b\_ \`c\` \# d"),
        ("- a list", r"\- a list"),
        ("1. a list", r"1\. a list"),
        ("&lt;script&gt;", r"\&lt;script\&gt;"),
        ("costs $5", r"costs \$5"),
        ("two\nlines", "two lines"),
        (r"is $a<b_1$ so?", r"is $a\lt b_1$ so?"),
        ("$![x](http://192.0.2.1/x.png)$", "$![x]{}(http://192.0.2.1/x.png)$"),
    ],
)
def test_text_stays_text(typed: str, written: str) -> None:
    assert f"## {written}\n" in conversation_markdown(held(Exchange("1", typed)))
