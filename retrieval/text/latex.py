"""Converts LaTeX text to Unicode and back; the one module that imports pylatexenc.

Formulas stay as they are, as `$…$`. `decode` reads back exactly what `encode` writes.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from pylatexenc.latex2text import (
    LatexNodes2Text,
    MacroTextSpec,
    SpecialsTextSpec,
    get_default_latex_context_db,
)
from pylatexenc.latexencode import get_builtin_uni2latex_dict
from pylatexenc.macrospec import LatexContextDb

_SPACE = re.compile(r"\s+")
_PRIVATE = "\x00"
"""Encloses the number of a piece that is kept as it is; no text has this character."""

_FORMULA = re.compile(r"\$((?:\\.|[^$\\])+)\$")
_ESCAPED_OR_DOLLAR = re.compile(r"\\.|\$")
_WORDS = re.compile(r"(?:(?<![\\A-Za-z])[A-Za-z]{2,}[,.]? +){3}")
"""Three ordinary words in a row: text between dollars is then not a formula."""
_NEVER_IN_FORMULA = re.compile(r"(?<!\\)[%#&]|\\\\[{}]")
"""Signs that break LaTeX or a BibTeX reader even between dollars."""

_DISPLAYED = re.compile(r"(?<!\\)\\[(\[]((?:[^\\]|\\[^()\[\]]){1,400}?)\\[)\]]")
_DOUBLED_DOLLAR = re.compile(r"(?<!\\)\${2,}")
_LINK = re.compile(r"\\href\s*\{[^{}]*\}\s*(?=\{)")
_ADDRESS = re.compile(r"\\(?:url|path|nolinkurl)\s*\{([^{}]*)\}")
_REFERENCE = re.compile(
    r"(?<![~ ])[~ ]*\\(?:[a-zA-Z]*cite[a-zA-Z]*|(?:eq|[cC]|auto)?ref|label)\*?"
    r"(?:\[[^\]]*\])*\{[^{}]*\}"
)
_ESCAPE = re.compile(r"\\(?=[%&#_$])")
_BEFORE_SIGN = re.compile(r"(?<!\\)(?=[&%#])")
_LONE_ACCENT = re.compile(r"\\([\^~\"'`=.])\{\}")
_MACRO = re.compile(r"(?<!\\)((?:\\\\)*)\\([A-Za-z]+)(?:\{\}|(?![A-Za-z]|\s*[{\[]))")
_OPEN_END = re.compile(r"\\(?:[A-Za-z]+|[^A-Za-z%&#_$])?$")
"""The end of a piece whose last command takes the following text."""
_COMMAND = re.compile(r"\\(?![%&#_$])")
_MARK = re.compile(r"\\.|[{} ]")
_LONGEST_PIECE = 2000
"""Characters of a piece, since the parser's time grows with their square."""
_KEPT = re.compile(f"{_PRIVATE}(\\d+){_PRIVATE}")
_LIGATURES = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " "}
_LIGATURE = re.compile("|".join(map(re.escape, _LIGATURES)))
_APART = re.compile(r"-(?=-)|'(?=')|[`?!](?=`)")

_SPECIALS = {
    "\\": r"{\textbackslash}",
    "{": r"{\textbraceleft}",
    "}": r"{\textbraceright}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    "<": r"{\textless}",
    ">": r"{\textgreater}",
    "|": r"{\textbar}",
    **{character: f"\\{character}" for character in "$&%#_"},
}
"""Escapes of special characters; braces are commands, since BibTeX also counts escaped ones."""

_TEXT_OF_SYMBOL = {
    "textbraceleft": "{",
    "textbraceright": "}",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textasciicircum": "^",
    "textquotedbl": '"',
    "textquotesingle": "'",
    "textasciigrave": "`",
    "item": " ",
    "-": "",
}
"""Symbols that pylatexenc does not know or turns into another character."""

_SWITCHES = (
    "it em bf sc tt rm sl sf itshape slshape upshape bfseries mdseries scshape ttfamily rmfamily "
    "sffamily normalfont relax tiny scriptsize footnotesize small normalsize large Large huge"
).split()


def decode(text: str) -> str:
    """LaTeX text as Unicode on one line: no commands, no braces, formulas kept as `$…$`."""
    kept: list[str] = []

    def keep(piece: str) -> str:
        kept.append(piece)
        return f"{_PRIVATE}{len(kept) - 1}{_PRIVATE}"

    text = _SPACE.sub(" ", text.replace(_PRIVATE, "")).strip()
    text = _DOUBLED_DOLLAR.sub("$", _DISPLAYED.sub(r"$\1$", text))
    text = "".join(
        keep(piece) if is_formula else _BEFORE_SIGN.sub(r"\\", _dollars_escaped(piece))
        for piece, is_formula in split_formulas(text)
    )
    text = _LINK.sub("", _REFERENCE.sub("", text))
    text = _ADDRESS.sub(lambda found: keep(unescaped(found[1])), text)
    return _KEPT.sub(lambda found: kept[int(found[1])], "".join(_decoded(text)))


def encode(text: str) -> str:
    """`text` as LaTeX that old BibTeX reads: specials escaped, accents as commands."""
    return "".join(
        piece if is_formula and _is_safe(piece) else _encoded(piece)
        for piece, is_formula in split_formulas(unicodedata.normalize("NFC", text))
    )


def unescaped(text: str) -> str:
    r"""An address without the escapes that a program added to `_`, `%`, `&`, `#`, `~` or `$`."""
    return re.sub(r"\\([_%&#~$])(?:\{\})?", r"\1", text)


def split_formulas(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of `text` in order, and whether each is a formula with its dollars."""
    prose_from = at = 0
    while sign := _ESCAPED_OR_DOLLAR.search(text, at):
        at = sign.end()
        formula = _FORMULA.match(text, sign.start())
        if formula and _is_formula(formula[1], text[formula.end() : formula.end() + 1]):
            if formula.start() > prose_from:
                yield text[prose_from : formula.start()], False
            yield formula.group(), True
            prose_from = at = formula.end()
    if prose_from < len(text):
        yield text[prose_from:], False


def _is_formula(content: str, following: str) -> bool:
    is_price = content.lstrip()[:1].isdigit() and content[-1] == " " and following.isdigit()
    return not is_price and not _WORDS.search(content)


def _is_safe(formula: str) -> bool:
    depth = 0
    for brace in re.findall(r"[{}]", formula):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0 and not _NEVER_IN_FORMULA.search(formula)


def _encoded(prose: str) -> str:
    separated = _APART.sub(r"\g<0>" + _PRIVATE, prose)
    return "".join(map(_latex_of, separated)).replace(_PRIVATE, "{}")


@cache
def _latex_of(character: str) -> str:
    """The character in LaTeX, or unchanged if no command for it can be read back."""
    if character.isascii():
        return _SPECIALS.get(character, character)
    command = get_builtin_uni2latex_dict().get(ord(character))
    if command is None or decode(f"{{{command}}}") != character:
        return character
    return f"{{{command}}}"


def _dollars_escaped(prose: str) -> str:
    return re.sub(r"\\.|\$", lambda found: r"\$" if found[0] == "$" else found[0], prose)


def _decoded(text: str) -> Iterator[str]:
    """`text` decoded in pieces: only the words of commands go through the slow parser."""
    at = 0
    while command := _COMMAND.search(text, at):
        start = max(at, text.rfind(" ", at, command.start()) + 1)
        end = _end_of_piece(text, start)
        yield _plain(text[at:start])
        yield _parsed(text[start:end])
        at = end
    yield _plain(text[at:])


def _end_of_piece(text: str, start: int) -> int:
    """The end of the first space after `start` outside braces and commands, or far behind it."""
    depth = 0
    for mark in _MARK.finditer(text, start):
        if mark[0] == " ":
            is_far = mark.start() - start > _LONGEST_PIECE
            before = max(start, mark.start() - 40)
            if is_far or (depth <= 0 and not _OPEN_END.search(text, before, mark.start())):
                return mark.end()
        elif mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
    return len(text)


def _plain(text: str) -> str:
    text = _LIGATURE.sub(lambda found: _LIGATURES[found[0]], _ESCAPE.sub("", text))
    return text.replace("{", "").replace("}", "")


@lru_cache(maxsize=4096)
def _parsed(piece: str) -> str:
    if len(piece) > 2 * _LONGEST_PIECE:  # no text that anybody wrote
        return _plain(piece)
    piece = _LONE_ACCENT.sub(lambda found: _SPECIALS.get(found[1], found[1]), piece)
    piece = _MACRO.sub(_name_if_unknown, piece)
    try:
        return unicodedata.normalize("NFC", str(_decoder().latex_to_text(piece)))
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return piece.replace("{", "").replace("}", "")  # unparsable text is left to the next step


def _name_if_unknown(found: re.Match[str]) -> str:
    """Replace an author's own macro by its name, the best guess at its text."""
    return found[0] if _context().get_macro_spec(found[2]) else found[1] + found[2]


@cache
def _context() -> LatexContextDb:
    context = get_default_latex_context_db()
    context.add_context_category(
        "papers",
        prepend=True,
        macros=[
            *(MacroTextSpec(name, text) for name, text in _TEXT_OF_SYMBOL.items()),
            *(MacroTextSpec(name, "") for name in _SWITCHES),
            *(MacroTextSpec(name, "%s") for name in ("texttt", "mbox")),
            MacroTextSpec("footnote", " (%(2)s)"),
        ],
        specials=[SpecialsTextSpec("~", " ")],
    )
    return context


@cache
def _decoder() -> LatexNodes2Text:
    return LatexNodes2Text(_context(), math_mode="verbatim")
