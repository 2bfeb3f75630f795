"""The commands of the command line: data on stdout, notes and progress on stderr."""

import argparse
import getpass
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from assistant.cli.audit import run_audit
from assistant.cli.cases import case_json, note_on, question_lines
from assistant.cli.chat import ask, chat
from assistant.cli.evaluate import Flags, run_evaluate
from assistant.cli.output import (
    calibration_lines,
    health_lines,
    ingest_lines,
    matches_table,
    models_lines,
    passages_lines,
    print_text,
    progress_bars,
    removal_line,
)
from assistant.cli.receipts import Extras, run_replay
from assistant.cli.research import note_waiting, run_pinned, run_table
from assistant.evaluation.questions.lines import (
    Conversation,
    LabelledQuestion,
    read_judged,
    read_questions,
)
from assistant.models import describe_models, resolve_chat_model, resolve_embedder, resolve_encoder
from assistant.models.gguf.trained import CUTTER, READER, SENTENCE_READER, SUPPORT
from assistant.pipeline.abstention import DEFAULT_THRESHOLD, threshold, write_calibration
from assistant.pipeline.abstention import FILE as CALIBRATION
from assistant.pipeline.assistant import Assistant, checked_question
from assistant.pipeline.calibration import JudgedQuestion, calibrated, judged_sentences
from assistant.pipeline.startup import open_assistant, open_library, open_reader, place_of
from assistant.server.auth.accounts import (
    add_user,
    checked_name,
    checked_password,
    make_key,
    read_users,
    remove_user,
    revoke_key,
)
from assistant.server.connections import watch
from assistant.server.history import Conversations
from assistant.settings import Settings, load_settings, resource_folder
from assistant.storage.database import database_of
from assistant.types import Turn, answer_json, dumps, ingest_json, lookup_json, search_json
from retrieval.formats.citation_keys import citation_keys
from retrieval.formats.writers import FORMATS
from retrieval.library.health import check, repair
from retrieval.library.ingest import ingest, remove_source
from retrieval.library.ingest_log import FILE as INGEST_LOG
from retrieval.library.library import Library
from retrieval.library.move import copy_library
from retrieval.query.lookup import Lookup
from retrieval.query.syntax import ExplicitFilters
from retrieval.search.rerank import ranking
from retrieval.types import InputError, LibraryError, Progress, never


def run_serve(_options: argparse.Namespace, flags: Flags) -> None:
    """Open the browser app."""
    watch()
    # Gradio takes seconds to import, and only this command needs it.
    from assistant.server.app import serve  # noqa: PLC0415

    serve(load_settings(flags))


@contextmanager
def _opened(flags: Flags, *, make: bool = False) -> Iterator[tuple[Library, Progress]]:
    """The library, and bars for what is done with it."""
    with progress_bars() as progress:
        yield open_library(load_settings(flags), progress, make=make), progress


def _print(value: object, lines: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        print(dumps(value), flush=True)
        return
    for line in lines:
        print_text(Console(), line)


def run_ingest(options: argparse.Namespace, flags: Flags) -> None:
    """Bring the library up to date with files (default: the seeds)."""
    paths = options.paths or [resource_folder("seeds")]
    with _opened(flags, make=True) as (library, progress):
        report = ingest(library, paths, venue=options.venue, year=options.year, progress=progress)
    _print(ingest_json(report), ingest_lines(report), as_json=options.json)
    note_waiting(library, load_settings(flags))


def run_remove(options: argparse.Namespace, flags: Flags) -> None:
    """Remove the papers of a file from the library."""
    with _opened(flags) as (library, progress):
        removal = remove_source(library, options.source, progress)
    _print(asdict(removal), [removal_line(removal)], as_json=options.json)


def run_doctor(options: argparse.Namespace, flags: Flags) -> None:
    """Check whether the library is whole, or repair it."""
    with _opened(flags) as (library, progress):
        facts = library.place.facts()
        health = (repair if options.repair else check)(library, progress)
    found = {**asdict(health), "sound": health.sound, "findings": health.findings}
    found |= {"server": facts} if facts else {}
    _print(found, [*facts, *health_lines(health)], as_json=options.json)
    if not health.sound:
        raise LibraryError("The library is not whole; repair it with `assistant doctor --repair`.")


def run_move(options: argparse.Namespace, flags: Flags) -> None:
    """Copy the library to another place, with what its folder knows of it."""
    settings = load_settings(flags)
    is_server = "://" in options.to
    there = {"chroma": options.to, "chroma_token_file": options.to_token_file}
    if not is_server:
        there = {"chroma": "", "home": Path(options.to).expanduser()}
    to = settings.model_copy(update=there)
    source, target = place_of(settings), place_of(to)
    if source.where == target.where:
        raise InputError(f"The library is {source.where} already; name another place with --to.")
    with progress_bars() as progress:
        copied = copy_library(source, target, progress)
    for name in (CALIBRATION, INGEST_LOG) if to.home != settings.home else ():
        if (settings.home / name).exists() and not (to.home / name).exists():
            shutil.copy2(settings.home / name, to.home / name)
    use = f"--chroma {options.to}" if is_server else f"--home {options.to}"
    said = (
        f"{copied.papers:,} papers in {copied.chunks:,} chunks are now {target.where}, all "
        f"compared ({copied.seconds:.1f} s). Use them with {use}; the library {source.where} stays."
    )
    _print(asdict(copied), [said], as_json=options.json)


def run_ask(options: argparse.Namespace, flags: Flags) -> None:
    """Answer one question, or every question of a file."""
    settings = load_settings(flags)
    conversations = _asked(options.question, options.jsonl)
    extras = Extras(options, settings)
    assistant = _assistant(settings)
    if not (options.json or options.jsonl):
        answer = ask(assistant, options.question).answer
        extras.keep(assistant, answer, ())
        extras.print_methods(answer)
        return
    for conversation in conversations:
        history: list[Turn] = []
        for turn, question in enumerate(conversation.questions):
            answer = assistant.answer(question, history)
            extras.keep(assistant, answer, history)
            history.append(Turn(question, answer))
            fields = answer_json(answer, conversation.id or None, turn)
            print(dumps({**fields, **extras.methods_json(answer)}), flush=True)


def _asked(typed: str, file: Path | None) -> list[Conversation]:
    """The conversations of a file, or what was typed as one without an id; all are checked."""
    return read_questions(file) if file else [Conversation("", (checked_question(typed),))]


def run_chat(_options: argparse.Namespace, flags: Flags) -> None:
    """Hold a conversation."""
    chat(_assistant(load_settings(flags)))


def _assistant(settings: Settings) -> Assistant:
    with progress_bars() as progress:
        return open_assistant(settings, progress)


def run_search(options: argparse.Namespace, flags: Flags) -> None:
    """Rank papers for one query, or for every query of a file."""
    settings = load_settings(flags)
    conversations = _asked(options.query, options.jsonl)
    with progress_bars() as progress:
        library = open_library(settings, progress)
        library.ready_to_search()
        reader = None if options.no_rerank else open_reader(settings, progress)
    for conversation in conversations:
        for turn, query in enumerate(conversation.questions):
            found = ranking(library, query, options.k, reader, never)
            for note in found.notes:
                print(f"note: {note}", file=sys.stderr)
            value = search_json(conversation.id or None, turn, query, found.passages)
            as_json = options.json or options.jsonl is not None
            _print(value, passages_lines(found.passages), as_json=as_json)


def run_lookup(options: argparse.Namespace, flags: Flags) -> None:
    """Look papers up."""
    given = ExplicitFilters(
        authors=tuple(filter(None, map(str.strip, options.author))),
        venue=options.venue.strip(),
        year=options.year,
        decision=options.decision.strip(),
    )
    if not options.query.strip() and not given:
        raise InputError("Nothing to look up; give a query or a filter such as --author.")
    query = checked_question(options.query) if options.query.strip() else ""
    with _opened(flags) as (library, _progress):
        library.ready_to_search()
    listing = Lookup.over(library).find(query, options.k, given)
    if listing.note:
        print(listing.note, file=sys.stderr)
    if options.format == "json":
        print(dumps(lookup_json(listing.matches)))
    elif listing.matches and options.format in FORMATS:
        papers = [match.paper for match in listing.matches]
        keys = citation_keys(papers, library.lexical.papers_with_key)
        print(FORMATS[options.format](papers, keys), end="")
    elif listing.matches:
        Console().print(matches_table(listing.matches))


def run_calibrate(options: argparse.Namespace, flags: Flags) -> None:
    """Set the confidence from which questions are answered, by questions or by the library."""
    settings = load_settings(flags)
    asked = read_judged(options.questions) if options.questions else []
    with progress_bars() as progress:
        if asked:
            assistant = open_assistant(settings, progress)
            library, source = assistant.library, options.questions.name
            judged = list(_judged(assistant, asked, progress))
        else:
            library = open_library(settings, progress)
            library.ready_to_search()
            reader = open_reader(settings, progress)
            judged = list(judged_sentences(library, reader, options.papers, progress))
            source = f"sentences of {len(judged) // 2:,} of its abstracts"
    try:
        before = threshold(library.home)
    except LibraryError:  # a damaged calibration is replaced
        before = DEFAULT_THRESHOLD
    calibration = calibrated(judged, source, before=before, by_people=options.questions is not None)
    write_calibration(library.home, calibration)
    _print(asdict(calibration), calibration_lines(calibration), as_json=options.json)


def _judged(
    assistant: Assistant, asked: Sequence[LabelledQuestion], progress: Progress
) -> Iterator[JudgedQuestion]:
    for done, each in enumerate(asked, start=1):
        confidence = assistant.confidence(each.question)
        progress("calibrating", done, len(asked), "questions")
        if confidence is not None:
            yield JudgedQuestion(confidence, each.answerable)


def run_models(options: argparse.Namespace, flags: Flags) -> None:
    """List the models, after fetching those in use if asked to."""
    settings = load_settings(flags)
    if options.action == "pull":
        with progress_bars() as progress:
            if not settings.model_url:
                resolve_chat_model(settings.model, settings.cache, settings.threads, progress)
            resolve_embedder(settings.embedder, settings.cache, progress)
            for weights in (READER, SENTENCE_READER, SUPPORT, CUTTER):
                resolve_encoder(weights, settings.cache, progress)
    models = describe_models(settings)
    listed = [{**asdict(model), "path": str(model.path or "")} for model in models]
    _print(listed, models_lines(models), as_json=options.json)


def run_cases(options: argparse.Namespace, flags: Flags) -> None:
    """Print the rated answers, one JSON a line, as `ask --jsonl` or `evaluate` reads them."""
    database = database_of(load_settings(flags))
    cases = Conversations(database).cases() if database.exists else []
    lines = question_lines(cases) if options.questions else [case_json(case) for case in cases]
    for line in lines:
        print(dumps(line))
    if options.questions and (note := note_on(lines)):
        print(f"note: {note}", file=sys.stderr)
    if not lines:
        rated = "rated down" if options.questions else "rated"
        print(f"No answer was {rated} yet; the thumbs below an answer do it.", file=sys.stderr)


def run_users(options: argparse.Namespace, flags: Flags) -> None:
    """Add, list or remove users and their keys."""
    path = load_settings(flags).auth_file
    if path is None:
        raise InputError(
            "No auth file is named; give one with --auth-file FILE or ASSISTANT_AUTH_FILE."
        )
    match options.action:
        case "add":
            name = checked_name(options.name)
            add_user(path, name, _typed_password(name))
            print(f"{name} can sign in now.", file=sys.stderr)
        case "list":
            for name, user in sorted(read_users(path).users.items()):
                print(name)
                for key_id, key in user.keys.items():
                    print(f"  key {key_id}, made {key.made}")
        case "remove":
            remove_user(path, options.name)
            print(f"{options.name} can no longer come in.", file=sys.stderr)
        case "key":
            print(make_key(path, options.name))
            once = "The key is shown this once; send it as `Authorization: Bearer KEY`."
            print(once, file=sys.stderr)
        case "revoke":
            revoke_key(path, options.key_id)
            print(f"The key {options.key_id} no longer opens anything.", file=sys.stderr)


def _typed_password(name: str) -> str:
    """Typed twice without being shown, or the first line of standard input."""
    if not sys.stdin.isatty():
        return checked_password(sys.stdin.readline().rstrip("\r\n"))
    password = checked_password(getpass.getpass(f"Password of {name}: "))
    if getpass.getpass("Again: ") != password:
        raise InputError("The two passwords differ; type the same one twice.")
    return password


COMMANDS: dict[str, Callable[[argparse.Namespace, Flags], None]] = {
    run.__name__.removeprefix("run_"): run
    for run in (
        *(run_serve, run_ask, run_replay, run_chat, run_search, run_lookup),
        *(run_ingest, run_remove, run_doctor, run_move, run_models),
        *(run_audit, run_table, run_pinned),
        *(run_evaluate, run_calibrate, run_cases, run_users),
    )
}
"""The commands, by name."""
