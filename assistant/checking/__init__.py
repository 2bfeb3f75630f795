"""Whether a sentence that a model wrote is supported by the sentences it cites."""

from assistant.checking.support import closest, is_supported

__all__ = ["closest", "is_supported"]
