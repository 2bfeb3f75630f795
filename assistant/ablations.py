"""The path with parts of it left out, to measure what each adds.

Flags that `assistant evaluate` and the benchmarks share. No command that answers people takes them:
without the check an answer may show what no abstract supports.
"""

import argparse
from dataclasses import dataclass, replace

from assistant.answer_settings import AnswerSettings, WritingMode, WritingSettings
from retrieval.search.settings import Retriever, SearchSettings


@dataclass(frozen=True, slots=True)
class Ablations:
    """Which parts of the path take part; by default all that the product has."""

    retriever: Retriever = Retriever.HYBRID
    """What ranks the papers at first."""
    rerank: bool = True
    """Whether the best papers are read again."""
    check: bool = True
    """Whether what the model writes is checked before it is shown. Where the model is not asked,
    because it does not write well enough, there is nothing to check."""
    free_writing: bool = False
    """Whether the model is asked, whatever the probe said of it, and writes without a grammar."""

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> "Ablations":
        """What the flags of `add_flags` say."""
        return cls(
            retriever=Retriever(options.retriever),
            rerank=not options.no_rerank,
            check=not options.no_check,
            free_writing=options.free_writing,
        )

    def search_settings(self) -> SearchSettings:
        """How papers are found."""
        return SearchSettings(retriever=self.retriever)

    def answer_settings(self, writing: WritingSettings) -> AnswerSettings:
        """What an answer takes.

        Args:
            writing: what writing may take but for the ablations, such as whether the model is asked
                where it does not write freely.
        """
        writing = replace(
            writing,
            mode=WritingMode.FREE if self.free_writing else writing.mode,
            grammar=writing.grammar and not self.free_writing,
            checks=writing.checks and self.check,
        )
        return AnswerSettings(search=self.search_settings(), rerank=self.rerank, writing=writing)


WHOLE = Ablations()
"""The product as it is."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Let `parser` read what `Ablations.from_options` takes."""
    flags = parser.add_argument_group("ablations", "parts of the path left out, for measurements")
    flags.add_argument(
        "--retriever",
        choices=[each.value for each in Retriever],
        default=Retriever.HYBRID.value,
        help="what ranks the papers (default: %(default)s)",
    )
    flags.add_argument("--no-rerank", action="store_true", help="first-stage ranking only")
    flags.add_argument(
        "--no-check", action="store_true", help="show what the model writes without checking it"
    )
    flags.add_argument(
        "--free-writing",
        action="store_true",
        help="ask the model for whole answers whatever the probe said, without a grammar",
    )
