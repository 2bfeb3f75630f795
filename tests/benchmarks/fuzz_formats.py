"""Reads thousands of damaged exports: each is read or refused in a sentence, within 5 seconds.

    PYTHONPATH=tests/retrieval python tests/benchmarks/fuzz_formats.py [FILES] [SEED]

10,000 files with seed 7 on two cores: 2,378 read, 7,622 refused, the slowest in 0.07 s. Found on
the way: XML without a record ended in a traceback.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

from damaged import mutated
from exports import FILES
from test_databases import EXAMPLES

from retrieval.formats import read_file
from retrieval.formats.merge import fold
from retrieval.types import InputError

_LARGEST = 50_000
"""Bytes of an export that is mutated; one has an author list of 3,000 names."""
_LONGEST = 5.0
"""Seconds that a file may take."""


def main(files: int, seed: int) -> None:
    """Read `files` mutated files, and print how many were read and the slowest."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    texts = [content.encode() for content, _ in EXAMPLES.values()]
    texts += [content for content, _ in FILES.values() if len(content) < _LARGEST]
    read = refused = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "export"
        for number in range(files):
            content = mutated(chance.choice(texts), texts, chance)
            file.write_bytes(content)
            started = time.monotonic()
            try:
                fold(read_file(file).records)
                read += 1
            except InputError as error:
                refused += "\n" not in str(error)
            except Exception as error:
                error.add_note(f"File {number} with seed {seed}, {len(content):,} bytes.")
                raise
            slowest = max(slowest, time.monotonic() - started)
            assert slowest < _LONGEST, number
    assert read + refused == files, "an error has several lines"
    print(f"{read:,} read, {refused:,} refused; the slowest took {slowest:.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 10_000, int(sys.argv[2]) if sys.argv[2:] else 0)
