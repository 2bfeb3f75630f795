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


def _parser() -> argparse.ArgumentParser:
    everywhere = argparse.ArgumentParser(add_help=False)  # before or after the command's name
    add_flags(everywhere, SharedSettings.model_fields)
    parser = argparse.ArgumentParser(
        prog="assistant",
        description="Chat with a library of paper abstracts; every sentence shows its source.",
        parents=[everywhere],
    )
    parser.add_argument("--version", action="version", version=f"assistant {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, help_: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help_, description=help_, parents=[everywhere])

    serve = command("serve", "open the assistant in a browser; the first start sets it up")
    own = (name for name in Settings.model_fields if name not in SharedSettings.model_fields)
    add_flags(serve, own)
    _add_ingest(command("ingest", "add papers to the library (default: the seeds)"))
    remove = command("remove", "remove the papers of a file from the library")
    remove.add_argument("source", metavar="SOURCE", help="the file's name, without its folder")
    _add_switch(remove, "--json", "print what was removed as JSON")
    doctor = command("doctor", "check whether the library is whole")
    _add_switch(doctor, "--repair", "repair it")
    _add_switch(doctor, "--json", "print what was found as JSON")
    _add_asked(
        command("ask", "answer a question, or the questions of a file"), "question", "questions"
    )
    command("chat", "hold a conversation in the terminal")
    search = command("search", "rank papers for a query, or for the queries of a file")
    _add_asked(search, "query", "queries")
    _add_count(search, "-k", 10, "papers at most")
    _add_switch(search, "--no-rerank", "first-stage ranking only")
    _add_lookup(command("lookup", "look papers up by title, author, venue, year or decision"))
    _add_evaluate(command("evaluate", "ask questions with known answers and score the replies"))
    calibrate = command("calibrate", "set the confidence from which questions are answered")
    calibrate.add_argument(
        "--questions", type=Path, metavar="FILE", help="questions with their papers, JSONL"
    )
    _add_count(calibrate, "--papers", 200, "papers tried without questions")
    _add_switch(calibrate, "--json", "print JSON")
    models = command("models", "list or fetch the models of this machine")
    models.add_argument("action", nargs="?", choices=("list", "pull"), default="list")
    _add_switch(models, "--json", "print JSON")
    cases = command("cases", "print the answers that were rated in the browser, as JSONL")
    rated_down = "only those rated down, as questions for `assistant evaluate`"
    _add_switch(cases, "--questions", rated_down)
    _add_users(command("users", "manage users of the browser app and the HTTP API"))
    return parser


def _add_switch(parser: argparse.ArgumentParser, flag: str, help_: str) -> None:
    parser.add_argument(flag, action="store_true", help=help_)


def _add_count(
    parser: argparse.ArgumentParser, flag: str, default: int | None, help_: str, least: int = 1
) -> None:
    type_ = partial(_at_least, least)
    parser.add_argument(flag, type=type_, default=default, metavar="N", help=help_)


def _add_asked(parser: argparse.ArgumentParser, one: str, many: str) -> None:
    """Add what is asked, on the command line or in a file, and `--json`."""
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(one, nargs="?", help=f"the {one}")
    asked.add_argument("--jsonl", type=Path, metavar="FILE", help=f"{many}, one JSON a line")
    _add_switch(parser, "--json", "print JSON")


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or folders")
    parser.add_argument("--venue", default="", help="venue of papers that name none")
    parser.add_argument("--year", type=int, help="year of papers that name none")
    _add_switch(parser, "--json", "print the report as JSON")


def _add_lookup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="?", default="", help="title, author, venue, year, …")
    _add_count(parser, "-k", 10, "papers at most")
    parser.add_argument("--author", action="append", default=[], help="an author; may be repeated")
    parser.add_argument("--venue", default="", help="where the papers appeared")
    parser.add_argument("--year", type=int, help="when they appeared")
    parser.add_argument("--decision", default="", help="oral, spotlight, poster or an award")
    parser.add_argument("--format", choices=_FORMATS, default="table")


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "questions", nargs="?", type=Path, metavar="FILE", help="questions, JSONL or a BEIR folder"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("--baseline", type=Path, metavar="DIR", help="a run to compare with")
    _add_switch(parser, "--gate", "exit 1 if the run is worse than the baseline beyond chance")
    parser.add_argument(
        "--replay", type=Path, metavar="DIR", help="ask a run again and name the first difference"
    )
    parser.add_argument("--types", default="", metavar="A,B", help="types of questions (all)")
    _add_count(parser, "--limit", None, "questions at most, spread over the file")
    _add_count(parser, "--repeats", 0, "ask each sample again N times (0)", least=0)
    _add_count(parser, "--seed", 0, "seed of the bootstrap intervals (0)", least=0)
    add_ablation_flags(parser)


def _add_users(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, help_: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=help_, description=help_)
        add_flags(added, ["auth_file"])
        return added

    add = action("add", "add a user; the password is asked for, or read from standard input")
    add.add_argument("name", metavar="NAME")
    action("list", "list the users and their keys")
    action("remove", "remove a user and all keys of theirs").add_argument("name", metavar="NAME")
    key = action("key", "make an API key for a user and print it, once")
    key.add_argument("name", metavar="NAME")
    revoke = action("revoke", "revoke an API key")
    revoke.add_argument("key_id", metavar="KEY-ID", help="its id in `users list`")


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if value < least:
        raise argparse.ArgumentTypeError(f"{value} is not at least {least}")
    return value
