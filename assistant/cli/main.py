"""The command `assistant`: its arguments, and the one place that prints errors people can fix."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from assistant import __version__
from assistant.settings import Settings, SharedSettings, add_ablation_flags, add_flags
from retrieval.types import Cancelled, UserError

_FORMATS = "table json bibtex ris csl-json apa ieee vancouver chicago".split()
_SHARED = tuple(SharedSettings.model_fields)
_LIBRARY = ("home", "cache", "embedder", "threads")
_ACTING = {
    **dict.fromkeys(("ingest", "remove", "doctor", "search", "lookup"), _LIBRARY),
    "models": ("cache", "model", "embedder", "threads"),
    "cases": ("home",),
    "users": (),
}
"""Settings that act on a command, by default all. Flags of the others are taken, but not listed:
scripts give every command the same ones."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 1 for an error that the person can fix, 130 if it was stopped."""
    options = _parser().parse_args(arguments)
    # `--help` does not wait for the imports of the commands: models, store and pages.
    commands = importlib.import_module("assistant.cli.commands")
    flags = {
        name: getattr(options, name) for name in Settings.model_fields if hasattr(options, name)
    }
    try:
        commands.COMMANDS[options.command](options, flags)
        sys.stdout.flush()
    except UserError as error:
        print(f"assistant: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, Cancelled):
        print("assistant: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of the output has closed it (`| head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0


class _Commands:
    """The parsers of commands, or of a command's actions; the help of each ends with examples."""

    def __init__(self, parser: argparse.ArgumentParser, dest: str, prog: str) -> None:
        self._prog = prog
        self._parsers = parser.add_subparsers(
            title=f"{dest}s", dest=dest, required=True, metavar=dest.upper(), prog=prog
        )

    def add(
        self, name: str, help_: str, *examples: str, takes: str = ""
    ) -> argparse.ArgumentParser:
        """Add one; `examples` are what is typed after its name, `takes` its arguments in short."""
        lines = [f"  {self._prog} {name} {example}".rstrip() for example in examples]
        return self._parsers.add_parser(
            name,
            usage=" ".join(filter(None, ("%(prog)s", takes, "[options]"))),
            help=help_,
            description=f"{help_[0].upper()}{help_[1:]}.",
            epilog="\n".join(["examples:" if len(lines) > 1 else "example:", *lines]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def add_settings(self, acting: Sequence[str] | None = None) -> None:
        """Let all take the shared settings, listed after their own options if they act."""
        for name, parser in self._parsers.choices.items():
            _add_settings(parser, _ACTING.get(name, _SHARED) if acting is None else acting)


def _add_settings(parser: argparse.ArgumentParser, acting: Sequence[str]) -> None:
    add_flags(parser, acting, title="library and models")
    add_flags(parser, [name for name in _SHARED if name not in acting], hidden=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="assistant",
        usage="%(prog)s COMMAND [options]",
        description="Chat with a library of paper abstracts; every sentence shows its source.",
        epilog="`assistant COMMAND --help` lists the options of a command, with an example.",
    )
    parser.add_argument("--version", action="version", version=f"assistant {__version__}")
    _add_settings(parser, ["home", "cache"])
    commands = _Commands(parser, "command", "assistant")
    _add_questions(commands)
    _add_library(commands)
    _add_measurements(commands)
    _add_users(commands)
    commands.add_settings()
    return parser


def _add_questions(commands: _Commands) -> None:
    """Add the commands that answer and search."""
    serve = commands.add(
        "serve",
        "open the assistant in a browser; the first start sets it up",
        "",
        "--home ~/my-library --model ~/models/some-8b-Q4_K_M.gguf",
    )
    add_flags(serve, [name for name in Settings.model_fields if name not in _SHARED])
    ask = commands.add(
        "ask",
        "answer a question, or the questions of a file",
        '"How much faster is machine unlearning than retraining?"',
        "--jsonl questions.jsonl > answers.jsonl",
        takes="(QUESTION | --jsonl FILE)",
    )
    _add_asked(ask, "question", "questions")
    commands.add(
        "chat",
        "hold a conversation in the terminal; type /help there for more",
        "--home ~/my-library",
    )
    search = commands.add(
        "search",
        "rank papers for a query, or for the queries of a file",
        '"federated unlearning" -k 5',
        takes="(QUERY | --jsonl FILE)",
    )
    _add_asked(search, "query", "queries")
    _add_count(search, "-k", 10, "papers at most")
    _add_switch(search, "--no-rerank", "first-stage ranking only")
    lookup = commands.add(
        "lookup",
        "look papers up by title, author, venue, year or decision",
        '"lerning strides" --year 2022',
        "'author:\"Ben Poole\" year:>2021 -survey' --format bibtex",
        takes="[QUERY]",
    )
    lookup.add_argument(
        "query", nargs="?", default="", metavar="QUERY", help="what is known of them"
    )
    _add_count(lookup, "-k", 10, "papers at most")
    lookup.add_argument("--author", action="append", default=[], help="an author; may be repeated")
    lookup.add_argument("--venue", default="", help="where the papers appeared")
    lookup.add_argument("--year", type=int, help="when they appeared")
    lookup.add_argument("--decision", default="", help="oral, spotlight, poster or an award")
    lookup.add_argument(
        "--format",
        choices=_FORMATS,
        default="table",
        metavar="FORMAT",
        help=f"{', '.join(_FORMATS[:-1])} or {_FORMATS[-1]} (default: %(default)s)",
    )


def _add_library(commands: _Commands) -> None:
    """Add the commands that fill and check the library, and the models."""
    ingest = commands.add(
        "ingest",
        "add or update papers",
        "my_papers.jsonl zotero.bib --home ~/my-library",
        takes="[PATH …]",
    )
    ingest.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="files or folders: JSONL, BibTeX, RIS, CSV, PubMed, … (default: the seeds)",
    )
    ingest.add_argument("--venue", default="", help="venue of papers that name none")
    ingest.add_argument("--year", type=int, help="year of papers that name none")
    _add_switch(ingest, "--json", "print the report as JSON")
    remove = commands.add(
        "remove",
        "remove the papers of a file",
        "my_papers.jsonl --home ~/my-library",
        takes="SOURCE",
    )
    remove.add_argument("source", metavar="SOURCE", help="the file's name, without its folder")
    _add_switch(remove, "--json", "print what was removed as JSON")
    doctor = commands.add("doctor", "check whether the library is whole", "--repair")
    _add_switch(doctor, "--repair", "repair it")
    _add_switch(doctor, "--json", "print what was found as JSON")
    models = commands.add(
        "models", "list or fetch the models of this machine", "", "pull", takes="[list | pull]"
    )
    models.add_argument(
        "action",
        nargs="?",
        choices=("list", "pull"),
        default="list",
        help="pull fetches the models in use (default: list)",
    )
    _add_switch(models, "--json", "print JSON")


def _add_measurements(commands: _Commands) -> None:
    """Add the commands that measure answers."""
    evaluate = commands.add(
        "evaluate",
        "ask questions with known answers and score the replies",
        "mine.jsonl --out runs/first",
        "mine.jsonl --out runs/second --baseline runs/first --gate",
        "--replay runs/first",
        takes="(FILE --out DIR | --replay DIR)",
    )
    evaluate.add_argument(
        "questions", nargs="?", type=Path, metavar="FILE", help="questions, JSONL or a BEIR folder"
    )
    evaluate.add_argument("--out", type=Path, metavar="DIR", help="folder of the run")
    evaluate.add_argument("--baseline", type=Path, metavar="DIR", help="a run to compare with")
    _add_switch(evaluate, "--gate", "exit 1 if the run is worse than the baseline beyond chance")
    evaluate.add_argument(
        "--replay", type=Path, metavar="DIR", help="ask a run again and name the first difference"
    )
    evaluate.add_argument("--types", default="", metavar="A,B", help="types of questions (all)")
    _add_count(evaluate, "--limit", None, "questions at most, spread over the file")
    _add_count(evaluate, "--repeats", 0, "ask each sample again N times", least=0)
    _add_count(evaluate, "--seed", 0, "seed of the bootstrap intervals", least=0)
    add_ablation_flags(evaluate)
    calibrate = commands.add(
        "calibrate",
        "set the confidence from which questions are answered",
        "--home ~/my-library --questions mine.jsonl",
    )
    calibrate.add_argument(
        "--questions", type=Path, metavar="FILE", help="questions with their papers, JSONL"
    )
    _add_count(calibrate, "--papers", 200, "papers tried without questions")
    _add_switch(calibrate, "--json", "print JSON")
    cases = commands.add(
        "cases",
        "print the answers that were rated in the browser, as JSONL",
        "--questions > mine.jsonl",
    )
    rated_down = "only those rated down, as questions for `assistant evaluate`"
    _add_switch(cases, "--questions", rated_down)


def _add_users(commands: _Commands) -> None:
    users = commands.add(
        "users",
        "manage users of the browser app and the HTTP API",
        "add ann --auth-file users.json",
        takes="ACTION",
    )
    actions = _Commands(users, "action", "assistant users")
    for name, takes, help_ in (
        ("add", "name", "add a user; the password is asked for, or read from standard input"),
        ("list", "", "list the users and their keys"),
        ("remove", "name", "remove a user and all keys of theirs"),
        ("key", "name", "make an API key for a user and print it, once"),
        ("revoke", "key_id", "revoke an API key; `list` shows its id"),
    ):
        shown = takes.replace("_", "-").upper()
        example = {"name": "ann ", "key_id": "3f9c2a71 ", "": ""}[takes]
        action = actions.add(name, help_, f"{example}--auth-file users.json", takes=shown)
        if takes:
            action.add_argument(takes, metavar=shown)
        add_flags(action, ["auth_file"])
    actions.add_settings(())


def _add_asked(parser: argparse.ArgumentParser, one: str, many: str) -> None:
    """Add what is asked, on the command line or in a file, and `--json`."""
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(one, nargs="?", metavar=one.upper(), help=f"the {one}")
    asked.add_argument("--jsonl", type=Path, metavar="FILE", help=f"{many}, one JSON a line")
    _add_switch(parser, "--json", "print JSON")


def _add_switch(parser: argparse.ArgumentParser, flag: str, help_: str) -> None:
    parser.add_argument(flag, action="store_true", help=help_)


def _add_count(
    parser: argparse.ArgumentParser, flag: str, default: int | None, help_: str, least: int = 1
) -> None:
    type_ = partial(_at_least, least)
    shown = help_ if default is None else f"{help_} (default: %(default)s)"
    parser.add_argument(flag, type=type_, default=default, metavar="N", help=shown)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if value < least:
        raise argparse.ArgumentTypeError(f"{value} is not at least {least}")
    return value
