"""What goes into the HTTP API and what comes out, as its OpenAPI document describes them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assistant.pipeline.assistant import LONGEST_QUESTION

MOST_PAPERS = 100
"""Papers that a search or a lookup gives at most."""
LONGEST_FILTER = 200
"""Characters of an author, a venue, or a decision looked for."""
_NOT_BLANK = r"\S"
_QUESTION = "How can a convolutional network learn its strides?"


class _Asked(BaseModel):
    """JSON that came in: a number is no string, and what is not known is not looked at."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _Given(BaseModel):
    """JSON that goes out: exactly what is written here."""

    model_config = ConfigDict(extra="forbid")


def _is_one(value: object) -> object:
    if isinstance(value, int) and value > 1:
        raise ValueError("a question has one answer; leave `n` out or ask for 1")
    return value


def _is_none(value: object) -> object:
    if value:
        raise ValueError("the assistant calls no tools and functions; leave them out")
    return value


def _is_text(value: object) -> object:
    if isinstance(value, dict) and value.get("type") != "text":
        raise ValueError(
            "answers are text; what is cited comes as JSON in the field `assistant` of every answer"
        )
    return value


def _is_readable(value: object) -> object:
    if value != "text":
        raise ValueError("only text can be read, no pictures, sound or files")
    return value


class TextPart(_Asked):
    """A piece of a message. Pictures, sound and files cannot be read."""

    type: Annotated[Literal["text"], BeforeValidator(_is_readable)]
    text: str


class Message(_Asked):
    """A message of the conversation.

    What the system or a developer says is taken note of by nobody: the assistant answers from the
    library, in its own way.
    """

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """What it says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(_Asked):
    """What a stream has besides the answer."""

    include_usage: bool | None = None
    """Whether the tokens read and written come at its end."""


class ResponseFormat(_Asked):
    """Answers are text."""

    type: Literal["text"]


class ChatRequest(_Asked):
    """A conversation whose last message is the question. Other fields of OpenAI's are ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"messages": [{"role": "user", "content": _QUESTION}]},
                {"messages": [{"role": "user", "content": _QUESTION}], "stream": True},
            ]
        }
    )

    messages: list[Message] = Field(min_length=1, max_length=2000)
    model: str = Field("default", max_length=500)
    """An id of `GET /v1/models`, or `default`."""
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int | None, BeforeValidator(_is_one)] = Field(None, ge=1, le=1)
    tools: Annotated[list[Any] | None, BeforeValidator(_is_none)] = Field(None, max_length=0)
    functions: Annotated[list[Any] | None, BeforeValidator(_is_none)] = Field(None, max_length=0)
    response_format: Annotated[ResponseFormat | None, BeforeValidator(_is_text)] = None


class SentenceOut(_Given):
    """A sentence of an answer: checked against what it cites, or quoted from it."""

    text: str
    kind: Literal["verified", "quoted"]
    citations: list[int]
    """Numbers of `citations`."""


class _PaperFields(_Given):
    paper_id: str
    title: str
    """Empty where no source gives one."""
    authors: list[str]
    venue: str
    year: int | None
    decision: str


class CitationOut(_PaperFields):
    """A numbered reference; the quote stands in the paper's abstract exactly so."""

    number: int
    quote: str


class PassageOut(_Given):
    """A paper found for the question, with the part of its abstract that fits best."""

    paper_id: str
    title: str
    score: float
    text: str


class TimingsOut(_Given):
    """Seconds."""

    retrieval: float
    rerank: float
    first_token: float
    total: float


class TokensOut(_Given):
    """Tokens that the model read and wrote."""

    prompt: int
    completion: int
    rerank: int


class AnswerOut(_Given):
    """Everything that is known about an answer."""

    id: str | None
    turn: int
    """Place in the conversation, from 0."""
    question: str
    standalone_question: str
    """The question as it was understood without the conversation."""
    outcome: Literal["answered", "abstract_silent", "not_in_library"]
    answer: str
    sentences: list[SentenceOut]
    citations: list[CitationOut]
    passages: list[PassageOut]
    model: str
    timings: TimingsOut
    tokens: TokensOut
    confidence: float | None


class UsageOut(_Given):
    """Tokens of an answer. One that is quoted or read from records needs none."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class MessageOut(_Given):
    """The answer as text, with the numbers of its citations."""

    role: Literal["assistant"]
    content: str
    refusal: None


class ChoiceOut(_Given):
    """The answer."""

    index: Literal[0]
    message: MessageOut
    logprobs: None
    finish_reason: Literal["stop"]


class ChatCompletion(_Given):
    """An answer as OpenAI's clients know it; what else is known stands in `assistant`."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChoiceOut]
    usage: UsageOut
    assistant: AnswerOut


class ModelOut(_Given):
    """A model that answers."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelsOut(_Given):
    """The models that answer."""

    object: Literal["list"]
    data: list[ModelOut]


class SearchRequest(_Asked):
    """What papers to find."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": _QUESTION, "k": 3}]})

    query: str = Field(min_length=1, max_length=LONGEST_QUESTION, pattern=_NOT_BLANK)
    k: int = Field(10, ge=1, le=MOST_PAPERS)
    """Papers at most."""
    rerank: bool = True
    """Whether the model reads the best ones again; that waits for its turn."""


class HitOut(_Given):
    """A paper found."""

    rank: int
    paper_id: str
    title: str
    score: float
    passage: str


class SearchOut(_Given):
    """Papers, best first."""

    id: str | None
    turn: int
    query: str
    hits: list[HitOut]
    notes: list[str]
    """What the query says about records that no paper has."""


class LookupQuery(BaseModel):
    """What papers to look up; at least one of these."""

    q: str = Field("", max_length=LONGEST_QUESTION, examples=["lerning strides"])
    """A title, in part or misspelled, a method's nickname, names, years …"""
    k: int = Field(10, ge=1, le=MOST_PAPERS)
    """Papers at most."""
    author: list[Annotated[str, Field(max_length=LONGEST_FILTER)]] = Field([], max_length=20)
    """Authors that a paper has, all of them."""
    venue: str = Field("", max_length=LONGEST_FILTER)
    year: int | None = Field(None, ge=0, le=9999)
    decision: str = Field("", max_length=LONGEST_FILTER)


class MatchOut(_PaperFields):
    """A paper looked up, with the reason."""

    abstract: str
    why: str


class LookupOut(_Given):
    """Papers that were looked up, best first."""

    query: str
    total: int
    """How many fit, of which these are the first."""
    note: str
    """One sentence where something was not found."""
    matches: list[MatchOut]


class SourceOut(_Given):
    """Where a paper was read."""

    file: str
    line: int


class PaperOut(_PaperFields):
    """A paper."""

    abstract: str
    url: str
    doi: str
    citation_key: str
    sources: list[SourceOut]


class SkippedOut(_Given):
    """A place of a file that could not be read as a paper."""

    source: str
    line: int
    reason: str


class IngestOut(_Given):
    """What an ingest did."""

    papers: int
    added: int
    updated: int
    unchanged: int
    merged: int
    chunks: int
    seconds: float
    skipped: list[SkippedOut]


class HealthOut(_Given):
    """Whether questions can be asked."""

    status: Literal["ready", "setting up", "failed"]
    message: str
    """What is missing."""
    papers: int
    model: str | None


class ErrorBody(_Given):
    """What went wrong, and what to do."""

    message: str
    type: str
    code: str
    param: str | None


class ErrorOut(_Given):
    """An error, in the shape of OpenAI's."""

    error: ErrorBody
