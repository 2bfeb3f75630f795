"""Who asks: people with passwords, scripts with keys, or whoever sits at this machine."""

from assistant.access.identity import owner_behind, owner_of

__all__ = ["owner_behind", "owner_of"]
