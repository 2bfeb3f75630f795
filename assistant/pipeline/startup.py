"""Opens the library, the models and the assistant over them, as the settings say."""

import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import islice

from assistant.generation.probe import passes_once
from assistant.generation.verification.cutter import Cutter
from assistant.generation.verification.support import SupportModel, Verifier
from assistant.models import resolve_chat_model, resolve_embedder, resolve_encoder
from assistant.models.chat import LlamaCppChatModel
from assistant.models.gguf.trained import (
    ADAPTER,
    CUTTER,
    READER,
    REINSTALL,
    SENTENCE_READER,
    SUPPORT,
    FileFacts,
    file_key,
    is_base,
    read_heads,
)
from assistant.models.server import ServedChatModel, open_served
from assistant.models.store import DEFAULT
from assistant.pipeline.abstention import is_outdated
from assistant.pipeline.assistant import Assistant
from assistant.settings import NO_ABLATIONS, Ablations, Settings, WritingMode, WritingSettings
from retrieval.encoders.embedder import LlamaCppEmbedder, Vector
from retrieval.encoders.model_server import ModelServer
from retrieval.encoders.server import ServerEmbedder
from retrieval.index.manifest import Manifest
from retrieval.index.place import FolderPlace, Place
from retrieval.index.server import ServerPlace, address_of
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.search.sentence_reader import SentenceReader
from retrieval.text.splitting import embedded_text
from retrieval.types import InputError, LibraryError, ModelError, Progress, never

_COMPARED = 2
"""Stored vectors with which those of an embedder on a server are compared."""


def open_library(settings: Settings, progress: Progress, *, make: bool = False) -> Library:
    """The library of `settings.home` with its embedder, fetched on first use.

    Raises:
        ModelError: the embedder cannot be fetched or loaded.
        LibraryError: the library cannot be opened, or there is none and none is to be made.
    """
    if not (make or settings.chroma or settings.home.exists()):
        raise LibraryError(
            f"There is no library in {settings.home}; fill it with `assistant ingest`, start "
            "`assistant serve`, or name another --home."
        )
    place = place_of(settings)
    if not settings.embedder_url:
        path = resolve_embedder(settings.embedder, settings.cache, progress)
        embedder = LlamaCppEmbedder(path, threads=settings.threads)
        return Library(settings.home, embedder, place=place)
    served = _open_served_embedder(settings, place.read())
    library = Library(settings.home, served, place=place)
    known: list[tuple[str, Vector]] = []
    with suppress(LibraryError):  # a damaged one is mended with the embedder that it names
        for stored in islice(library.store.papers(), _COMPARED):
            vectors = library.store.chunk_vectors([stored.paper.id])
            chunks = library.store.chunks_by_id(list(vectors))
            known += [(embedded_text(stored.paper, chunks[id_]), vectors[id_]) for id_ in chunks]
    served.confirm(known[:_COMPARED])
    return library


def place_of(settings: Settings) -> Place:
    """Where the papers are: on the Chroma server that is named, or else in the home folder.

    Raises:
        InputError: the server's address cannot be used.
        LibraryError: the server or the folder cannot be used.
    """
    if not settings.chroma:
        return FolderPlace(settings.home)
    address = address_of(settings.chroma, settings.chroma_token_file)
    return ServerPlace(address, settings.home)


def _open_served_embedder(settings: Settings, made: Manifest | None) -> ServerEmbedder:
    """The embedder on a server, as the one that the library was made with."""
    server = ModelServer(
        settings.embedder_url, key_file=settings.embedder_key_file, setting="embedder"
    )
    stands_for = made.embedder if made else ""
    return ServerEmbedder(server, settings.embedder_name, stands_for=stands_for)


def open_chat_model(settings: Settings, progress: Progress) -> LlamaCppChatModel | ServedChatModel:
    """The chat model, fetched on first use, or on a server.

    What a server cannot do is reported on stderr.

    Raises:
        ModelError: it cannot be fetched or loaded, or the server cannot be used.
        InputError: its context is too small.
    """
    if settings.model_url:
        return _open_served_model(settings)
    path = resolve_chat_model(settings.model, settings.cache, settings.threads, progress)
    return LlamaCppChatModel(
        path, context=settings.context, threads=settings.threads, thinking=settings.thinking
    )


def _open_served_model(settings: Settings) -> ServedChatModel:
    if settings.thinking:
        raise InputError("--thinking is for a model in this process; leave out it or --model-url.")
    server = ModelServer(settings.model_url, key_file=settings.api_key_file)
    model = open_served(server, settings.model_name, context=settings.context)
    model.slots = settings.slots or model.slots
    if model.lacks:
        _report(
            f"The model server {server.root} gives no {', no '.join(model.lacks)}; "
            "answers are made without."
        )
    return model


def open_reader(settings: Settings, progress: Progress) -> Reader:
    """The reader, made from the default embedder on first use.

    Raises:
        ModelError: its weights are missing or damaged, or the embedder cannot be fetched.
    """
    reader, sentence_reader = (
        (resolve_encoder(each, settings.cache, progress), read_heads(each))
        for each in (READER, SENTENCE_READER)
    )
    threads = settings.threads
    return Reader(*reader, SentenceReader(*sentence_reader, threads=threads), threads=threads)


def open_verifier(settings: Settings, progress: Progress) -> Verifier:
    """The verifier of written sentences, made from the default embedder on first use.

    Raises:
        ModelError: its weights are missing or damaged, or the embedder cannot be fetched.
    """
    support, cutter = (
        (resolve_encoder(each, settings.cache, progress), read_heads(each))
        for each in (SUPPORT, CUTTER)
    )
    threads = settings.threads
    return Verifier(SupportModel(*support, threads=threads), Cutter(*cutter, threads=threads))


def open_assistant(
    settings: Settings, progress: Progress, ablations: Ablations = NO_ABLATIONS
) -> Assistant:
    """An assistant over a library that has papers.

    Raises:
        ModelError: a model cannot be fetched or loaded.
        LibraryError: the library cannot be opened or has no papers.
        InputError: the chat model's context is too small.
    """
    library = open_library(settings, progress)
    library.ready_to_search()
    model = open_chat_model(settings, progress)
    reader = open_reader(settings, progress)
    return assistant_over(library, model, reader, settings, progress, ablations=ablations)


def assistant_over(
    library: Library,
    model: LlamaCppChatModel | ServedChatModel,
    reader: Reader,
    settings: Settings,
    progress: Progress,
    *,
    stopped: Callable[[], bool] = never,
    ablations: Ablations = NO_ABLATIONS,
) -> Assistant:
    """An assistant that asks its model in the way that the capability probe allows.

    With the ablation of free writing, the model is not probed.

    Raises:
        ModelError: the weights of the verifier are missing or damaged.
        Cancelled: `stopped()` became true.
    """
    verifier = open_verifier(settings, progress)
    if is_outdated(library.home):
        _report(
            "The library's calibration was made with other weights, so the default threshold "
            "holds; run `assistant calibrate` again."
        )
    mode = WritingMode.FREE
    if not ablations.free_writing:
        mode = writing_mode(model, verifier, settings, progress, stopped)
    answers = ablations.answer_settings(WritingSettings(mode=mode))
    return Assistant(library, model, reader, verifier, answers)


def writing_mode(
    model: LlamaCppChatModel | ServedChatModel,
    verifier: Verifier,
    settings: Settings,
    progress: Progress,
    stopped: Callable[[], bool] = never,
) -> WritingMode:
    """The best mode in which the model writes well enough; see `passes`.

    If the adapter was trained on the model, it is attached. An adapter that cannot be used is
    reported on stderr, and the model is probed without it.

    Raises:
        Cancelled: `stopped()` became true.
    """
    known = FileFacts(settings.cache / "model-facts.json")
    if isinstance(model, LlamaCppChatModel):
        has_adapter, name = _attached(model, settings, known), file_key(model.path)
    else:
        has_adapter, name = settings.adapter and model.attach(), model.key
    mode = WritingMode.BRIEF if has_adapter else WritingMode.FREE
    passes = passes_once(
        model, mode, verifier, name=name, known=known, progress=progress, stopped=stopped
    )
    return mode if passes else WritingMode.QUOTE


def _attached(model: LlamaCppChatModel, settings: Settings, known: FileFacts) -> bool:
    """Attach the adapter if it was trained on the model; returns whether it was."""
    try:
        if settings.adapter and is_base(model.path, known, ADAPTER):
            model.attach(ADAPTER)
            return True
        if settings.adapter and settings.model == DEFAULT:
            _report(
                f"The writer's adapter {ADAPTER} was trained on another model than the default one "
                f"of this package, so it is left out; {REINSTALL}."
            )
    except ModelError as error:
        _report(str(error))
    return False


def _report(problem: str) -> None:
    print(f"assistant: {problem}", file=sys.stderr, flush=True)
