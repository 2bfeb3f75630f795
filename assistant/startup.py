"""Loads what a way of using the assistant needs: models, library, and both together."""

from collections.abc import Callable

from assistant.ablations import WHOLE, Ablations
from assistant.answer_settings import WritingSettings
from assistant.chat_model import LlamaCppChatModel
from assistant.exam import passes_once
from assistant.models import resolve_chat_model, resolve_embedder, resolve_reader
from assistant.models.reader_gguf import read_heads
from assistant.pipeline.assistant import Assistant, never
from assistant.settings import Settings
from retrieval.embedder import LlamaCppEmbedder
from retrieval.library import Library
from retrieval.progress import Progress
from retrieval.search.reader import Reader


def open_library(settings: Settings, progress: Progress) -> Library:
    """The library of `settings.home` with its embedder, fetched on first use.

    Raises:
        ModelError: the embedder cannot be had or loaded.
        LibraryError: the library cannot be opened.
    """
    path = resolve_embedder(settings.embedder, settings.cache, progress)
    return Library(settings.home, LlamaCppEmbedder(path, threads=settings.threads))


def open_chat_model(settings: Settings, progress: Progress) -> LlamaCppChatModel:
    """The chat model, fetched on first use.

    Raises:
        ModelError: it cannot be had or loaded.
        InputError: its context is too small.
    """
    path = resolve_chat_model(settings.model, settings.cache, settings.threads, progress)
    return LlamaCppChatModel(
        path, context=settings.context, threads=settings.threads, thinking=settings.thinking
    )


def open_reader(settings: Settings, progress: Progress) -> Reader:
    """The reader, made from the default embedder on first use.

    Raises:
        ModelError: its weights are missing or damaged, or the embedder cannot be had.
    """
    path = resolve_reader(settings.cache, progress)
    return Reader(path, read_heads(), threads=settings.threads)


def open_assistant(
    settings: Settings, progress: Progress, ablations: Ablations = WHOLE
) -> Assistant:
    """An assistant over a library that has papers.

    Args:
        settings: where the library and the models are.
        progress: is told of what takes long.
        ablations: which parts of the path take part; for measurements.

    Raises:
        ModelError: a model cannot be had or loaded.
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
    ablations: Ablations = WHOLE,
) -> Assistant:
    """An assistant that asks the model for answers if it writes well enough; else it quotes.

    Where it writes freely it is asked without being examined.

    Raises:
        Cancelled: `stopped()` became true.
    """
    exams = settings.cache / "exams.json"
    asks = ablations.free_writing or passes_once(model, model.path, exams, progress, stopped)
    return Assistant(library, model, reader, ablations.answer_settings(WritingSettings(asks=asks)))
