"""The command `assistant`: its arguments, and the one place that prints errors people can fix."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assistant import __version__
from assistant.settings import Settings, add_ablation_flags
from retrieval.types import Cancelled, UserError

_FORMATS = "table json bibtex ris csl-json apa ieee vancouver chicago".split()
_METAVARS = {
    "home": "DIR",
    "cache": "DIR",
    "model": "GGUF",
    "embedder": "GGUF",
    "context": "TOKENS",
    "thinking": "TOKENS",
    "threads": "N",
    "server_name": "NAME",
    "auth_file": "FILE",
}
"""Names of values in the help of settings."""


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
    names = ("home", "cache", "model", "embedder", "adapter", "context", "thinking", "threads")
    _add_settings(everywhere, *names)
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
    _add_settings(serve, "host", "port", "allow_ingest", "server_name", "auth_file")
    _add_ingest(command("ingest", "add papers to the library (default: the seeds)"))
    remove = command("remove", "remove the papers of a file from the library")
    remove.add_argument("source", metavar="SOURCE", help="the file's name, without its folder")
    remove.add_argument("--json", action="store_true", help="print what was removed as JSON")
    doctor = command("doctor", "check whether the library is whole")
    doctor.add_argument("--repair", action="store_true", help="repair it")
    doctor.add_argument("--json", action="store_true", help="print what was found as JSON")
    _add_ask(command("ask", "answer a question, or the questions of a file"))
    command("chat", "hold a conversation in the terminal")
    _add_search(command("search", "rank papers for a query, or for the queries of a file"))
    _add_lookup(command("lookup", "look papers up by title, author, venue, year or decision"))
    _add_evaluate(command("evaluate", "ask questions with known answers and score the replies"))
    _add_calibrate(command("calibrate", "set the confidence from which questions are answered"))
    models = command("models", "list or fetch the models of this machine")
    models.add_argument("action", nargs="?", choices=("list", "pull"), default="list")
    models.add_argument("--json", action="store_true", help="print JSON")
    cases = command("cases", "print the answers that were rated in the browser, as JSONL")
    cases.add_argument(
        "--questions",
        action="store_true",
        help="only those rated down, as questions for `assistant evaluate`",
    )
    _add_users(command("users", "manage users of the browser app and the HTTP API"))
    return parser


def _add_settings(parser: argparse.ArgumentParser, *names: str) -> None:
    """Let `parser` read these settings, with their help; those not given leave no attribute."""
    for name in names:
        field, flag = Settings.model_fields[name], name.replace("_", "-")
        if field.annotation is bool:
            parser.add_argument(
                f"--no-{flag}" if field.default else f"--{flag}",
                dest=name,
                action="store_false" if field.default else "store_true",
                default=argparse.SUPPRESS,
                help=f"do not {field.description}" if field.default else field.description,
            )
        else:
            parser.add_argument(
                f"--{flag}",
                type=int if field.annotation is int else str,
                default=argparse.SUPPRESS,
                metavar=_METAVARS.get(name),
                help=field.description,
            )


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or folders")
    parser.add_argument("--venue", default="", help="venue of papers that name none")
    parser.add_argument("--year", type=int, help="year of papers that name none")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_ask(parser: argparse.ArgumentParser) -> None:
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("question", nargs="?", help="the question")
    asked.add_argument("--jsonl", type=Path, metavar="FILE", help="questions, one JSON a line")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def _add_search(parser: argparse.ArgumentParser) -> None:
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("query", nargs="?", help="the query")
    asked.add_argument("--jsonl", type=Path, metavar="FILE", help="queries, one JSON a line")
    parser.add_argument("-k", type=_positive, default=10, metavar="N", help="papers at most")
    parser.add_argument("--no-rerank", action="store_true", help="first-stage ranking only")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_lookup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="?", default="", help="title, author, venue, year, …")
    parser.add_argument("-k", type=_positive, default=10, metavar="N", help="papers at most")
    parser.add_argument("--author", action="append", default=[], help="an author; may be repeated")
    parser.add_argument("--venue", default="", help="where the papers appeared")
    parser.add_argument("--year", type=int, help="when they appeared")
    parser.add_argument("--decision", default="", help="oral, spotlight, poster or an award")
    parser.add_argument("--format", choices=_FORMATS, default="table")


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--questions", type=Path, metavar="FILE", help="questions with their papers, JSONL"
    )
    parser.add_argument(
        "--papers", type=_positive, default=200, metavar="N", help="papers tried without questions"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "questions", nargs="?", type=Path, metavar="FILE", help="questions, JSONL or a BEIR folder"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("--baseline", type=Path, metavar="DIR", help="a run to compare with")
    parser.add_argument(
        "--gate",
        action="store_true",
        help="exit 1 if the run is worse than the baseline beyond chance",
    )
    parser.add_argument(
        "--replay", type=Path, metavar="DIR", help="ask a run again and name the first difference"
    )
    parser.add_argument("--types", default="", metavar="A,B", help="types of questions (all)")
    parser.add_argument(
        "--limit", type=_positive, metavar="N", help="questions at most, spread over the file"
    )
    parser.add_argument(
        "--repeats", type=_whole, default=0, metavar="N", help="ask each sample again N times (0)"
    )
    parser.add_argument(
        "--seed", type=_whole, default=0, metavar="N", help="seed of the bootstrap intervals (0)"
    )
    add_ablation_flags(parser)


def _add_users(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, help_: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=help_, description=help_)
        _add_settings(added, "auth_file")
        return added

    add = action("add", "add a user; the password is asked for, or read from standard input")
    add.add_argument("name", metavar="NAME")
    action("list", "list the users and their keys")
    action("remove", "remove a user and all keys of theirs").add_argument("name", metavar="NAME")
    key = action("key", "make an API key for a user and print it, once")
    key.add_argument("name", metavar="NAME")
    revoke = action("revoke", "revoke an API key")
    revoke.add_argument("key_id", metavar="KEY-ID", help="its id in `users list`")


def _positive(text: str) -> int:
    return _at_least(1, text)


def _whole(text: str) -> int:
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if value < least:
        raise argparse.ArgumentTypeError(f"{value} is not at least {least}")
    return value


if __name__ == "__main__":
    sys.exit(main())
