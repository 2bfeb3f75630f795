"""Opens the library, the models and the assistant over them, as the settings say."""

import sys
from collections.abc import Callable

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
    SUPPORT,
    FileFacts,
    is_base,
    read_heads,
)
from assistant.models.store import DEFAULT
from assistant.pipeline.abstention import is_outdated
from assistant.pipeline.assistant import Assistant
from assistant.settings import NO_ABLATIONS, Ablations, Settings, WritingMode, WritingSettings
from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import ModelError, Progress, never


def open_library(settings: Settings, progress: Progress) -> Library:
    """The library of `settings.home` with its embedder, fetched on first use.

    Raises:
        ModelError: the embedder cannot be fetched or loaded.
        LibraryError: the library cannot be opened.
    """
    path = resolve_embedder(settings.embedder, settings.cache, progress)
    return Library(settings.home, LlamaCppEmbedder(path, threads=settings.threads))


def open_chat_model(settings: Settings, progress: Progress) -> LlamaCppChatModel:
    """The chat model, fetched on first use.

    Raises:
        ModelError: it cannot be fetched or loaded.
        InputError: its context is too small.
    """
    path = resolve_chat_model(settings.model, settings.cache, settings.threads, progress)
    return LlamaCppChatModel(
        path, context=settings.context, threads=settings.threads, thinking=settings.thinking
    )


def open_reader(settings: Settings, progress: Progress) -> Reader:
    """The reader, made from the default embedder on first use.

    Raises:
        ModelError: its weights are missing or damaged, or the embedder cannot be fetched.
    """
    path = resolve_encoder(READER, settings.cache, progress)
    return Reader(path, read_heads(READER), threads=settings.threads)


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
    model: LlamaCppChatModel,
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
    model: LlamaCppChatModel,
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
    mode = WritingMode.FREE
    try:
        if settings.adapter and is_base(model.path, known, ADAPTER):
            model.attach(ADAPTER)
            mode = WritingMode.BRIEF
        elif settings.adapter and settings.model == DEFAULT:
            _report(
                f"The writer's adapter {ADAPTER} was trained on another model than the default one "
                f"of this package, so it is left out; {REINSTALL}."
            )
    except ModelError as error:
        _report(str(error))
    passes = passes_once(
        model, mode, verifier, file=model.path, known=known, progress=progress, stopped=stopped
    )
    return mode if passes else WritingMode.QUOTE


def _report(problem: str) -> None:
    print(f"assistant: {problem}", file=sys.stderr, flush=True)
