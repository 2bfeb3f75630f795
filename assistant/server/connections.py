"""Counts the connections that this process opens to other machines.

Python reports every connection of its sockets to audit hooks (PEP 578), before it is tried. What
native code opens by itself is not reported; of downloads, which may be native or in a process of
their own, at least the beginning is.
"""

import sys
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from socket import AF_INET, AF_INET6
from typing import Any

from retrieval.types import counted

EXPLAINED = (
    "Counted: every connection to an address that is not this machine's own (127.0.0.1, ::1), "
    "tried or made by this program, and every look-up of a name; model downloads count, too. What "
    "browsers request from this program does not."
)
"""What is counted, for people."""
_SENDING = ("socket.connect", "socket.sendto", "socket.sendmsg")
_DOWNLOAD = {"pip", "download"}
"""Arguments of the process that fetches the default models."""


@dataclass(slots=True)
class Outgoing:
    """Counts since the process began to watch."""

    connections: int = 0
    """To other machines, tried or made; each download by pip is one."""
    lookups: int = 0
    """Names that were to be resolved."""
    watched: bool = False

    def __str__(self) -> str:
        """The counts, for people."""
        said = f"{counted(self.connections, 'connection')} to other machines since the start"
        return f"{said}, {counted(self.lookups, 'name')} looked up" if self.lookups else said


OUTGOING = Outgoing()
"""Of this process: audit hooks have no owner, and cannot be removed."""


def watch() -> None:
    """Count from now on; once is enough."""
    if not OUTGOING.watched:
        OUTGOING.watched = True
        sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Count an audit event; it must never raise, or the audited call would fail."""
    if event in _SENDING and len(arguments) > 1:
        sock, address = arguments[:2]
        is_network = getattr(sock, "family", None) in (AF_INET, AF_INET6)
        if is_network and isinstance(address, tuple) and not _is_own(address[0]):
            OUTGOING.connections += 1
    elif event == "socket.getaddrinfo":
        OUTGOING.lookups += not (_is_own(arguments[0]) or _address(arguments[0]))
    elif event == "subprocess.Popen" and isinstance(arguments[1], list | tuple):
        OUTGOING.connections += {*map(str, arguments[1])} >= _DOWNLOAD


def _address(host: object) -> IPv4Address | IPv6Address | None:
    """The address that a host is given by; None if it is a name."""
    try:
        return ip_address(str(host).partition("%")[0])
    except ValueError:
        return None


def _is_own(host: object) -> bool:
    """Whether a host is this machine: a loopback address, or the address of no machine."""
    address = _address(host)
    is_here = address is not None and (address.is_loopback or address.is_unspecified)
    return is_here or host in (None, "", "localhost")
