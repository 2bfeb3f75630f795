"""The models on this machine: fetching, checking, converting and listing them."""

from assistant.models.listing import ModelDescription, describe_models
from assistant.models.store import resolve_chat_model, resolve_embedder, resolve_encoder

__all__ = [
    "ModelDescription",
    "describe_models",
    "resolve_chat_model",
    "resolve_embedder",
    "resolve_encoder",
]
