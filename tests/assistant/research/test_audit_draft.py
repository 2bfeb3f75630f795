"""Drafts are read into sentences with their places and citations, whatever their markup."""

import pytest

from assistant.research.audit.draft import LONGEST, decoded, read_draft
from retrieval.types import InputError

MARKDOWN = """\
# A heading that is no sentence

Large models are *good* at this [@smith2020; @jones21, p. 3]. As @li2022 says, nothing holds.
Smith and Jones (2023) show that it grows by 5%. It is (Smith et al., 2023; van Dam, 2018) known!

- A first item says so much.[12]

```
code is no text of a draft
```

| a cell of a table | b |
|---|---|
| not a claim at all | c |

## References

Smith, J. (2023). A paper on something.
"""
LATEX = r"""
\documentclass{article}
\newcommand{\own}{A macro is no text of mine.}
\begin{document}
\section{A heading of some words}
Nets \emph{work} well~\citep[see][p.~3]{smith2020,jones21}. \citet{li} show that $x^2 < 3$ holds.
It costs 5\% of time.\cite{a} Another sentence is here. % A comment is no claim.
\begin{table} cells are no text \caption{Nor is a caption.} \end{table}
\begin{itemize}[noitemsep] \item One item is true. \item Two items are true. \end{itemize}
\end{document}
"""


def read(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The claims of a draft with the works that they cite."""
    return [
        (
            each.claim,
            tuple(work.key or f"{'+'.join(work.names)} {work.year}" for work in each.works),
        )
        for each in read_draft(text).sentences
    ]


def test_markdown_gives_its_sentences_and_citations_and_nothing_else() -> None:
    assert read(MARKDOWN) == [
        ("Large models are good at this.", ("smith2020", "jones21")),
        ("As They says, nothing holds.", ("li2022",)),
        ("They show that it grows by 5%.", ("Smith+Jones 2023",)),
        ("It is known!", ("Smith 2023", "van Dam 2018")),
        ("A first item says so much.", ()),
    ]


def test_latex_gives_its_sentences_and_citations_and_nothing_else() -> None:
    assert read(LATEX) == [
        ("Nets work well.", ("smith2020", "jones21")),
        ("They show that $x^2 < 3$ holds.", ("li",)),
        ("It costs 5% of time.", ("a",)),
        ("Another sentence is here.", ()),
        ("One item is true.", ()),
        ("Two items are true.", ()),
    ]


@pytest.mark.parametrize("text", [MARKDOWN, LATEX])
def test_every_sentence_has_its_place_in_the_draft(text: str) -> None:
    for each in read_draft(text).sentences:
        assert each.claim.split()[-1].rstrip(".!") in text[each.start : each.end]
        assert "\n\n" not in text[each.start : each.end]


def test_latex_that_does_not_close_loses_nothing_and_says_so() -> None:
    draft = read_draft(
        "\\begin{document}\nFirst it is said here. \\begin{table} This must be read.\n\n"
        "A formula $x is open here. It goes on \\emph{and on for long.\n"
    )
    assert [each.claim for each in draft.sentences] == [
        "First it is said here.",
        "This must be read.",
        "A formula x is open here.",
        "It goes on and on for long.",
    ]
    assert len(draft.notes) == 4 - 1
    assert "line 2" in draft.notes[1]


def test_citations_that_are_not_read_are_noted() -> None:
    draft = read_draft(
        "It is said first.\n\\begin{figure}\\caption{A thing \\cite{a}.}\\end{figure}\n"
        "It is so \\cite{b, and more\n\nAnother paragraph is here.",
        "draft.tex",
    )
    assert draft.notes == (
        "Citations in figures, tables and formulas, not checked: 1.",
        "The citation of line 3 does not close; it is not read.",
    )
    said = [each.text for each in draft.sentences]
    assert said[-2:] == ["It is so and more", "Another paragraph is here."]


@pytest.mark.parametrize(
    ("mark", "works"),
    [
        ("(SMITH ET AL., 2023)", [(("SMITH",), 2023)]),
        ("(Hong-You Chen et al., 2023)", [(("Chen",), 2023)]),
        ("(see J. Lee, 2020; van den Oord and McDonald, 2019a, Section 3)",
         [(("Lee",), 2020), (("van den Oord", "McDonald"), 2019)]),
        ("(Chen et al., to appear; Smith, n.d.)", [(("Chen",), None), (("Smith",), None)]),
        ("(January 2023)", []),
        ("(ICLR 2023)", []),
        ("(known since 2019)", []),
    ],
)  # fmt: skip
def test_authors_with_years_are_citations(
    mark: str, works: list[tuple[tuple[str, ...], int | None]]
) -> None:
    (sentence,) = read_draft(f"It has often been shown {mark}.").sentences
    assert [(each.names, each.year) for each in sentence.works] == works
    assert sentence.claim == ("It has often been shown." if works else sentence.text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" \n ", "The draft is empty"),
        ("# Only a heading\n", "no sentence to check"),
        ("a " * LONGEST, "chapter by chapter"),
    ],
)
def test_a_draft_that_cannot_be_used_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_draft(text)


def test_a_pdf_is_refused_and_old_encodings_are_read() -> None:
    with pytest.raises(InputError, match="is no text"):
        decoded(b"%PDF-1.7", "draft.pdf")
    assert decoded("Müller".encode("cp1252"), "draft.txt") == "Müller"
