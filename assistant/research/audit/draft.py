"""Reads a draft in text, Markdown or LaTeX into sentences with their places and citations.

What is no prose (headings, code, tables, formulas, comments, the bibliography) is blanked with
spaces, so that every sentence keeps its place: `draft.text[start:end]` is its source.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from assistant.research.audit.marks import CitedWork, Mark, find_marks
from retrieval.text.latex import decode
from retrieval.text.splitting import split_sentences
from retrieval.types import InputError

LONGEST = 3_000_000
"""Characters of a draft: a thousand pages."""
LONGEST_SENTENCE = 2000
"""Characters; what is longer is no sentence but lost markup, and is not judged."""
_LEAST_WORDS = 3
"""Words of a sentence; shorter ones are labels."""
_SUBJECT = "They"
"""Stands for a citation that is a part of its sentence."""
_OTHERS = "Researchers"
"""Stands for it where claims are told from other sentences: *they* may be the draft's authors."""

_LATEX = re.compile(r"\\(?:documentclass|begin|section|subsection|usepackage|[a-zA-Z]*cite\w*)\b")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BODY = re.compile(r"\\begin\s*\{document\}")
_BODY_END = re.compile(r"\\end\s*\{document\}|\\(?:bibliography|printbibliography|appendix)\b")
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+\*?)\}(?:\s*\[[^\[\]]{0,300}\])?")
_SET_APART = frozenset(
    "equation align alignat gather multline eqnarray displaymath math array table tabular tabularx "
    "longtable figure wrapfigure verbatim Verbatim lstlisting minted comment algorithm algorithmic "
    "tikzpicture thebibliography filecontents pgfplots".split()
)
"""Environments without prose."""
_DISPLAYED = re.compile(r"\\\[.{0,4000}?\\\]|\$\$.{0,4000}?\$\$", re.DOTALL)
_COMMAND = re.compile(
    r"\\(?:part|chapter|(?:sub)*section|(?:sub)?paragraph|title|author|date|label|[cC]ref|"
    r"bibliography|bibliographystyle|includegraphics|input|include|usepackage|newcommand|"
    r"renewcommand|def|documentclass|maketitle|tableofcontents|vspace|hspace|thanks|item|noindent|"
    r"centering|nocite|affiliation|institute|email|keywords)\b\*?"
)
_OPTION = re.compile(r"\s*\[[^\[\]]{0,300}\]")
_LATEX_HEADING = "part chapter section subsection subsubsection paragraph subparagraph".split()
_UNCLOSED_CITE = re.compile(
    r"(?P<opening>\\[a-zA-Z]*cite[a-zA-Z]*\*?\s*(?:\[[^\]]{0,200}\]\s*){0,2}\{[\w:+/,-]*)"
    r"(?P<rest>[^{}]{0,2000}(?:\{|\n\s*\n|\Z))"
)
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_DOLLAR = re.compile(r"\\.|\$")

_LIST_MARK = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?", re.MULTILINE)
_BIBLIOGRAPHY = re.compile(
    r"[ \t#*=\d.]*(?:References|Bibliography|Works cited|Literature)[ \t#*=:]*", re.IGNORECASE
)
_HIDDEN = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence of a draft: its source is `draft[start:end]`."""

    start: int
    end: int
    text: str
    """Without markup, with its citations as written."""
    claim: str
    """Without citations; one that is a part of the sentence has become *They*."""
    told: str
    """The claim with *Researchers* in place of that *They*."""
    works: tuple[CitedWork, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft that was read."""

    text: str
    sentences: tuple[DraftSentence, ...]
    latex: bool
    notes: tuple[str, ...] = ()
    """What in its markup could not be read as meant, one sentence each."""


def decoded(content: bytes, name: str) -> str:
    """The text of a file.

    Raises:
        InputError: it is no text, such as a PDF or a document of a word processor.
    """
    if (
        content.startswith((b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
        or b"\x00" in content[:4096]
    ):
        raise InputError(f"{name} is no text; save the draft as text, Markdown or LaTeX.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def read_draft(text: str, name: str = "") -> Draft:
    """The sentences of a draft; `name` is its file's name, by whose ending LaTeX is known.

    Raises:
        InputError: the draft is empty, too long, or has no sentence.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", " ")
    if not text.strip():
        raise InputError("The draft is empty; give a text, Markdown or LaTeX file with sentences.")
    if len(text) > LONGEST:
        raise InputError(
            f"The draft has {len(text):,} characters; {LONGEST:,} are read at most: audit it "
            "chapter by chapter."
        )
    latex = name.lower().endswith((".tex", ".ltx")) or bool(_LATEX.search(text))
    prose, spans, notes = _latex_prose(text) if latex else _markdown_prose(text)
    sentences = [each for span in spans for each in _sentences(prose, span, latex=latex)]
    if not sentences:
        raise InputError(
            "The draft has no sentence to check: only headings, code, tables or references were "
            "found; give its text."
        )
    return Draft(text, tuple(sentences), latex, tuple(notes))


def _sentences(prose: str, span: tuple[int, int], *, latex: bool) -> Iterator[DraftSentence]:
    """The sentences of a paragraph; a citation after a full stop belongs to the one before."""
    first, last = span
    block = prose[first:last]
    marks = find_marks(block, latex=latex)
    masked = list(block)
    for mark in marks:
        length = mark.end - mark.start
        masked[mark.start : mark.end] = (_SUBJECT * mark.is_subject).ljust(length)[:length]
    found = split_sentences("".join(masked))
    starts = [each.start for each in found]
    limits = [*starts[1:], len(block)]
    for at, (sentence, limit) in enumerate(zip(found, limits, strict=True)):
        begin = 0 if at == 0 else sentence.start
        own = [mark for mark in marks if begin <= mark.start < limit]
        begin = min([sentence.start, *(mark.start for mark in own)])
        end = max([sentence.end, *(mark.end for mark in own)])
        text = _plain(block, (begin, end), [(m, m.shown) for m in own], latex=latex)
        claim, told = (
            _plain(block, (begin, end), [(m, who * m.is_subject) for m in own], latex=latex)
            for who in (_SUBJECT, _OTHERS)
        )
        if len(claim.split()) >= _LEAST_WORDS and end - begin <= LONGEST_SENTENCE:
            works = tuple(work for mark in own for work in mark.works)
            yield DraftSentence(first + begin, first + end, text, claim, told, works)


def _plain(
    block: str, span: tuple[int, int], marks: Sequence[tuple[Mark, str]], *, latex: bool
) -> str:
    """A part of a block without markup, each mark replaced."""
    at, end = span
    pieces: list[str] = []
    for mark, replaced in marks:
        pieces += [_cleaned(block[at : mark.start], latex=latex), replaced]
        at = mark.end
    pieces.append(_cleaned(block[at:end], latex=latex))
    text = " ".join(" ".join(pieces).split())
    text = re.sub(r"\s+([,.;:!?)\]])", r"\1", text)
    return re.sub(r"\(\s*\)", "", re.sub(r"([(\[])\s+", r"\1", text)).strip()


def _cleaned(text: str, *, latex: bool) -> str:
    if latex:
        return decode(text)
    tokens = [child for each in _parser().parseInline(text) for child in each.children or []]
    return "".join(map(_text_of, tokens))


def _text_of(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return token.content if token.type in ("text", "code_inline", "text_special") else ""


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; indented text is text, as in drafts that are no Markdown."""
    return MarkdownIt("commonmark").enable("table").disable("code")


def _markdown_prose(text: str) -> tuple[str, list[tuple[int, int]], list[str]]:
    """The text, and the spans of its paragraphs before and after the bibliography."""
    lines = [0, *(found.end() for found in re.finditer("\n", text)), len(text)]
    spans, is_prose = [], True
    for before, token in pairwise([Token("", "", 0), *_parser().parse(text)]):
        if token.type != "inline" or token.map is None:
            continue
        span = lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)]
        first_line = text[slice(*span)].strip().split("\n")[0]
        if before.type == "heading_open" or _BIBLIOGRAPHY.fullmatch(first_line):
            is_prose = not _BIBLIOGRAPHY.fullmatch(first_line)
        elif before.type == "paragraph_open" and is_prose:
            spans.append(span)
    return _blanked(text, _LIST_MARK), spans, []


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    """`text` with spaces in place of every match."""
    return pattern.sub(lambda found: _HIDDEN.sub(" ", found[0]), text)


def _latex_prose(text: str) -> tuple[str, list[tuple[int, int]], list[str]]:
    prose = _blanked(text, _COMMENT)
    begin = _BODY.search(prose)
    start = begin.end() if begin else 0
    stop = _BODY_END.search(prose, start)
    end = stop.start() if stop else len(prose)
    notes: list[str] = []
    if begin and not re.search(r"\\end\s*\{document\}", prose):
        notes.append("The LaTeX has no \\end{document}; it was read to the end of the file.")
    cited = find_marks(prose[start:end], latex=True)
    prose = _without_environments(prose, start, end, notes)
    if set_apart := len(cited) - len(find_marks(prose[start:end], latex=True)):
        notes.append(f"Citations in figures, tables and formulas, not checked: {set_apart}.")
    notes += [
        f"The citation of line {_line(text, found.start())} does not close; it is not read."
        for found in _UNCLOSED_CITE.finditer(prose, start, end)
    ]
    prose = _UNCLOSED_CITE.sub(lambda m: _HIDDEN.sub(" ", m["opening"]) + m["rest"], prose)
    prose = _without_commands(_blanked(prose, _DISPLAYED))
    spans, at = [], start
    for gap in [*_BLANK_LINES.finditer(prose, start, end), None]:
        last = gap.start() if gap else end
        if prose[at:last].strip():
            spans.append((at, last))
        at = gap.end() if gap else end
    return _with_closed_formulas(prose, text, spans, notes), spans, notes


def _without_environments(prose: str, start: int, end: int, notes: list[str]) -> str:
    """Blank what is set apart, and the marks of other environments; one not closed is read."""
    opened: list[tuple[str, re.Match[str]]] = []
    blank: list[tuple[int, int]] = []
    for found in _ENVIRONMENT.finditer(prose, start, end):
        name = found[2].removesuffix("*")
        blank.append(found.span())
        if found[1] == "begin":
            opened.append((name, found))
        elif names := [at for at, (each, _) in enumerate(opened) if each == name]:
            if name in _SET_APART:
                blank.append((opened[names[-1]][1].start(), found.end()))
            notes += [_unclosed(prose, each) for _, each in opened[names[-1] + 1 :]]
            del opened[names[-1] :]
    notes += [_unclosed(prose, each) for _, each in opened]
    pieces = list(prose)
    for first, last in blank:
        # An empty line, so that paragraphs before and after stay apart.
        hidden = _HIDDEN.sub(" ", prose[first:last])
        pieces[first:last] = f"\n\n{hidden[2:]}" if last - first > 1 else hidden
    return "".join(pieces)


def _unclosed(prose: str, begun: re.Match[str]) -> str:
    line = _line(prose, begun.start())
    return (
        f"The LaTeX does not close \\begin{{{begun[2]}}} of line {line}; the rest is read as text."
    )


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _without_commands(prose: str) -> str:
    """Blank commands whose arguments are no prose, with their arguments."""
    pieces = list(prose)
    for found in _COMMAND.finditer(prose):
        name = found[0].lstrip("\\").rstrip("*")
        end = found.end()
        takes = 0 if name in ("item", "noindent", "centering", "maketitle") else 2
        while option := _OPTION.match(prose, end):
            end = option.end()
        for _ in range(takes):
            end = _end_of_group(prose, end)
        hidden = _HIDDEN.sub(" ", prose[found.start() : end])
        if name in _LATEX_HEADING or name == "item":
            hidden = f"\n\n{hidden[2:]}"
        pieces[found.start() : end] = hidden
    return "".join(pieces)


def _end_of_group(text: str, at: int) -> int:
    """The end of the group `{…}` that begins at `at`; `at` if none does, or if it is not closed."""
    start = at + len(text[at : at + 2]) - len(text[at : at + 2].lstrip(" "))
    if text[start : start + 1] != "{":
        return at
    depth = 0
    for place in range(start, min(len(text), start + 4000)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    return at


def _with_closed_formulas(
    prose: str, text: str, spans: Sequence[tuple[int, int]], notes: list[str]
) -> str:
    """Blank the last dollar of a paragraph in which a formula is not closed, as TeX ends it."""
    pieces = list(prose)
    for first, last in spans:
        dollars = [m.start() for m in _DOLLAR.finditer(prose, first, last) if m[0] == "$"]
        if len(dollars) % 2:
            pieces[dollars[-1]] = " "
            line = _line(text, dollars[-1])
            notes.append(f"The formula of line {line} does not close; it is read as text.")
    return "".join(pieces)
