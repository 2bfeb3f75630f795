"""Papers of the library in the formats of `assistant.bibliography`."""

from collections.abc import Sequence

from assistant.bibliography import FORMATS
from assistant.service import Service
from retrieval.keys import citation_keys
from retrieval.types import Paper


def exported(service: Service, papers: Sequence[Paper], format_: str) -> str:
    """`papers` as `format_`, one of `FORMATS`, under the keys that they have in every export.

    Raises:
        NotReadyError: there is no assistant yet.
        LibraryError: the library cannot be read.
    """
    library = service.assistant.library
    library.ready_to_search()
    return FORMATS[format_](papers, citation_keys(papers, library.lexical.papers_with_key))
