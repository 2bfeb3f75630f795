"""The tables as queries see them; the files of `migrations/versions` make them."""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

METADATA = MetaData()

CONVERSATIONS = Table(
    "conversations",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("changed", Double, nullable=False),
    Index("conversations_of", "owner", "changed"),
)
EXCHANGES = Table(
    "exchanges",
    METADATA,
    Column("id", Text, primary_key=True),
    Column(
        "conversation",
        Text,
        ForeignKey("conversations.id", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("position", Integer, nullable=False),
    Column("question", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("answer", Text, nullable=False, server_default=text("''")),
    Index("exchanges_of", "conversation", "position"),
)
CASES = Table(
    "cases",
    METADATA,
    Column("exchange", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("rated", Double, nullable=False),
    Column("record", Text, nullable=False),
)
SESSIONS = Table(
    "sessions",
    METADATA,
    Column("token", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("password", Text, nullable=False),
    Column("until", Double, nullable=False, index=True),
)
FAILURES = Table(
    "failures",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("of", Text, nullable=False, index=True),
    Column("at", Double, nullable=False),
)
RECENT_ANSWERS = Table(
    "recent_answers",
    METADATA,
    Column("said", Text, primary_key=True),
    Column("at", Double, nullable=False, index=True),
    Column("record", Text, nullable=False),
)
PINS = Table(
    "pins",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("made", Double, nullable=False),
    Column("revision", Text, nullable=False),
    Column("seen", Text, nullable=False),
    Column("latest", Text, nullable=False),
    Column("claimed", Double, nullable=False, server_default=text("0")),
    UniqueConstraint("owner", "question"),
)
"""`claimed` is when a process began to ask the question again, so that others leave it alone."""
LIBRARY_JOBS = Table(
    "library_jobs",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("running", Integer, unique=True),
    Column("stop", Boolean, nullable=False),
    Column("beat", Double, nullable=False),
    Column("record", Text, nullable=False),
)
"""`running` is 1 or null, so that the database itself keeps a second job from beginning."""
