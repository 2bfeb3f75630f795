"""Answers as HTML: hostile text stays text, and each part says what it is."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from fakes import PAPERS, answered, evidence, paper, passage
from html_page import PAYLOADS, HtmlPage, flat

from assistant.generation.answer_builder import ABSTENTION
from assistant.pipeline.intent import THANKS
from assistant.server.history import Conversation, Exchange, Rating, Reason
from assistant.server.service import Waiting
from assistant.server.web.cards import with_decisive_words
from assistant.server.web.chat import by_day, chat_html
from assistant.server.web.exports import copied_text, table_csv, table_markdown, table_rows
from assistant.types import Answer, AnswerSentence, Citation, Outcome, PartialAnswer, SentenceKind
from retrieval.types import Paper

ZEBRA, TIDAL = PAPERS[:2]
NOON = datetime(2026, 3, 2, 12)  # noqa: DTZ001 - days are those of the machine
QUOTE = "It does not need retraining."
WRITTEN = AnswerSentence("It needs none.", SentenceKind.VERIFIED, (1,))
QUOTED = AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,))
CITATION = Citation(1, ZEBRA, QUOTE)
ANSWER = answered(ZEBRA, QUOTE)
REFUSED = replace(
    ANSWER,
    outcome=Outcome.NOT_IN_LIBRARY,
    text=ABSTENTION,
    sentences=(),
    citations=(),
    passages=tuple(passage(each) for each in PAPERS),
)


def of(macro: str, *values: object) -> HtmlPage:
    return HtmlPage(chat_html(macro, *values))


def held(*exchanges: Exchange, name: str = "A name") -> HtmlPage:
    return of("conversation", Conversation("c1", name, 0.0, exchanges))


def shown(*answers: Answer, rating: Rating | None = None, question: str = "Why?") -> HtmlPage:
    return held(
        *(Exchange(f"e{at}", question, answer, rating=rating) for at, answer in enumerate(answers))
    )


def asking(waiting: Waiting | None = None, **more: Any) -> HtmlPage:
    """An answer in progress."""
    return of("asking", PartialAnswer("Why?", **more), waiting)


def hostile(payload: str) -> Answer:
    """An answer with the payload wherever text can come from outside."""
    odd = paper(
        title=payload,
        abstract=f"{payload} One. {QUOTE} {payload}",
        authors=(payload, "Ada"),
        venue=payload,
        decision=payload,
    )
    return replace(
        answered(odd, QUOTE, payload),
        standalone_question=f"About {payload}",
        sentences=(
            AnswerSentence(payload, SentenceKind.VERIFIED, (1,)),
            AnswerSentence(f"{payload} One.", SentenceKind.QUOTED, (2,)),
        ),
        citations=(Citation(1, odd, QUOTE), Citation(2, odd, f"{payload} One.")),
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_stays_text(payload: str) -> None:
    answer = hostile(payload)
    whole = shown(answer, question=payload)
    assert flat(whole.text).count(flat(payload)) >= 7
    partial = PartialAnswer(payload, payload * 2, answer.passages)
    stopped = Exchange("e", payload, None, answer.sentences, answer.citations, payload)
    read = replace(partial, evidence=(evidence(QUOTE, answer.citations[0].paper),))
    pages = (
        whole,
        shown(replace(answer, outcome=Outcome.NOT_IN_LIBRARY, sentences=(), text=payload)),
        shown(answer, rating=Rating(Reason.OTHER, payload)),
        held(stopped, name=payload),
        of("welcome", [payload]),
        of("past", [("Today", [Conversation(payload, payload, 0.0)])], "c", payload, 500),
        of("error", payload),
        of("asking", PartialAnswer(payload)),
        of("asking", partial),
        of("asking", replace(read, sentences=answer.sentences, citations=answer.citations)),
        shown(of_two_papers(replace(ZEBRA, title=payload), payload)),
    )
    for page in pages:
        assert flat(payload) in flat(page.text)


def test_a_citation_names_its_paper_and_its_quote() -> None:
    page = shown(ANSWER)
    assert page.values("data-quote") == [QUOTE]
    assert json.loads(page.values("data-quotes")[0]) == [QUOTE]
    assert set(page.values("data-paper")) == {ZEBRA.id}
    assert page.values("data-number") == page.values("data-numbers") == ["1"]
    assert "Citation 1: Zebra Pruning for Vision Models" in page.values("aria-label")


def test_a_paper_has_one_card_from_which_it_is_opened_and_cited() -> None:
    page = shown(ANSWER)
    assert set(page.values("data-cite")) == {f'["{ZEBRA.id}"]'}
    assert f"Open abstract of {ZEBRA.title}" in page.values("aria-label")


def test_one_reference_a_paper_with_all_its_numbers_and_quotes() -> None:
    other = "Large vision models are slow on phones."
    hard = "Tidal currents near harbours are hard to forecast."
    citations = (CITATION, Citation(2, TIDAL, hard), Citation(3, ZEBRA, other))
    page = shown(replace(ANSWER, citations=citations))
    facts = "Ada Miro, Ben Okafor · ICML 2021, oral"
    assert f"[1][3] Zebra Pruning for Vision Models {facts}" in flat(page.text)
    assert json.dumps([QUOTE, other]) in page.values("data-quotes")


def test_written_sentences_are_one_paragraph_and_quoted_ones_their_evidence() -> None:
    sentences = (WRITTEN, replace(WRITTEN, text="None at all."), QUOTED)
    page = shown(replace(ANSWER, sentences=sentences, confidence=0.9))
    classes = page.values("class")
    assert [classes.count(each) for each in ("written", "verified", "quoted")] == [1, 2, 1]
    assert page.values("aria-label").count("Checked against what it cites") == 2
    written, quoted = page.text.split("Evidence")
    assert "It needs none.✓1 None at all.✓1" in written
    assert f"{ZEBRA.title} Ada Miro, Ben Okafor · ICML 2021, oral{QUOTE}" in quoted
    alone = shown(replace(ANSWER, sentences=(QUOTED,)))
    assert "Evidence" not in alone.text
    assert alone.text.count(QUOTE) == 1


def test_words_that_an_answer_shares_with_its_evidence_are_marked() -> None:
    quote = "In tests, ZebraPrune loses only 0.3 points of <b>accuracy</b> on phones."
    said = replace(WRITTEN, text="ZebraPrune loses only 0.3 points of <b>accuracy</b>.")
    answer = replace(
        ANSWER, sentences=(said,), citations=(replace(CITATION, quote=quote),), confidence=0.9
    )
    html = chat_html("conversation", Conversation("c", "n", 0.0, (Exchange("e", "?", answer),)))
    decisive = "ZebraPrune loses only 0.3 points of &lt;b&gt;accuracy"
    assert f"In tests, <mark>{decisive}</mark>&lt;/b&gt; on phones." in html
    assert shown(answer).tags.count("mark") == 1
    whole = replace(answer, sentences=(replace(said, text=quote),))
    assert "mark" not in shown(whole).tags


def test_words_that_many_papers_of_the_library_use_are_not_marked() -> None:
    common = {"which", "of", "models", "paper"}

    def stem(word: str) -> str:
        return "" if word.casefold() in common else word.casefold().removesuffix("s")

    quote = "The strides of models which this paper learns beat pooling of models."
    html = with_decisive_words(quote, ["Which of the papers' models learn stride sizes?"], stem)
    assert html == (
        "The <mark>strides</mark> of models which this paper <mark>learns</mark> beat pooling of "
        "models."
    )


def test_titles_show_formulas_and_printed_quotation_marks() -> None:
    name = "What is ``grokking'' of $f_\\theta$?"
    html = chat_html("past", [("Today", [Conversation("c", name, 0.0)])], "")
    assert "What is “grokking” of <math" in html
    assert 'title="What is “grokking” of fθ?"' in html


def test_what_is_read_is_evidence_until_it_is_quoted() -> None:
    for sentences, headings in (
        ((), 1),
        ((WRITTEN,), 1),
        ((WRITTEN, QUOTED), 1),
        ((QUOTED,), 0),
    ):
        page = asking(
            passages=(passage(ZEBRA),),
            evidence=(evidence(QUOTE),),
            sentences=sentences,
            citations=(CITATION,),
        )
        assert page.text.count("Evidence") == headings
        assert page.text.count(QUOTE) == 1


def of_two_papers(zebra: Paper, claim: str = "It needs none.") -> Answer:
    """An answer with a sentence on each of two papers, and their evidence."""
    hard = "Tidal currents near harbours are hard to forecast."
    sentences = (
        AnswerSentence(claim, SentenceKind.VERIFIED, (1,)),
        AnswerSentence("Tides are hard.", SentenceKind.VERIFIED, (2,)),
        QUOTED,
        AnswerSentence(hard, SentenceKind.QUOTED, (2,)),
    )
    citations = (Citation(1, zebra, QUOTE), Citation(2, TIDAL, hard))
    return replace(ANSWER, sentences=sentences, citations=citations, confidence=0.9)


def test_what_is_written_of_several_papers_is_a_table_too() -> None:
    answer = of_two_papers(replace(ZEBRA, year=2020))
    page = shown(answer)
    assert page.values("scope") == ["col", "col", "col", "col", "row", "row"]
    assert (page.tags.count("tr"), page.tags.count("td")) == (3, 6)
    assert page.tags.count("details") == 3  # folded, the report and more
    rows = table_rows(answer)
    assert {table_csv(rows), table_markdown(rows)} <= set(page.values("data-copy"))
    assert f"oral2020It needs none.{QUOTE} 1" in page.text
    assert "table" not in shown(replace(answer, sentences=answer.sentences[1:])).tags
    assert "table" not in shown(replace(answer, confidence=None)).tags


def test_a_table_has_no_column_for_a_year_that_all_papers_share() -> None:
    answer = of_two_papers(replace(ZEBRA, year=TIDAL.year))
    page = shown(answer)
    assert page.values("scope") == ["col", "col", "col", "row", "row"]
    assert f"oralIt needs none.{QUOTE} 1" in page.text
    assert table_csv(table_rows(answer)) in page.values("data-copy")  # copies keep it


def test_three_papers_are_a_table_that_is_open_and_has_their_evidence() -> None:
    two = of_two_papers(ZEBRA)
    third = PAPERS[2]
    quoted = AnswerSentence(third.abstract, SentenceKind.QUOTED, (3,))
    answer = replace(
        two,
        sentences=(*two.sentences, quoted),
        citations=(*two.citations, Citation(3, third, third.abstract)),
    )
    page = shown(answer)
    assert page.tags.count("tr") == 4
    assert page.tags.count("details") == 2
    assert page.values("data-numbers") == ["1", "2", "3"]
    bare = shown(replace(answer, sentences=answer.sentences[2:]))
    assert "What it says" not in bare.text
    assert bare.text.count(QUOTE) == 1
    definition = shown(replace(answer, sentences=(answer.sentences[0], *answer.sentences[2:])))
    assert definition.values("aria-label").count("Evidence") == 1
    assert definition.tags.count("details") == 3


def test_subtopics_stand_above_their_rows_once() -> None:
    sentences = tuple(
        AnswerSentence(each.abstract, SentenceKind.QUOTED, (at,), heading)
        for at, (each, heading) in enumerate(
            zip(PAPERS[:3], ("One <b>", "One <b>", "Two"), strict=True), start=1
        )
    )
    citations = tuple(
        Citation(at, each, each.abstract) for at, each in enumerate(PAPERS[:3], start=1)
    )
    answer = replace(ANSWER, sentences=sentences, citations=citations, confidence=0.9)
    page = shown(answer)
    assert page.tags.count("tr") == 1 + 3 + 2
    assert (page.text.count("One <b>"), page.text.count("Two")) == (1, 1)
    assert set(page.values("colspan")) == {"3"}  # paper, year and quote


def test_what_an_answer_says_of_itself_and_what_to_ask_next() -> None:
    more = replace(
        ANSWER, searched_for="pruning", coverage="3 of 7 papers.", suggestions=("And?", "<b>?")
    )
    page = shown(more, more)
    assert page.text.count("Searched for: pruning") == 2
    assert page.text.count("3 of 7 papers.") == 2
    asked = [each for each in page.values("data-question") if each in more.suggestions]
    assert asked == list(more.suggestions)  # below the last answer only


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome.NOT_IN_LIBRARY, "Not in this library"),
        (Outcome.ABSTRACT_SILENT, "Not found in the abstract"),
    ],
)
def test_a_refusal_is_plain_and_shows_the_closest_papers(outcome: Outcome, said: str) -> None:
    page = shown(replace(REFUSED, outcome=outcome))
    for expected in (said, ABSTENTION, "Closest papers", "The library does answer it"):
        assert expected in page.text
    assert page.values("data-search") == [REFUSED.question.rstrip("?")]
    assert page.text.count(REFUSED.passages[0].chunk.text) == 1
    assert page.values("class").count("paper") == 3
    assert "Wrong citation" not in page.text


def test_a_fixed_reply_is_no_refusal_and_not_rated() -> None:
    page = shown(replace(REFUSED, text=THANKS, passages=()))
    assert THANKS in page.text
    assert "Not in this library" not in page.text
    assert "Good answer" not in page.values("aria-label")
    unmatched = shown(replace(REFUSED, text="No paper by Foo.", passages=()))
    assert "Not in this library" in unmatched.text
    assert "Good answer" in unmatched.values("aria-label")


def test_what_is_shown_while_an_answer_comes() -> None:
    assert "Searching the library" in asking().text
    assert "Searching 1,643 abstracts" in of("asking", PartialAnswer("?"), None, 1643).text
    assert "1 question comes first" in asking(Waiting(1, 0.9)).text
    assert "1 question comes first; about 7 s" in asking(Waiting(1, 6.6)).text
    assert "3 questions come first" in asking(Waiting(3, None)).text
    found = {"passages": ANSWER.passages, "standalone_question": "Why?"}
    reading = asking(**found).text
    assert "Reading 1 paperZebra Pruning for Vision Models" in reading
    assert "Understood as" not in reading
    found["standalone_question"], one = "X", evidence(QUOTE)
    sentences = {"sentences": ANSWER.sentences, "citations": ANSWER.citations}
    writing = asking(evidence=(one,), **found, **sentences).text
    assert "Writing from 1 sentence of “Zebra Pruning for Vision Models”" in writing
    assert "Understood as: X" in writing
    assert f"Zebra Pruning for Vision Models{QUOTE}1" in writing
    two = (one, replace(one, paper=TIDAL))
    assert "Writing from 2 sentences of 2 papers" in asking(evidence=two, **found).text


def test_what_was_stopped_keeps_what_was_shown() -> None:
    stopped = Exchange("e", "Why?", None, ANSWER.sentences, ANSWER.citations, "Stopped.")
    page = held(stopped)
    for expected in (QUOTE, "Stopped.", "Ask again"):
        assert expected in page.text
    assert page.values("data-copy") == []
    assert "Good answer" not in page.values("aria-label")
    running = of("conversation", Conversation("c", "n", 0.0, (stopped,)), {"e"})
    assert "The answer is coming on another page" in running.text
    assert "Stopped." not in running.text


def test_only_the_last_question_is_asked_again_and_each_can_be_edited() -> None:
    page = shown(ANSWER, ANSWER)
    assert page.values("data-event").count("retry") == 1
    assert page.values("data-event").count("edit") == 2
    assert page.values("data-position") == ["0", "1", "1"]


@pytest.mark.parametrize(
    ("rating", "pressed", "offered"),
    [
        (None, ["false"], ["good"]),
        (Rating(Reason.GOOD), ["true"], [""]),
        (Rating(Reason.WRONG_CITATION), ["false"], ["good"]),
    ],
)
def test_a_rating_is_shown_and_can_be_taken_back(
    rating: Rating | None, pressed: list[str], offered: list[str]
) -> None:
    page = shown(ANSWER, rating=rating)
    assert page.values("aria-pressed") == pressed
    assert page.values("data-reason") == offered
    is_bad = rating is not None and rating.reason is not Reason.GOOD
    assert ("Kept as a case for evaluation: wrong citation.Take back" in page.text) is is_bad
    assert ("What is wrong?" in page.text) is not is_bad


def test_what_is_copied_has_its_references() -> None:
    assert copied_text(ANSWER) == (
        f"{ANSWER.text}\n\n[1] Ada Miro, Ben Okafor. Zebra Pruning for Vision Models. "
        "ICML 2021, oral."
    )
    assert copied_text(REFUSED) == ABSTENTION


def test_understood_only_where_it_differs() -> None:
    answer = answered(ZEBRA, QUOTE, "Why?")
    assert "Understood as" not in shown(answer).text
    other = replace(answer, standalone_question="About X: Why?")
    assert "Understood as: About X: Why?" in shown(other).text


def test_lines_of_a_question_stay_lines() -> None:
    assert "a\n\nb\nc" in of("asking", PartialAnswer("a\n\nb\r\nc")).text


def test_the_open_conversation_is_told() -> None:
    both = [("Today", [Conversation("c1", "One", 0.0), Conversation("c2", "Two", 0.0)])]
    page = of("past", both, "c2")
    assert page.values("aria-current") == ["true"]
    assert "What to do with “One”" in page.values("aria-label")
    for ending in ("md", "bib", "json"):
        assert f"conversations/c1.{ending}" in page.values("href")
    assert "listed here" in of("past", [], "").text
    assert "No conversation has these words" in of("past", [], "", "zebra").text
    assert "500" in of("past", both, "", "", 500).values("data-limit")


def test_conversations_are_grouped_by_their_day() -> None:
    def on(*ago: int) -> list[Conversation]:
        days = (NOON - timedelta(days=each) for each in ago)
        return [Conversation(f"{each}", "", each.timestamp()) for each in days]

    groups = by_day(on(0, 0, 1, 3, 7, 8, 400), NOON.date())
    assert [(name, len(members)) for name, members in groups] == [
        ("Today", 2),
        ("Yesterday", 1),
        ("Previous 7 days", 2),
        ("Older", 2),
    ]
