"""Removes markup from titles and abstracts: Markdown escapes and LaTeX text commands.

Formulas stay, as `$…$` with their LaTeX inside.
"""

import html
import re
import unicodedata

_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u061c"  # no width; direction of writing
    r"\u00ad\u034f\u17b4\u17b5\u180b-\u180f"  # hyphens and joiners
    r"\ufe00-\ufe0f\ufff0-\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # variants, formats
    r"\ue000-\uf8ff\U000e0000-\U0010ffff"  # tags, and what only private fonts can show
    r"\ud800-\udfff]"  # halves of a character, which no file can hold
)
"""Characters that show nothing or reorder others: they could hide text from a person that a model
reads."""
_BLANK = re.compile(r"[\u115f\u1160\u2800\u3164\uffa0]")
"""Letters that look like a space."""
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d+|#x[0-9a-fA-F]+);")
_ESCAPES = 3
"""How often databases escape a text at most."""
_SPACE = re.compile(r"\s+")
_LINK = re.compile(r"\[([^\[\]]+)\]\((?:#|https?://)[^()\s]*\)")
_DOLLAR = re.compile(r"\\{1,2}\$")
_DOUBLED_DOLLAR = re.compile(r"\${2,}")
# Some pages turn `\text…{x}` into `$text…{x}`, with or without a closing dollar.
_DOLLAR_COMMAND = re.compile(r"\$(?:text(?:it|bf|sc|tt|rm)?|emph)\{([^{}]*)\}\$?")
# Some write `$5\$\times$` for `$5\times$`.
_DOLLAR_INSIDE = re.compile(r"(\$[\d.,]+)\$(\\[A-Za-z]+\$)")
_LONE_DOLLAR = re.compile(r"\$(?! ?\d)")
_FORMULA = re.compile(r"(?<!\\)\$[^$]{1,400}?\$")
_FORMULA_ESCAPE = re.compile(r"\\([()\[\]_*])|\\(?=\\[A-Za-z])")

# A lookbehind before a repetition keeps it from being tried again at each of its characters.
_CITE = re.compile(r"(?<![~ ])[~ ]*\\cite[pt]?\*?\{[^{}]*\}")
_FOOTNOTE = re.compile(r"(?<!\s)\s*\\footnote\{([^{}]*)\}")
_TEXT_COMMAND = re.compile(
    r"\\(?:emph|text(?:it|bf|sc|tt|rm|sf|sl)?|underline|uline|mbox|url|circled)\s*\{([^{}]*)\}"
)
_SWITCH = re.compile(r"\{\\(?:em|it|bf|sc|tt|rm|sl)\s+([^{}]*)\}")
_MATHS = re.compile(
    r"\\(?:math(?:bb|cal|bf|rm|frak)|sqrt|tilde|hat|bar|times|cdot|le|ge|leq|geq|approx|sim"
    r"|alpha|beta|gamma|delta|epsilon|varepsilon|lambda|mu|sigma|theta|pi|ell|infty)"
    r"(?![A-Za-z])(?:\{[^{}]*\})?(?:[\^_](?:\{[^{}]*\}|\w))*"
)
_CONTROL_SPACE = re.compile(r"(?<!\\)\\+ ")
_ESCAPE = re.compile(r"\\+([\\`*_{}\[\]()#+\-.!|&%~<>'\"])")
_MACRO = re.compile(r"(?<!\\)\\+([A-Za-z]+)")
_DEEPEST = 10
"""Levels of commands inside each other that are removed; every level is another pass."""


def unescaped(text: str) -> str:
    """`text` with characters in place of their names in HTML, also escaped ones."""
    for _ in range(_ESCAPES):
        if not _ENTITY.search(text):
            break
        text = html.unescape(text)
    return text


def visible(text: str) -> str:
    """`text` without invisible characters, and with spaces for those that look like one."""
    return _BLANK.sub(" ", _INVISIBLE.sub("", text))


def clean(text: str) -> str:
    """`text` as a person would read it: one line, no escapes, formulas kept as `$…$`."""
    text = unicodedata.normalize("NFC", visible(html.unescape(text)))
    text = _LINK.sub(r"\1", _SPACE.sub(" ", text).strip())
    text = _DOUBLED_DOLLAR.sub("$", _DOLLAR.sub("$", text))
    text = _DOLLAR_INSIDE.sub(r"\1\2", _DOLLAR_COMMAND.sub(r"\1", text))
    if text.count("$") == 1:  # half a formula, unless it is a price
        text = _LONE_DOLLAR.sub("", text)
    return _SPACE.sub(" ", _outside_formulas(text)).strip()


def _outside_formulas(text: str) -> str:
    pieces: list[str] = []
    last = 0
    for formula in _FORMULA.finditer(text):
        pieces.append(_clean_prose(text[last : formula.start()]))
        pieces.append(_FORMULA_ESCAPE.sub(r"\1", formula.group()))
        last = formula.end()
    pieces.append(_clean_prose(text[last:]))
    return "".join(pieces)


def _clean_prose(text: str) -> str:
    if "\\" not in text:
        return text
    text = _CITE.sub("", text)
    for _ in range(_DEEPEST):
        text, switches = _SWITCH.subn(r"\1", text)
        text, commands = _TEXT_COMMAND.subn(r"\1", text)
        text, footnotes = _FOOTNOTE.subn(r" (\1)", text)
        if not switches + commands + footnotes:
            break
    text = _ESCAPE.sub(r"\1", _CONTROL_SPACE.sub(" ", text))
    formulas = _MATHS.split(text)
    maths = [f"${found.group()}$" for found in _MATHS.finditer(text)] + [""]
    # An author's own macros are left; their name is the best guess at their text.
    return "".join(
        _MACRO.sub(r"\1", prose) + formula for prose, formula in zip(formulas, maths, strict=True)
    )
