"""Each part of the path left out: what changes then, and that nothing does by default."""

import argparse
import re
from pathlib import Path

import pytest
from fakes import Asking, FakeChatModel, FakeReader, written
from promises import ANSWER_ALL, LIES, QUESTION, TRUE, UNDECIDED, check_promises

from assistant.cli.main import main
from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.pipeline import startup
from assistant.pipeline.startup import assistant_over
from assistant.settings import (
    NO_ABLATIONS,
    Ablations,
    AnswerSettings,
    Settings,
    WritingMode,
    WritingSettings,
    add_ablation_flags,
)
from assistant.types import Answer, Outcome, Retrieved, SentenceKind
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import Retriever, silent

LIE = "LionPrune removes 97% of the weights of every model in Vienna."
CASES = [
    ("", NO_ABLATIONS),
    ("--retriever bm25", Ablations(retriever=Retriever.BM25)),
    ("--retriever dense --no-rerank", Ablations(Retriever.DENSE, rerank=False)),
    ("--retriever hybrid", NO_ABLATIONS),
    ("--no-check", Ablations(check=False)),
    (
        "--free-writing --no-check --no-rerank --retriever rrf",
        Ablations(Retriever.RRF, rerank=False, check=False, free_writing=True),
    ),
]


@pytest.mark.parametrize(("flags", "ablations"), CASES)
def test_what_the_flags_leave_out(flags: str, ablations: Ablations) -> None:
    parser = argparse.ArgumentParser()
    add_ablation_flags(parser)
    assert Ablations.from_options(parser.parse_args(flags.split())) == ablations


def test_a_retriever_that_is_none_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_ablation_flags(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--retriever", "splade"])
    assert "'bm25', 'dense', 'rrf', 'hybrid'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["ask", "chat", "serve", "search", "calibrate"])
@pytest.mark.parametrize("flag", ["--no-check", "--free-writing", "--retriever=bm25"])
def test_no_command_that_answers_people_takes_them(
    command: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [command, "question"] if command in {"ask", "search"} else [command]
    with pytest.raises(SystemExit) as raised:
        main([*arguments, flag])
    assert raised.value.code == 2
    assert f"unrecognized arguments: {flag}" in capsys.readouterr().err


def test_the_whole_is_what_is_set_by_default() -> None:
    for writing in (WritingSettings(), WritingSettings(mode=WritingMode.QUOTE, max_tokens=7)):
        assert NO_ABLATIONS.answer_settings(writing) == AnswerSettings(writing=writing)


def answer(
    asking: Asking,
    ablations: Ablations,
    *replies: str,
    mode: WritingMode = WritingMode.FREE,
) -> tuple[Answer, FakeChatModel]:
    settings = ablations.answer_settings(WritingSettings(mode=mode))
    assistant, model = asking(*replies, settings=settings)
    return assistant.answer(QUESTION), model


@pytest.mark.parametrize("lie", [f"{LIE} [1]", LIE, *LIES[:5]])
def test_without_the_check_a_lie_is_shown_as_it_is(asking: Asking, lie: str) -> None:
    shown, _ = answer(asking, Ablations(check=False), lie)
    check_promises(shown)
    sentence, *_ = shown.sentences
    assert sentence.text == re.sub(r" \[\d\]", "", lie)
    assert sentence.kind is SentenceKind.VERIFIED
    notes = [each.quote for each in shown.citations if each.paper == shown.citations[0].paper]
    # What cites nothing is shown with all that was read of the first paper.
    assert sentence.citations == ((1,) if "[1]" in lie else tuple(range(1, len(notes) + 1)))


@pytest.mark.parametrize(
    "ablations",
    [
        NO_ABLATIONS,
        Ablations(free_writing=True),
        Ablations(rerank=False),
        *(Ablations(retriever=each) for each in Retriever),
    ],
)
def test_with_the_check_no_lie_is_shown(asking: Asking, ablations: Ablations) -> None:
    shown, _ = answer(asking, ablations, f"{LIE} [1]")
    check_promises(shown)
    assert shown.outcome is Outcome.ANSWERED
    assert LIE not in shown.text
    assert {sentence.kind for sentence in shown.sentences} == {SentenceKind.QUOTED}


def test_without_the_check_a_model_that_is_not_asked_still_quotes(asking: Asking) -> None:
    unchecked, model = answer(asking, Ablations(check=False), mode=WritingMode.QUOTE)
    assert model.history == []
    assert {sentence.kind for sentence in unchecked.sentences} == {SentenceKind.QUOTED}
    checked, _ = answer(asking, NO_ABLATIONS, mode=WritingMode.QUOTE)
    assert unchecked.text == checked.text


def test_free_writing_asks_whom_the_probe_refused_and_gives_no_grammar(asking: Asking) -> None:
    shown, model = answer(
        asking, Ablations(free_writing=True), f"{TRUE} [1]", mode=WritingMode.QUOTE
    )
    assert model.grammars == [""]
    assert written(shown) == [TRUE]
    _, model = answer(asking, NO_ABLATIONS, f"{TRUE} [1]")
    assert model.grammars[0].startswith("root ::=")


def test_without_reranking_the_first_stage_decides(asking: Asking) -> None:
    plain, _ = asking(settings=ANSWER_ALL, reader=FakeReader())
    found = next(plain.stream(UNDECIDED))
    assert isinstance(found, Retrieved)
    first, second = (each.paper.id for each in found.passages[:2])
    for ablations, best in ((Ablations(rerank=False), first), (NO_ABLATIONS, second)):
        settings = ablations.answer_settings(WritingSettings(mode=WritingMode.QUOTE))
        reader = FakeReader({second: "network"})
        assistant, _ = asking(settings=settings, reader=reader)
        assert assistant.answer(UNDECIDED).passages[0].paper.id == best
        assert len(reader.papers) > 1  # read in either case: for evidence, and whether it answers


def test_what_ranks_the_papers_of_an_answer(asking: Asking) -> None:
    def scores(retriever: Retriever) -> dict[str, float]:
        settings = Ablations(retriever).answer_settings(WritingSettings(mode=WritingMode.QUOTE))
        assistant, _ = asking(settings=settings, reader=FakeReader())
        found = next(assistant.stream("How good is the recogniser in whispered speech?"))
        assert isinstance(found, Retrieved)
        return {passage.paper.id: passage.score for passage in found.passages}

    by_words = scores(Retriever.BM25)
    by_meaning = scores(Retriever.DENSE)
    assert list(by_words) == ["whisper"]
    assert next(iter(by_meaning)) == "whisper"
    assert by_meaning.keys() == {"zebra", "tidal", "lichen", "whisper"}
    assert 0 < by_meaning["zebra"] < 0.7
    by_ranks = scores(Retriever.RRF)
    assert 0.4 < by_ranks["zebra"] < 0.6
    hybrid = scores(Retriever.HYBRID)
    assert hybrid["zebra"] == pytest.approx(0.55 * by_meaning["zebra"])


def test_free_writing_needs_no_probe(  # noqa: PLR0917
    library: Library,
    chat_model: LlamaCppChatModel,
    reader: Reader,
    verifier: Verifier,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A probe of the default model would refuse it and be written down."""
    monkeypatch.setattr(startup, "open_verifier", lambda *_: verifier)
    settings = Settings(cache=tmp_path / "cache")
    free = Ablations(free_writing=True)
    assistant = assistant_over(library, chat_model, reader, settings, silent, ablations=free)
    assert assistant.settings.writing == WritingSettings(grammar=False)
    assert assistant.verifier is verifier
    assert not settings.cache.exists()
