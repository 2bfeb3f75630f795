"""Training examples of the reader from the files in `data/`, and hard negatives for them."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from reader_model import Tokens
from sklearn.feature_extraction.text import TfidfVectorizer
from transformers import BertModel

from retrieval.search.reader import FOCUSES, KINDS

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Text:
    """A paper as the reader sees it."""

    id: str
    title: str
    sentences: tuple[str, ...]

    @property
    def whole(self) -> str:
        """Title and abstract."""
        return " ".join((self.title, *self.sentences))


@dataclass
class Reading:
    """A question or claim with its paper."""

    query: str
    paper: Text | None
    """None: no paper answers."""
    evidence: tuple[int, ...]
    answered: bool | None
    """None: not known, as of a claim that the paper contradicts."""
    ranks: bool
    """Whether the paper must come before others."""
    split: str
    source: str
    others: frozenset[str] = frozenset()
    """Ids of further papers that answer."""
    negatives: list[Text] = field(default_factory=list)
    """Papers that a search finds too, nearest first; none of them is known to answer."""


@dataclass(frozen=True)
class Message:
    """A message in a conversation."""

    text: str
    previous: str
    kinds: tuple[int, ...]
    focus: int
    split: str


def _lines(name: str) -> Iterator[dict]:
    with (DATA / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def papers() -> dict[str, Text]:
    """All papers, by id."""
    rows = _lines("papers.jsonl")
    return {row["paper"]: Text(row["paper"], row["title"], tuple(row["sentences"])) for row in rows}


def readings(known: dict[str, Text]) -> list[Reading]:
    """Every question and claim of the data."""
    found = []
    for row in _lines("questions.jsonl"):
        paper, split = known[row["paper"]], row["split"]
        follow_up = row["follow_up"]
        evidence = tuple(follow_up["evidence"])
        found.extend(
            Reading(each["question"], paper, tuple(each["evidence"]), True, True, split, "question")
            for each in row["questions"]
        )
        found.append(
            Reading(follow_up["standalone"], paper, evidence, True, True, split, "question")
        )
        found.append(
            Reading(follow_up["question"], paper, evidence, True, False, split, "follow-up")
        )
        found.append(Reading(row["silent"], paper, (), False, True, split, "silent"))
    for row in _lines("conversations.jsonl"):
        for turn in row["turns"]:
            if turn["paper"] in ("a", "b") and turn["kind"] == "silent":
                paper = known[row[turn["paper"]]]
                found.append(
                    Reading(turn["question"], paper, (), False, False, row["split"], "follow-up")
                )
    for row in _lines("support.jsonl"):
        supported = row["label"] == "supported"
        found.append(
            Reading(
                row["claim"],
                known[row["paper"]],
                tuple(row["evidence"]),
                True if supported else None,
                True,
                row["split"],
                "claim",
            )
        )
    for row in _lines("turns.jsonl"):
        stays = row["kind"] == "stay"
        paper, source = known[row["a" if stays else "b"]], "follow-up" if stays else "question"
        found.append(Reading(row["question"], paper, (), True, not stays, row["split"], source))
    for row in _lines("overviews.jsonl"):
        paper, evidence = known[row["paper"]], tuple(row["evidence"])
        named = row["kind"] != "bare"
        source = "overview" if named else "bare overview"
        found.append(Reading(row["question"], paper, evidence, True, named, row["split"], source))
    for at, row in enumerate(_lines("claims.jsonl")):
        paper = Text(f"claim-{at}", row["title"], tuple(row["sentences"]))
        answered = True if row["label"] == "SUPPORT" else None
        evidence = tuple(row["evidence"])
        found.append(Reading(row["claim"], paper, evidence, answered, True, "train", "claim"))
    found.extend(
        Reading(row["question"], None, (), False, False, row["split"], "elsewhere")
        for row in _lines("unanswerable.jsonl")
    )
    return [*found, *_readings_of_several(known), *_hard_readings(known)]


def _readings_of_several(known: dict[str, Text]) -> Iterator[Reading]:
    """Questions that several papers answer, once for each, and those of one paper beside them."""
    for row in _lines("several.jsonl"):
        for paper, evidence in row["papers"].items():
            yield Reading(
                row["question"],
                known[paper],
                tuple(evidence),
                True,
                True,
                row["split"],
                "question",
                frozenset(row["papers"]),
            )


def _hard_readings(known: dict[str, Text]) -> Iterator[Reading]:
    """Questions with few words of the abstract that answers, or many of one that does not."""
    sources = {"open follow-up": "follow-up", "near miss": "silent", "answered": "question"}
    for row in _lines("hard.jsonl"):
        kind, evidence = row["kind"], tuple(row.get("evidence", ()))
        ranks = kind != "open follow-up"
        paper, source = known[row["paper"]], sources[kind]
        yield Reading(
            row["question"], paper, evidence, kind == "answered", ranks, row["split"], source
        )


def _after_answers() -> Iterator[tuple[str, str, str, str, str]]:
    """Messages of the turns, overviews, hard and several: text, one before, kind, focus, split."""
    of_turn = {
        "stay": ("content", "last"),
        "another": ("list", "last"),
        "fresh": ("content", "alone"),
    }
    for row in _lines("turns.jsonl"):
        yield row["question"], row["previous"], *of_turn[row["kind"]], row["split"]
    first = {row["paper"]: row["questions"][0]["question"] for row in _lines("questions.jsonl")}
    bare = {"bare", "open follow-up"}
    for row in (*_lines("overviews.jsonl"), *_lines("hard.jsonl")):
        focus, before = ("last", first[row["paper"]]) if row["kind"] in bare else ("alone", "")
        yield row["question"], before, "content", focus, row["split"]
    for row in _lines("several.jsonl"):
        kind = "several" if len(row["papers"]) > 1 else "content"
        yield row["question"], "", kind, "alone", row["split"]


def messages() -> tuple[list[Message], list[Message]]:
    """Messages with their kind and focus: those of conversations, and questions on papers."""
    found: list[Message] = []

    def add(text: str, previous: str, kinds: tuple[str, ...], focus: str, split: str) -> None:
        if focus in ("new", "none"):
            focus = "alone"
        numbers = tuple(KINDS.index(kind) for kind in kinds)
        found.append(Message(text, previous, numbers, FOCUSES.index(focus), split))

    for row in _lines("messages.jsonl"):
        add(row["question"], row["previous"], (row["kind"],), row["focus"], row["split"])
    for text, previous, kind, focus, split in _after_answers():
        add(text, previous, (kind,), focus, split)
    for row in _lines("conversations.jsonl"):
        previous = ""
        for turn in row["turns"]:
            kind = "content" if turn["kind"] == "silent" else turn["kind"]
            kinds = (
                ("content", "several") if turn["focus"] == "both" and kind == "content" else (kind,)
            )
            add(turn["question"], previous, kinds, turn["focus"], row["split"])
            if kind not in ("thanks", "ability", "greeting"):
                previous = turn["question"]
    of_conversations, found = found, []
    rows = list(_lines("questions.jsonl"))
    order = random.Random(1).sample(rows, len(rows))
    for row, other in zip(rows, order, strict=True):
        first, second = (each["question"] for each in row["questions"])
        split = row["split"]
        add(row["follow_up"]["question"], first, ("content",), "last", split)
        add(first, "", ("content",), "new", split)
        if other is not row:
            add(second, other["questions"][0]["question"], ("content",), "new", split)
            add(row["silent"], other["follow_up"]["standalone"], ("content",), "new", split)
    return of_conversations, found


def add_negatives(
    all_: list[Reading], known: dict[str, Text], base: Path, tokens: Tokens, cache: Path
) -> None:
    """Give every reading the papers nearest to it, by meaning and words, without its own.

    What was found is kept in the file `cache`.
    """
    pool = list(known.values()) + [
        each.paper for each in all_ if each.paper and each.paper.id not in known
    ]
    pool = list({text.id: text for text in pool}.values())
    if cache.exists():
        of_id = {text.id: text for text in pool}
        for reading, ids in zip(all_, json.loads(cache.read_text()), strict=True):
            reading.negatives = [of_id[id_] for id_ in ids]
        return
    encoder = BertModel.from_pretrained(
        str(base), add_pooling_layer=False, attn_implementation="eager"
    ).eval()
    near = _vectors([each.query for each in all_], encoder, tokens) @ (
        _vectors([text.whole for text in pool], encoder, tokens).T
    )
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", ngram_range=(1, 2), min_df=1)
    matrix = words.fit_transform([text.whole for text in pool])
    alike = (words.transform([each.query for each in all_]) @ matrix.T).toarray()
    scores = near / np.maximum(near.max(axis=1, keepdims=True), 1e-6)
    scores += 0.7 * alike / np.maximum(alike.max(axis=1, keepdims=True), 1e-6)
    for reading, row in zip(all_, scores, strict=True):
        best = row.argsort()[::-1][:16]
        own = {reading.paper.id if reading.paper else "", *reading.others}
        reading.negatives = [pool[at] for at in best if pool[at].id not in own][:14]
    cache.write_text(json.dumps([[text.id for text in reading.negatives] for reading in all_]))


def _vectors(texts: list[str], encoder: BertModel, tokens: Tokens) -> np.ndarray:
    """Mean-pooled unit vectors, as the embedder gives them; shape (texts, 384)."""
    rows = [[tokens.begin, *tokens.of(text, 300), tokens.end] for text in texts]
    out = np.zeros((len(rows), encoder.config.hidden_size), dtype=np.float32)
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        longest = max(len(rows[at]) for at in part)
        ids, mask = (
            torch.zeros(len(part), longest, dtype=torch.long),
            torch.zeros(len(part), longest),
        )
        for row, at in enumerate(part):
            ids[row, : len(rows[at])] = torch.tensor(rows[at])
            mask[row, : len(rows[at])] = 1
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        out[part] = torch.nn.functional.normalize(mean, dim=1).numpy()
    return out


def misspelled(text: str, chance: random.Random) -> str:
    """`text` with a letter or two left out, doubled or swapped, as people type."""
    letters = list(text)
    for _ in range(chance.choice((1, 1, 2))):
        spots = [at for at in range(1, len(letters) - 1) if letters[at].isalpha()]
        if not spots:
            break
        at = chance.choice(spots)
        match chance.randrange(3):
            case 0:
                del letters[at]
            case 1:
                letters.insert(at, letters[at])
            case _:
                letters[at], letters[at - 1] = letters[at - 1], letters[at]
    return "".join(letters)
