"""Requests and responses of the HTTP API, as its OpenAPI document describes them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assistant.pipeline.assistant import LONGEST_QUESTION

MOST_PAPERS = 100
"""Most papers of a search or lookup."""
LONGEST_FILTER = 200
"""Characters of an author, venue or decision in a lookup."""
_NOT_BLANK = r"\S"
_QUESTION = "How can a convolutional network learn its strides?"


class _RequestModel(BaseModel):
    """A request: types are not converted, unknown fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _ResponseModel(BaseModel):
    """A response: unknown fields are a bug."""

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


class TextPart(_RequestModel):
    """A piece of a message. Pictures, sound and files cannot be read."""

    type: Annotated[Literal["text"], BeforeValidator(_is_readable)]
    text: str


class Message(_RequestModel):
    """A message of the conversation. Those of the system or a developer are ignored."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """The text, its parts on lines of their own."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(_RequestModel):
    """Options of a stream."""

    include_usage: bool | None = None
    """Whether the stream ends with the token counts."""


class ResponseFormat(_RequestModel):
    """Answers are text."""

    type: Literal["text"]


class ChatRequest(_RequestModel):
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


class SentenceOut(_ResponseModel):
    """A sentence of an answer: verified against its citations, or quoted."""

    text: str
    kind: Literal["verified", "quoted"]
    citations: list[int]
    """Numbers of the citations."""


class _PaperFields(_ResponseModel):
    paper_id: str
    title: str
    """Empty if no source gives one."""
    authors: list[str]
    venue: str
    year: int | None
    decision: str


class CitationOut(_PaperFields):
    """A numbered reference with an exact quote from the paper's abstract."""

    number: int
    quote: str


class PassageOut(_ResponseModel):
    """A paper retrieved for the question, with the best part of its abstract."""

    paper_id: str
    title: str
    score: float
    text: str


class TimingsOut(_ResponseModel):
    """Seconds."""

    retrieval: float
    rerank: float
    first_token: float
    total: float


class TokensOut(_ResponseModel):
    """Tokens that the model has read and written."""

    prompt: int
    completion: int
    rerank: int


class AnswerOut(_ResponseModel):
    """An answer with its sources and measurements."""

    id: str | None
    turn: int
    """Position in the conversation, from 0."""
    question: str
    standalone_question: str
    """The question rewritten so that it can be understood without the conversation."""
    outcome: Literal["answered", "abstract_silent", "not_in_library"]
    answer: str
    sentences: list[SentenceOut]
    citations: list[CitationOut]
    passages: list[PassageOut]
    model: str
    timings: TimingsOut
    tokens: TokensOut
    confidence: float | None


class UsageOut(_ResponseModel):
    """Tokens of an answer; none for one that is quoted or read from records."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class MessageOut(_ResponseModel):
    """The answer as text, with the numbers of its citations."""

    role: Literal["assistant"]
    content: str
    refusal: None


class ChoiceOut(_ResponseModel):
    """The answer."""

    index: Literal[0]
    message: MessageOut
    logprobs: None
    finish_reason: Literal["stop"]


class ChatCompletion(_ResponseModel):
    """An answer in OpenAI's shape; `assistant` has its sources and measurements."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChoiceOut]
    usage: UsageOut
    assistant: AnswerOut


class ModelOut(_ResponseModel):
    """A model that answers."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelsOut(_ResponseModel):
    """The models that answer."""

    object: Literal["list"]
    data: list[ModelOut]


class SearchRequest(_RequestModel):
    """A search for papers."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": _QUESTION, "k": 3}]})

    query: str = Field(min_length=1, max_length=LONGEST_QUESTION, pattern=_NOT_BLANK)
    k: int = Field(10, ge=1, le=MOST_PAPERS)
    """Most papers."""
    rerank: bool = True
    """Whether the model reranks the best papers, which waits in the queue."""


class HitOut(_ResponseModel):
    """A paper found."""

    rank: int
    paper_id: str
    title: str
    score: float
    passage: str


class SearchOut(_ResponseModel):
    """Papers, best first."""

    id: str | None
    turn: int
    query: str
    hits: list[HitOut]
    notes: list[str]
    """Sentences on filters in the query that match no paper."""


class LookupQuery(BaseModel):
    """A lookup; `q` or a filter must be given."""

    q: str = Field("", max_length=LONGEST_QUESTION, examples=["lerning strides"])
    """A title, in part or misspelled, a method's nickname, names, years …"""
    k: int = Field(10, ge=1, le=MOST_PAPERS)
    """Most papers."""
    author: list[Annotated[str, Field(max_length=LONGEST_FILTER)]] = Field([], max_length=20)
    """Authors; a paper must have all of them."""
    venue: str = Field("", max_length=LONGEST_FILTER)
    year: int | None = Field(None, ge=0, le=9999)
    decision: str = Field("", max_length=LONGEST_FILTER)


class MatchOut(_PaperFields):
    """A paper looked up, with the reason."""

    abstract: str
    why: str


class LookupOut(_ResponseModel):
    """Papers that were looked up, best first."""

    query: str
    total: int
    """Number of papers that match; `matches` are the first of them."""
    note: str
    """A sentence on what was not found."""
    matches: list[MatchOut]


class SourceOut(_ResponseModel):
    """The place where a paper was read."""

    file: str
    line: int


class PaperOut(_PaperFields):
    """A paper."""

    abstract: str
    url: str
    doi: str
    citation_key: str
    sources: list[SourceOut]


class SkippedOut(_ResponseModel):
    """A place in a file that could not be read as a paper."""

    source: str
    line: int
    reason: str


class IngestOut(_ResponseModel):
    """The outcome of an ingest."""

    papers: int
    added: int
    updated: int
    unchanged: int
    merged: int
    chunks: int
    seconds: float
    skipped: list[SkippedOut]
    notes: list[SkippedOut]
    """Remarks on papers that were read, such as a missing title."""


class HealthOut(_ResponseModel):
    """Whether questions can be asked."""

    status: Literal["ready", "setting up", "failed"]
    message: str
    """Why not; empty if they can."""
    papers: int
    model: str | None


class ErrorBody(_ResponseModel):
    """The error, and what to do about it."""

    message: str
    type: str
    code: str
    param: str | None


class ErrorOut(_ResponseModel):
    """An error, in the shape of OpenAI's."""

    error: ErrorBody
