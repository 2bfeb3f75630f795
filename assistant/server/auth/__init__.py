"""Access control: users with passwords, scripts with API keys, and limits on every request."""

from assistant.server.auth.responses import owner_behind, owner_of

__all__ = ["owner_behind", "owner_of"]
