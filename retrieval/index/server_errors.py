"""What went wrong with a server of Chroma, in one sentence."""

from dataclasses import dataclass, field

from retrieval.index.connection import ANSWERED_ERRORS, MISSING, UNREACHED, RefusedError

_TRY_AGAIN = {429, 502, 503, 504}
_NO_ACCESS = {401, 403}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a library is on a server of Chroma."""

    url: str
    tenant: str = "default_tenant"
    database: str = "default_database"
    prefix: str = "papers"
    token: str = field(default="", repr=False)


def may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed in a moment."""
    return isinstance(error, UNREACHED) or (
        isinstance(error, RefusedError) and error.status in _TRY_AGAIN
    )


def explained(error: BaseException, address: Address) -> str | None:
    """One sentence on an error; None for a fault of this program."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and cause not in causes:
        causes.append(cause)
    text = " ".join(" ".join(map(str, causes)).split())
    said = None
    if any(isinstance(each, UNREACHED) for each in causes):
        said = _unreached(text)
    elif refused := next((each for each in causes if isinstance(each, RefusedError)), None):
        said = _refused(refused, address)
    elif isinstance(error, MISSING):
        said = (
            f"answers that something is missing ({text[:150]}); check tenant= and database= in "
            "--chroma, or make them there"
        )
    elif isinstance(error, ANSWERED_ERRORS):
        said = (
            f"could not do what was asked ({text[:200]}); see its log, its rights and the disk's "
            "room, then run `assistant doctor --repair`"
        )
    elif isinstance(error, ValueError | TypeError | LookupError | AttributeError):
        return nonsense(address)
    return said and f"The Chroma server at {address.url} {said}."


def nonsense(address: Address) -> str:
    """The sentence on answers that are not Chroma's."""
    return (
        f"What answers at {address.url} is no Chroma server of version 1, or its answers are "
        "damaged; check the address."
    )


def _unreached(text: str) -> str:
    if "CERTIFICATE" in text:
        return "has a certificate that is not trusted; name its authority's file in SSL_CERT_FILE"
    if "SSL" in text:
        return "does not speak TLS; check the port, or write http:// for https://"
    if "disconnected" in text:
        return (
            "ended the connection without an answer; check that it is running, and whether it asks "
            "for https://"
        )
    return (
        f"cannot be reached ({text[:100] or 'no answer in time'}); check the address and that "
        "`chroma run` is running there; the next `assistant ingest` completes what was interrupted"
    )


def _refused(error: RefusedError, address: Address) -> str:
    if "HTTPS" in str(error):
        return "asks for https://"
    if error.status in _NO_ACCESS:
        given = "does not accept the token" if address.token else "asks for a token"
        return f"{given} (status {error.status}); name its file with --chroma-token-file"
    if error.status in _TRY_AGAIN:
        return f"is busy or not running ({error}); try again"
    return f"refused a request ({error}); check the address, and see its log"
