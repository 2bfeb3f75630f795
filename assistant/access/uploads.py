"""Which files may be uploaded, read from the names in the request as it comes in."""

from pathlib import PurePosixPath

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

KINDS = frozenset(
    {".bib", ".bibtex", ".csv", ".json", ".jsonl", ".md", ".ndjson", ".ris", ".tsv", ".txt"},
)
"""Endings of the formats that are read: JSONL, BibTeX, RIS, CSV, pages of text."""
LONGEST_NAME = 255
"""Bytes that most file systems allow."""


class NameCheck:
    """Reads the parts of a multipart request for the names of their files."""

    def __init__(self, content_type: str) -> None:
        """Read nothing yet; what is no multipart request has no names."""
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        self.complaint = ""
        self._field = self._value = self._disposition = b""
        self._parser = self._parser_of(boundary) if kind == b"multipart/form-data" else None

    def read(self, chunk: bytes) -> None:
        """Look at the next bytes; `complaint` says what speaks against them."""
        if self._parser is None or self.complaint:
            return
        try:
            self._parser.write(chunk)
        except FormParserError:
            self.complaint = "The upload is no valid form; send it as multipart/form-data."

    def _parser_of(self, boundary: bytes) -> MultipartParser | None:
        if not boundary:
            return None
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._add_field,
                "on_header_value": self._add_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._judge,
            },
        )

    def _begin(self) -> None:
        self._field = self._value = self._disposition = b""

    def _add_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field = self._value = b""

    def _judge(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"filename" in options:
            self.complaint = self.complaint or complaint_about(options[b"filename"])


def complaint_about(name: bytes) -> str:
    """Why no file of this name may be uploaded; empty if it may."""
    text = name.decode("utf-8", "replace")
    if len(name) > LONGEST_NAME:
        return f"A file's name has {len(name)} bytes; at most {LONGEST_NAME} can be used."
    if not text.isprintable() or "/" in text or "\\" in text or text.startswith("."):
        return "A file's name is a path or has characters that cannot be used; rename the file."
    if PurePosixPath(text).suffix.lower() not in KINDS:
        kinds = ", ".join(sorted(KINDS))
        return f"Files of this kind cannot be read; papers come from files named {kinds}."
    return ""
