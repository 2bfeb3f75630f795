"""Mark-up out of text, formulas kept."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text.markup import clean
from retrieval.text.splitting import split_sentences
from retrieval.text.titles import introduced
from retrieval.types import Record


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        # Markdown escapes
        (r"open-review\(Oral\)", "open-review(Oral)"),
        (r"5\% of snake\_case\#1 \& more", "5% of snake_case#1 & more"),
        (r"a \*starred\* word", "a *starred* word"),
        (r"wrote \"yes\"", 'wrote "yes"'),
        # LaTeX text commands
        (r"an \emph{important} word", "an important word"),
        (r"\textbf{A}ttention \textit{R}etractable", "Attention Retractable"),
        (r"\underline{under} and \texttt{code}", "under and code"),
        (r"{\em old} and {\bf bolder} switches", "old and bolder switches"),
        (r"\textbf{deep \emph{and \texttt{deeper}} down}", "deep and deeper down"),
        (r"$textbf{N} $eural", "N eural"),
        (r"see \url{https://a.org/b}", "see https://a.org/b"),
        (r"it works\footnote{mostly}.", "it works (mostly)."),
        (r"at a site \footnote{\url{https://a.org}}.", "at a site (https://a.org)."),
        # citations say nothing without a bibliography
        (r"protocol \cite{liu2022}, there", "protocol, there"),
        (r"of BERT~\citep{devlin2019}, \citep{hu2020} first", "of BERT, first"),
        (r"Recently, \cite{ilyas2022} introduced", "Recently, introduced"),
        # an author's own macros, and spaces that LaTeX spells out
        (r"\ours and \Name{} win", "ours and Name{} win"),
        (r"hippo vs.\ elephant", "hippo vs. elephant"),
        # links
        ("[A Title](#)", "A Title"),
        ("see [the page](https://a.org/x) now", "see the page now"),
        ("an interval [0, 1](see below)", "an interval [0, 1](see below)"),
        # HTML
        ("R&amp;D &lt;3 &quot;x&quot;", 'R&D <3 "x"'),
        # space and invisible characters
        ("  two\n lines\t and  spaces ", "two lines and spaces"),
        ("zero\u200bwidth\ufeff and so\u00adft", "zerowidth and soft"),
        ("a\U000e0069\U000e0067\U000e006e tag, \ufe0fa\U000e0100 variant", "a tag, a variant"),
        ("all\u3164fillers\u115f\u1160and\uffa0a\u034f\u2800joiner", "all fillers and a joiner"),
        ("private \ue000\uf8ff\U000f0000 letters, \ufffc objects", "private letters, objects"),
        ("\u202agnol\u202c \u2066one\u2069 \u061cmark", "gnol one mark"),
        ("right\u202eto left\x07\x9f", "rightto left"),
        ("a page\x0cbreak", "a page break"),
        ("half \ud83d a character", "half a character"),
        ("e\u0301tude", "\u00e9tude"),
        ("", ""),
    ],
)
def test_text_is_cleaned_as_a_person_would_read_it(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (r"of $O(n^2)$ steps", "of $O(n^2)$ steps"),
        (r"of \$O(n\_1)\$ steps", "of $O(n_1)$ steps"),
        (r"of $$\sum_{i} x_i$$ here", r"of $\sum_{i} x_i$ here"),
        (r"an $\epsilon$-net", r"an $\epsilon$-net"),
        (r"$\mathcal{O}(\log n)$ and $\frac{1}{2}$", r"$\mathcal{O}(\log n)$ and $\frac{1}{2}$"),
        (r"$\\alpha$ is kept", r"$\alpha$ is kept"),
        (r"bare \alpha_1 in text", r"bare $\alpha_1$ in text"),
        (r"in \mathbb{R}^d \times [0,1]", r"in $\mathbb{R}^d$ $\times$ [0,1]"),
        (r"\emph{outside} $\emph{inside}$", r"outside $\emph{inside}$"),
        (r"being $5.93\$\times$ faster", r"being $5.93\times$ faster"),
    ],
)
def test_formulas_stay_as_latex_between_dollars(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("with only 5$ steps of adaptation", "with only 5 steps of adaptation"),
        (r"such as DALL\$ \cdot E 2", r"such as DALL $\cdot$ E 2"),
        ("it costs $5 only", "it costs $5 only"),
        ("it costs US$ 5 only", "it costs US$ 5 only"),
        ("between $x and $y it costs $5", "between $x and $y it costs $5"),
    ],
)
def test_a_dollar_without_its_other_is_dropped_unless_it_is_a_price(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_cleaning_what_is_clean_changes_nothing(seed_records: list[Record]) -> None:
    for record in seed_records:
        for text in (record.abstract, record.title, *record.authors):
            assert clean(text) == text


MARKUP = st.lists(
    st.sampled_from(
        [*r"\${}[]()_*^#&;~a1 ", r"\emph{", r"\cite{", r"\footnote{", r"\alpha", "&amp;", "](#)"]
    )
).map("".join)


@given(st.one_of(st.text(), MARKUP))
def test_whatever_comes_in_one_tidy_line_comes_out(text: str) -> None:
    cleaned = clean(text)
    assert cleaned == " ".join(cleaned.split())
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in cleaned)


@pytest.mark.parametrize(
    "text",
    [
        r"\x " + "~" * 200_000,
        "\\" * 200_000,
        r"\emph{} " * 30_000,
        r"\emph{" * 30_000 + "}" * 30_000,
        "`" * 200_000,
        "We " + "-" * 200_000,
    ],
    ids=lambda text: text[:10],
)
def test_odd_text_is_read_in_time_that_grows_with_it(text: str) -> None:
    # A second at most; with its square it would be half a minute and more.
    started = time.process_time()
    cleaned = clean(text)
    split_sentences(cleaned)
    introduced("", cleaned)
    assert time.process_time() - started < 10


def test_no_text_is_lost_between_the_blocks_that_are_split() -> None:
    text = "One two three. " * 2_000 + "x" * 20_000
    sentences = split_sentences(text)
    assert all(text[each.start : each.end] == each.text for each in sentences)
    assert "".join("".join(each.text for each in sentences).split()) == "".join(text.split())
