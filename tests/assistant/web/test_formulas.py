"""Formulas as MathML: right where they are understood, as typed where not, never active."""

from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.server.web.formulas import marked, with_formulas

ELEMENTS = frozenset(
    "math mrow mi mn mo mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot "
    "mtable mtr mtd mstyle mpadded mark".split()
)
ATTRIBUTES = frozenset(
    "accent display displaystyle fence form largeop linethickness mathvariant maxsize minsize "
    "movablelimits scriptlevel separator stretchy width".split()
)


class Reader(HTMLParser):
    """Collects text, and whatever is not allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.strange: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag not in ELEMENTS:
            self.strange.append(tag)
        self.strange += [name for name, _ in attrs if name not in ATTRIBUTES]
        self.strange += [value or "" for _, value in attrs if not (value or "").isascii()]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.strange.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.strange.append(data)

    def handle_decl(self, decl: str) -> None:
        self.strange.append(decl)

    def handle_pi(self, data: str) -> None:
        self.strange.append(data)


def read(html: str) -> Reader:
    """What a browser makes of `html`."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("no formula", "no formula"),
        ("$n^2$", "<math><mrow><msup><mi>n</mi><mn>2</mn></msup></mrow></math>"),
        ("a $x$ b", "a <math><mrow><mi>x</mi></mrow></math> b"),
        (r"\(a<b\)", "<math><mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow></math>"),
        ("$$x$$", '<math display="block"><mrow><mi>x</mi></mrow></math>'),
        (r"\[x\]", '<math display="block"><mrow><mi>x</mi></mrow></math>'),
        (r"$\mathbb{R}$", "<math><mrow><mi>ℝ</mi></mrow></math>"),
        (r"$\mathbf{12}$", "<math><mrow><mrow><mn>𝟏𝟐</mn></mrow></mrow></math>"),
        (
            r"$n\log n$",
            '<math><mrow><mi>n</mi><mspace width="0.167em"></mspace><mi>log</mi>'
            '<mspace width="0.167em"></mspace><mi>n</mi></mrow></math>',
        ),
        (r"$2$ \AA", r"<math><mrow><mn>2</mn></mrow></math> \AA"),
        (r"$\text{\AA}$", "<math><mrow><mtext>Å</mtext></mrow></math>"),
    ],
)
def test_a_formula_is_mathml_and_the_rest_is_text(text: str, html: str) -> None:
    assert with_formulas(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and saves $20.",
        "It costs $5 to $6",
        "between $10 of the usual price and $20",
        r"\$x\$",
        "one $ sign",
        "$$",
        "$$$$",
        r"\(\)",
        "$a_b_c$",
        r"$\unknown{x}$",
        r"$\begin{array}$",
        r"$\newcommand{\a}{\a\a}\a$",
        r"$\def\a{\a\a}\a$",
        r"$\cancel{x}$",
        r"$\phantom{x}$",
        r"$\unicode{0}$",
        "$" + "{" * 450 + "x" + "}" * 450 + "$",
        "$" + "x" * 1001 + "$",
    ],
)
def test_what_is_no_formula_or_not_understood_stays_as_typed(text: str) -> None:
    assert with_formulas(text) == escape(text, quote=False)


PAYLOADS = (
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\text{&#x3c;img src=x onerror=alert(1)&#x3e;}$",
    r"$\text{&lt;script&gt;alert(1)&lt;/script&gt;}$",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\href{javascript:alert(1)//' onclick='alert(1)}{x}$",
    r"$\style{background:url(//example.org)}{x}$",
    r"$\class{x onload=alert(1)}{x}$",
    r"$\unicode{x3c}\text{script>}$",
    r"$\color{red\" onclick=\"alert(1)}{x}$",
    r"$\rule{9999em}{9999em}$",
    r"$\hspace{-9999em}x$",
    r"$\operatorname{<b>}x$",
    r"$\begin{array}{\"><script>}x\end{array}$",
    r"$\tag{<svg/onload=alert(1)>}$",
    r"$\mbox{<b>$<i>$}$",
    "$</math><script>alert(1)</script>$",
    "$<mtext></mtext><a href=javascript:alert(1)>$",
    "$x$<script>alert(1)</script>$y$",
    r"$\genfrac{<}{>}{\"><b>}{0}{a}{b}$",
    r"$\left<\right>$",
)


@pytest.mark.parametrize("text", PAYLOADS)
def test_hostile_formulas_are_never_active(text: str) -> None:
    reader = read(with_formulas(text))
    assert reader.strange == []
    assert reader.open == []


COMMANDS = st.sampled_from(
    r"\text{ \href{ \frac{ \sqrt \left( \right) \begin{matrix} \end{matrix} & \\ _ ^ { } $ $$ \( "
    r"\) \[ \] \mathbf{ \color{ \rule{1em}{2em} \unicode{x3c} \style{ \class{ &#x3c; &lt; < > \" ' "
    r"<script> onload= \hspace{9em} \operatorname{ \sum \alpha \not \verb| | \bigg \tag{ \mbox{ x "
    r"1 \xrightarrow{ \binom{ \overbrace{ \limits \def \newcommand".split()
) | st.text(max_size=3)
FORMULAS = st.lists(COMMANDS, max_size=12).map("".join)


@given(FORMULAS, st.booleans())
@example("<b>$x$</b>", True)
def test_any_text_yields_only_allowed_elements(text: str, inside: bool) -> None:
    text = f"${text}$" if inside else text
    reader = read(with_formulas(text))
    assert reader.strange == []
    assert reader.open == []


@given(FORMULAS, st.integers(0, 60), st.integers(0, 60))
def test_marks_wherever_they_begin_and_end_leave_the_text_as_it_is(
    text: str, start: int, end: int
) -> None:
    html = marked(text, [text[start:end]])
    assert html.replace("<mark>", "").replace("</mark>", "") == with_formulas(text)
    assert read(html).open == []


@pytest.mark.parametrize(
    ("abstract", "quotes", "html"),
    [
        ("One. Two & more.", ["Two & more."], "One. <mark>Two &amp; more.</mark>"),
        ("One. Two.", ["Three."], "One. Two."),
        ("One. Two.", [""], "One. Two."),
        ("One. Two. Three.", ["One. Two.", "Two. Three."], "<mark>One. Two. Three.</mark>"),
        ("One. Two. Three.", ["Three.", "One."], "<mark>One.</mark> Two. <mark>Three.</mark>"),
        (
            "So $x$ is.",
            ["So $"],
            "<mark>So <math><mrow><mi>x</mi></mrow></math></mark> is.",
        ),
    ],
)
def test_quotes_are_highlighted(abstract: str, quotes: list[str], html: str) -> None:
    assert marked(abstract, quotes) == html
