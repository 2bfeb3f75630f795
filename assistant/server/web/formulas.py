r"""Formulas in the texts of papers as MathML; the only module that imports latex2mathml.

`$…$`, `$$…$$`, `\(…\)` and `\[…\]` are formulas; everything else is escaped. The tree that
latex2mathml returns is written with allowed elements and attributes only, because it copies links,
colours, sizes and character references from the text. A formula with an unknown part stays as it
was typed.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markupsafe import Markup, escape

from retrieval.text.latex import split_formulas

_LONGEST = 1000
"""Characters of a formula; longer ones stay as typed."""
_REMEMBERED = 4096
"""Formulas whose MathML is cached."""

_SET_OFF = re.compile(
    r"(?<!\\)(?:\$\$([^$]{1,1000})\$\$|\\\[(.{1,1000}?)\\\]|\\\((.{1,1000}?)\\\))", re.DOTALL
)
_PAIR = re.compile("``|''")
"""Quotation marks of LaTeX."""
_DEFINES = re.compile(r"\\(?:newcommand|newenvironment|DeclareMathOperator|def)(?![A-Za-z])")
"""Definitions can expand a short formula without limit."""
_REFERENCE = re.compile(r"&#x([0-9A-Fa-f]{1,6});")
"""A character reference as latex2mathml writes it."""

_ELEMENTS = frozenset(
    "math mrow mi mn mo mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot "
    "mtable mtr mtd mstyle mpadded".split()
)
_BOOLEAN = re.compile(r"true|false")
_SMALL = re.compile(r"[0-2]?(?:\.\d{1,3})?em")
_ATTRIBUTES = {
    "accent": _BOOLEAN,
    "display": re.compile(r"block"),
    "displaystyle": _BOOLEAN,
    "fence": _BOOLEAN,
    "form": re.compile(r"prefix|infix|postfix"),
    "largeop": _BOOLEAN,
    "linethickness": re.compile(r"0"),
    "maxsize": _SMALL,
    "minsize": _SMALL,
    "movablelimits": _BOOLEAN,
    "scriptlevel": re.compile(r"[0-2]"),
    "separator": _BOOLEAN,
    "stretchy": _BOOLEAN,
    "width": _SMALL,
}
"""Attributes with their allowed values; others are left out."""
_ROWS = frozenset({"math", "mrow", "mstyle", "mtd"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup"})
_THIN_SPACE = Markup('<mspace width="0.167em"></mspace>')
_LETTERS = frozenset({"mi", "mn"})
"""Elements whose letters take the alphabet of `mathvariant`."""


class _UnknownError(ValueError):
    """A part of a formula that cannot be shown."""


def with_formulas(text: str) -> Markup:
    """`text` with its formulas as MathML, everything else escaped."""
    return Markup().join(
        _formula(piece) if is_formula else _prose(piece) for piece, is_formula in _pieces(text)
    )


def plain_formulas(text: str) -> str:
    """`text` as `with_formulas` shows it, without elements: for names and tooltips."""
    return with_formulas(text).striptags()


def marked(abstract: str, quotes: Sequence[str]) -> Markup:
    """Like `with_formulas`, with quotes highlighted; a partly quoted formula as a whole.

    Args:
        abstract: the text.
        quotes: exact substrings of it; others are ignored.
    """
    spans = [(at, at + len(each)) for each in quotes if each and (at := abstract.find(each)) >= 0]
    return marked_spans(abstract, spans)


def marked_spans(text: str, spans: Sequence[tuple[int, int]]) -> Markup:
    """Like `marked`, with the starts and ends of what is highlighted."""
    parts: list[Markup] = []
    for is_marked, segments in groupby(_segments(text, spans), key=lambda each: each[1]):
        html = Markup().join(segment for segment, _ in segments)
        parts.append(Markup("<mark>{}</mark>").format(html) if is_marked else html)
    return Markup().join(parts)


def _segments(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[Markup, bool]]:
    """The text cut at the ends of `spans`; for each piece, whether it lies in a span."""
    start = 0
    for piece, is_formula in _pieces(text):
        end = start + len(piece)
        if is_formula:
            yield _formula(piece), any(first < end and last > start for first, last in spans)
        else:
            cuts = {start, end, *(at for span in spans for at in span if start < at < end)}
            within = {start + pair.start() + 1 for pair in _PAIR.finditer(piece)}
            for one, other in pairwise(sorted({at + (at in within) for at in cuts})):
                is_quoted = any(first <= one < last for first, last in spans)
                yield _prose(text[one:other]), is_quoted
        start = end


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of `text` in order; for each, whether it is a formula with its delimiters."""
    at = 0
    for found in _SET_OFF.finditer(text):
        content = next(filter(None, found.groups()))
        if [is_formula for _, is_formula in split_formulas(f"${content}$")] == [True]:
            yield from split_formulas(text[at : found.start()])
            yield found.group(), True
            at = found.end()
    yield from split_formulas(text[at:])


def _prose(text: str) -> Markup:
    """Text outside formulas, escaped; the quotation marks of LaTeX as they are printed."""
    return escape(_PAIR.sub(lambda found: "“" if found[0] == "``" else "”", text))


@lru_cache(maxsize=_REMEMBERED)
def _formula(source: str) -> Markup:
    """The formula as MathML, or as it was typed, escaped."""
    width = 1 if source[0] == "$" != source[1] else 2
    content = source[width:-width]
    display = "block" if source.startswith(("$$", r"\[")) else "inline"
    if len(content) > _LONGEST or _DEFINES.search(content):
        return escape(source)
    try:
        return _written(convert_to_element(content.replace(r"\AA", "Å"), display=display))
    except Exception:  # on odd input its walker raises errors of any type
        return escape(source)


def _written(element: Element) -> Markup:
    """An element of latex2mathml's tree as safe HTML.

    Raises:
        _UnknownError: it contains an unknown element or command.
    """
    if element.tag not in _ELEMENTS:
        raise _UnknownError(element.tag)
    text = _characters(element.text or "")
    if element.tag in _LETTERS:
        text = _lettered(text, element.get("mathvariant", ""))
    attributes = {
        name: value
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES and _ATTRIBUTES[name].fullmatch(value)
    }
    if element.tag == "mi" and element.get("mathvariant") == "normal":
        attributes["mathvariant"] = "normal"
    return Markup("<{0}{1}>{2}{3}</{0}>").format(
        element.tag,
        Markup().join(Markup(' {}="{}"').format(*pair) for pair in attributes.items()),
        text,
        Markup().join(_children(element)),
    )


def _children(element: Element) -> Iterator[Markup]:
    """The element's children, with a thin space inside `log n` as in TeX."""
    before: Element | None = None
    for child in element:
        if before is not None and element.tag in _ROWS and _are_apart(before, child):
            yield _THIN_SPACE
        yield _written(child)
        before = child


def _are_apart(one: Element, other: Element) -> bool:
    return "mo" not in (one.tag, other.tag) and (_is_function(one) or _is_function(other))


def _is_function(element: Element) -> bool:
    """Whether it is the name of a function such as log, perhaps with a sub- or superscript."""
    base = element[0] if element.tag in _SCRIPTS and len(element) else element
    text = base.text or ""
    return base.tag == "mi" and len(text) > 1 and text.isalpha()


def _characters(text: str) -> str:
    """The text of an element with its character references resolved.

    Raises:
        _UnknownError: it contains a command or a control character.
    """
    if "\\" in text:
        raise _UnknownError(text)
    shown = _REFERENCE.sub(lambda found: chr(int(found[1], 16)), text)
    if any(unicodedata.category(each) in {"Cc", "Cs", "Cn", "Cf"} for each in shown):
        raise _UnknownError(text)
    return shown


def _lettered(text: str, variant: str) -> str:
    """Letters and digits in the alphabet of `variant`; browsers support only `normal`."""
    if variant in {"", "normal"}:
        return text
    alphabet = variant.upper().replace("-", " ")
    return "".join(_letter(each, alphabet) for each in text)


def _letter(letter: str, alphabet: str) -> str:
    kind = unicodedata.name(letter, "")
    for words in ("LATIN CAPITAL LETTER ", "LATIN SMALL LETTER ", "DIGIT ", "GREEK "):
        if kind.startswith(words):
            name = kind.replace("LATIN ", "").replace("GREEK ", "").replace("LETTER ", "")
            break
    else:
        return letter
    try:
        return unicodedata.lookup(f"MATHEMATICAL {alphabet} {name}")
    except KeyError:
        return letter
