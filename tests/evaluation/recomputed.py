"""The figures of a run once more, from the raw lines of `samples.jsonl`, by none of our modules.

What an answer says, cites and ranks is scored again; what needs the guards of sentences, mark-up or
a second answer is averaged from the scores in the rows. `python recomputed.py DIR` prints where
`figures.json` says something else.
"""

import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures

Json = dict[str, Any]
Found = list[float | None]
"""A metric's scores, one a question that it applies to."""

RANKING = {
    "recall@1": ir_measures.R @ 1,
    "recall@5": ir_measures.R @ 5,
    "recall@10": ir_measures.R @ 10,
    "mrr@10": ir_measures.RR @ 10,
    "ndcg@10": ir_measures.nDCG @ 10,
    "r-precision": ir_measures.Rprec,
}
DEEP = {"recall@100": ir_measures.R @ 100}
"""Of BEIR queries alone."""
FROM_SCORES = ("grounded", "evidence recall", "same again")
REFUSALS = ("abstract_silent", "not_in_library")


def disagreements(folder: Path, abstracts: Mapping[str, str] | None = None) -> list[str]:
    """Where `figures.json` differs from what the rows of the run come to; empty: nowhere.

    Args:
        folder: of the run.
        abstracts: by the paper's id; without them, whether quotes are verbatim is taken from the
            scores in the rows.
    """
    told = json.loads((folder / "figures.json").read_text())
    lines = (folder / "samples.jsonl").read_text().splitlines()
    by_id = {row["id"]: row for row in map(json.loads, lines)}
    rows = [by_id[id_] for id_ in told["samples"]]
    return [
        *_differing("figures", _told_figures(told), _figures(rows, abstracts)),
        *_differing("outcomes", told["outcomes"], _outcomes(rows)),
        *_differing("areas", told["areas"], _areas(rows)),
        *_differing("seconds", told["seconds"], _spreads(map(_seconds, *_replies(rows)))),
        *_differing("tokens", told["tokens"], _spreads(map(_tokens, *_replies(rows)))),
        *_differing(
            "latencies", told["latencies"], sorted(r["seconds"] for r in _replies(rows)[1])
        ),
    ]


def _differing(where: str, told: Any, found: Any) -> Iterator[str]:
    """Every place below `where` in which two pieces of JSON are not the same."""
    if isinstance(told, dict) and isinstance(found, dict) and told.keys() == found.keys():
        for key in told:
            yield from _differing(f"{where}, {key}", told[key], found[key])
    elif isinstance(told, list) and isinstance(found, list) and len(told) == len(found):
        for place, (one, other) in enumerate(zip(told, found, strict=True)):
            yield from _differing(f"{where}, {place}", one, other)
    elif isinstance(told, float | int) and isinstance(found, float | int):
        if abs(told - found) > 1e-6 * max(1, abs(found)):
            yield f"{where}: {told} is told, {found} is found"
    elif told != found:
        yield f"{where}: {told} is told, {found} is found"


def _told_figures(told: Json) -> Json:
    return {
        f"{each['metric']} of {each['type'] or 'all'}": {
            name: each[name] for name in ("value", "scored", "unscored")
        }
        for each in told["figures"]
    }


def _figures(rows: Sequence[Json], abstracts: Mapping[str, str] | None) -> Json:
    figures = {}
    for type_ in ("all", *sorted({row["type"] for row in rows})):
        chosen = [row for row in rows if type_ in ("all", row["type"])]
        for metric, scores in _scores(chosen, abstracts).items():
            known = [score for score in scores if score is not None]
            figures[f"{metric} of {type_}"] = {
                "value": statistics.fmean(known) if known else None,
                "scored": len(known),
                "unscored": len(scores) - len(known),
            }
    return figures


def _scores(rows: Sequence[Json], abstracts: Mapping[str, str] | None) -> dict[str, Found]:
    scores: dict[str, Found] = {"failed": [float(bool(row["failed"])) for row in rows]}
    for row in rows:
        for turn, reply in enumerate(row["replies"] if not row["failed"] else ()):
            for metric, score in _reply_scores(row["type"], turn, reply, abstracts).items():
                scores.setdefault(metric, []).append(score)
    return scores


def _reply_scores(
    type_: str, turn: int, reply: Json, abstracts: Mapping[str, str] | None
) -> dict[str, float | None]:
    scores: dict[str, float | None] = {}
    if reply["expected"]["papers"]:
        scores |= _ranking_scores(type_, reply)
    if reply["answer"] is not None:
        scores |= _answer_scores(reply["answer"], reply["expected"])
        scores |= _written_scores(reply["answer"], reply["expected"]["facts"])
        scores |= _abstention_scores(reply["answer"], reply["expected"], type_, turn)
        scores["quotes verbatim"] = _verbatim(reply, abstracts)
    for metric in FROM_SCORES:
        if metric in reply["scores"]:
            scores[metric] = reply["scores"][metric]["value"]
    return scores


def _ranking_scores(type_: str, reply: Json) -> dict[str, float | None]:
    gains = {id_: int(gain) for id_, gain in reply["expected"]["papers"].items()}
    found = {id_: -float(place) for place, id_ in enumerate(reply["ranking"])}
    measures = RANKING | (DEEP if type_ == "retrieval" else {})
    measured = ir_measures.calc_aggregate(
        list(measures.values()), {"q": gains}, {"q": found or {"": 0.0}}
    )
    return {metric: measured[measure] for metric, measure in measures.items()}


def _answer_scores(answer: Json, expected: Json) -> dict[str, float | None]:
    is_answered = answer["outcome"] == "answered"
    scores: dict[str, float | None] = {
        "words": float(len(answer["answer"].split())) if is_answered else None
    }
    if expected["facts"]:
        text = answer["answer"].casefold() if is_answered else ""
        told = [any(form.casefold() in text for form in forms) for forms in expected["facts"]]
        scores |= {"facts": float(all(told)), "fact recall": statistics.fmean(told)}
    if right := expected["papers"]:
        cited = [citation["paper_id"] for citation in answer["citations"]]
        precision = statistics.fmean(id_ in right for id_ in cited) if cited else None
        recall = statistics.fmean(id_ in cited for id_ in right) if is_answered else None
        scores |= {"citation precision": precision, "citation recall": recall}
    return scores


def _written_scores(answer: Json, facts: list[list[str]]) -> dict[str, float | None]:
    if answer["confidence"] is None and not answer["tokens"]["completion"]:
        return {}  # from records
    kinds = (
        [each["kind"] for each in answer["sentences"]] if answer["outcome"] == "answered" else []
    )
    scores: dict[str, float | None] = {"written": float(kinds[0] == "verified") if kinds else None}
    texts = [each["text"] for each in answer["sentences"] if each["kind"] == "verified" and kinds]
    if texts:
        scores["written words"] = float(sum(len(text.split()) for text in texts))
    if facts:
        said = " ".join(texts).casefold()
        told = [any(form.casefold() in said for form in forms) for forms in facts]
        scores["written facts"] = float(all(told))
    return scores


def _should_answer(expected: Json) -> bool | None:
    if expected["outcome"]:
        return bool(expected["outcome"] == "answered")
    return None if expected["papers"] is None else bool(expected["papers"])


def _abstention_scores(
    answer: Json, expected: Json, type_: str, turn: int
) -> dict[str, float | None]:
    should, did = _should_answer(expected), answer["outcome"] == "answered"
    if should is None:
        return {}
    wrong = "false abstention" if should else "false answer"
    scores: dict[str, float | None] = {
        "abstention": float(should == did),
        wrong: float(should != did),
    }
    if type_ == "chat" and turn > 0:
        first = answer["citations"][0]["paper_id"] if answer["citations"] else None
        scores["follow-up"] = float(first in expected["papers"] if should else not did)
    return scores


def _verbatim(reply: Json, abstracts: Mapping[str, str] | None) -> float | None:
    if abstracts is None:
        return reply["scores"]["quotes verbatim"]["value"]
    citations = reply["answer"]["citations"]
    if not citations:
        return None
    return statistics.fmean(each["quote"] in abstracts[each["paper_id"]] for each in citations)


def _replies(rows: Sequence[Json]) -> tuple[list[str], list[Json]]:
    """The replies of all samples that did not fail, with the types of their samples."""
    replies = [
        (row["type"], reply) for row in rows if not row["failed"] for reply in row["replies"]
    ]
    return [type_ for type_, _ in replies], [reply for _, reply in replies]


def _outcomes(rows: Sequence[Json]) -> Json:
    table: Json = {}
    for reply in _replies(rows)[1]:
        should = _should_answer(reply["expected"])
        if reply["answer"] is None or should is None:
            continue
        right = reply["expected"]["outcome"] or ("answered" if should else "either refusal")
        row = table.setdefault(right, dict.fromkeys(("answered", *REFUSALS), 0))
        row[reply["answer"]["outcome"]] += 1
    return table


def _areas(rows: Sequence[Json]) -> dict[str, float]:
    """Mean risk over coverages: at each question's turn, from the surest on, the share wrong of
    those that are at least as sure."""
    replies = [
        r for r in _replies(rows)[1] if r["answer"] and r["answer"]["confidence"] is not None
    ]
    areas = {}
    for name, judge in (("no abstract answers", _no_answer), ("not right", _not_right)):
        judged = [(r["answer"]["confidence"], judge(r)) for r in replies if judge(r) is not None]
        risks = [
            statistics.fmean(wrong for other, wrong in judged if other >= confidence)
            for confidence, _ in judged
        ]
        if risks:
            areas[name] = statistics.fmean(risks)
    return areas


def _no_answer(reply: Json) -> bool | None:
    should = _should_answer(reply["expected"])
    return None if should is None else not should


def _not_right(reply: Json) -> bool | None:
    if reply["answer"]["outcome"] != "answered":
        return None
    if _should_answer(reply["expected"]) is False:
        return True
    facts = _answer_scores(reply["answer"], reply["expected"]).get("facts")
    return None if facts is None else facts != 1


def _seconds(type_: str, reply: Json) -> dict[str, float]:
    if not reply["answer"]:
        return {"lookup" if type_ == "lookup" else "search": reply["seconds"]}
    taken = reply["answer"]["timings"]
    return {
        "retrieval": taken["retrieval"] - taken["rerank"],
        "rerank": taken["rerank"],
        "writing": taken["total"] - taken["retrieval"],
        "first sentence": taken["first_token"],
        "total": taken["total"],
    }


def _tokens(_: str, reply: Json) -> dict[str, float]:
    tokens = reply["answer"]["tokens"] if reply["answer"] else None
    names = {"read in reranking": "rerank", "read in writing": "prompt", "written": "completion"}
    return {name: tokens[field] for name, field in names.items()} if tokens else {}


def _spreads(measured: Iterator[dict[str, float]]) -> Json:
    values: dict[str, list[float]] = {}
    for measures in measured:
        for name, value in measures.items():
            values.setdefault(name, []).append(value)
    return {name: _spread(each) for name, each in values.items()}


def _spread(values: list[float]) -> dict[str, float]:
    hundredths = statistics.quantiles(
        values * 2 if len(values) == 1 else values, n=100, method="inclusive"
    )
    return {
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "p95": hundredths[94],
        "total": sum(values),
    }


if __name__ == "__main__":
    found = disagreements(Path(sys.argv[1]))
    print("\n".join(found) or "The figures are those of the rows.")
    sys.exit(bool(found))
