"""Reads the page's HTML back, and checks what holds for all of it."""

from html.parser import HTMLParser

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><iframe src="https://example.org"></iframe>',
    "' onmouseover='alert(1)",
    "</p></div></details></article></dialog><h1>out</h1>",
    "</option></select><b>out</b>",
    "<a href='javascript:alert(1)'>x</a>",
    "![x](https://example.org/x.png)",
    "[x](javascript:alert(1))",
    "<!-- <b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{ 7 * 7 }} {% raw %} {# #} {} {0} %s",
    "<style>*{display:none}</style>",
    "`code` **bold** # heading",
    "x\r\r![x](https://example.org/x.png)",
    "x\n\n<script>alert(1)</script>",
    "x\u2028\u2029\x0b\x0c\x85<b>y</b>",
)
TAGS = frozenset(
    "article blockquote br button caption circle code dd details div dl dt fieldset footer form "
    "g h2 h3 header input kbd label legend li mark nav ol option p path progress rect section "
    "select span strong summary svg table tbody td text textarea th thead title tr ul a".split()
)
ATTRIBUTES = frozenset(
    "aria-busy aria-current aria-describedby aria-hidden aria-label aria-pressed autocomplete "
    "class cx cy d data-all data-asked data-author data-back data-cite data-close "
    "data-conversation data-copy data-decision data-event data-exchange data-field data-file "
    "data-formats data-how data-limit data-lookup data-number data-numbers data-paper data-papers "
    "data-print data-position data-query data-question data-quote data-quotes data-reason "
    "data-search data-selected data-set data-shown data-sort data-style data-style-named "
    "data-title data-unfilter data-venue data-way data-words data-year disabled download "
    "focusable for height hidden href id max maxlength name open placeholder r rel required "
    "role rows scope selected start style tabindex target title type value viewbox width x "
    "y".split()
)
_EMPTY = {"br", "input"}


class HtmlPage(HTMLParser):
    """The text of a page, its tags and their attributes; only those that the page may have."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        assert type(html) is str  # a Markup would escape what is taken out of it
        self.text = ""
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []
        assert set(self.tags) <= TAGS
        assert {name for name, _ in self.attributes} <= ATTRIBUTES
        assert all(link.startswith(("https://", "conversations/")) for link in self.values("href"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "br":
            self.text += "\n"
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        """What the attribute says, wherever it stands."""
        return [value for each, value in self.attributes if each == name]


def flat(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())
