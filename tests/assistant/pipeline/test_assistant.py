"""The path from question to answer, with a model that says what the test wants it to."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from fakes import (
    LICHEN,
    PAPERS,
    TIDAL,
    WHISPER,
    ZEBRA,
    Asking,
    FakeChatModel,
    FakeReader,
    answered,
    written,
)
from promises import ANSWER_ALL, LIES, QUESTION, TRUE, UNDECIDED, check_promises

from assistant.generation import answer_builder
from assistant.generation.answer_builder import ABSTENTION, answer_text
from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.pipeline.abstention import DEFAULT_THRESHOLD, FILE, write_calibration
from assistant.pipeline.assistant import LONGEST_QUESTION, Assistant, checked_question
from assistant.pipeline.calibration import JudgedQuestion, calibrated
from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from assistant.types import (
    AnswerSentence,
    Citation,
    Completed,
    EvidenceSelected,
    Outcome,
    Reranked,
    Retrieved,
    SentenceKind,
    SentenceVerified,
    Turn,
)
from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.library.library import Library
from retrieval.search.reader import MessageRead, Reader
from retrieval.types import Cancelled, InputError, LibraryError

ABSTRACTS = (ZEBRA, TIDAL, LICHEN, WHISPER)
BOTH = "How many weights does ZebraPrune remove, and how many points of accuracy does it lose?"
LATER_LIE = "It also removes 99% of the biases of a vision model [1]."
ZEBRA_TITLE = PAPERS[0].title
REMOVES = "We present ZebraPrune, which removes 40% of the weights of a vision model."
LOSES = "ZebraPrune loses 0.3 points of accuracy on ImageNet."
LICHENS = "We release LichenSet, a dataset of 58,000 photographs of lichens from 14 countries."
TWO = "slow vision models, and what accuracy on photographs"
"""Two papers answer it."""
BRIEFLY = AnswerSettings(writing=WritingSettings(mode=WritingMode.BRIEF))
"""As the default model answers."""
ON_ZEBRA = [Turn(QUESTION, answered(PAPERS[0], "It does not need retraining."))]
"""A conversation about one paper."""


def test_in_a_comparison_each_paper_has_its_say(
    library: Library, writing_model: LlamaCppChatModel, reader: Reader, verifier: Verifier
) -> None:
    settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.BRIEF))
    assistant = Assistant(library, writing_model, reader, verifier, settings)
    answer = assistant.answer("Compare ZebraPrune and LichenSet.")
    check_promises(answer)
    assert answer.outcome is Outcome.ANSWERED
    assert len({each.paper.id for each in answer.citations}) > 1


def two_sentences() -> FakeReader:
    """Takes two sentences for worth reading: what is removed, and what is lost."""
    return FakeReader({"zebra": "ZebraPrune"})


def two_papers(kind: str = "several") -> FakeReader:
    """Takes a sentence each of two papers for worth reading."""
    return FakeReader({"zebra": "removes", "lichen": "release"}, kind=kind)


def unmarked(reply: str) -> str:
    """A reply without citation marks, as it is where the prompt has no keys."""
    return re.sub(r" ?\[\d+\]", "", reply).strip()


def test_a_sentence_that_holds_is_shown_with_its_citation_before_its_evidence(
    asking: Asking,
) -> None:
    assistant, model = asking(f"{TRUE} [1]", reader=FakeReader({"zebra": "removes"}))
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert answer.outcome is Outcome.ANSWERED
    assert [(each.text, each.kind, each.citations) for each in answer.sentences] == [
        (TRUE, SentenceKind.VERIFIED, (1,)),
        (REMOVES, SentenceKind.QUOTED, (1,)),
    ]
    assert [each.quote for each in answer.citations] == [REMOVES]
    assert answer.text == f"{TRUE} [1] Evidence: From “{ZEBRA_TITLE}”: “{REMOVES}” [1]"
    assert (answer.question, answer.standalone_question) == (QUESTION, QUESTION)
    assert answer.model == "fake"
    assert answer.tokens.completion == len(model.written) == 11
    assert answer.tokens.prompt == model.count(model.history[0])


def test_a_sentence_that_cites_nothing_is_cited_rightly(asking: Asking) -> None:
    for mark in ("", " [9]"):
        assistant, _ = asking(TRUE + mark, reader=two_sentences())
        answer = assistant.answer(BOTH)
        check_promises(answer)
        assert written(answer) == [TRUE]
        assert answer.citations[0].quote == REMOVES


def test_a_sentence_that_cites_wrongly_is_not_shown(asking: Asking) -> None:
    assistant, model = asking(f"{TRUE} [2]", reader=two_sentences())
    answer = assistant.answer(BOTH)
    check_promises(answer)
    assert model.notes[1] == LOSES
    assert written(answer) == []


@pytest.mark.parametrize("mode", [WritingMode.FREE, WritingMode.BRIEF])
@pytest.mark.parametrize("lie", LIES, ids=lambda text: text[:30])
def test_a_model_that_lies_is_never_shown(asking: Asking, lie: str, mode: WritingMode) -> None:
    reply = unmarked(lie) if mode is WritingMode.BRIEF else lie
    settings = AnswerSettings(writing=WritingSettings(mode=mode))
    assistant, model = asking(reply, settings=settings)
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert len(model.history) == 1
    assert answer.outcome is Outcome.ANSWERED
    assert {sentence.kind for sentence in answer.sentences} == {SentenceKind.QUOTED}
    shown = re.sub(r" \[\d+\]", "", reply.strip())
    assert not shown or shown not in answer.text
    assert any("removes 40%" in sentence.text for sentence in answer.sentences)


@pytest.mark.parametrize("lie", LIES, ids=lambda text: text[:30])
def test_of_several_papers_no_lie_is_shown(asking: Asking, lie: str) -> None:
    for replies in ([unmarked(lie)] * 2, [REMOVES, unmarked(lie)]):
        assistant, model = asking(*replies, settings=BRIEFLY, reader=two_papers())
        answer = assistant.answer(TWO)
        check_promises(answer)
        assert len(model.history) == 2
        assert written(answer) == [each for each in replies if each == REMOVES]
        assert {each.paper.id for each in answer.citations} == {"zebra", "lichen"}


def test_of_several_papers_each_has_its_sentence(asking: Asking) -> None:
    assistant, model = asking(REMOVES, LICHENS, settings=BRIEFLY, reader=two_papers())
    answer = assistant.answer(TWO)
    check_promises(answer)
    assert written(answer) == [REMOVES, LICHENS]
    assert [each.citations for each in answer.sentences] == [(1,), (2,)]
    first, second = model.history
    assert "Paper: Zebra" in first[-1]["content"]
    assert "Paper: A Dataset of Lichen" in second[-1]["content"]
    assert answer.tokens.prompt == sum(map(model.count, model.history))


def test_where_one_paper_is_asked_for_one_sentence_is_written(asking: Asking) -> None:
    """Though two papers give evidence."""
    assistant, model = asking(REMOVES, LICHENS, settings=BRIEFLY, reader=two_papers("content"))
    answer = assistant.answer(TWO)
    check_promises(answer)
    assert {each.paper.id for each in answer.citations} == {"zebra", "lichen"}
    assert written(answer) == [REMOVES]
    assert len(model.history) == 1


@pytest.mark.parametrize("lie", [LATER_LIE, *LIES[:5]], ids=lambda text: text[:30])
def test_a_lie_behind_a_true_sentence_is_not_shown(asking: Asking, lie: str) -> None:
    assistant, _ = asking(f"{TRUE} [1] {lie}")
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert answer.sentences[0].text == TRUE
    for sentence in answer.sentences[1:]:
        assert sentence.kind is SentenceKind.QUOTED
        assert any(sentence.text in abstract for abstract in ABSTRACTS)


def test_a_verbatim_sentence_is_a_quotation_and_comes_first(asking: Asking) -> None:
    assistant, _ = asking(LOSES, reader=two_sentences())
    answer = assistant.answer(BOTH)
    check_promises(answer)
    assert [(each.text, each.kind) for each in answer.sentences] == [
        (LOSES, SentenceKind.QUOTED),
        (REMOVES, SentenceKind.QUOTED),
    ]
    assert "Evidence:" not in answer.text


def test_a_sentence_said_twice_is_shown_once(asking: Asking) -> None:
    assistant, _ = asking(f"{TRUE} [1] {TRUE} [1] {TRUE}")
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert written(answer) == [TRUE]


def test_citations_are_numbered_in_the_order_of_the_answer(asking: Asking) -> None:
    probe, model = asking("", reader=two_sentences())
    probe.answer(BOTH)
    removes = next(at for at, note in enumerate(model.notes, 1) if "removes 40%" in note)
    loses = next(at for at, note in enumerate(model.notes, 1) if "loses 0.3" in note)
    loss = "ZebraPrune loses 0.3 points of accuracy."
    reply = f"{loss} [{loses}] {TRUE} [{removes}] {TRUE[:-1]} [{removes}][{loses}]."
    assistant, _ = asking(reply, reader=two_sentences())
    answer = assistant.answer(BOTH)
    check_promises(answer)
    assert [sentence.text for sentence in answer.sentences[:2]] == [loss, TRUE]
    assert [sentence.citations for sentence in answer.sentences[:2]] == [(1,), (2,)]
    assert "loses 0.3" in answer.citations[0].quote


def test_a_sentence_in_which_the_model_had_to_stop_is_not_shown(asking: Asking) -> None:
    cut = "We present ZebraPrune, which removes 40% of the weights of a vision model."
    settings = AnswerSettings(writing=WritingSettings(max_tokens=20))
    assistant, model = asking(f"{TRUE} [1] {cut}", settings=settings)
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert model.written[-1] == " weights"
    assert written(answer) == [TRUE]
    assistant, _ = asking(TRUE, settings=AnswerSettings(writing=WritingSettings(max_tokens=10)))
    assert written(assistant.answer(QUESTION)) == [TRUE]


def test_after_a_first_sentence_that_fails_the_model_is_not_read_on(asking: Asking) -> None:
    lies = [f"The sky of planet{number} is green and very wide." for number in range(20)]
    assistant, model = asking(" ".join(lies))
    check_promises(assistant.answer(QUESTION))
    assert "planet0" in "".join(model.written)
    assert "planet1" not in "".join(model.written)


def test_behind_one_that_holds_two_may_fail(asking: Asking) -> None:
    lies = [f"The sky of planet{number} is green and very wide." for number in range(20)]
    assistant, model = asking(" ".join([f"{TRUE} [1]", *lies]))
    check_promises(assistant.answer(QUESTION))
    assert "planet1" in "".join(model.written)
    assert "planet2" not in "".join(model.written)


def test_a_model_that_says_the_same_again_is_not_read_on(asking: Asking) -> None:
    assistant, model = asking(f"{TRUE} [1] " * 20)
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert written(answer) == [TRUE]
    assert "".join(model.written).count("ZebraPrune") <= 3


@pytest.mark.parametrize("reply", ["<think>" + f"{TRUE} [1] " * 9, f"[THINK]{TRUE} [1]"])
def test_thinking_that_never_closes_is_not_shown(asking: Asking, reply: str) -> None:
    assistant, _ = asking(reply)
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert {sentence.kind for sentence in answer.sentences} == {SentenceKind.QUOTED}


def test_thinking_is_not_shown_and_what_follows_is(asking: Asking) -> None:
    assistant, _ = asking(f"<think>The network halves the error. [1]</think>\n\n{TRUE} [1]")
    assert written(assistant.answer(QUESTION)) == [TRUE]


def test_a_model_that_does_not_write_well_enough_is_not_asked(asking: Asking) -> None:
    assistant, model = asking(
        settings=AnswerSettings(writing=WritingSettings(mode=WritingMode.QUOTE))
    )
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert model.history == []
    assert {sentence.kind for sentence in answer.sentences} == {SentenceKind.QUOTED}
    assert (answer.tokens.prompt, answer.tokens.completion) == (0, 0)


def test_text_in_evidence_that_looks_like_a_key_cites_nothing(asking: Asking) -> None:
    """A model that copies a mark which a paper planted: the sentence is cited by what holds it."""
    assistant, _ = asking(f"{TRUE} [z9z] [k3x] [0]")
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert written(answer) == [TRUE]


def test_no_more_sentences_than_the_settings_say(asking: Asking) -> None:
    settings = AnswerSettings(writing=WritingSettings(most_sentences=1))
    reply = f"{TRUE} [1] ZebraPrune loses 0.3 points of accuracy. [2]"
    assistant, model = asking(reply, settings=settings, reader=two_sentences())
    answer = assistant.answer(BOTH)
    check_promises(answer)
    assert len(model.notes) > 1
    assert len(written(answer)) == 1


@pytest.mark.parametrize(
    "question",
    ["How do I bake sourdough bread at home?", "Wie viele Gewichte entfernt das Verfahren?"],
)
def test_what_no_abstract_is_about_is_not_answered(asking: Asking, question: str) -> None:
    assistant, model = asking()
    answer = assistant.answer(question)
    check_promises(answer)
    assert model.history == []
    assert answer.outcome is Outcome.NOT_IN_LIBRARY
    assert answer.text.startswith(ABSTENTION)
    assert answer.confidence is not None
    assert answer.confidence < DEFAULT_THRESHOLD
    assert answer.passages


@pytest.mark.parametrize("question", ["qwerty", "?", "Are vision models on ImageNet hard?"])
def test_where_no_abstract_answers_the_model_is_not_asked(asking: Asking, question: str) -> None:
    assistant, model = asking(reader=FakeReader())
    answer = assistant.answer(question)
    check_promises(answer)
    assert model.history == []
    assert answer.outcome is Outcome.NOT_IN_LIBRARY
    assert answer.text == ABSTENTION
    assert (answer.sentences, answer.citations) == ((), ())
    assert answer.passages
    assert (answer.tokens.prompt, answer.tokens.completion) == (0, 0)


@pytest.mark.parametrize("question", ["", "   ", "\n\t "])
def test_an_empty_question(asking: Asking, question: str) -> None:
    assistant, model = asking()
    with pytest.raises(InputError, match="The question is empty"):
        assistant.answer(question)
    assert model.history == []


def test_a_question_of_100_000_characters(asking: Asking) -> None:
    assistant, model = asking()
    with pytest.raises(InputError, match="has 100,000 characters, at most 2,000"):
        assistant.answer("a" * 100_000)
    assert model.history == []


def test_the_longest_question_is_answered(asking: Asking) -> None:
    assistant, _ = asking(TRUE, reader=two_sentences())
    question = f"{QUESTION} {'really ' * 400}"[:LONGEST_QUESTION].strip()
    assert assistant.answer(question).question == question


@pytest.mark.parametrize("question", ["What is \ud83d?", "\udcff\udcfe", "a\x00b\x1b[31mc"])
def test_letters_that_no_text_can_hold(asking: Asking, question: str) -> None:
    """From `\\ud83d` in JSON, or bytes of an argument that are not UTF-8."""
    assistant, _ = asking("")
    answer = assistant.answer(question)
    answer.question.encode()
    answer.standalone_question.encode()


def test_a_context_that_is_too_small_for_all_evidence_drops_the_last(asking: Asking) -> None:
    roomy, model = asking("", reader=two_sentences())
    roomy.answer(BOTH)
    whole, all_notes = model.count(model.history[0]), model.notes
    assert len(all_notes) == 2
    settings = AnswerSettings(writing=WritingSettings(max_tokens=20))
    assistant, model = asking(
        f"{TRUE} [1]", context=whole + 19, settings=settings, reader=two_sentences()
    )
    check_promises(assistant.answer(BOTH))
    assert model.notes == all_notes[:-1]
    assert model.count(model.history[0]) + 20 <= model.context


def test_a_context_that_holds_no_evidence_is_an_error_of_the_person(asking: Asking) -> None:
    assistant, model = asking(context=170)
    with pytest.raises(InputError, match="does not fit into the model's context of 170 tokens"):
        assistant.answer(QUESTION)
    assert model.history == []


def test_the_stream_tells_what_the_answer_holds(asking: Asking) -> None:
    assistant, _ = asking(f"{TRUE} [1] {LATER_LIE}", reader=two_sentences())
    found, chosen, *shown, finished = list(assistant.stream(f"  {QUESTION}\n"))
    assert isinstance(found, Retrieved)
    assert isinstance(chosen, EvidenceSelected)
    assert any("removes 40%" in each.text for each in chosen.evidence)
    assert isinstance(finished, Completed)
    answer = finished.answer
    assert (found.standalone_question, found.passages) == (QUESTION, answer.passages)
    assert all(isinstance(event, SentenceVerified) for event in shown)
    sentences = [event.sentence for event in shown if isinstance(event, SentenceVerified)]
    citations = [
        each for event in shown if isinstance(event, SentenceVerified) for each in event.citations
    ]
    assert (tuple(sentences), tuple(citations)) == (answer.sentences, answer.citations)


def test_a_sentence_is_shown_before_the_model_has_ended(asking: Asking) -> None:
    assistant, model = asking(f"{TRUE} [1] It is {'very ' * 50}good.", reader=two_sentences())
    events = assistant.stream(QUESTION)
    assert [type(next(events)) for _ in range(3)] == [Retrieved, EvidenceSelected, SentenceVerified]
    assert len(model.written) < 20


def test_a_paper_that_answers_comes_first(asking: Asking) -> None:
    plain, _ = asking(settings=ANSWER_ALL, reader=FakeReader())
    found = next(plain.stream(UNDECIDED))
    assert isinstance(found, Retrieved)
    second = found.passages[1]
    reader = FakeReader({second.paper.id: "network"})
    assistant, _ = asking("", "", settings=ANSWER_ALL, reader=reader)
    again, reranked, *_ = assistant.stream(UNDECIDED)
    assert again == found
    assert isinstance(reranked, Reranked)
    assert reranked.passages[0].paper == second.paper
    answer = assistant.answer(UNDECIDED)
    assert [each.paper for each in answer.passages] == [each.paper for each in reranked.passages]
    assert answer.citations[0].paper == second.paper
    assert 0 <= answer.timings.rerank <= answer.timings.retrieval


def test_papers_far_behind_are_not_read_unless_they_are_named(asking: Asking) -> None:
    reader = FakeReader({"zebra": "removes"})
    assistant, _ = asking("", "", reader=reader)
    answer = assistant.answer(QUESTION)
    assert reader.papers == ["zebra"]
    assert answer.passages[0].paper.id == "zebra"
    assistant.answer(f"{QUESTION} And what is in LichenSet?")
    assert {"zebra", "lichen"} <= set(reader.papers[1:])


def test_without_reranking_papers_are_read_and_keep_their_places(asking: Asking) -> None:
    plain, _ = asking(settings=ANSWER_ALL, reader=FakeReader())
    found = next(plain.stream(UNDECIDED))
    assert isinstance(found, Retrieved)
    settings = AnswerSettings(
        least_confidence=-1.0, rerank=False, writing=WritingSettings(mode=WritingMode.QUOTE)
    )
    reader = FakeReader({found.passages[1].paper.id: "network"})
    assistant, _ = asking(settings=settings, reader=reader)
    answer = assistant.answer(UNDECIDED)
    assert len(reader.papers) > 1
    assert [each.paper for each in answer.passages] == [each.paper for each in found.passages]


def test_stop_while_papers_are_read(asking: Asking) -> None:
    reader = FakeReader({"tidal": "network"})
    assistant, model = asking("", settings=ANSWER_ALL, reader=reader)
    with pytest.raises(Cancelled):
        assistant.answer(UNDECIDED, stopped=lambda: len(reader.papers) == 1)
    assert len(reader.papers) == 1
    assert model.history == []


def test_an_abstract_that_does_not_say_is_named(asking: Asking) -> None:
    assistant, model = asking(reader=FakeReader())
    answer = assistant.answer("Under which license is ZebraPrune released?")
    check_promises(answer)
    assert model.history == []
    assert answer.outcome is Outcome.ABSTRACT_SILENT
    assert answer.text == (
        f"I did not find that in the abstract of “{ZEBRA_TITLE}”; the full text may say it."
    )
    assert (answer.sentences, answer.citations) == ((), ())
    assert answer.passages[0].paper == PAPERS[0]


def test_the_abstract_of_the_paper_just_cited_does_not_say(asking: Asking) -> None:
    """However well others answer: the question goes on about this one."""
    settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.QUOTE))
    reader = FakeReader({"tidal": "network"}, focus="last")
    assistant, model = asking(settings=settings, reader=reader)
    for question in ("How many GPUs did they use?", "Which data did they measure it on?"):
        answer = assistant.answer(question, ON_ZEBRA)
        check_promises(answer)
        assert answer.outcome is Outcome.ABSTRACT_SILENT, question
        assert ZEBRA_TITLE in answer.text
        assert answer.passages[0].paper.id == "zebra"
    assert model.history == []


def test_a_model_that_finds_no_answer_in_the_evidence_is_believed(asking: Asking) -> None:
    assistant, model = asking("The notes do not say.")
    answer = assistant.answer(QUESTION)
    check_promises(answer)
    assert len(model.history) == 1
    assert answer.outcome is Outcome.ABSTRACT_SILENT
    assert (answer.sentences, answer.citations) == ((), ())
    reader = FakeReader({"zebra": "removes"})
    assistant, _ = asking(f"{TRUE} [1] The notes do not say.", reader=reader)
    answer = assistant.answer(QUESTION)
    assert written(answer) == [TRUE]
    assert answer.outcome is Outcome.ANSWERED


def test_a_name_that_no_abstract_has_is_not_answered_about(asking: Asking) -> None:
    assistant, model = asking(reader=FakeReader())
    answer = assistant.answer("Is LionPrune a vision model?")
    assert answer.outcome is Outcome.NOT_IN_LIBRARY
    assert answer.text == f"{ABSTENTION} None mentions “LionPrune”."
    assert model.history == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "How many of its weights does LionPrune remove from a vision model?",
            f"{ABSTENTION} None mentions “LionPrune”.",
        ),
        ("Who won the football world cup?", ABSTENTION),
    ],
)
def test_a_question_in_english_is_not_called_foreign(
    asking: Asking, question: str, text: str
) -> None:
    assistant, _ = asking(reader=FakeReader())
    assert assistant.answer(question).text == text


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Gewichte entfernt das Verfahren aus großen Netzen?",
        "¿Cuántos parámetros elimina este método de las redes?",
        "このモデルは重みをどれだけ削除しますか",
        "Сколько весов удаляет этот метод?",
    ],
)
def test_a_question_in_another_language(asking: Asking, question: str) -> None:
    assistant, model = asking(reader=FakeReader())
    answer = assistant.answer(question)
    assert model.history == []
    assert answer.outcome is Outcome.NOT_IN_LIBRARY
    assert "another language" in answer.text


def test_the_calibration_of_the_library_decides(library: Library, asking: Asking) -> None:
    judged = [JudgedQuestion(at / 100, answerable=at > 50) for at in range(100)]
    found = calibrated(judged, "made", before=DEFAULT_THRESHOLD, by_people=True)
    write_calibration(library.home, replace(found, least_confidence=2.0))
    try:
        assistant, model = asking(reader=two_sentences())
        assert assistant.answer(QUESTION).outcome is Outcome.ABSTRACT_SILENT
        assert model.history == []
    finally:
        (library.home / FILE).unlink()
    assistant, model = asking("", reader=two_sentences())
    assert assistant.answer(QUESTION).outcome is Outcome.ANSWERED


def test_how_sure_it_is(asking: Asking) -> None:
    assistant, _ = asking("", reader=two_sentences())
    sure = assistant.confidence(QUESTION)
    assert sure is not None
    assert DEFAULT_THRESHOLD < sure <= 1
    assert assistant.answer(QUESTION).confidence == sure
    unsure, _ = asking(reader=FakeReader())
    assert (unsure.confidence(QUESTION) or 0) < DEFAULT_THRESHOLD
    for kind in ("thanks", "record"):
        fixed, _ = asking(reader=FakeReader(kind=kind))
        assert fixed.confidence("Who wrote ZebraPrune?") is None


def test_one_of_the_best_papers_must_be_likely_to_answer(asking: Asking) -> None:
    """The second answers, and is what is quoted; with only the best judged, nothing does."""
    plain, _ = asking(settings=ANSWER_ALL, reader=FakeReader())
    found = next(plain.stream(UNDECIDED))
    assert isinstance(found, Retrieved)
    second = found.passages[1].paper
    for judged, outcome in ((1, Outcome.NOT_IN_LIBRARY), (2, Outcome.ANSWERED)):
        settings = AnswerSettings(judged=judged, rerank=False)
        reader = FakeReader({second.id: second.abstract.split()[0]})
        assistant, _ = asking("", settings=settings, reader=reader)
        answer = assistant.answer(UNDECIDED)
        assert answer.outcome is outcome
        assert {each.paper.id for each in answer.citations} <= {second.id}


def test_timings_are_in_order(asking: Asking) -> None:
    assistant, _ = asking(TRUE)
    timings = assistant.answer(QUESTION).timings
    assert 0 <= timings.retrieval <= timings.first_token <= timings.total
    timings = assistant.answer("Who won the football world cup?").timings
    assert 0 <= timings.retrieval <= timings.first_token <= timings.total


def test_timings_begin_with_the_question(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes to understand the message counts, too."""
    clock = [0.0]
    monkeypatch.setattr(answer_builder, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    class SlowReader(FakeReader):
        def message(self, message: str, previous: str = "") -> MessageRead:
            clock[0] += 5
            return super().message(message, previous)

    for kind in ("content", "list"):
        assistant, _ = asking("", reader=SlowReader({"zebra": "removes"}, kind=kind))
        clock[0] = 0.0
        timings = assistant.answer("ICML 2021 orals about pruning").timings
        assert timings.retrieval == timings.first_token == timings.total == 5


def test_stop_reaches_the_model(asking: Asking) -> None:
    assistant, model = asking(f"{TRUE} [1]")
    with pytest.raises(Cancelled):
        assistant.answer(QUESTION, stopped=lambda: len(model.written) == 3)
    assert len(model.written) == 3


@pytest.mark.parametrize("question", ["Who wrote it?", "Where was it published?"])
def test_the_record_answers_follow_ups_about_it(asking: Asking, question: str) -> None:
    assistant, model = asking(reader=FakeReader(kind="record", focus="last"))
    answer = assistant.answer(question, ON_ZEBRA)
    check_promises(answer)
    assert model.history == []
    assert [sentence.text for sentence in answer.sentences] == [
        f"“{ZEBRA_TITLE}” is by Ada Miro and Ben Okafor; it appeared at ICML 2021 as an oral."
    ]
    assert answer.citations[0].quote == "Large vision models are slow on phones."
    assert answer.standalone_question == f"About “{ZEBRA_TITLE}”: {question}"


def test_who_wrote_it(asking: Asking) -> None:
    """As the real reader sees it."""
    assistant, model = asking()
    answer = assistant.answer("Who wrote it?", ON_ZEBRA)
    assert model.history == []
    assert answer.sentences[0].text.startswith(f"“{ZEBRA_TITLE}” is by Ada Miro and Ben Okafor")


def test_a_follow_up_about_the_content_is_asked_of_the_model(asking: Asking) -> None:
    assistant, model = asking("", "")
    answer = assistant.answer("How much accuracy does it lose?", ON_ZEBRA)
    check_promises(answer)
    assert len(model.history) == 2  # for another wording, then for an answer
    assert {citation.paper.id for citation in answer.citations} == {"zebra"}


def test_a_message_is_read_after_the_one_before_it(asking: Asking) -> None:
    reader = FakeReader({"zebra": "loses"}, focus="last")
    assistant, _ = asking("", "", "", reader=reader)
    first = assistant.answer(QUESTION)
    assistant.answer("How much accuracy does it lose?", [Turn(QUESTION, first)])
    assert reader.messages == [(QUESTION, ""), ("How much accuracy does it lose?", QUESTION)]


def test_a_follow_up_is_read_without_the_title_that_is_searched_for(asking: Asking) -> None:
    """The reader sees the paper's title beside it."""
    reader = FakeReader({"zebra": "loses"}, focus="last")
    assistant, _ = asking("", "", reader=reader)
    answer = assistant.answer("How much accuracy does it lose?", ON_ZEBRA)
    assert answer.standalone_question.startswith(f"About “{ZEBRA_TITLE}”: ")
    assert reader.questions == ["How much accuracy does it lose?"]


def test_a_follow_up_to_an_abstention_is_read_with_the_question_before_it(asking: Asking) -> None:
    reader = FakeReader(focus="last")
    assistant, _ = asking(reader=reader)
    first = assistant.answer("Are there models for whales?")
    assistant.answer("Why?", [Turn("Are there models for whales?", first)])
    assert reader.questions[-1] == "Are there models for whales? Why?"


def test_others_are_sought_beside_one_that_is_named(asking: Asking) -> None:
    reader = FakeReader({"tidal": "network", "lichen": "classifier"}, kind="several")
    assistant, _ = asking("", reader=reader)
    answer = assistant.answer("How accurate is the network or the classifier beside ZebraPrune?")
    check_promises(answer)
    assert {"tidal", "lichen"} <= {citation.paper.id for citation in answer.citations}


@pytest.mark.parametrize("kind", ["several", "content"])
def test_a_paper_that_ranks_first_but_does_not_answer_is_not_quoted(
    asking: Asking, kind: str
) -> None:
    reader = FakeReader({"tidal": "network", "lichen": "classifier"}, kind=kind)
    assistant, _ = asking("", reader=reader, settings=AnswerSettings(rerank=False))
    answer = assistant.answer(TWO)
    check_promises(answer)
    assert answer.passages[0].paper.id == "zebra"
    cited = {citation.paper.id for citation in answer.citations}
    assert cited
    assert "zebra" not in cited


def test_papers_that_are_compared_each_give_evidence(asking: Asking) -> None:
    reader = FakeReader({"zebra": "removes", "lichen": "release"}, kind="several")
    assistant, _ = asking("", reader=reader)
    answer = assistant.answer("What is the difference between ZebraPrune and LichenSet?")
    check_promises(answer)
    assert {citation.paper.id for citation in answer.citations} == {"zebra", "lichen"}


def test_a_second_paper_that_is_only_named_is_not_quoted(asking: Asking) -> None:
    reader = FakeReader({"zebra": "removes", "lichen": "release"})
    assistant, _ = asking("", reader=reader)
    answer = assistant.answer("Can ZebraPrune be used on the LichenSet photographs?")
    check_promises(answer)
    assert len({citation.paper.id for citation in answer.citations}) == 1


@pytest.mark.parametrize("question", [QUESTION, "What is the meaning of life?"])
def test_the_same_bytes_twice(
    library: Library, reader: Reader, verifier: Verifier, question: str
) -> None:
    settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.QUOTE))
    assistant = Assistant(library, FakeChatModel(), reader, verifier, settings)
    first, second = (assistant.answer(question) for _ in range(2))
    assert replace(first, timings=second.timings) == second


def test_an_empty_library(
    tmp_path_factory: pytest.TempPathFactory,
    embedder: LlamaCppEmbedder,
    reader: Reader,
    verifier: Verifier,
) -> None:
    library = Library(tmp_path_factory.mktemp("empty") / "home", embedder)
    with pytest.raises(LibraryError, match="has no papers; fill it with `assistant ingest`"):
        Assistant(library, FakeChatModel(), reader, verifier).answer("What?")


def test_the_question_is_stripped() -> None:
    assert checked_question(" a b \n") == "a b"


def test_quotations_of_one_paper_are_led_in_once() -> None:
    zebra, tidal = PAPERS[:2]
    sentences = [
        AnswerSentence("A.", SentenceKind.QUOTED, (1,)),
        AnswerSentence("B.", SentenceKind.QUOTED, (2,)),
        AnswerSentence("C.", SentenceKind.QUOTED, (3,)),
        AnswerSentence("D.", SentenceKind.VERIFIED, (1, 3)),
        AnswerSentence("E.", SentenceKind.QUOTED, (3,)),
    ]
    citations = [Citation(1, zebra, "A."), Citation(2, zebra, "B."), Citation(3, tidal, "C.")]
    zebra_title, tidal_title = zebra.title, tidal.title
    assert answer_text(sentences, citations) == (
        f"From “{zebra_title}”: “A.” [1] “B.” [2] From “{tidal_title}”: “C.” [3] D. [1][3] "
        f"Evidence: From “{tidal_title}”: “E.” [3]"
    )
    assert answer_text([], []) == ABSTENTION


def test_a_paper_without_title_is_named_by_its_beginning(asking: Asking) -> None:
    assistant, _ = asking("", reader=FakeReader({"whisper": "error rate"}))
    answer = assistant.answer("What word error rate is reached for whispered speech?")
    assert {citation.paper.id for citation in answer.citations} == {"whisper"}
    assert answer.text.startswith("From “Speech recognisers fail on whispered speech.")
