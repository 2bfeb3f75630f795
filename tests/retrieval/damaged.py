"""Exports that were damaged on the way: cut, doubled, filled with other bytes, mixed."""

import random
from collections.abc import Sequence

_SIGNS = [
    *(b"{", b"}", b'"', b"\\", b"$", b"<", b">", b"&amp;", b"[", b"]", b",", b";", b"\n", b"\r"),
    *(b"\t", b"  - ", b"TY  - ", b"ER  - ", b"@article{", b"%0 ", b"PMID- ", b"null", b"1e999"),
    *(
        b"\xff",
        b"\x00",
        "é😀\u202e".encode(),
        b"&#x0;",
        b"<![CDATA[",
        b"</",
        b"$\\frac{",
        b"~" * 40,
    ),
]
_BINARY = 0.02
"""Share of files that end in bytes that are no text."""


def mutated(text: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """`text` after one to eight mutations."""
    for _ in range(chance.randint(1, 8)):
        at, to = sorted(chance.randint(0, len(text)) for _ in range(2))
        match chance.randint(0, 6):
            case 0:
                text = text[:at] + text[to:]
            case 1:
                text = text[:at] + chance.choice(_SIGNS) * chance.randint(1, 9) + text[at:]
            case 2:
                text = text[:at] + text[at:to] * chance.randint(2, 9) + text[to:]
            case 3:
                text = text[:to]
            case 4:
                text = (
                    text[:at]
                    + bytes(chance.choices(range(9, 127), k=chance.randint(1, 40)))
                    + text[to:]
                )
            case 5:
                text = text[:at] + chance.choice(others)[at:to] + text[to:]
            case _:
                text = text.replace(chance.choice(_SIGNS), chance.choice(_SIGNS))
        text = text[:200_000]
    return text + b"\xff\x00" if chance.random() < _BINARY else text
