"""Prepares the framework's index page for a strict content security policy."""

import base64
import hashlib
import re
from html.parser import HTMLParser

_EXTERNAL = re.compile(
    r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*|<link\s+rel="manifest"[^>]*>\s*"""
)
"""Descriptions for other sites, with external addresses, and an install manifest."""


def without_external(page: str) -> str:
    """The page without tags for other sites."""
    return _EXTERNAL.sub("", page)


def script_hashes(page: str) -> list[str]:
    """Content security policy sources (hashes) of the page's inline scripts."""
    parser = _InlineScripts()
    parser.feed(page)
    parser.close()
    digests = {hashlib.sha256(script.encode()).digest() for script in parser.scripts}
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class _InlineScripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and "src" not in dict(attrs):
            self._inside = True
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data
