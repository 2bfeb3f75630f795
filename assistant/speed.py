"""How fast a chat model reads and writes on this machine, measured on a made-up conversation."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from assistant.chat_model import ChatModel

_READ_WORDS = 40
"""Numbers of eight random digits: some 400 tokens, which no model has read before."""
_WRITTEN_TOKENS = 32
_ENDLESS = 'root ::= [^§]* "§"'
"""A grammar that allows every token but the end."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second."""

    reading: float
    """Of a prompt that is new to the model."""
    writing: float
    """Of an answer, once the prompt is read."""


def measure(model: ChatModel, stopped: Callable[[], bool]) -> Speed:
    """Have the model read some 400 tokens and write 32.

    Raises:
        Cancelled: `stopped()` became true.
    """
    words = [str(secrets.randbelow(10**8)) for _ in range(_READ_WORDS)]
    messages = [
        {"role": "system", "content": f"Notes of {words[0]}."},
        {"role": "user", "content": f"{' '.join(words)}\nTell a long story about these numbers."},
    ]
    tokens = model.count(messages)
    times = [time.perf_counter()]
    times += [
        time.perf_counter() for _ in model.write(messages, _WRITTEN_TOKENS, stopped, _ENDLESS)
    ]
    return Speed(
        reading=tokens / (times[1] - times[0]), writing=(len(times) - 2) / (times[-1] - times[1])
    )
