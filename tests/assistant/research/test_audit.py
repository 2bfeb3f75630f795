"""The audit of drafts over the seeds, with the real models."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from assistant.models.gguf.trained import READER, SUPPORT, encoder_fingerprint, read_tensors
from assistant.pipeline.startup import open_library, open_reader, open_verifier
from assistant.research.audit.audit import TURN, Audit, audit_in_turns
from assistant.research.audit.citing import Resolver
from assistant.research.audit.judge import HEADS
from assistant.research.audit.marks import CitedWork
from assistant.research.audit.report import page, suggested_bibtex, with_citations
from assistant.research.audit.types import AuditedSentence, CitedAs, Verdict, audit_json
from assistant.settings import Settings
from retrieval.text.names import surname
from retrieval.types import Cancelled, never, silent

WRITTEN = Path(__file__).parents[2] / "benchmarks" / "audit_drafts.jsonl"
SUPPORTED = "Liquid-S4 reaches an average of 87.32% on the Long-Range Arena benchmark."
LATEX = SUPPORTED.replace("%", "\\%")


@pytest.fixture(scope="module")
def assistant(library_home: Path, cache: Path) -> SimpleNamespace:
    """What an audit needs of an assistant."""
    settings = Settings(home=library_home, cache=cache)
    library = open_library(settings, silent)
    reader, verifier = open_reader(settings, silent), open_verifier(settings, silent)
    return SimpleNamespace(library=library, reader=reader, verifier=verifier)


@contextmanager
def turn() -> Iterator[None]:
    """A turn that comes at once."""
    yield


def audited(assistant: SimpleNamespace, text: str, bib: str = "") -> list[AuditedSentence]:
    """The sentences of a draft."""
    return list(audit_in_turns(assistant, Audit.of(text, "", bib), turn, never))  # type: ignore[arg-type]


def test_the_heads_belong_to_the_encoders() -> None:
    assert read_tensors(HEADS)[1]["base"] == encoder_fingerprint(READER, SUPPORT)


def test_no_contradicted_sentence_is_shown_as_supported(
    assistant: SimpleNamespace, request: pytest.FixtureRequest
) -> None:
    rows = [json.loads(line) for line in WRITTEN.read_text("utf-8").splitlines()]
    rows = rows if request.config.option.full_grids else rows[::3]
    said = audited(assistant, "\n\n".join(row["text"] for row in rows))
    assert [each.sentence.text for each in said] == [row["text"] for row in rows]
    pairs = [(row["verdict"], each.verdict) for row, each in zip(rows, said, strict=True)]
    assert ("contradicted", Verdict.SUPPORTED) not in pairs
    assert ("nothing found", Verdict.SUPPORTED) not in pairs
    assert pairs.count(("supported", Verdict.SUPPORTED)) >= len(rows) // 13
    assert pairs.count(("no claim", Verdict.NO_CLAIM)) >= len(rows) // 5
    for each in said:
        for finding in each.findings:
            evidence = finding.evidence
            assert evidence.paper.abstract[evidence.start : evidence.end] == evidence.text


def test_citations_are_resolved_and_judged(assistant: SimpleNamespace) -> None:
    title = "Liquid Structural State-Space Models"
    bib = f"@inproceedings{{liquid, title = {{{title}}}, year = 2023}}"
    text = (
        f"{SUPPORTED[:-1]} [@liquid]. Minimum wages raised employment in shops [@liquid]."
        " Coral reefs have lost half of their cover [@unknown]."
    )
    right, wrong, absent = audited(assistant, text, bib)
    assert [each.judged for each in right.cited] == [CitedAs.SUPPORTED]
    assert right.cited[0].key == "liquid"
    assert [each.judged for each in wrong.cited] == [CitedAs.NOT_STATED]
    assert [each.judged for each in absent.cited] == [CitedAs.NOT_HERE]
    assert not right.suggested


def test_a_citation_is_judged_by_what_its_own_abstract_says(assistant: SimpleNamespace) -> None:
    said = "one multi-input, multi-output SSM"
    other, narrative, key, unstated, several = audited(
        assistant,
        f"S5 uses {said} (Ainsworth et al., 2023).\n\nSmith et al. [2023] use {said} in S5.\n\n"
        f"S5 uses {said} [@Smith2023Simplified].\n\n"
        "Minimum wages raised employment in shops (Smith, Warrington and Linderman, 2023).\n\n"
        "Minimum wages raised employment in shops (Chen et al., 2023).",
    )
    assert [each.judged for each in other.cited] == [CitedAs.OTHER_PAPER]
    assert [each.key for each in other.suggested] == ["smith2023simplified"]
    assert [each.judged for each in narrative.cited] == [CitedAs.SUPPORTED]
    assert [each.judged for each in key.cited] == [CitedAs.SUPPORTED]
    assert [each.judged for each in unstated.cited] == [CitedAs.NOT_STATED]
    assert [(each.judged, each.paper) for each in several.cited] == [(CitedAs.NONE_STATED, None)]


def test_of_many_papers_that_a_mark_may_mean_the_one_that_supports_counts(
    assistant: SimpleNamespace,
) -> None:
    claim = (
        "Notably, without using extra detection data, our ViT-Adapter-L yields state-of-the-art "
        "60.9 box AP and 53.0 mask AP on COCO test-dev"
    )
    resolver = Resolver(assistant.library)
    chens = resolver.papers(CitedWork("", names=("Chen",), year=2023))
    assert len(chens) > 40
    assert {surname(each.authors[0]) for each in chens} == {"Chen"}
    assert {each.year for each in chens} == {2023}
    (sentence,) = audited(assistant, f"{claim} (Chen et al., 2023).")
    (cited,) = sentence.cited
    assert cited.judged is CitedAs.SUPPORTED
    assert cited.paper
    assert cited.paper.title.startswith("ViT-Adapter")
    assert cited.paper not in chens[:5]


def test_a_broken_entry_of_the_bibliography_is_noted() -> None:
    audit = Audit.of(SUPPORTED, "", "@article{a, title={A}}\n@article{b, title={B}\n@article{c,}")
    assert list(audit.bibliography) == ["a", "c"]
    (note,) = audit.notes
    assert note.startswith("Line 2 of the bibliography: ")


def test_suggested_citations_are_in_the_style_of_the_draft(assistant: SimpleNamespace) -> None:
    for text, expected in (
        (f"{LATEX}\n\nMore is known \\citep{{x}} of it.", "~\\citep{hasani2023liquid}."),
        (SUPPORTED, " [@hasani2023liquid]."),
        (f"{SUPPORTED} It was said (Smith, 1999) before.", " (Hasani et al., 2023)."),
    ):
        audit = Audit.of(text)
        said = list(audit_in_turns(assistant, audit, turn, never))  # type: ignore[arg-type]
        assert SUPPORTED[-10:-1] + expected in with_citations(audit.draft, said)
        assert "hasani2023liquid" in suggested_bibtex(said)


def test_the_report_escapes_what_the_draft_says(assistant: SimpleNamespace) -> None:
    audit = Audit.of(f"It has \\<script>alert(1)\\</script> among its words. {SUPPORTED}")
    said = list(audit_in_turns(assistant, audit, turn, never))  # type: ignore[arg-type]
    html = page(said, audit.notes, "<b>x</b>")
    assert "<script" in said[0].sentence.text
    assert "<script" not in html
    assert "<b>" not in html
    assert audit_json(said)["counts"]["supported"] == 1


def test_a_long_draft_takes_turns_and_can_be_stopped(assistant: SimpleNamespace) -> None:
    turns: list[int] = []

    @contextmanager
    def counted() -> Iterator[None]:
        turns.append(len(said))
        yield

    said: list[AuditedSentence] = []
    audit = Audit.of("We thank all of them. " * 5000)
    judged = audit_in_turns(assistant, audit, counted, lambda: len(said) > TURN)  # type: ignore[arg-type]
    with pytest.raises(Cancelled):
        said.extend(judged)
    assert turns == [0, TURN, 2 * TURN]
    assert len(said) == 2 * TURN
