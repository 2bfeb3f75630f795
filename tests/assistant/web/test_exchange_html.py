"""Answers as HTML: hostile text stays text, and each part says what it is."""

import json
from dataclasses import replace

import pytest
from fakes import PAPERS, answered, evidence, paper, passage
from html_page import PAYLOADS, HtmlPage, flat

from assistant.generation.answer_builder import ABSTENTION
from assistant.server.history import Conversation, Exchange, Rating, Reason
from assistant.server.jobs.library import Stage
from assistant.server.jobs.setup import SetupState
from assistant.server.web.exchange_html import (
    asking_html,
    conversation_html,
    copied_text,
    partial_answer_html,
    past_html,
    searching_html,
    waiting_html,
)
from assistant.server.web.exports import table_csv, table_markdown, table_rows
from assistant.server.web.html import error_html
from assistant.server.web.library_html import library_html, setup_html
from assistant.types import Answer, AnswerSentence, Citation, Evidence, Outcome, SentenceKind
from retrieval.types import Paper

QUOTE = "It does not need retraining."


def shown(
    *answers: Answer | None, rating: Rating | None = None, question: str = "Why?"
) -> HtmlPage:
    exchanges = tuple(
        Exchange(f"e{number}", question, answer, rating=rating)
        for number, answer in enumerate(answers)
    )
    return HtmlPage(conversation_html(Conversation("c1", "A name", 0.0, exchanges), ()))


def hostile(payload: str) -> Answer:
    """An answer with the payload wherever text can come from outside."""
    odd = paper(
        title=payload,
        abstract=f"{payload} One. {QUOTE} {payload}",
        authors=(payload, "Ada"),
        venue=payload,
        decision=payload,
    )
    citations = (Citation(1, odd, QUOTE), Citation(2, odd, f"{payload} One."))
    return replace(
        answered(odd, QUOTE, payload),
        standalone_question=f"About {payload}",
        sentences=(
            AnswerSentence(payload, SentenceKind.VERIFIED, (1,)),
            AnswerSentence(f"{payload} One.", SentenceKind.QUOTED, (2,)),
        ),
        citations=citations,
        passages=(passage(odd),),
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_stays_text(payload: str) -> None:
    answer = hostile(payload)
    whole = shown(answer, question=payload)
    assert flat(whole.text).count(flat(payload)) >= 7
    of = answer.citations[0].paper
    silent = replace(answer, outcome=Outcome.NOT_IN_LIBRARY, sentences=(), citations=())
    chosen = (Evidence(of, 0, len(of.abstract), of.abstract, 1.0),)
    stopped = Exchange("e", payload, None, answer.sentences, answer.citations, payload)
    rated = Rating(Reason.OTHER, payload)
    pages = (
        whole,
        shown(replace(silent, text=payload)),
        shown(answer, rating=rated),
        HtmlPage(conversation_html(Conversation(payload, payload, 0.0, (stopped,)), ())),
        HtmlPage(conversation_html(None, [payload])),
        HtmlPage(past_html([Conversation("c", payload, 0.0)], "c")),
        HtmlPage(error_html(payload)),
        HtmlPage(asking_html(payload, searching_html())),
        HtmlPage(partial_answer_html(payload, answer.passages, (), (), ())),
        HtmlPage(
            partial_answer_html("", answer.passages, chosen, answer.sentences, answer.citations)
        ),
        HtmlPage(library_html(1, payload)),
        HtmlPage(setup_html(SetupState([Stage(payload, 1, 2, payload)]))),
    )
    for page in pages:
        assert flat(payload) in flat(page.text)


def test_a_citation_names_its_paper_and_its_quote() -> None:
    page = shown(answered(PAPERS[0], QUOTE))
    assert page.values("data-quote") == [QUOTE]
    assert json.loads(page.values("data-quotes")[0]) == [QUOTE]
    assert page.values("data-paper") == [PAPERS[0].id, PAPERS[0].id]
    assert "Citation 1: Zebra Pruning for Vision Models" in page.values("aria-label")


def test_one_reference_a_paper_with_all_its_numbers_and_quotes() -> None:
    zebra, tidal = PAPERS[:2]
    other = "Large vision models are slow on phones."
    citations = (
        Citation(1, zebra, QUOTE),
        Citation(2, tidal, "Tidal currents near harbours are hard to forecast."),
        Citation(3, zebra, other),
    )
    page = shown(replace(answered(zebra, QUOTE), citations=citations))
    facts = "Ada Miro, Ben Okafor · ICML 2021, oral"
    assert f"[1][3] Zebra Pruning for Vision Models {facts}" in flat(page.text)
    assert json.dumps([QUOTE, other]) in page.values("data-quotes")


def test_written_and_quoted_sentences_differ() -> None:
    zebra = PAPERS[0]
    sentences = (
        AnswerSentence("It needs none.", SentenceKind.VERIFIED, (1,)),
        AnswerSentence("None at all.", SentenceKind.VERIFIED, (1,)),
        AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,)),
    )
    page = shown(replace(answered(zebra, QUOTE), sentences=sentences))
    classes = page.values("class")
    assert (classes.count("written"), classes.count("verified"), classes.count("quoted")) == (
        1,
        2,
        1,
    )
    assert page.values("aria-label").count("Checked against what it cites") == 2
    assert "From “Zebra Pruning for Vision Models”:" in page.text
    assert "Evidence" not in shown(answered(zebra, QUOTE)).text


def test_evidence_is_a_heading_between_what_is_written_and_what_is_quoted() -> None:
    zebra = PAPERS[0]
    sentences = (
        AnswerSentence("It needs none.", SentenceKind.VERIFIED, (1,)),
        AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,)),
    )
    page = shown(replace(answered(zebra, QUOTE), sentences=sentences))
    written, quoted = page.text.split("Evidence")
    assert "It needs none." in written
    assert f"From “{zebra.title}”:{QUOTE}" in quoted
    assert page.values("class").count("label evidence") == 1
    assert page.tags.count("h3") == 2  # with the references
    alone = shown(replace(answered(zebra, QUOTE), sentences=sentences[:1]))
    assert "label evidence" not in alone.values("class")


def test_what_is_read_is_evidence_until_it_is_quoted() -> None:
    zebra = PAPERS[0]
    citations, chosen = (Citation(1, zebra, QUOTE),), (evidence(QUOTE),)
    written = AnswerSentence("It needs none.", SentenceKind.VERIFIED, (1,))
    quoted = AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,))
    for sentences in ((), (written,), (written, quoted)):
        page = HtmlPage(partial_answer_html("", (passage(zebra),), chosen, sentences, citations))
        assert page.text.count("Evidence") == 1
        assert page.text.count(QUOTE) == 1
    page = HtmlPage(partial_answer_html("", (passage(zebra),), chosen, (quoted,), citations))
    assert "Evidence" not in page.text
    assert page.text.count(QUOTE) == 1


def of_two_papers(zebra: Paper, claim: str = "It needs none.") -> Answer:
    """An answer with a sentence on each of two papers, and their evidence."""
    tidal = PAPERS[1]
    hard = "Tidal currents near harbours are hard to forecast."
    sentences = (
        AnswerSentence(claim, SentenceKind.VERIFIED, (1,)),
        AnswerSentence("Tides are hard.", SentenceKind.VERIFIED, (2,)),
        AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,)),
        AnswerSentence(hard, SentenceKind.QUOTED, (2,)),
    )
    citations = (Citation(1, zebra, QUOTE), Citation(2, tidal, hard))
    answer = replace(answered(zebra, QUOTE), sentences=sentences, citations=citations)
    return replace(answer, confidence=0.9)


def test_what_is_written_of_several_papers_is_a_table_too() -> None:
    answer = of_two_papers(PAPERS[0])
    page = shown(answer)
    assert page.values("scope") == ["col", "col", "col", "row", "row"]
    assert (page.tags.count("tr"), page.tags.count("td")) == (3, 4)
    csv, markdown = table_csv(table_rows(answer)), table_markdown(table_rows(answer))
    assert {csv, markdown} <= set(page.values("data-copy"))
    assert (
        "Zebra Pruning for Vision ModelsIt needs none.“It does not need retraining.”" in page.text
    )
    assert "table" not in shown(replace(answer, sentences=answer.sentences[1:])).tags
    assert "table" not in shown(replace(answer, confidence=None)).tags


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_in_a_table_stays_text(payload: str) -> None:
    odd = paper(title=payload, abstract=f"{payload} One. {QUOTE}")
    page = shown(of_two_papers(odd, payload))
    assert "table" in page.tags
    assert flat(page.text).count(flat(payload)) >= 5


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome.NOT_IN_LIBRARY, "Not in this library"),
        (Outcome.ABSTRACT_SILENT, "Not found in the abstract"),
    ],
)
def test_a_refusal_is_plain_and_shows_the_closest_papers(outcome: Outcome, said: str) -> None:
    silent = replace(
        answered(PAPERS[0], QUOTE),
        outcome=outcome,
        text=ABSTENTION,
        sentences=(),
        citations=(),
        passages=tuple(passage(each) for each in PAPERS),
    )
    page = shown(silent)
    assert said in page.text
    assert ABSTENTION in page.text
    assert "Closest papers" in page.text
    assert page.values("class").count("paper") == 3
    assert "The library does answer it" in page.text
    assert "Wrong citation" not in page.text


def test_small_talk_is_no_refusal_and_not_rated() -> None:
    hello = replace(
        answered(PAPERS[0], QUOTE),
        outcome=Outcome.NOT_IN_LIBRARY,
        text="Hello; ask.",
        sentences=(),
        citations=(),
        passages=(),
    )
    page = shown(hello)
    assert "Hello; ask." in page.text
    assert "Not in this library" not in page.text
    assert "Good answer" not in page.values("aria-label")


def test_what_is_shown_while_an_answer_comes() -> None:
    answer = answered(PAPERS[0], QUOTE)
    assert "Searching the library" in HtmlPage(searching_html()).text
    assert "1 question comes first; about 7 s" in HtmlPage(waiting_html(1, 6.6)).text
    assert "3 questions come first…" in HtmlPage(waiting_html(3, None)).text
    reading = HtmlPage(partial_answer_html("", answer.passages, (), (), ())).text
    assert "Reading 1 paper…Zebra Pruning for Vision Models" in reading
    assert "Understood as" not in reading
    one = evidence(QUOTE)
    parts = (answer.passages, (one,), answer.sentences, answer.citations)
    writing = HtmlPage(partial_answer_html("X", *parts)).text
    assert "Writing from 1 sentence of “Zebra Pruning for Vision Models”" in writing
    two = (one, replace(one, paper=PAPERS[1]))
    assert (
        "Writing from 2 sentences of 2 papers"
        in HtmlPage(partial_answer_html("", (), two, (), ())).text
    )
    assert "Understood as: X" in writing
    assert f"From “Zebra Pruning for Vision Models”:{QUOTE}1" in writing


def test_what_was_stopped_keeps_what_was_shown() -> None:
    answer = answered(PAPERS[0], QUOTE)
    stopped = Exchange("e", "Why?", None, answer.sentences, answer.citations, "Stopped.")
    page = HtmlPage(conversation_html(Conversation("c", "n", 0.0, (stopped,)), ()))
    assert QUOTE in page.text
    assert "Stopped." in page.text
    assert "Ask again" in page.text
    assert page.values("data-copy") == []
    assert "Good answer" not in page.values("aria-label")


def test_only_the_last_question_is_asked_again_and_each_can_be_edited() -> None:
    answer = answered(PAPERS[0], QUOTE)
    page = shown(answer, answer)
    assert page.values("data-event").count("retry") == 1
    assert page.values("data-event").count("edit") == 2
    assert page.values("data-position") == ["0", "1", "1"]


def test_a_rating_is_shown_and_can_be_taken_back() -> None:
    answer = answered(PAPERS[0], QUOTE)
    assert "like" in shown(answer).values("data-event")
    good = shown(answer, rating=Rating(Reason.GOOD))
    assert good.values("aria-pressed") == ["true"]
    assert "undo" in good.values("data-event")
    bad = shown(answer, rating=Rating(Reason.WRONG_CITATION))
    assert "Kept as a case for evaluation: wrong citation." in bad.text
    assert "submit" not in bad.values("data-event")


def test_what_is_copied_has_its_references() -> None:
    answer = answered(PAPERS[0], QUOTE)
    assert copied_text(answer) == (
        f"{answer.text}\n\n[1] Ada Miro, Ben Okafor. Zebra Pruning for Vision Models. "
        "ICML 2021, oral."
    )


def test_understood_only_where_it_differs() -> None:
    answer = answered(PAPERS[0], QUOTE, "Why?")
    assert "Understood as" not in shown(answer).text
    other = replace(answer, standalone_question="About X: Why?")
    assert "Understood as: About X: Why?" in shown(other).text


def test_lines_of_a_question_stay_lines() -> None:
    page = HtmlPage(asking_html("a\n\nb\r\nc", searching_html()))
    assert "a\n\nb\nc" in page.text


def test_the_open_conversation_is_told() -> None:
    both = [Conversation("c1", "One", 0.0), Conversation("c2", "Two", 0.0)]
    page = HtmlPage(past_html(both, "c2"))
    assert page.values("aria-current") == ["true"]
    assert "What to do with “One”" in page.values("aria-label")
    assert "conversations/c1.md" in page.values("href")
    assert "listed here" in past_html([], "")


def test_setup() -> None:
    stages = [Stage("fetching", 5_000_000, 93_000_000, "B"), Stage("starting")]
    page = HtmlPage(
        setup_html(SetupState([*stages, Stage("Embedding papers", 1200, 1643, "papers")]))
    )
    assert "5 of 93 MB" in page.text
    assert "1,200 of 1,643 papers" in page.text
    assert page.tags.count("progress") == 3
    assert "alert" in setup_html(SetupState(error="x"))


def test_library_line() -> None:
    text = HtmlPage(library_html(1643, "SmolLM2")).text
    assert text == "1,643 papers · answered on this machine by SmolLM2"
