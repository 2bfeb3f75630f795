"""`assistant evaluate`: runs and replays, with tables and, last, one line of JSON for scripts."""

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from assistant.cli.output import progress_bars
from assistant.evaluation.figures.compare import Comparison
from assistant.evaluation.figures.tables import print_comparison, print_figures, summary_json
from assistant.evaluation.records.record import REPORT, Asking
from assistant.evaluation.records.replay import (
    REPLAY,
    check_replay_folder,
    replay_lines,
    replayable_record,
    replayed,
    restored_settings,
)
from assistant.evaluation.run import RunResult, evaluate, settings_for
from assistant.evaluation.types import SampleType
from assistant.settings import NO_ABLATIONS, Ablations
from assistant.types import dumps
from retrieval.types import EvaluationError, InputError

Flags = dict[str, Any]
"""The settings that were given as flags, by name."""


def run_evaluate(options: argparse.Namespace, flags: Flags) -> None:
    """Evaluate the questions of a file, or replay a run, and print the result."""
    if options.replay:
        _replay(options, flags)
        return
    if not options.questions or not options.out:
        raise InputError("Nothing to evaluate; give a file of questions and --out DIR for the run.")
    if options.gate and not options.baseline:
        raise InputError("--gate stops what is worse than another run; name it by --baseline DIR.")
    if options.baseline and options.baseline.resolve() == options.out.resolve():
        raise InputError("--baseline and --out are one folder; a run is compared with another one.")
    asking = Asking(
        file=str(options.questions),
        limit=options.limit,
        types=_types(options.types),
        repeats=options.repeats,
        seed=options.seed,
        ablations=Ablations.from_options(options),
    )
    result = _evaluate(asking, options.out, flags, compare_with=options.baseline)
    console = Console()
    print_figures(console, result.figures)
    if result.comparison:
        print_comparison(console, result.comparison)
    print(f"The report is {options.out / REPORT}.", file=sys.stderr)
    summary = summary_json(result.figures, result.comparison, options.out, gate=options.gate)
    print(dumps(summary))
    _check_some_succeeded(result)
    if options.gate and result.comparison:
        _gate(result.comparison)


def _evaluate(asking: Asking, out: Path, flags: Flags, **more: Any) -> RunResult:
    try:
        with progress_bars() as progress:
            settings = settings_for(Path(asking.file), flags)
            result = evaluate(asking, out, settings, progress, **more)
    except KeyboardInterrupt:
        print("The answers so far are kept; the same command resumes the run.", file=sys.stderr)
        raise
    for note in (*result.notes, *_failed(result)):
        print(f"note: {note}", file=sys.stderr)
    return result


def _replay(options: argparse.Namespace, flags: Flags) -> None:
    """Ask a run's questions again and print the first difference; any is an error."""
    _check_replay_options(options)
    before = replayable_record(options.replay)
    out = options.out or options.replay / REPLAY
    if options.out:
        check_replay_folder(out)
    _evaluate(
        before.asking,
        out,
        {**restored_settings(before.settings), **flags},
        replaces=not options.out,
    )
    found = replayed(options.replay, out)
    for line in replay_lines(found):
        print(line)
    print(dumps(found))
    if row := found["row_difference"]:
        raise EvaluationError(f"The replay of {options.replay} differs, first in {row['id']}.")


def _check_replay_options(options: argparse.Namespace) -> None:
    """Check that no option is given that a replay takes from its run."""
    flags = ("baseline", "gate", "types", "limit", "repeats", "seed")
    named = ["a file of questions"] if options.questions else []
    named += [f"--{flag}" for flag in flags if getattr(options, flag)]
    if Ablations.from_options(options) != NO_ABLATIONS:
        named.append("a flag that leaves out a part")
    if named:
        raise InputError(
            f"--replay asks what its run asked; {' and '.join(named)} cannot be given with it."
        )


def _types(text: str) -> tuple[SampleType, ...]:
    """The types named in a list with commas."""
    try:
        named = {SampleType(name.strip()) for name in text.split(",") if name.strip()}
        return tuple(type_ for type_ in SampleType if type_ in named)
    except ValueError as error:
        raise InputError(
            f"--types cannot be {text!r}; expected some of {', '.join(SampleType)} with commas."
        ) from error


def _check_some_succeeded(result: RunResult) -> None:
    if len(result.failures) == len(result.figures.samples):
        raise EvaluationError(
            "Every sample failed, so the figures have no meaning; fix the first failure and "
            "evaluate again with another --out."
        )


def _gate(comparison: Comparison) -> None:
    """Check that no headline metric is worse beyond chance, or not scored any more."""
    if comparison.passes:
        return
    worse = [
        *(f"{each.metric} {each.before:.3f} to {each.now:.3f}" for each in comparison.worse),
        *(f"{metric} not scored any more" for metric in comparison.vanished),
    ]
    raise EvaluationError(
        f"Worse than {comparison.baseline} beyond chance: {', '.join(worse)}; see the report for "
        "the questions that were lost."
    )


def _failed(result: RunResult) -> tuple[str, ...]:
    """A note on the samples that failed, if any did."""
    if not result.failures:
        return ()
    id_, why = next(iter(result.failures.items()))
    count = len(result.failures)
    return (f"{count:,} of {len(result.figures.samples):,} samples failed, first {id_}: {why}",)
