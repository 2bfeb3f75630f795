"""What of the framework's index page needs changing before a browser gets it."""

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser

_ELSEWHERE = re.compile(
    r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*|<link\s+rel="manifest"[^>]*>\s*"""
)
"""Descriptions for other sites, which name addresses outside; an install manifest."""


def without_elsewhere(page: str) -> str:
    """The page without what speaks to other sites."""
    return _ELSEWHERE.sub("", page)


def script_hashes(page: str) -> list[str]:
    """The sources, for a content security policy, of the scripts that stand in the page itself."""
    scripts = _InlineScripts()
    scripts.feed(page)
    scripts.close()
    return sorted(set(_sources(scripts.found)))


def _sources(scripts: list[str]) -> Iterator[str]:
    for script in scripts:
        digest = hashlib.sha256(script.encode()).digest()
        yield f"'sha256-{base64.b64encode(digest).decode()}'"


class _InlineScripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and "src" not in dict(attrs):
            self._inside = True
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data
