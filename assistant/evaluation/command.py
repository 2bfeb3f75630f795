"""`assistant evaluate`: from what is typed to tables, and the last line for scripts."""

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from assistant.ablations import WHOLE, Ablations
from assistant.evaluation.comparison import Comparison
from assistant.evaluation.evaluate import Evaluated, Wanted, evaluate, settings_for
from assistant.evaluation.replay import (
    REPLAY,
    check_gives_way,
    replay_json,
    replay_lines,
    replayable_record,
    replayed,
    restored,
)
from assistant.evaluation.run_folder import REPORT
from assistant.evaluation.tables import print_comparison, print_figures, summary_json
from assistant.evaluation.types import SampleType
from assistant.json_output import dumps
from assistant.terminal import ProgressBars
from retrieval.errors import EvaluationError, InputError

Flags = dict[str, Any]


def run_evaluate(options: argparse.Namespace, flags: Flags) -> None:
    """Ask the questions of a file, or again those of a run, and show what came."""
    if options.replay:
        _replay(options, flags)
        return
    if not options.questions or not options.out:
        raise InputError("Nothing to evaluate; give a file of questions and --out DIR for the run.")
    if options.gate and not options.baseline:
        raise InputError("--gate stops what is worse than another run; name it by --baseline DIR.")
    if options.baseline and options.baseline.resolve() == options.out.resolve():
        raise InputError("--baseline and --out are one folder; a run is compared with another one.")
    wanted = Wanted(
        questions=options.questions,
        out=options.out,
        types=_types(options.types),
        limit=options.limit,
        workers=options.workers,
        repeats=options.repeats,
        seed=options.seed,
        ablations=Ablations.from_options(options),
        baseline=options.baseline,
    )
    evaluated = _evaluated(wanted, flags)
    console = Console()
    print_figures(console, evaluated.figures)
    if evaluated.comparison:
        print_comparison(console, evaluated.comparison)
    print(f"The report is {wanted.out / REPORT}.", file=sys.stderr)
    summary = summary_json(evaluated.figures, evaluated.comparison, wanted.out, gate=options.gate)
    print(dumps(summary))
    _see_that_some_ended(evaluated)
    if options.gate and evaluated.comparison:
        _gate(evaluated.comparison)


def _evaluated(wanted: Wanted, flags: Flags) -> Evaluated:
    try:
        with ProgressBars() as progress:
            evaluated = evaluate(wanted, settings_for(wanted.questions, flags), progress)
    except KeyboardInterrupt:
        print("What was asked is kept; the same command goes on with it.", file=sys.stderr)
        raise
    for note in (*evaluated.notes, *_failed(evaluated)):
        print(f"note: {note}", file=sys.stderr)
    return evaluated


def _failed(evaluated: Evaluated) -> tuple[str, ...]:
    """What to say of samples that failed, if any did."""
    if not evaluated.failures:
        return ()
    id_, why = next(iter(evaluated.failures.items()))
    count = len(evaluated.failures)
    return (f"{count:,} of {len(evaluated.figures.samples):,} samples failed, first {id_}: {why}",)


def _see_that_some_ended(evaluated: Evaluated) -> None:
    """Let no run pass of which nothing came.

    Raises:
        EvaluationError: every sample failed.
    """
    if len(evaluated.failures) == len(evaluated.figures.samples):
        raise EvaluationError(
            "No sample ended, so that the figures stand for nothing; mend what made the first fail "
            "and ask again with another --out."
        )


def _types(text: str) -> tuple[SampleType, ...]:
    """The types of a list with commas.

    Raises:
        InputError: there is no such type.
    """
    try:
        named = {SampleType(name.strip()) for name in text.split(",") if name.strip()}
        return tuple(type_ for type_ in SampleType if type_ in named)
    except ValueError as error:
        raise InputError(
            f"--types cannot be {text!r}; expected some of {', '.join(SampleType)} with commas."
        ) from error


def _gate(comparison: Comparison) -> None:
    """Stop what is worse than its baseline.

    Raises:
        EvaluationError: a headline metric is worse beyond its interval, or not scored any more.
    """
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


def _replay(options: argparse.Namespace, flags: Flags) -> None:
    """Ask a run's questions again and name what differs first.

    Raises:
        InputError: something was given that the run decides, or its questions are gone.
        EvaluationError: something else came.
    """
    _refuse_what_the_run_decides(options)
    before = replayable_record(options.replay)
    asking = before.asking
    out = options.out or options.replay / REPLAY
    if options.out:
        check_gives_way(out)
    wanted = Wanted(
        questions=Path(asking.file),
        out=out,
        types=tuple(map(SampleType, asking.types)),
        limit=asking.limit,
        workers=options.workers,
        repeats=asking.repeats,
        seed=asking.seed,
        ablations=asking.ablations,
        sha256=asking.sha256,
        replaces=not options.out,
    )
    _evaluated(wanted, {**restored(before), **flags})
    found = replayed(options.replay, out)
    for line in replay_lines(found):
        print(line)
    print(dumps(replay_json(found, options.replay, out)))
    if found.row:
        raise EvaluationError(
            f"{options.replay} gave something else this time, first of {found.row.id}."
        )


def _refuse_what_the_run_decides(options: argparse.Namespace) -> None:
    """A replay asks what its run asked.

    Raises:
        InputError: something else is given.
    """
    given = {
        "a file of questions": options.questions,
        "--baseline": options.baseline,
        "--gate": options.gate,
        "--types": options.types,
        "--limit": options.limit,
        "--repeats": options.repeats,
        "--seed": options.seed,
        "a flag that leaves out a part": Ablations.from_options(options) != WHOLE,
    }
    if named := [name for name, value in given.items() if value]:
        raise InputError(
            f"--replay asks what its run asked; {' and '.join(named)} cannot be given with it."
        )
