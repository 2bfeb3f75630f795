"""What each command of the command line does: data on stdout, notes and progress on stderr."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from assistant.access.command import run_users_action
from assistant.bibliography import FORMATS
from assistant.conversations import CONVERSATIONS, Conversations
from assistant.evaluation.cases import note_on, question_lines
from assistant.evaluation.command import run_evaluate
from assistant.events import Finished
from assistant.json_output import (
    answer_json,
    case_json,
    dumps,
    ingest_json,
    lookup_json,
    search_json,
)
from assistant.models import (
    describe_models,
    resolve_chat_model,
    resolve_embedder,
    resolve_encoder,
)
from assistant.models.encoder_gguf import CUTTER, READER, SUPPORT
from assistant.pipeline.assistant import Assistant, checked_question
from assistant.pipeline.calibration import (
    DEFAULT_THRESHOLD,
    Judged,
    calibrated,
    threshold,
    write_calibration,
)
from assistant.pipeline.pseudo_questions import judged_sentences
from assistant.question_file import Expected, read_judged, read_questions
from assistant.resources import resource_folder
from assistant.settings import Settings, load_settings
from assistant.startup import open_assistant, open_library, open_reader
from assistant.terminal import (
    AnswerPrinter,
    ProgressBars,
    calibration_lines,
    health_lines,
    ingest_lines,
    matches_table,
    models_lines,
    passages_lines,
    removal_line,
)
from assistant.types import Turn
from retrieval.errors import InputError, LibraryError
from retrieval.health import check, repair
from retrieval.ingest import ingest
from retrieval.keys import citation_keys
from retrieval.progress import Progress, never
from retrieval.query.lookup import Lookup
from retrieval.query.syntax import ExplicitFilters
from retrieval.removing import remove_source
from retrieval.search.ranking import ranking

Flags = dict[str, Any]


def run_serve(_options: argparse.Namespace, flags: Flags) -> None:
    """Open the browser app."""
    # The page library takes seconds to import, and only this command needs it.
    from assistant.server import serve  # noqa: PLC0415

    serve(load_settings(flags))


def run_ingest(options: argparse.Namespace, flags: Flags) -> None:
    """Bring the library up to date with files."""
    paths = options.paths or [resource_folder("seeds")]
    with ProgressBars() as progress:
        library = open_library(load_settings(flags), progress)
        report = ingest(library, paths, venue=options.venue, year=options.year, progress=progress)
    if options.json:
        print(dumps(ingest_json(report)))
        return
    for line in ingest_lines(report):
        print(line)


def run_remove(options: argparse.Namespace, flags: Flags) -> None:
    """Take the papers of a file out of the library."""
    with ProgressBars() as progress:
        library = open_library(load_settings(flags), progress)
        removal = remove_source(library, options.source, progress)
    print(dumps(asdict(removal)) if options.json else removal_line(removal))


def run_doctor(options: argparse.Namespace, flags: Flags) -> None:
    """See whether the library is whole, or make it so."""
    with ProgressBars() as progress:
        library = open_library(load_settings(flags), progress)
        health = (repair if options.repair else check)(library, progress)
    if options.json:
        print(dumps({**asdict(health), "sound": health.sound, "findings": health.findings}))
    else:
        print("\n".join(health_lines(health)))
    if not health.sound:
        raise LibraryError("The library is not whole; repair it with `assistant doctor --repair`.")


def run_ask(options: argparse.Namespace, flags: Flags) -> None:
    """Answer one question, or every question of a file."""
    settings = load_settings(flags)
    if options.jsonl:
        _ask_file(options, settings)
        return
    question = checked_question(options.question)
    assistant = _assistant(settings)
    if options.json:
        print(dumps(answer_json(assistant.answer(question), None, 0)))
    else:
        _ask(assistant, question, [], Console())


def _ask_file(options: argparse.Namespace, settings: Settings) -> None:
    conversations = read_questions(options.jsonl)
    assistant = _assistant(settings)
    for conversation in conversations:
        history: list[Turn] = []
        for turn, question in enumerate(conversation.questions):
            answer = assistant.answer(question, history)
            history.append(Turn(question, answer))
            print(dumps(answer_json(answer, conversation.id, turn)), flush=True)


def run_chat(_options: argparse.Namespace, flags: Flags) -> None:
    """A conversation until an empty line or end of input; Ctrl-C stops an answer."""
    assistant = _assistant(load_settings(flags))
    console = Console()
    history: list[Turn] = []
    print("Ask about the papers of the library; an empty line ends the chat.", file=sys.stderr)
    while question := _typed():
        try:
            history.append(_ask(assistant, question, history, console))
        except KeyboardInterrupt:
            print("(stopped)", file=sys.stderr)
        except InputError as error:
            print(f"assistant: {error}", file=sys.stderr)


def _typed() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""


def _ask(assistant: Assistant, question: str, history: list[Turn], console: Console) -> Turn:
    printer = AnswerPrinter(console)
    for event in assistant.stream(question, history):
        printer.show(event, question.strip())
        if isinstance(event, Finished):
            return Turn(question, event.answer)
    raise AssertionError("a stream of events ends with Finished")


def _assistant(settings: Settings) -> Assistant:
    with ProgressBars() as progress:
        return open_assistant(settings, progress)


def run_search(options: argparse.Namespace, flags: Flags) -> None:
    """Rank papers for one query, or for every query of a file."""
    settings = load_settings(flags)
    if options.jsonl:
        asked = [
            (conversation.id, turn, question)
            for conversation in read_questions(options.jsonl)
            for turn, question in enumerate(conversation.questions)
        ]
    elif options.query.strip():
        asked = [("", 0, checked_question(options.query))]
    else:
        raise InputError("The query is empty; type what to search for.")
    with ProgressBars() as progress:
        library = open_library(settings, progress)
        library.ready_to_search()
        reader = None if options.no_rerank else open_reader(settings, progress)
    for id_, turn, query in asked:
        found = ranking(library, query, options.k, reader, never)
        for note in found.notes:
            print(f"note: {note}", file=sys.stderr)
        if options.jsonl or options.json:
            print(dumps(search_json(id_ or None, turn, query, found.passages)), flush=True)
        else:
            for line in passages_lines(found.passages):
                print(line)


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
    with ProgressBars() as progress:
        library = open_library(load_settings(flags), progress)
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
    """Measure from which confidence on this library's questions should be answered."""
    settings = load_settings(flags)
    asked = read_judged(options.questions) if options.questions else []
    with ProgressBars() as progress:
        if asked:
            assistant = open_assistant(settings, progress)
            library, source = assistant.library, options.questions.name
            judged = list(_judged(assistant, asked, progress))
        else:
            library = open_library(settings, progress)
            library.ready_to_search()
            reader = open_reader(settings, progress)
            judged = list(judged_sentences(library, reader, options.papers, progress, never))
            source = f"sentences of {len(judged) // 2:,} of its abstracts"
    try:
        before = threshold(library.home)
    except LibraryError:  # what is damaged is made anew
        before = DEFAULT_THRESHOLD
    calibration = calibrated(judged, source, before=before, by_people=options.questions is not None)
    write_calibration(library.home, calibration)
    if options.json:
        print(dumps(asdict(calibration)))
        return
    for line in calibration_lines(calibration):
        print(line)


def _judged(
    assistant: Assistant, asked: Sequence[Expected], progress: Progress
) -> Iterator[Judged]:
    for done, each in enumerate(asked, start=1):
        confidence = assistant.confidence(each.question)
        progress("calibrating", done, len(asked), "questions")
        if confidence is not None:
            yield Judged(confidence, each.answerable)


def run_models(options: argparse.Namespace, flags: Flags) -> None:
    """Show the models, or fetch those in use."""
    settings = load_settings(flags)
    if options.action == "pull":
        with ProgressBars() as progress:
            resolve_chat_model(settings.model, settings.cache, settings.threads, progress)
            resolve_embedder(settings.embedder, settings.cache, progress)
            for weights in (READER, SUPPORT, CUTTER):
                resolve_encoder(weights, settings.cache, progress)
    models = describe_models(settings)
    if options.json:
        print(dumps([{**asdict(model), "path": str(model.path or "")} for model in models]))
    else:
        print("\n".join(models_lines(models)))


def run_cases(options: argparse.Namespace, flags: Flags) -> None:
    """Print the rated answers, one JSON a line, as `ask --jsonl` or `evaluate` reads them."""
    file = load_settings(flags).home / CONVERSATIONS
    cases = Conversations(file).cases() if file.exists() else []
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
    run_users_action(options, load_settings(flags).auth_file)


COMMANDS: dict[str, Callable[[argparse.Namespace, Flags], None]] = {
    "serve": run_serve,
    "ingest": run_ingest,
    "remove": run_remove,
    "doctor": run_doctor,
    "ask": run_ask,
    "chat": run_chat,
    "search": run_search,
    "lookup": run_lookup,
    "evaluate": run_evaluate,
    "calibrate": run_calibrate,
    "models": run_models,
    "cases": run_cases,
    "users": run_users,
}
"""The commands by name."""
