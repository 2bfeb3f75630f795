"""Names of authors in all orders that databases use, as given names before surnames."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retrieval.text.markup import unescaped
from retrieval.text.names import first_name_first

Person = tuple[str, str]
"""A name with given names first, and its surname; "" if the file does not tell it."""

_IN_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*\d[^()\[\]]*[)\]]\s*$")
"""`Gao, Xiang (57190123456)`: a number of the database after a name."""
_DOTTED = r"(?:[^\W\d_]{1,2}\.[-‐ ]?){1,5}"
_INITIALS = re.compile(rf"{_DOTTED}|[A-Z]{{1,3}}")
_FAMILY_FIRST = re.compile(
    rf"(?P<family>(?:[^\W\d_][^\s.,;]+)(?: [^\s.,;]{{2,}})*) (?P<given>{_DOTTED}|[A-Z]{{1,3}})\.?"
)
"""`Gao X.`, `van de Ven A.`, `Murk J.-L.`, `Gao XY`."""
_GENERATION = re.compile(r"(?:II|III|IV|VI|Jr|Sr)\.?")
_GIVEN_GENERATION = re.compile(r"(, [^,]+) ((?:II|III|IV|Jr|Sr|2nd|3rd|4th)\.?)$")
"""`King, Martin Luther Jr`, as PubMed writes it."""
_MARKS = (";", "|", "\n")
_LIST = re.compile(r"\[\s*(?:['\"].*['\"]\s*)?\]", re.DOTALL)
_IN_LIST = re.compile(r"""(?<=[\[,\s])(?:'([^']*)'|"([^"]*)")(?=\s*[,\]])""")


def person(text: str) -> Person:
    """A name in any order: `Gao, Xiang`, `Gao X.`, `Xiang Gao`, `Foo, Bob, Jr.`."""
    name = _IN_BRACKETS.sub("", " ".join(text.split())).strip(" ,;")
    if "," in name:
        name = _GIVEN_GENERATION.sub(r"\1, \2", name)
        return first_name_first(name), name.split(",", 1)[0].strip()
    found = _FAMILY_FIRST.fullmatch(name)
    if (
        found
        and not _GENERATION.fullmatch(given := found["given"])
        and ("." in given or not name.isupper())
    ):
        return f"{given.strip()} {found['family']}", found["family"]
    return name, ""


def people(text: str) -> list[Person]:
    """The names in one text: parted by semicolons, bars, `and` or commas."""
    return [person(name) for name in split_names(text) if name.strip(" .,;")]


def split_names(text: str) -> list[str]:
    """The names in one text, each as it is written."""
    text = unescaped(text)  # before it is cut: names of characters end in a semicolon
    if (names := listed(text)) is not None:
        return names
    for mark in _MARKS:
        if mark in text.strip(" ;|\n"):
            return text.split(mark)
    parts = re.split(r",?\s+(?:and|&)\s+", text.strip())
    if len(parts) > 1 and all(_is_one_name(part) or "," not in part for part in parts):
        return parts
    return [name for part in parts for name in _at_commas(part)]


def listed(text: str) -> list[str] | None:
    """The texts in a list as Python writes it; None if it is none."""
    if not _LIST.fullmatch(text.strip()):
        return None
    return [single or double for single, double in _IN_LIST.findall(text)]


def given_names(names: Sequence[Any]) -> list[Person]:
    """The authors of a JSON list: texts, lists of surname and given names, or objects."""
    turned = all(isinstance(name, str) and "," in name for name in names)
    return [each for name in names for each in _of_json(name, turned=turned) if each[0].strip()]


def _of_json(name: Any, *, turned: bool) -> Iterator[Person]:
    if isinstance(name, str):
        yield person(name) if turned else (name.strip(), "")
    elif isinstance(name, list):  # arXiv: surname, given names, generation
        yield _joined(*([str(part or "").strip() for part in name[:3]] + ["", "", ""])[:3])
    elif isinstance(name, Mapping) and name.get("creatorType", "author") == "author":
        yield _of_object(name)


def _of_object(name: Mapping[str, Any]) -> Person:
    inner = name.get("author") or name.get("collective")
    if isinstance(inner, Mapping):
        return _of_object(inner)

    def first(*keys: str) -> str:
        found = (name[key] for key in keys if isinstance(name.get(key), str))
        return next((text.strip() for text in found if text.strip()), "")

    family = first("family", "lastName", "last", "last_name", "surname")
    particle = first("non-dropping-particle", "dropping-particle")
    given = first("given", "firstName", "first", "first_name", "initials")
    middle = name.get("middle")
    if isinstance(middle, list):  # S2ORC
        given = " ".join([given, *(part for part in middle if isinstance(part, str))])
    if family:
        return _joined(f"{particle} {family}".strip(), given, first("suffix"))
    return first("display_name", "name", "literal", "fullName", "collectiveName"), ""


def _joined(family: str, given: str, generation: str) -> Person:
    return " ".join(filter(None, (given, family, generation))), family


def _at_commas(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    if len(parts) % 2 == 0 and all(_INITIALS.fullmatch(given) for _, given in pairs):
        return [f"{family}, {given}" for family, given in pairs]
    return [text] if _is_one_name(text) else parts


def _is_one_name(text: str) -> bool:
    """Whether the text is one name with a comma: `Doe, Jane`, but not `Jane Doe, Ann Bee`."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or _FAMILY_FIRST.fullmatch(parts[0]):  # noqa: PLR2004
        return False
    return min(len(part.split()) for part in parts) == 1
