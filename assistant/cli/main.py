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
_STORE = ("home", "chroma", "chroma_token_file")
_EMBEDDER = ("embedder", "embedder_url", "embedder_name", "embedder_key_file")
_LIBRARY = (*_STORE, "cache", *_EMBEDDER, "threads")
_ACTING = {
    **dict.fromkeys(("ingest", "remove", "doctor", "search", "lookup", "audit"), _LIBRARY),
    "models": ("cache", "model", "embedder", "threads"),
    "move": _STORE,
    "cases": ("home",),
    "users": (),
}
"""Settings that act on a command, by default all. Flags of the others are taken, but not listed:
scripts give every command the same ones."""
_USAGE = {
    "serve": ("", "--home ~/my-library --model ~/models/some-8b-Q4_K_M.gguf"),
    "ingest": ("[PATH …]", "my_papers.jsonl zotero.bib --home ~/my-library"),
    "remove": ("SOURCE", "my_papers.jsonl --home ~/my-library"),
    "doctor": ("", "--repair"),
    "move": ("--to (URL | DIR)", "--home ~/my-library --to http://papers.example.org:8000"),
    "ask": ("(QUESTION | --jsonl FILE)", '"How much faster is unlearning than retraining?"'),
    "replay": ("FILE", "answer.json"),
    "chat": ("", "--home ~/my-library"),
    "search": ("(QUERY | --jsonl FILE)", '"federated unlearning" -k 5'),
    "lookup": ("[QUERY]", "diffusion --author 'Ben Poole' --year 2023 --format bibtex"),
    "audit": ("(FILE | -)", "related-work.tex --bib refs.bib --html audit.html"),
    "evaluate": ("(FILE --out DIR | --replay DIR)", "mine.jsonl --out runs/b --baseline runs/a"),
    "table": ("QUESTION", '"skeleton-based action recognition" --columns "data set,gain"'),
    "pinned": ("[list | run | add | remove] [QUESTION]", 'add "What is known on unlearning?"'),
    "calibrate": ("", "--questions mine.jsonl --home ~/my-library"),
    "models": ("[list | pull]", "pull --model hf:OWNER/REPO:FILE.gguf"),
    "cases": ("", "--questions > mine.jsonl"),
    "users": ("ACTION", "add ann --auth-file users.json"),
    "users add": ("NAME", "ann --auth-file users.json"),
    "users list": ("", "--auth-file users.json"),
    "users remove": ("NAME", "ann --auth-file users.json"),
    "users key": ("NAME", "ann --auth-file users.json"),
    "users revoke": ("KEY-ID", "5f2c0a9d --auth-file users.json"),
}
"""The arguments of each command in short, and an example of them."""


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
    parser = argparse.ArgumentParser(
        prog="assistant",
        usage="%(prog)s COMMAND [options]",
        description="Chat with a library of paper abstracts; every sentence shows its source.",
        epilog="`assistant COMMAND --help` lists the options of a command, with an example.",
    )
    parser.add_argument("--version", action="version", version=f"assistant {__version__}")
    _add_settings(parser, ["home", "cache"])
    commands = parser.add_subparsers(
        title="commands", dest="command", required=True, metavar="COMMAND", prog="assistant"
    )
    command = partial(_add_command, commands)
    serve = command("serve", "open the assistant in a browser; the first start sets it up")
    add_flags(serve, [name for name in Settings.model_fields if name not in _SHARED])
    _add_ingest(command("ingest", "add papers to the library (default: the seeds)"))
    remove = command("remove", "remove the papers of a file from the library")
    remove.add_argument("source", metavar="SOURCE", help="the file's name, without its folder")
    _add_switch(remove, "--json", "print what was removed as JSON")
    doctor = command("doctor", "check whether the library is whole")
    _add_switch(doctor, "--repair", "repair it")
    _add_switch(doctor, "--json", "print what was found as JSON")
    move = command("move", "copy the library to a Chroma server or a folder, and compare all of it")
    to = "http://HOST:PORT[?tenant=NAME&database=NAME&prefix=NAME], or a folder"
    move.add_argument("--to", required=True, metavar="URL|DIR", help=to)
    read = "file with the token that the server asks for"
    move.add_argument("--to-token-file", type=Path, metavar="FILE", help=read)
    _add_switch(move, "--json", "print what was copied as JSON")
    ask = command("ask", "answer a question, or the questions of a file")
    _add_asked(ask, "question", "questions")
    _add_receipt_flags(ask)
    replay = command("replay", "ask the question of a receipt again and name what changed")
    replay.add_argument("file", type=Path, metavar="FILE", help="the receipt, or one a line")
    _add_switch(replay, "--json", "print JSON")
    command("chat", "hold a conversation in the terminal; type /help there for more")
    search = command("search", "rank papers for a query, or for the queries of a file")
    _add_asked(search, "query", "queries")
    _add_count(search, "-k", 10, "papers at most")
    _add_switch(search, "--no-rerank", "first-stage ranking only")
    _add_lookup(command("lookup", "look papers up by title, author, venue, year or decision"))
    _add_audit(command("audit", "check the sentences and citations of a draft by the library"))
    _add_evaluate(command("evaluate", "ask questions with known answers and score the replies"))
    _add_table(command("table", "lay out what papers say on a question, a column for each aspect"))
    _add_pinned(command("pinned", "ask questions again whenever the library has changed"))
    calibrate = command("calibrate", "set the confidence from which questions are answered")
    calibrate.add_argument(
        "--questions", type=Path, metavar="FILE", help="questions with their papers, JSONL"
    )
    _add_count(calibrate, "--papers", 200, "papers tried without questions")
    _add_switch(calibrate, "--json", "print JSON")
    models = command("models", "list or fetch the models of this machine")
    fetched = "pull fetches those in use (default: list)"
    models.add_argument("action", nargs="?", choices=("list", "pull"), default="list", help=fetched)
    _add_switch(models, "--json", "print JSON")
    cases = command("cases", "print the answers that were rated in the browser, as JSONL")
    rated_down = "only those rated down, as questions for `assistant evaluate`"
    _add_switch(cases, "--questions", rated_down)
    _add_users(command("users", "manage users of the browser app and the HTTP API"))
    for name in ("ingest", "pinned", "cases"):
        add_flags(commands.choices[name], ["database"])
    for name, each in commands.choices.items():
        _add_settings(each, _ACTING.get(name, _SHARED))
    return parser


def _add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", path: str, help_: str
) -> argparse.ArgumentParser:
    """Add a command; `path` is its name, behind the command's name if it is an action."""
    arguments, example = _USAGE[path]
    return commands.add_parser(
        path.rsplit(maxsplit=1)[-1],
        usage=" ".join(filter(None, ("%(prog)s", arguments, "[options]"))),
        help=help_,
        description=f"{help_[0].upper()}{help_[1:]}.",
        epilog=f"example:\n  %(prog)s {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_settings(parser: argparse.ArgumentParser, acting: Sequence[str]) -> None:
    """Add the shared settings; the help lists those that act, after the command's own options."""
    add_flags(parser, acting, title="library and models")
    add_flags(parser, [name for name in _SHARED if name not in acting], hidden=True)


def _add_switch(parser: argparse.ArgumentParser, flag: str, help_: str) -> None:
    parser.add_argument(flag, action="store_true", help=help_)


def _add_count(
    parser: argparse.ArgumentParser, flag: str, default: int | None, help_: str, least: int = 1
) -> None:
    type_ = partial(_at_least, least)
    shown = help_ if default is None else f"{help_} (default: {default})"
    parser.add_argument(flag, type=type_, default=default, metavar="N", help=shown)


def _add_asked(parser: argparse.ArgumentParser, one: str, many: str) -> None:
    """Add what is asked, on the command line or in a file, and `--json`."""
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(one, nargs="?", metavar=one.upper(), help=f"the {one}")
    asked.add_argument("--jsonl", type=Path, metavar="FILE", help=f"{many}, one JSON a line")
    _add_switch(parser, "--json", "print JSON")


def _add_receipt_flags(ask: argparse.ArgumentParser) -> None:
    """Add what may be kept or printed beside an answer."""
    kept = "write what the answer was made with and from, for `assistant replay`"
    ask.add_argument("--receipt", type=Path, metavar="FILE", help=kept)
    _add_switch(ask, "--methods", "print a paragraph for a methods section, too")


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or folders")
    parser.add_argument("--venue", default="", help="venue of papers that name none")
    parser.add_argument("--year", type=int, help="year of papers that name none")
    _add_switch(parser, "--json", "print the report as JSON")


def _add_lookup(parser: argparse.ArgumentParser) -> None:
    known = "words of the title, or what is known of the record"
    parser.add_argument("query", nargs="?", default="", metavar="QUERY", help=known)
    _add_count(parser, "-k", 10, "papers at most")
    parser.add_argument("--author", action="append", default=[], help="an author; may be repeated")
    parser.add_argument("--venue", default="", help="where the papers appeared")
    parser.add_argument("--year", type=int, help="when they appeared")
    parser.add_argument("--decision", default="", help="oral, spotlight, poster or an award")
    shown = f"{', '.join(_FORMATS)} (default: table)"
    parser.add_argument("--format", choices=_FORMATS, default="table", metavar="FORMAT", help=shown)


def _add_audit(parser: argparse.ArgumentParser) -> None:
    file = partial(parser.add_argument, type=Path, metavar="FILE")
    draft = "text, Markdown or LaTeX; - for standard input"
    parser.add_argument("draft", metavar="FILE", help=draft)
    _add_switch(parser, "--json", "print JSON")
    file("--bib", help="the draft's bibliography, BibTeX")
    file("--html", help="write the report as a page")
    file("--bibtex", help="write the papers that are suggested as BibTeX")
    file("--insert", help="write the draft with the suggested citations in it")


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", help="what the papers are about")
    parser.add_argument(
        "--columns",
        default="data set,metric,gain,limitation",
        metavar="A,B",
        help="names of columns, or questions to each paper (default: %(default)s)",
    )
    _add_count(parser, "-k", 10, "papers at most")
    formats = "table json csv markdown latex".split()
    shown = f"{', '.join(formats)} (default: table)"
    parser.add_argument("--format", choices=formats, default="table", metavar="FORMAT", help=shown)


def _add_pinned(parser: argparse.ArgumentParser) -> None:
    actions = ("list", "run", "add", "remove")
    done = "list shows what changed since it was shown last; run asks again (default: list)"
    parser.add_argument("action", nargs="?", choices=actions, default="list", help=done)
    parser.add_argument("question", nargs="?", metavar="QUESTION", help="to be added or removed")
    _add_switch(parser, "--json", "print JSON")


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    folder = partial(parser.add_argument, type=Path, metavar="DIR")
    parser.add_argument(
        "questions", nargs="?", type=Path, metavar="FILE", help="questions, JSONL or a BEIR folder"
    )
    folder("--out", help="folder of the run")
    folder("--baseline", help="a run to compare with")
    _add_switch(parser, "--gate", "exit 1 if the run is worse than the baseline beyond chance")
    folder("--replay", help="ask a run again and name the first difference")
    parser.add_argument("--types", default="", metavar="A,B", help="types of questions (all)")
    _add_count(parser, "--limit", None, "questions at most, spread over the file")
    _add_count(parser, "--repeats", 0, "ask each sample again N times", least=0)
    _add_count(parser, "--seed", 0, "seed of the bootstrap intervals", least=0)
    add_ablation_flags(parser)


def _add_users(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        title="actions", dest="action", required=True, metavar="ACTION", prog="assistant users"
    )
    action = partial(_add_command, actions)
    add = action("users add", "add a user; the password is asked for, or read from standard input")
    action("users list", "list the users and their keys")
    remove = action("users remove", "remove a user and all keys of theirs")
    key = action("users key", "make an API key for a user and print it, once")
    revoke = action("users revoke", "revoke an API key")
    for named in (add, remove, key):
        named.add_argument("name", metavar="NAME", help="the name that the user signs in with")
    revoke.add_argument("key_id", metavar="KEY-ID", help="its id in `users list`")
    for each in actions.choices.values():
        add_flags(each, ["auth_file"])
        _add_settings(each, ())


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if value < least:
        raise argparse.ArgumentTypeError(f"{value} is not at least {least}")
    return value
