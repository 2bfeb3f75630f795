"""Requests and responses of the HTTP API, as its OpenAPI document describes them."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from assistant.pipeline.assistant import LONGEST_QUESTION
from assistant.types import Outcome, SentenceKind, Timings, Tokens
from retrieval.types import Source

MOST_PAPERS = 100
"""Most papers of a search or lookup."""
LONGEST_FILTER = 200
"""Characters of an author, venue or decision in a lookup."""
_NOT_BLANK = r"\S"
_QUESTION = "How can a convolutional network learn its strides?"
_ASKED = {"messages": [{"role": "user", "content": _QUESTION}]}

FinishReason = Literal["stop", "length"]


class _RequestModel(BaseModel, strict=True, extra="ignore"):
    """A request: types are not converted, unknown fields are ignored."""


class _ResponseModel(BaseModel, extra="forbid"):
    """A response: unknown fields are a bug."""


def _only(accepts: Callable[[Any], bool], complaint: str) -> BeforeValidator:
    """Refuses a value that `accepts` does not."""

    def check(value: object) -> object:
        if not accepts(value):
            raise ValueError(complaint)
        return value

    return BeforeValidator(check)


def _as_list(stop: object) -> object:
    if stop is None:
        return []
    return [stop] if isinstance(stop, str) else stop


def _as_parts(content: object) -> object:
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


_ONE = _only(
    lambda n: not isinstance(n, int) or n <= 1,
    "a question has one answer; leave `n` out or ask for 1",
)
_NO_TOOLS = _only(
    lambda tools: not tools, "the assistant calls no tools and functions; leave them out"
)
_TEXT = _only(
    lambda wanted: not isinstance(wanted, dict) or wanted.get("type") == "text",
    "answers are text; what is cited comes as JSON in the field `assistant` of every answer",
)


class TextPart(_RequestModel):
    """A piece of a message. Pictures, sound and files cannot be read."""

    type: Annotated[
        Literal["text"],
        _only(lambda kind: kind == "text", "only text can be read, no pictures, sound or files"),
    ]
    text: str


class Message(_RequestModel):
    """A message of the conversation. One of the system or a developer is answered by a note."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[
        list[TextPart],
        BeforeValidator(_as_parts, json_schema_input_type=str | list[TextPart] | None),
    ] = []

    @property
    def text(self) -> str:
        """The text, its parts on lines of their own."""
        return "\n".join(part.text for part in self.content)


class StreamOptions(_RequestModel):
    """Options of a stream."""

    include_usage: bool | None = None
    """Whether the stream ends with the token counts."""


class ChatRequest(
    _RequestModel, json_schema_extra={"examples": [_ASKED, {**_ASKED, "stream": True}]}
):
    """A conversation whose last message is the question. Other fields of OpenAI's are ignored."""

    messages: list[Message] = Field(min_length=1, max_length=2000)
    model: str = Field("default", max_length=500)
    """An id of `GET /v1/models`, or `default`."""
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(None, ge=1)
    """Tokens of the answer; it ends with the last sentence that fits."""
    max_completion_tokens: int | None = Field(None, ge=1)
    """Another name of `max_tokens`."""
    stop: Annotated[
        list[Annotated[str, Field(min_length=1)]],
        BeforeValidator(_as_list, json_schema_input_type=str | list[str] | None),
    ] = Field([], max_length=4)
    """Texts before whose sentence the answer ends."""
    temperature: float | None = Field(None, ge=0, le=2)
    """For a model that writes whole answers; without one it writes the likeliest words."""
    seed: int | None = None
    """For a model that writes whole answers: the same seed gives the same answer."""
    receipt: bool | None = None
    """Whether the field `assistant` has a receipt: what the answer was made with and from."""
    n: Annotated[int | None, _ONE] = Field(None, ge=1, le=1)
    tools: Annotated[list[Any] | None, _NO_TOOLS] = Field(None, max_length=0)
    functions: Annotated[list[Any] | None, _NO_TOOLS] = Field(None, max_length=0)
    response_format: Annotated[dict[str, Any] | None, _TEXT] = None


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


class AnswerSentenceOut(_ResponseModel):
    """A sentence of an answer."""

    text: str
    kind: SentenceKind
    citations: list[int]
    """Numbers of the citations."""
    heading: str = ""
    """What it stands under together with its neighbours, such as a subtopic; may be missing."""

    @model_serializer(mode="wrap")
    def _without_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As `answer_json` has it, in a stream, too."""
        fields: dict[str, Any] = serialize(self)
        return fields if self.heading else {k: v for k, v in fields.items() if k != "heading"}


class AnswerOut(_ResponseModel):
    """An answer with its sources and measurements."""

    id: str | None
    turn: int
    """Position in the conversation, from 0."""
    question: str
    standalone_question: str
    """The question rewritten so that it can be understood without the conversation."""
    outcome: Outcome
    answer: str
    sentences: list[AnswerSentenceOut]
    citations: list[CitationOut]
    passages: list[PassageOut]
    model: str
    timings: Timings
    tokens: Tokens
    confidence: float | None
    searched_for: str
    """The question with its misspelled words corrected, or empty."""
    coverage: str
    """A sentence on how many papers were found for a topic, or empty."""
    coverage_statement: str
    """What was searched, matched, read and cited, in one sentence; empty for small talk."""
    suggestions: list[str]
    """Further questions that the cited abstracts answer."""
    methods: str | None = None
    """What was searched as a paragraph for a methods section, beside a receipt."""
    receipt: dict[str, Any] | None = None
    """If asked for: of the whole answer, also where `max_tokens` or `stop` cut it short."""
    notes: list[str] = []
    """Sentences on what of the request was not followed."""


class UsageOut(_ResponseModel):
    """Tokens of the messages sent and of the answer; `tokens` has what the model read and wrote."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class MessageOut(_ResponseModel):
    """The answer as text, with the numbers of its citations."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class ChoiceOut(_ResponseModel):
    """The answer."""

    index: Literal[0] = 0
    message: MessageOut
    logprobs: None = None
    finish_reason: FinishReason


class ChatCompletion(_ResponseModel):
    """An answer in OpenAI's shape; `assistant` has its sources and measurements."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChoiceOut]
    usage: UsageOut
    assistant: AnswerOut


class ModelOut(_ResponseModel):
    """A model that answers."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: Literal["local"] = "local"


class ModelsOut(_ResponseModel):
    """The models that answer."""

    object: Literal["list"] = "list"
    data: list[ModelOut]


class SearchRequest(_RequestModel, json_schema_extra={"examples": [{"query": _QUESTION, "k": 3}]}):
    """A search for papers."""

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


class PaperOut(_PaperFields):
    """A paper."""

    abstract: str
    url: str
    doi: str
    citation_key: str
    sources: list[Source]


class HealthOut(_ResponseModel):
    """Whether questions can be asked."""

    status: Literal["ready", "setting up", "failed"]
    message: str = ""
    """Why not; empty if they can."""
    papers: int
    model: str | None = None


class ReadyOut(_ResponseModel):
    """Whether every part that answers need answers now."""

    ready: bool
    parts: dict[str, str]
    """Of library, store, database, model and embedder, what keeps each from answering; or empty."""


class ErrorBody(_ResponseModel):
    """The error, and what to do about it."""

    message: str
    type: str
    code: str
    param: str | None


class ErrorOut(_ResponseModel):
    """An error, in the shape of OpenAI's."""

    error: ErrorBody


class AuditRequest(_RequestModel):
    """A draft to be checked."""

    draft: str = Field(
        min_length=1,
        pattern=_NOT_BLANK,
        examples=["Networks can learn the strides of their convolutions by gradient descent."],
    )
    """Text, Markdown or LaTeX."""
    bibliography: str = ""
    """The draft's bibliography, BibTeX."""
    insert: bool = False
    """Whether the JSON has the draft with the suggested citations, and their BibTeX."""
    format: Literal["json", "html"] = "json"


class EvidenceOut(_ResponseModel):
    """A sentence of an abstract that supports or contradicts a sentence of the draft."""

    paper_id: str
    title: str
    authors: list[str]
    year: int | None
    key: str
    """Citation key, as in every export."""
    quote: str
    stance: Literal["supported", "contradicted", "nothing found"]
    probability: float


class CitedOut(_ResponseModel):
    """A citation of the draft, and what became of it."""

    text: str
    judged: str
    paper_id: str | None
    title: str
    key: str
    quote: str
    """What the abstract says of the sentence; empty if nothing."""


class AuditedSentenceOut(_ResponseModel):
    """A sentence of the draft."""

    text: str
    verdict: Literal["supported", "contradicted", "nothing found", "no claim"]
    citations: list[EvidenceOut]
    closest: EvidenceOut | None
    """Where nothing is found, the sentence that comes closest."""
    start: int
    end: int
    """Its place in the draft, in characters."""
    cited: list[CitedOut]
    suggested: list[str]
    """Citation keys of papers that support it and are not cited."""


class AuditOut(_ResponseModel):
    """The sentences of a draft with their verdicts."""

    sentences: list[AuditedSentenceOut]
    counts: dict[str, int]
    notes: list[str]
    """What in the draft's markup could not be read as meant."""
    inserted: str | None = None
    """The draft with the suggested citations, if asked for."""
    bibtex: str | None = None
    """The papers whose citation is suggested, if asked for."""
