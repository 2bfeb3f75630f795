"""`assistant replay`, and what `assistant ask` keeps or prints beside an answer."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from assistant.cli.evaluate import Flags
from assistant.cli.output import print_text, progress_bars
from assistant.evaluation.records.replay import restored_settings
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.startup import open_assistant
from assistant.research.methods import methods_of_answer
from assistant.research.receipt import (
    change_since,
    provenance_json,
    read_receipts,
    receipt_of,
    receipt_text,
)
from assistant.settings import Settings, load_settings
from assistant.types import Answer, Json, Turn, dumps
from retrieval.index.files import write_whole
from retrieval.types import EvaluationError, InputError, UserError


class Extras:
    """Receipts in a file, and paragraphs for a methods section."""

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        """Empty the file of receipts, so that a folder that cannot be written is reported first.

        Raises:
            InputError: the file of questions is also the file of receipts.
            LibraryError: the file of receipts cannot be written.
        """
        self._file: Path | None = options.receipt
        self._in_lines = options.jsonl is not None
        self._methods: bool = options.methods
        self._settings = settings
        if self._file:
            if self._in_lines and self._file.resolve() == options.jsonl.resolve():
                raise InputError(f"{self._file} has the questions; give another --receipt.")
            write_whole(self._file, "")

    def keep(self, assistant: Assistant, answer: Answer, history: Sequence[Turn]) -> None:
        """Write the receipt of an answer, if receipts are wanted."""
        if self._file:
            receipt = receipt_of(answer, history, provenance_json(assistant, self._settings))
            try:
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(receipt_text(receipt, in_one_line=self._in_lines))
            except OSError as error:
                raise InputError(
                    f"{self._file} cannot be written any more ({error.strerror}); make room and "
                    "ask again."
                ) from error

    def print_methods(self, answer: Answer) -> None:
        """Print the paragraph, if it is wanted."""
        for paragraph in self.methods_json(answer).values():
            print_text(Console(), f"\n{paragraph}")

    def methods_json(self, answer: Answer) -> Json:
        """The paragraph as a field of the answer's JSON, if it is wanted."""
        paragraph = methods_of_answer(answer) if self._methods else ""
        return {"methods": paragraph} if paragraph else {}


def run_replay(options: argparse.Namespace, flags: Flags) -> None:
    """Ask the questions of receipts again; anything that changed is an error."""
    receipts = read_receipts(options.file)
    settings = load_settings({**restored_settings(receipts[0]["made_with"]["settings"]), **flags})
    if not (settings.home / "library.json").exists():
        raise InputError(
            f"The library of {options.file} is no longer in {settings.home}; bring it back, or "
            "name its folder with --home."
        )
    with progress_bars() as progress:
        assistant = open_assistant(settings, progress)
        changes: list[str] = []
        for done, receipt in enumerate(receipts, start=1):
            changes.append(_change(receipt, assistant, settings))
            if len(receipts) > 1:
                progress("replaying", done, len(receipts), "receipts")
    same = changes.count("")
    if options.json:
        print(dumps({"receipts": len(receipts), "same": same, "changes": changes}))
    else:
        print(f"{same:,} of {len(receipts):,} gave the same bytes.")
    if first := next(filter(None, changes), ""):
        at = f", line {changes.index(first) + 1}," if len(changes) > 1 else ""
        raise EvaluationError(f"The replay of {options.file}{at} differs, first in {first}.")


def _change(receipt: Json, assistant: Assistant, settings: Settings) -> str:
    try:
        return change_since(receipt, assistant, settings)
    except UserError as error:
        return f"that there is no answer: {error}"
