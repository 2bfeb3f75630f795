"""Fetches, checks, converts and lists the models on this machine, and runs the chat model."""

from assistant.models.listing import ModelDescription, describe_models
from assistant.models.store import resolve_chat_model, resolve_embedder, resolve_encoder

__all__ = [
    "ModelDescription",
    "describe_models",
    "resolve_chat_model",
    "resolve_embedder",
    "resolve_encoder",
]
