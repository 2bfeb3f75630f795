import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import PAPERS, answered, paper, passage
from rich.console import Console

from assistant.cli.output import (
    ingest_lines,
    matches_table,
    models_lines,
    passages_lines,
    print_answer,
    print_paper,
    print_text,
    progress_bars,
)
from assistant.generation.answer_builder import ABSTENTION
from assistant.generation.rendering import reference
from assistant.models import ModelDescription
from assistant.models.gguf.trained import REINSTALL
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Completed,
    Event,
    Outcome,
    Retrieved,
    SentenceKind,
    SentenceVerified,
)
from retrieval.formats.writers import authors_line, where
from retrieval.query.lookup import Match
from retrieval.types import IngestReport, Skipped

ZEBRA, TIDAL, LICHEN, WHISPER = PAPERS
QUOTE = "It does not need retraining."


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        ((), ""),
        (("A",), "A"),
        (("A", "B", "C"), "A, B, C"),
        (("A", "B", "C", "D"), "A, B, C et al"),
    ],
)
def test_authors_line(authors: tuple[str, ...], expected: str) -> None:
    assert authors_line(authors) == expected


@pytest.mark.parametrize(
    ("venue", "year", "decision", "expected"),
    [
        ("ICML", 2021, "oral", "ICML 2021, oral"),
        ("ICML", None, "", "ICML"),
        ("", 2021, "", "2021"),
        ("", None, "poster", "poster"),
        ("", None, "", ""),
    ],
)
def test_where(venue: str, year: int | None, decision: str, expected: str) -> None:
    assert where(paper(venue=venue, year=year, decision=decision)) == expected


def test_reference() -> None:
    assert reference(ZEBRA) == (
        "Ada Miro, Ben Okafor. Zebra Pruning for Vision Models. ICML 2021, oral"
    )
    assert reference(WHISPER).startswith("Speech recognisers fail on whispered speech.")


def events_of(answer: Answer) -> Iterator[Event]:
    yield Retrieved(answer.standalone_question, answer.passages)
    cited = 0
    for sentence in answer.sentences:
        new = tuple(each for each in answer.citations if cited < each.number in sentence.citations)
        cited += len(new)
        yield SentenceVerified(sentence, new)
    yield Completed(answer)


def show(console: Console, answer: Answer) -> None:
    """Print the answer as its events arrive."""
    assert print_answer(console, answer.question, events_of(answer)) is answer


SLOW = "Large vision models are slow on phones."
WRITTEN = AnswerSentence("It needs none.", SentenceKind.VERIFIED, (1,))
ALSO_WRITTEN = AnswerSentence("None at all.", SentenceKind.VERIFIED, (1, 2))
QUOTED = AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,))
ALSO_QUOTED = AnswerSentence(SLOW, SentenceKind.QUOTED, (2,))
EVIDENCE = (
    "From “Zebra Pruning for Vision Models”:\n"
    f"  “{QUOTE}” [1]\n"
    "  “Large vision models are slow on phones.” [2]\n"
)


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ((QUOTED, ALSO_QUOTED, ALSO_WRITTEN), f"{EVIDENCE}None at all. [1][2]\n"),
        (
            (WRITTEN, ALSO_WRITTEN, QUOTED, ALSO_QUOTED),
            f"It needs none. [1]\nNone at all. [1][2]\n\nEvidence\n{EVIDENCE}",
        ),
    ],
)
def test_an_answer_as_it_comes(
    console: Console, sentences: tuple[AnswerSentence, ...], expected: str
) -> None:
    answer = replace(
        answered(ZEBRA, QUOTE),
        standalone_question="About “X”: Why?",
        sentences=sentences,
        citations=(Citation(1, ZEBRA, QUOTE), Citation(2, ZEBRA, SLOW)),
    )
    show(console, answer)
    line = "Ada Miro, Ben Okafor. Zebra Pruning for Vision Models. ICML 2021, oral"
    assert printed(console) == (f"(About “X”: Why?)\n{expected}\nReferences\n  [1][2] {line}\n")


def test_an_abstention_names_the_closest_papers(console: Console) -> None:
    answer = replace(
        answered(ZEBRA, QUOTE),
        outcome=Outcome.NOT_IN_LIBRARY,
        text=ABSTENTION,
        sentences=(),
        citations=(),
        passages=tuple(passage(each) for each in PAPERS),
    )
    show(console, answer)
    assert printed(console) == (
        f"{ABSTENTION}\n\nClosest papers:\n"
        + "".join(f"  {at}. {reference(each)}\n" for at, each in enumerate(PAPERS[:3], start=1))
    )


@pytest.mark.parametrize(
    "title", ["[bold]loud[/bold]", "[/]", "[link=http://a.b]c[/link]", ":bug:"]
)
def test_mark_up_in_a_title_is_text(console: Console, title: str) -> None:
    odd = paper(title=title, decision="[red]")
    show(console, answered(odd, QUOTE))
    console.print(matches_table([Match(odd, title)]))
    assert printed(console).count(title) == 4


def test_passages() -> None:
    first, second = passages_lines([passage(ZEBRA, 0.98765)])
    assert first.startswith("1. ")
    assert first.endswith("ICML 2021, oral (score 0.988)")
    assert "We present ZebraPrune" in second


@pytest.mark.parametrize("width", [40, 80, 300])
def test_a_terminal_gets_lines_that_fit_and_no_broken_word(width: int) -> None:
    terminal = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    long = replace(ZEBRA, authors=("Ada Miro", "Ben Okafor"), title=f"{ZEBRA.title} {SLOW[:-1]}")
    answer = replace(answered(long, QUOTE), standalone_question="About “X”: Why?")
    show(terminal, answer)
    print_paper(terminal, long, {1: QUOTE})
    terminal.print(matches_table([Match(long, "author Ada Miro")]))
    for line in passages_lines([passage(long)]):
        print_text(terminal, line)
    lines = printed(terminal).splitlines()
    assert max(map(len, lines)) <= width
    if width > 100:
        assert max(len(line) for line in lines if long.abstract[:20] in line) <= 100
    words = {*f"{long.title} {long.abstract} {' '.join(long.authors)}".split()}
    assert words <= {*" ".join(printed(terminal).split()).split()}


def test_wrapped_lines_begin_below_the_text_of_the_first() -> None:
    terminal = Console(file=io.StringIO(), width=30, force_terminal=True, color_system=None)
    print_text(
        terminal,
        "  [1][2] Ada Miro. Zebra Pruning.\n  “Large models are slow here.”\n  /a/" + 40 * "b",
    )
    assert printed(terminal).splitlines() == [
        "  [1][2] Ada Miro. Zebra",
        "         Pruning.",
        "  “Large models are slow",
        "   here.”",
        "  /a/" + 40 * "b",
    ]


def test_a_paper_with_its_quotes(console: Console) -> None:
    print_paper(console, ZEBRA, {2: SLOW, 1: QUOTE, 3: QUOTE, 4: "not there", 5: ""})
    abstract = ZEBRA.abstract.replace(SLOW, f"“{SLOW}” [2]").replace(QUOTE, f"“{QUOTE}” [1]")
    heading = f"{ZEBRA.title}\nAda Miro, Ben Okafor\nICML 2021, oral\n\n"
    assert printed(console) == f"{heading}{abstract}\n"


def test_models() -> None:
    path = Path("/models/a.gguf")
    here = ModelDescription("chat", "A", "default", "a file", path, 270_000_000, "F16", "MIT", True)
    absent = replace(here, role="embedder", path=None, size_bytes=None, quantization=None)
    absent = replace(absent, source="the Hugging Face hub")
    assert list(models_lines([here, replace(absent, in_use=False)])) == [
        "chat, in use: A, F16, 270 MB, MIT",
        "  /models/a.gguf",
        "embedder, not in use: A, MIT",
        "  not here: `assistant models pull` fetches it",
    ]
    own = replace(absent, source="a file")
    assert list(models_lines([own]))[1] == "  not here: give another file"
    shipped = replace(absent, role="writer", source="this package")
    assert list(models_lines([shipped])) == ["writer, in use: A, MIT", f"  not here: {REINSTALL}"]


def test_ingest_lines() -> None:
    report = IngestReport(1643, 1640, 2, 1, 6, 3321, 12.34, (Skipped("a.txt", 7, "no abstract"),))
    assert list(ingest_lines(report)) == [
        "skipped a.txt, line 7: no abstract",
        "1,643 papers in 3,321 chunks: 1,640 added, 2 updated, 1 unchanged; 6 records were copies "
        "of another (12.3 s)",
    ]


def test_progress_is_drawn_on_stderr_only(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bars() as bars:
        bars("fetching x", 0, 0, "B")
        bars("fetching x", 5_000_000, 93_000_000, "B")
        bars("Embedding papers", 1, 3, "papers")
    output, errors = capfd.readouterr()
    assert output == ""
    assert "fetching x" in errors
    assert "5/93 MB" in " ".join(errors.split())
    assert "1/3 papers" in " ".join(errors.split())


def test_work_that_does_not_report_draws_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bars():
        pass
    assert capfd.readouterr() == ("", "")
