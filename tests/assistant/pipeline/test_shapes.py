"""Shapes of answers: what a message asks for, by the real reader, and what is chosen for it."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from fakes import PAPERS, evidence, paper, paper_read

from assistant.generation.rendering import TERMINAL, parts_of_answer, write
from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.remarks import coverage, suggestions
from assistant.pipeline.shapes import (
    UNDEFINED,
    each_side,
    fitness,
    has_number,
    having,
    is_counted,
    shape_of,
    summary,
)
from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from assistant.types import Answer, Citation, Completed, Outcome, PartialAnswer, SentenceKind
from retrieval.library.library import Library
from retrieval.search.reader import ROLES, PaperRead, Reader, SentenceRead
from retrieval.search.rerank import ReadPassage
from retrieval.text.splitting import Sentence
from retrieval.types import Chunk, Filters, Paper, Passage, never

Ask = Callable[[str], Answer]


@pytest.fixture(scope="module")
def ask(
    library: Library, writing_model: LlamaCppChatModel, reader: Reader, verifier: Verifier
) -> Ask:
    """Asks the default models over the small library."""
    settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.BRIEF))
    return Assistant(library, writing_model, reader, verifier, settings).answer


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ("What is a spiking neuron?", "definition"),
        ("How many lichens were photographed?", "number"),
        ("Does pruning need retraining?", "polar"),
        ("Summarise the paper on tidal currents", "summary"),
        ("What is known about whispered speech?", "overview"),
        ("How does ZebraPrune compare with magnitude pruning?", "comparison"),
        ("Which papers are similar to this one?", "similar"),
        ("How is a photograph labelled?", "other"),
    ],
)
def test_what_a_message_asks_for(reader: Reader, message: str, shape: str) -> None:
    assert shape_of(message, (), reader) == shape


def test_the_words_of_a_title_do_not_say_the_shape(reader: Reader) -> None:
    titled = paper(title="How Many Layers? What Is a Good Depth and Does It Generalize?")
    assert shape_of(f"tl;dr of {titled.title}", [titled], reader) == "summary"


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ("what should I read next if I enjoyed ZebraPrune?", "similar"),
        ("And ZebraPrune?", "other"),
        ("Compare ZebraPrune with other ways to prune", "comparison"),
    ],
)
def test_a_name_alone_does_not_ask_for_papers_like_it(
    reader: Reader, message: str, shape: str
) -> None:
    named = paper(title="ZebraPrune: Removing Weights in Stripes")
    assert shape_of(message, [named], reader) == shape


def test_a_nickname_of_several_words_stands_for_its_paper(reader: Reader) -> None:
    named = paper(title="Semantic Uncertainty: Invariances in Generated Language")
    message = "i liked Semantic Uncertainty. anything else like it?"
    assert shape_of(message, [named], reader) == "similar"


def true(_text: str) -> bool:
    return True


def false(_text: str) -> bool:
    return False


def covers_nothing(_text: str) -> float:
    return 0.0


def whole(of: Paper, read: PaperRead) -> ReadPassage:
    chunk = Chunk(f"{of.id}:0", of.id, 0, 0, len(of.abstract), of.abstract)
    return ReadPassage(Passage(of, chunk, 1.0, 1.0), read)


def test_a_summary_has_problem_method_and_result_in_the_order_of_the_abstract(
    reader: Reader,
) -> None:
    speech = PAPERS[3]
    [read] = reader.read("Summarise this paper.", [speech], never)
    chosen = summary(whole(speech, read), true, false, covers_nothing)
    assert all(one.start < other.start for one, other in pairwise(chosen))
    assert all(speech.abstract[each.start : each.end] == each.text for each in chosen)
    [main] = [each.text for each in chosen if each.score]
    assert main == "We adapt a recogniser with 3 hours of whispers."
    assert chosen[-1].text == "The word error rate falls from 48% to 19%."


def test_a_summary_of_orders_alone_is_empty() -> None:
    speech = PAPERS[3]
    assert summary(whole(speech, paper_read(speech)), false, false, covers_nothing) == []


def test_the_papers_most_like_one_are_listed_without_it(ask: Ask) -> None:
    answer = ask("Which papers are similar to ZebraPrune?")
    assert answer.outcome is Outcome.ANSWERED
    assert {each.paper.id for each in answer.citations} == {"tidal", "lichen", "whisper"}
    assert all(each.kind is SentenceKind.QUOTED for each in answer.sentences)
    assert "most like" in answer.coverage


def test_a_comparison_says_which_side_is_missing(ask: Ask) -> None:
    answer = ask("Compare ZebraPrune with GiraffeCut.")
    assert answer.outcome is Outcome.ANSWERED
    assert answer.coverage == "No abstract cited here mentions “GiraffeCut”."


def test_the_answer_to_how_many_begins_with_the_number(ask: Ask) -> None:
    answer = ask("How many points of accuracy does ZebraPrune lose?")
    assert has_number(answer.sentences[0].text)


def test_an_overview_quotes_a_sentence_a_paper_and_says_how_many_there_are(ask: Ask) -> None:
    answer = ask("Which papers are about pruning vision models?")
    assert answer.outcome is Outcome.ANSWERED
    assert all(each.kind is SentenceKind.QUOTED for each in answer.sentences)
    assert answer.coverage.startswith("Shown: 1 of the ")
    assert answer.coverage.endswith("Complete by its words: no other of all 4 has most of them.")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("pruning vision models", "Perhaps not complete: 1 more of all 4 has most of its words."),
        (
            "ballet",
            "Its words do not tell whether that is all: no abstract has most of them.",
        ),
    ],
)
def test_an_overview_that_may_miss_papers_says_so(
    library: Library, question: str, said: str
) -> None:
    text = coverage("overview", question, [], [], library.lexical, filters=Filters(), absent=())
    assert text == f"Shown: 0 of the 0 abstracts read for the question. {said}"


def sentence(
    text: str, evidence: float = 0.0, alone: float | None = None, **roles: float
) -> SentenceRead:
    shares = tuple(roles.get(role, 0.01) for role in ROLES)
    return SentenceRead(Sentence(0, len(text), text), evidence, shares, alone)


def test_a_shape_favours_its_roles_and_what_it_asks_for() -> None:
    fits_better = sentence("We use dropout.", evidence=1.0)
    stands = sentence("We propose a way to regularize.", overview=0.9)
    assert fitness("overview")(stands) > fitness("overview")(fits_better)
    assert fitness("other")(stands) < fitness("other")(fits_better)
    counts = sentence("It needs 84 steps.")
    assert fitness("number")(counts) > fitness("number")(fits_better)
    compares = sentence("It is faster than Giraffe-Cut.")
    assert fitness("comparison", has_giraffe)(compares) > fitness("comparison")(compares)


def has_giraffe(text: str) -> float:
    """The share of a question that asks for a giraffe."""
    return float("giraffe" in text.casefold())


def test_papers_define_or_name_a_limit_in_the_eyes_of_both_readers() -> None:
    defines = sentence("A giraffe is a tall animal.", alone=4.0)
    uses = sentence("We count giraffes.", evidence=3.0, alone=-6.0)
    another = sentence("A zebra is a striped animal.", alone=4.0)
    fails = sentence("It fails at night.", alone=1.0, limit=0.9)
    of = {
        each.sentence.text: whole(paper(each.sentence.text), read_alone(each))
        for each in (uses, another, defines, fails)
    }
    first, second, third, fourth = of.values()
    assert having("definition", [first, second, third], has_giraffe) == [third]
    assert having("definition", [first], has_giraffe) == []
    assert having("limits", [first, fourth], has_giraffe) == [fourth]


def read_alone(read: SentenceRead) -> PaperRead:
    return PaperRead(0.0, 0.0, (read,))


def test_a_comparison_has_a_sentence_for_each_side() -> None:
    sides = ("a giraffe", "a zebra", "a zebra again", "none")
    found = [
        replace(evidence(text, paper(text, title="", abstract=text)), score=1.0 - at)
        for at, text in enumerate(sides)
    ]

    def covers(text: str) -> float:
        return sum(name in text for name in ("giraffe", "zebra")) / 2

    shown = each_side([found[0], found[3]], found[1:3], covers)
    assert [each.text for each in shown] == ["a giraffe", "a zebra", "none"]


def test_what_is_counted_stands_beside_its_number() -> None:
    assert is_counted("17 giraffes in a park.", has_giraffe)
    assert not is_counted("17 zebras in a park.", has_giraffe)
    assert not is_counted("The giraffes are 17.", has_giraffe)


def test_a_definition_that_no_abstract_gives_is_said_to_be_missing(ask: Ask) -> None:
    answer = ask("What is a linear classifier?")
    assert answer.outcome is Outcome.ANSWERED
    assert {each.heading for each in answer.sentences} == {UNDEFINED}
    assert answer.text.startswith(f"{UNDEFINED}: From ")


def test_what_is_suggested_is_answered_by_a_sentence_that_is_not_cited_yet() -> None:
    of = paper(title="ZebraPrune: Pruning at Once")
    finds, works = sentence("It halves time.", result=0.9), sentence("It sorts.", method=0.9)
    maybe = sentence("It may fail.", limit=0.6)
    read = [whole(of, PaperRead(0.0, 0.0, (finds, works, maybe)))]
    cited = [Citation(1, of, finds.sentence.text)]
    assert suggestions(read, cited) == ("How does ZebraPrune work?",)
    assert suggestions(read, []) == ()


def test_a_paper_without_a_short_name_gets_no_suggestions() -> None:
    of = paper(title="A very long title " * 6)
    read = [whole(of, PaperRead(0.0, 0.0, (sentence("It sorts.", method=0.9),)))]
    assert suggestions(read, [Citation(1, of, "Else.")]) == ()


def test_a_misspelled_word_is_corrected_and_a_missing_one_is_not(ask: Ask) -> None:
    question = "How many photogrphs of lichens are there?"
    assert ask(question).searched_for == question.replace("photogrphs", "photographs")
    assert ask("How many statins are there?").searched_for == ""
    assert ask("Does ZebraPrun need retraining?").searched_for == ""


def test_remarks_stand_below_the_sentences_in_the_terminal(ask: Ask) -> None:
    answer = ask("Which papers are similar to ZebraPrune?")
    answer = replace(answer, suggestions=("How does it work?",))
    parts = parts_of_answer(PartialAnswer(answer.question).add(Completed(answer)))
    lines = [write(part, TERMINAL).strip() for part in parts]
    assert lines.index(answer.coverage) < lines.index("References")
    further = lines.index("You can go on with")
    assert lines[further + 1] == "How does it work?"
    assert lines[further + 2 :] == [answer.coverage_statement]


def test_a_corrected_question_is_not_said_to_be_understood_otherwise(ask: Ask) -> None:
    answer = ask("How many photogrphs of lichens are there?")
    assert answer.standalone_question == answer.searched_for
    assert answer.understood == ""


def test_a_summary_is_not_given_for_what_a_paper_does_not_name(ask: Ask) -> None:
    assert ask("Summarise ZebraPrune").outcome is Outcome.ANSWERED
    answer = ask("What does the ZebraPrune paper report about StarCraft?")
    assert answer.outcome is not Outcome.ANSWERED


def test_what_a_named_method_is_its_paper_says_by_what_it_proposes(ask: Ask) -> None:
    answer = ask("What is ZebraPrune?")
    assert "ZebraPrune" in answer.sentences[0].text
    assert answer.coverage == ""
