"""Receipts: what an answer was made with and made from, as JSON that can be replayed.

A receipt names models, settings, prompts, library and code as the record of an evaluation run does
(`evaluation/records/`), and has every paper found, read and cited with its scores, and every
sentence with its checks. Times of day are no part of what a replay compares.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from assistant.evaluation.questions.lines import contents
from assistant.evaluation.records.provenance import made_with, model_files
from assistant.evaluation.records.record import Provenance, difference_of, leaves, now, short
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.metadata import passages_of
from assistant.research.methods import methods_paragraph
from assistant.settings import Settings
from assistant.types import (
    Answer,
    Citation,
    Json,
    Outcome,
    SearchRecord,
    Timings,
    Tokens,
    Turn,
    answer_json,
    rounded,
)
from retrieval.types import InputError, Paper, silent

VERSION = 1
_PARTS = ("library", "models", "prompts", "settings", "packages", "code")
"""What a replay compares, in this order, before the answer."""
_NOT_COMPARED = ("made_with", "sha256")
_DIGITS = 6
"""Decimals of scores."""
_TURN = ("standalone_question", "outcome", "answer", "citations")
_ANSWER = (*_TURN, "searched_for", "confidence", "coverage", "model")
"""Fields of an answer's JSON."""
_PROVENANCE, _SEARCH = TypeAdapter(Provenance), TypeAdapter(SearchRecord)


def provenance_json(assistant: Assistant, settings: Settings) -> Json:
    """What the answers of `assistant` are made with now.

    Files and papers are hashed again only once they have changed.

    Raises:
        ModelError: a model's file is gone.
        LibraryError: the library cannot be read.
    """
    made = made_with(settings, _model_files(settings), asdict(assistant.settings))
    parts: Json = _PROVENANCE.dump_python(made, mode="json")
    parts["library"]["revision"] = assistant.library.store.revision
    return {**{name: parts[name] for name in _PARTS}, "times": {"made": now()}}


@lru_cache(maxsize=4)
def _model_files(settings: Settings) -> dict[str, Path]:
    """The files of the models, whose weights are not hashed again to find them."""
    return model_files(settings, silent)


def receipt_of(
    answer: Answer, history: Sequence[Turn], made: Json, sampling: Sampling = LIKELIEST
) -> Json:
    """The receipt of an answer.

    Args:
        answer: the whole answer.
        history: the turns before its question.
        made: see `provenance_json`; from right after the answer.
        sampling: with which a model that writes freely wrote it.

    Raises:
        InputError: the library was changed meanwhile.
    """
    if answer.search and answer.search.revision != made["library"]["revision"]:
        raise InputError(
            "The library was changed while the question was answered, so that no receipt can stand "
            "for the answer; ask again."
        )
    receipt = {
        "receipt": VERSION,
        "question": answer.question,
        "statement": answer.coverage_statement,
        "answer": _answer_json(answer),
        "search": _search_json(answer),
        "history": [_turn_json(turn) for turn in history],
        "sampling": asdict(sampling),
        "made_with": made,
    }
    return {**receipt, "sha256": _sha256(receipt)}


def receipt_text(receipt: Json, *, in_one_line: bool = False) -> str:
    """A receipt as a file has it."""
    return json.dumps(receipt, ensure_ascii=False, indent=None if in_one_line else 2) + "\n"


def read_receipts(path: Path) -> list[Json]:
    """The receipt of a file, or its receipts, one a line.

    Raises:
        InputError: the file cannot be read, or has anything but whole receipts of this version.
    """
    try:
        text = contents(path).decode("utf-8")
        lines = [_parsed(line) for line in text.splitlines() if line.strip()]
        receipts = lines if any(lines) else [_parsed(text)]
    except ValueError as error:
        raise InputError(f"{path} is no text ({error}); give a receipt.") from error
    for number, receipt in enumerate(receipts, start=1):
        place = f"{path}, line {number}," if len(receipts) > 1 else f"{path}"
        _check(receipt, place)
    return receipts


def statement_of(receipt: Json) -> str:
    """The coverage statement, computed from the data of a receipt."""
    search = _search(receipt)
    return search.statement(_cited(receipt)) if search else ""


def methods_of(receipt: Json) -> str:
    """The paragraph for a methods section, with the day on which the answer was made."""
    if not (search := _search(receipt)):
        return ""
    made, model = receipt["made_with"], receipt["answer"]["model"]
    version, date = made["code"]["version"], made["times"]["made"]
    return methods_paragraph(search, _cited(receipt), model, version=version, date=date)


def change_since(receipt: Json, assistant: Assistant, settings: Settings) -> str:
    """Ask a receipt's question again: the first thing that changed, or empty for the same bytes.

    Raises:
        InputError: its answer was drawn without a seed, so that it cannot be given again.
        UserError: the question cannot be answered any more.
    """
    sampling = Sampling(**receipt["sampling"])
    if sampling.temperature and sampling.seed is None:
        raise InputError(
            "The answer of this receipt was drawn at random without a seed, so that it cannot be "
            "given again; ask with a seed for a receipt that can be replayed."
        )
    history = list(_turns(receipt["history"], assistant))
    answer = assistant.answer(receipt["question"], history, sampling=sampling)
    again = receipt_of(answer, history, provenance_json(assistant, settings), sampling)
    before, current = _compared(receipt), _compared(again)
    answered = "" if _bytes(before) == _bytes(current) else _first_change(before, current)
    if different := difference_of(receipt["made_with"], again["made_with"]):
        return f"{different}; {answered or 'the answer is still the same'}"
    return answered


def _answer_json(answer: Answer) -> Json:
    """The answer, each sentence with a check for each of its citations."""
    known, checks = answer_json(answer, None, 0), answer.search.checks if answer.search else ()
    sentences = [
        {**each, "checks": [asdict(check) for check in checked or ()]}
        for each, checked in zip_longest(known["sentences"], checks)
    ]
    chosen: Json = rounded(
        {**{name: known[name] for name in _ANSWER}, "sentences": sentences}, _DIGITS
    )
    return chosen


def _search_json(answer: Answer) -> Json | None:
    if not answer.search:
        return None
    fields = _SEARCH.dump_python(answer.search, mode="json", exclude={"checks", "revision"})
    cited = {each.paper.id for each in answer.citations}
    found = [{**each, "cited": each["paper_id"] in cited} for each in fields["found"]]
    chosen: Json = rounded({**fields, "found": found}, _DIGITS)
    return chosen


def _turn_json(turn: Turn) -> Json:
    """An earlier turn, as far as a later question can refer to it."""
    known = answer_json(turn.answer, None, 0)
    found = [each["paper_id"] for each in known["passages"]]
    return {"question": turn.question, **{name: known[name] for name in _TURN}, "found": found}


def _turns(history: Sequence[Json], assistant: Assistant) -> Iterator[Turn]:
    """The turns of a receipt; papers that the library no longer has are left out."""
    library = assistant.library
    for turn in history:
        ids = [*turn["found"], *(each["paper_id"] for each in turn["citations"])]
        stored = library.store.stored_by_id(list(dict.fromkeys(ids)))
        papers: dict[str, Paper] = {id_: each.paper for id_, each in stored.items()}
        answer = Answer(
            question=turn["question"],
            standalone_question=turn["standalone_question"],
            outcome=Outcome(turn["outcome"]),
            text=turn["answer"],
            sentences=(),
            citations=tuple(
                Citation(each["number"], papers[each["paper_id"]], each["quote"])
                for each in turn["citations"]
                if each["paper_id"] in papers
            ),
            passages=tuple(
                passages_of(library, [papers[id_] for id_ in turn["found"] if id_ in papers])
            ),
            model="",
            timings=Timings(0.0, 0.0, 0.0, 0.0),
            tokens=Tokens(0, 0),
        )
        yield Turn(turn["question"], answer)


def _search(receipt: Json) -> SearchRecord | None:
    fields = receipt["search"]
    return _SEARCH.validate_python({**fields, "revision": ""}) if fields else None


def _cited(receipt: Json) -> int:
    return len({each["paper_id"] for each in receipt["answer"]["citations"]})


def _parsed(text: str) -> Json:
    """The receipt; empty if the text is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) and "receipt" in value else {}


def _check(receipt: Json, place: str) -> None:
    """Check that a receipt is whole, of this version, and as it was made."""
    if not receipt:
        raise InputError(f"{place} is no whole receipt; give the file as it was saved.")
    if receipt["receipt"] != VERSION:
        raise InputError(
            f"{place} is a receipt of version {short(receipt['receipt'])}, this program reads "
            f"version {VERSION}; replay it with the program that made it."
        )
    if receipt.get("sha256") != _sha256(receipt):
        raise InputError(
            f"{place} was changed after it was made (its sha256 does not fit); give the receipt as "
            "it was saved."
        )
    if receipt["statement"] != statement_of(receipt):
        raise InputError(
            f"{place} has the statement {short(receipt['statement'])!r}, but its data say "
            f"{statement_of(receipt)!r}; it was made by a faulty program."
        )


def _compared(receipt: Json) -> Json:
    return {name: value for name, value in receipt.items() if name not in _NOT_COMPARED}


def _first_change(before: Json, current: Json) -> str:
    """The first sentence of the answer that differs, or else the first other value."""
    texts = ([each["text"] for each in each_["answer"]["sentences"]] for each_ in (before, current))
    for number, (old, new) in enumerate(zip_longest(*texts), start=1):
        if old != new:
            return f"sentence {number} of the answer was {_quoted(old)}, now it is {_quoted(new)}"
    old_values, new_values = dict(leaves(before)), dict(leaves(current))
    for name in dict.fromkeys((*old_values, *new_values)):
        old, new = old_values.get(name), new_values.get(name)
        if _bytes(old) != _bytes(new):
            return f"{name} was {short(old)}, now it is {short(new)}"
    return "the order of its parts"


def _quoted(text: str | None) -> str:
    return "absent" if text is None else f"“{short(text)}”"


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")


def _sha256(receipt: Mapping[str, Any]) -> str:
    """The hash of all of a receipt but the hash itself."""
    whole = {name: value for name, value in receipt.items() if name != "sha256"}
    return hashlib.sha256(_bytes(whole)).hexdigest()
