"""The manifest of a library: format, embedder, chunker, and whether a write is incomplete."""

import json
import uuid
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from retrieval.index.files import checksum_of_fields, write_whole
from retrieval.text.splitting import CHUNKER_VERSION, ChunkSettings
from retrieval.types import LibraryError

FORMAT = 1
"""Version of the library's layout on disk."""

MOVING = 0
"""In place of the format: the library is the unfinished copy of a move."""


class UnfinishedCopyError(LibraryError):
    """The library is the unfinished copy of a move."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of `library.json`."""

    format: int
    embedder: str
    chunker: str
    chunk_tokens: int
    revision: str
    """Changes with every write; the lexical index records the one that it was built from."""
    writing: bool
    """Whether a write has begun and not ended; after a crash the library must be checked."""
    removed: tuple[str, ...] = ()
    """Names of the files that were removed and not read again since, in alphabetical order."""
    replaced: tuple[tuple[str, str], ...] = ()
    """Ids that the incomplete write replaces, each with the new one; empty once it has ended."""

    def begun(
        self,
        *,
        reads: Collection[str] = (),
        removes: Collection[str] = (),
        replaces: Collection[tuple[str, str]] = (),
    ) -> "Manifest":
        """The manifest at the beginning of a write that reads and removes these files."""
        removed = tuple(sorted({*self.removed, *removes} - set(reads)))
        replaced = (*self.replaced, *replaces)
        revision = uuid.uuid4().hex
        return replace(self, revision=revision, writing=True, removed=removed, replaced=replaced)

    def ended(self) -> "Manifest":
        """The manifest at the end of a write."""
        return replace(self, writing=False, replaced=())


def new_manifest(embedder: str, chunks: ChunkSettings) -> Manifest:
    """The manifest of a new library."""
    revision = uuid.uuid4().hex
    return Manifest(FORMAT, embedder, CHUNKER_VERSION, chunks.tokens, revision, writing=False)


def read_manifest(path: Path) -> Manifest | None:
    """The manifest at `path`, or its copy if it is damaged; None if neither can be read.

    Raises `LibraryError` if a file may not be read, or it was written in another format.
    """
    for file in (path, _copy_of(path)):
        try:
            with suppress(FileNotFoundError, ValueError, TypeError):
                return manifest_of(file.read_text("utf-8"), str(file))
        except OSError as error:
            raise LibraryError(
                f"{file} cannot be read ({error.strerror}); check who may read it, "
                "or use another --home."
            ) from error
    return None


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write the manifest and its copy, each whole or not at all, or raise `LibraryError`."""
    text = manifest_text(manifest)
    write_whole(_copy_of(path), text)
    write_whole(path, text)


def manifest_text(manifest: Manifest) -> str:
    """The manifest as JSON with its checksum."""
    fields = asdict(manifest)
    if not manifest.replaced:  # unknown to earlier versions, which should open a whole library
        del fields["replaced"]
    return json.dumps({**fields, "checksum": checksum_of_fields(fields)}, indent=2)


def manifest_of(text: str, where: str) -> Manifest:
    """The manifest of a text; `where` names it in errors.

    Raises `ValueError` or `TypeError` if it is damaged, and `LibraryError` if it was written in
    another format, or the library is an unfinished copy.
    """
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise TypeError("no fields")
    fields["removed"] = tuple(fields.get("removed", ()))
    if fields.pop("checksum", None) not in (None, checksum_of_fields(fields)):
        raise ValueError("its checksum does not fit")
    if fields.get("format") == MOVING:
        raise UnfinishedCopyError(
            f"{where} is of an unfinished copy of a library; run the same `assistant move` again."
        )
    if fields.get("format") != FORMAT:
        raise LibraryError(
            f"{where} is not in the library format {FORMAT} of this version; "
            "ingest the papers again with another --home."
        )
    fields["replaced"] = tuple((old, new) for old, new in fields.get("replaced", ()))
    return Manifest(**fields)


def _copy_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.copy")


def check_fit(
    manifest: Manifest, embedder: str, chunks: ChunkSettings, where: str, other: str
) -> None:
    """Check that the library was made with the same embedder and chunker; else `LibraryError`.

    Args:
        manifest: of the library.
        embedder: name of the embedder that is used.
        chunks: settings of the chunker that are used.
        where: where the library is, such as "in /home/ann/papers".
        other: how to name another library, such as "another --home".
    """
    if manifest.embedder != embedder:
        raise LibraryError(
            f"The library {where} was made with the embedder {manifest.embedder!r}, not "
            f"{embedder!r}; use --embedder with the former, or ingest into {other}."
        )
    made = (manifest.chunker, manifest.chunk_tokens)
    if made != (CHUNKER_VERSION, chunks.tokens):
        raise LibraryError(
            f"The library {where} was cut by {made[0]} into {made[1]} tokens, this version uses "
            f"{CHUNKER_VERSION} with {chunks.tokens}; ingest the papers into {other}."
        )
