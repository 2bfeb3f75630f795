import io
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import PAPERS, answered, paper, passage
from rich.console import Console

from assistant.cli.output import (
    AnswerPrinter,
    ProgressBars,
    authors_line,
    ingest_lines,
    matches_table,
    models_lines,
    passages_lines,
    reference,
    where,
)
from assistant.generation.answer_builder import ABSTENTION
from assistant.models import ModelDescription
from assistant.models.catalogue import REINSTALL
from assistant.types import (
    AnswerSentence,
    Citation,
    Completed,
    Outcome,
    Retrieved,
    SentenceKind,
    SentenceVerified,
)
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


def test_an_answer_as_it_comes(console: Console) -> None:
    answer = answered(ZEBRA, QUOTE)
    printer = AnswerPrinter(console)
    printer.show(Retrieved("About “X”: Why?", (passage(ZEBRA),)), "Why?")
    first = Citation(1, ZEBRA, QUOTE)
    printer.show(
        SentenceVerified(AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,)), (first,)), "Why?"
    )
    other = Citation(2, ZEBRA, "Large vision models are slow on phones.")
    printer.show(
        SentenceVerified(AnswerSentence(other.quote, SentenceKind.QUOTED, (2,)), (other,)), "Why?"
    )
    printer.show(
        SentenceVerified(AnswerSentence("Both hold.", SentenceKind.VERIFIED, (1, 2)), ()), "Why?"
    )
    printer.show(Completed(replace(answer, citations=(first, other))), "Why?")
    line = "Ada Miro, Ben Okafor. Zebra Pruning for Vision Models. ICML 2021, oral"
    assert printed(console) == (
        "(About “X”: Why?)\n"
        "From “Zebra Pruning for Vision Models”:\n"
        "  “It does not need retraining.” [1]\n"
        "  “Large vision models are slow on phones.” [2]\n"
        "Both hold. [1][2]\n"
        "\nReferences\n"
        f"  [1][2] {line}\n"
    )


def test_evidence_behind_what_is_written_has_one_heading(console: Console) -> None:
    answer = answered(ZEBRA, QUOTE)
    printer = AnswerPrinter(console)
    slow = "Large vision models are slow on phones."
    citations = (Citation(1, ZEBRA, QUOTE), Citation(2, ZEBRA, slow))
    written = AnswerSentence("It needs none.", SentenceKind.VERIFIED, (1,))
    printer.show(SentenceVerified(written, citations[:1]), "Why?")
    printer.show(SentenceVerified(replace(written, text="None at all."), ()), "Why?")
    printer.show(SentenceVerified(AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,)), ()), "Why?")
    printer.show(
        SentenceVerified(AnswerSentence(slow, SentenceKind.QUOTED, (2,)), citations[1:]), "Why?"
    )
    printer.show(Completed(replace(answer, citations=citations)), "Why?")
    assert printed(console).startswith(
        "It needs none. [1]\n"
        "None at all. [1]\n"
        "\nEvidence\n"
        "From “Zebra Pruning for Vision Models”:\n"
        f"  “{QUOTE}” [1]\n"
        f"  “{slow}” [2]\n"
        "\nReferences\n"
    )


def test_an_abstention_names_the_closest_papers(console: Console) -> None:
    answer = replace(
        answered(ZEBRA, QUOTE),
        outcome=Outcome.NOT_IN_LIBRARY,
        text=ABSTENTION,
        sentences=(),
        citations=(),
        passages=tuple(passage(each) for each in PAPERS),
    )
    printer = AnswerPrinter(console)
    printer.show(Retrieved("Why?", answer.passages), "Why?")
    printer.show(Completed(answer), "Why?")
    assert printed(console) == (
        f"{ABSTENTION}\n\nClosest papers:\n"
        + "".join(f"  {reference(each)}\n" for each in PAPERS[:3])
    )


@pytest.mark.parametrize(
    "title", ["[bold]loud[/bold]", "[/]", "[link=http://a.b]c[/link]", ":bug:"]
)
def test_mark_up_in_a_title_is_text(console: Console, title: str) -> None:
    odd = paper(title=title, decision="[red]")
    printer = AnswerPrinter(console)
    citation = Citation(1, odd, QUOTE)
    printer.show(
        SentenceVerified(AnswerSentence(QUOTE, SentenceKind.QUOTED, (1,)), (citation,)), "?"
    )
    console.print(matches_table([Match(odd, title)]))
    assert printed(console).count(title) == 3


def test_passages() -> None:
    first, second = passages_lines([passage(ZEBRA, 0.98765)])
    assert first.startswith("1. ")
    assert first.endswith("ICML 2021, oral (score 0.988)")
    assert "We present ZebraPrune" in second


def test_tables(console: Console) -> None:
    console.print(matches_table([Match(ZEBRA, "author Ada Miro")]))
    text = printed(console)
    for expected in ("author Ada Miro", "ICML 2021, oral"):
        assert expected in text


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
    with ProgressBars() as bars:
        bars("fetching x", 0, 0, "B")
        bars("fetching x", 5_000_000, 93_000_000, "B")
        bars("Embedding papers", 1, 3, "papers")
    output, errors = capfd.readouterr()
    assert output == ""
    assert "fetching x" in errors
    assert "5/93 MB" in " ".join(errors.split())
    assert "1/3 papers" in " ".join(errors.split())


def test_work_that_does_not_report_draws_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with ProgressBars():
        pass
    assert capfd.readouterr() == ("", "")
