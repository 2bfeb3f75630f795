"""Chooses the quantization of the default chat model that is fastest on this machine.

Which type is fastest depends on the processor: with AVX-512 BF16 reads prompts almost twice as
fast as Q8_0, with AVX2 alone it is the slowest. All candidates keep the shipped weights' quality.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from assistant.models.download.fetch import require_space
from assistant.models.llama import bindings
from retrieval.encoders import llamacpp
from retrieval.types import ModelError, ModelFetchError, Progress

CANDIDATES = ("Q8_0", "BF16", "F16")
ROOM_PER_SOURCE_BYTE = 7.5
"""All candidates together weigh 7 times the Q4_1 file they are made from."""

ANSWER_READ_TOKENS = 1000
ANSWER_WRITTEN_TOKENS = 50
"""A typical cited answer: tokens of its prompt, tokens written."""
SAME_SPEED = 0.05
"""Relative difference below which two types count as equally fast; then the smaller file wins."""

SLICE_TOKENS = 128
SLICES = 3
WRITTEN_TOKENS = 24
WARM_UP_TOKENS = 32
ROUNDS = 2
STEPS_SECONDS = 3.0
"""Time after which no more steps are timed on a busy machine; they take about 1 s."""
ANOTHER_ROUND_SECONDS = 20.0
"""Time of a round (usually 5 s) after which there is no other."""
PROBE_TEXT = "We study how small language models read the abstracts of scientific papers. "


@dataclass(frozen=True, slots=True)
class Measurement:
    """How fast one candidate is on this machine."""

    type: str
    """Quantization type, as llama.cpp names it."""
    size_bytes: int
    """Size of its file."""
    read_tokens_per_second: float
    """Prompt tokens read per second (prefill)."""
    write_tokens_per_second: float
    """Tokens written per second (decoding)."""

    @property
    def answer_seconds(self) -> float:
        """Time of a typical cited answer: reading plus writing."""
        return (
            ANSWER_READ_TOKENS / self.read_tokens_per_second
            + ANSWER_WRITTEN_TOKENS / self.write_tokens_per_second
        )


def choose(measurements: Sequence[Measurement]) -> Measurement:
    """The fastest candidate; of those less than 5 % slower than it, the smallest file."""
    fastest = min(measurement.answer_seconds for measurement in measurements)
    close = [each for each in measurements if each.answer_seconds < fastest * (1 + SAME_SPEED)]
    return min(close, key=lambda each: (each.size_bytes, each.answer_seconds))


def write_candidates(
    shipped: Path, staging: Path, *, name: str, threads: int, progress: Progress
) -> list[tuple[str, Path]]:
    """Write the model in each candidate type; return pairs of type and file.

    Raises:
        ModelFetchError: the disk is full, or llama.cpp could not write.
    """
    needed = round(shipped.stat().st_size * ROOM_PER_SOURCE_BYTE)
    require_space(staging, needed, title=f"the chat model {name}")
    written = []
    for done, file_type in enumerate(CANDIDATES):
        progress(f"writing {name} as {file_type}", done, len(CANDIDATES), "types")
        target = staging / f"{name}.{file_type}.gguf"
        try:
            bindings.quantize(shipped, target, file_type, threads=threads)
        except ModelFetchError as error:
            # llama.cpp does not say why; the file it reads was checked when it was fetched.
            raise ModelFetchError(
                f"llama.cpp could not write {name} as {file_type}, most likely because the disk "
                f"of {staging.parent} or the memory is full; free some of it and try again."
            ) from error
        written.append((file_type, target))
    return written


def measure_all(
    candidates: Sequence[tuple[str, Path]], *, threads: int, progress: Progress
) -> list[Measurement]:
    """Measure every candidate in `ROUNDS` rounds and keep the best of each.

    A round goes through all candidates, so that a busy moment does not hit one of them alone. A
    candidate too large for this machine's memory is left out.

    Raises:
        ModelError: no candidate could be loaded.
    """
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name, _ in candidates}
    problem: ModelError | None = None
    end = perf_counter() + ANOTHER_ROUND_SECONDS
    turns = ROUNDS * len(candidates)
    for turn in range(turns):
        if turn >= len(candidates) and perf_counter() > end:
            break
        file_type, path = candidates[turn % len(candidates)]
        progress(f"measuring {file_type}", turn, turns, "rounds")
        try:
            seconds[file_type].append(time_one(path, threads=threads))
        except ModelError as error:
            problem = error
    if problem is not None and not any(seconds.values()):
        raise problem
    return [
        _best(file_type, path, seconds[file_type])
        for file_type, path in candidates
        if seconds[file_type]
    ]


def _best(file_type: str, path: Path, rounds: Sequence[tuple[float, float]]) -> Measurement:
    read = min(seconds for seconds, _ in rounds)
    write = min(seconds for _, seconds in rounds)
    return Measurement(
        type=file_type,
        size_bytes=path.stat().st_size,
        read_tokens_per_second=round(SLICE_TOKENS / read, 1),
        write_tokens_per_second=round(1 / write, 1),
    )


def time_one(path: Path, *, threads: int) -> tuple[float, float]:
    """Seconds to read `SLICE_TOKENS` tokens and to write one: the fastest of several of each.

    The fastest counts, because other work on the machine only adds time.

    Raises:
        ModelError: the model cannot be loaded.
    """
    model = llamacpp.load(path, context=512, threads=threads)
    try:
        prompt = llamacpp.tokenize(model, PROBE_TEXT * 40, add_bos=True, special=False)
        slices = [prompt[i * SLICE_TOKENS : (i + 1) * SLICE_TOKENS] for i in range(SLICES)]
        # Writing is timed on fixed tokens: each type would write others.
        written = [[token] for token in prompt[:WRITTEN_TOKENS]]
        _fastest(model, [prompt[:WARM_UP_TOKENS]])
        return _fastest(model, slices), _fastest(model, written)
    finally:
        model.close()


def _fastest(model: Any, steps: Sequence[Sequence[int]]) -> float:
    """Seconds of the fastest of the steps that fit into `STEPS_SECONDS`, at least one."""
    fastest = float("inf")
    end = perf_counter() + STEPS_SECONDS
    for seconds in bindings.step_seconds(model, steps):
        fastest = min(fastest, seconds)
        if perf_counter() > end:
            break
    return fastest


def write_record(
    path: Path,
    chosen: Measurement,
    measurements: Sequence[Measurement],
    *,
    file: Path,
    threads: int,
) -> None:
    """Record which type was chosen and all measurements.

    Raises:
        OSError: the file cannot be written.
    """
    record = {
        "file": file.name,
        "type": chosen.type,
        "why": (
            f"fastest typical answer on this machine ({ANSWER_READ_TOKENS} tokens read, "
            f"{ANSWER_WRITTEN_TOKENS} written); of types less than {SAME_SPEED:.0%} apart the "
            "smaller file"
        ),
        "threads": threads,
        "measured": [
            asdict(each) | {"answer_seconds": round(each.answer_seconds, 3)}
            for each in measurements
        ],
    }
    path.write_text(json.dumps(record, indent=2) + "\n", "utf-8")


def recorded_file(record: Path) -> Path | None:
    """The chosen file that `record` names; None if either is missing."""
    try:
        path = record.with_name(json.loads(record.read_text("utf-8"))["file"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return path if path.is_file() else None
