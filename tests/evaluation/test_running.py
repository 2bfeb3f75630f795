"""Which samples are asked, and how a run is gone on with."""

import json
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.evaluation.records.record import (
    Asking,
    Difference,
    RunRecord,
    Times,
    appending,
    first_difference,
    kept_record,
    read_record,
    read_rows,
    remove_ended,
    write_record,
)
from assistant.evaluation.run import chosen, run
from assistant.evaluation.types import Expected, Question, Reply, Row, Sample, SampleType
from assistant.settings import Ablations
from retrieval.types import InputError, silent


def sample(id_: str, type_: SampleType = SampleType.SINGLE) -> Sample:
    return Sample(id_, type_, (Question("What?", Expected({})),))


def record(**changes: Any) -> RunRecord:
    made = RunRecord(
        code={"version": "1", "commit": "abc", "dirty": False, "sources_sha256": "11"},
        packages={"numpy": "2.0"},
        models={"chat": {"file": "/a/m.gguf", "sha256": "22"}},
        settings={"home": "/a", "context": 4096, "answering": {"rerank": True}},
        prompts={"answer.user": "33"},
        library={"papers": 4, "sha256": "44"},
        asking=Asking("/a/q.jsonl", "55", None, (), 3, 0, 0, Ablations()),
        scorers="1",
        machine={"cpu": "a fast one"},
        times=Times("2026-01-01T00:00:00+00:00"),
    )
    return replace(made, **changes)


SAMPLES = [sample(str(number)) for number in range(5)]


def rows(samples: Sequence[Sample]) -> Generator[Row, None, None]:
    for each in samples:
        yield Row(each.id, each.type, (Reply("What?", Expected({})),), {})


def test_all_are_asked_without_a_limit() -> None:
    assert chosen(SAMPLES, (), None) == tuple(SAMPLES)
    assert chosen(SAMPLES, (), 99) == tuple(SAMPLES)


def test_a_limit_takes_from_every_type_in_proportion() -> None:
    types = [SampleType.SINGLE] * 100 + [SampleType.MULTI] * 20 + [SampleType.CHAT] * 10
    samples = [sample(str(at), type_) for at, type_ in enumerate(types)]
    taken = chosen(samples, (), 13)
    assert Counter(each.type for each in taken) == {"single": 10, "multi": 2, "chat": 1}
    assert [each.id for each in taken] == [*(str(10 * at) for at in range(10)), "100", "110", "120"]


def test_types_are_chosen_and_a_type_without_samples_is_named() -> None:
    samples = [sample("1"), sample("2", SampleType.LOOKUP)]
    assert [each.id for each in chosen(samples, [SampleType.LOOKUP], None)] == ["2"]
    with pytest.raises(InputError, match="the file has lookup, single"):
        chosen(samples, [SampleType.CHAT], None)


def test_every_sample_gets_a_row_and_the_record_its_times(tmp_path: Path) -> None:
    told = []
    run(SAMPLES, tmp_path, record(), rows, lambda *told_: told.append(told_[1:3]))
    assert [row.id for row in read_rows(tmp_path / "samples.jsonl")] == ["0", "1", "2", "3", "4"]
    assert told == [(done, 5) for done in range(6)]
    kept = read_record(tmp_path / "run.json")
    assert kept
    assert kept.times.ended


def test_an_interrupted_run_asks_only_what_is_missing(tmp_path: Path) -> None:
    def until_stopped(samples: Sequence[Sample]) -> Generator[Row, None, None]:
        yield from rows(samples[:2])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(SAMPLES, tmp_path, record(), until_stopped, silent)
    kept = kept_record(tmp_path, record())
    assert (kept.times.ended, kept.times.beginnings) == ("", 2)
    asked = []

    def noted(samples: Sequence[Sample]) -> Generator[Row, None, None]:
        asked.extend(each.id for each in samples)
        yield from rows(samples)

    run(SAMPLES, tmp_path, kept, noted, silent)
    assert asked == ["2", "3", "4"]
    assert [row.id for row in read_rows(tmp_path / "samples.jsonl")] == ["0", "1", "2", "3", "4"]
    ended = read_record(tmp_path / "run.json")
    assert ended
    assert ended.times.ended


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scorers": "2"}, r"scorers \(1 there, 2 now\)"),
        ({"library": {"papers": 5, "sha256": "45"}}, r"library.papers \(4 there, 5 now\)"),
        (
            {"code": {"version": "1", "commit": None, "dirty": None, "sources_sha256": "12"}},
            r"the program \(version 1, commit abc, sources 11 there, version 1, sources 12 now\)",
        ),
        ({"prompts": {}}, r"prompts.answer.user \(33 there, nothing now\)"),
        (
            {"asking": Asking("/a/q.jsonl", "55", 3, (), 3, 0, 0, Ablations())},
            r"--limit \(nothing there, 3 now\)",
        ),
        (
            {"asking": Asking("/a/q.jsonl", "55", None, (), 3, 0, 0, Ablations(rerank=False))},
            r"asking.ablations.rerank \(True there, False now\)",
        ),
    ],
)
def test_another_run_is_not_gone_on_with(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    write_record(tmp_path / "run.json", record())
    with appending(tmp_path / "samples.jsonl") as append:
        append(next(rows(SAMPLES)))
    with pytest.raises(InputError, match=said):
        kept_record(tmp_path, record(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"machine": {"cpu": "a slow one"}},
        {"code": {"version": "1", "commit": "def", "dirty": True, "sources_sha256": "11"}},
        {"models": {"chat": {"file": "/b/m.gguf", "sha256": "22"}}},
        {"settings": {"home": "/b", "context": 4096, "answering": {"rerank": True}}},
    ],
)
def test_what_moves_no_figure_is_no_difference(changes: dict[str, Any]) -> None:
    assert first_difference(record(), record(**changes)) is None


def test_a_run_of_which_nothing_came_gives_way(tmp_path: Path) -> None:
    write_record(tmp_path / "run.json", record())
    (tmp_path / "samples.jsonl").write_text('{"id": "torn', "utf-8")
    other = record(scorers="2")
    assert kept_record(tmp_path, other) == other


@pytest.mark.parametrize("name", ["samples.jsonl", "figures.json", "report.html"])
def test_files_without_a_record_are_not_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("", "utf-8")
    with pytest.raises(
        InputError, match=rf"has a {name} of something else \(there is no run\.json"
    ):
        kept_record(tmp_path, record())


def test_a_run_stopped_between_its_last_row_and_its_end_has_ended(tmp_path: Path) -> None:
    write_record(tmp_path / "run.json", record())
    with appending(tmp_path / "samples.jsonl") as append:
        for row in rows(SAMPLES):
            append(row)

    def never(_: Sequence[Sample]) -> Generator[Row, None, None]:
        raise AssertionError
        yield

    run(SAMPLES, tmp_path, kept_record(tmp_path, record()), never, silent)
    kept = read_record(tmp_path / "run.json")
    assert kept
    assert kept.times.ended


def test_what_lost_rows_has_not_ended_while_they_are_asked_again(tmp_path: Path) -> None:
    run(SAMPLES, tmp_path, record(), rows, silent)
    first = (tmp_path / "samples.jsonl").read_bytes().split(b"\n")[0] + b"\n"
    (tmp_path / "samples.jsonl").write_bytes(first)

    def stopped(_: Sequence[Sample]) -> Generator[Row, None, None]:
        during = read_record(tmp_path / "run.json")
        assert during
        assert not during.times.ended
        raise KeyboardInterrupt
        yield

    kept = kept_record(tmp_path, record())
    with pytest.raises(KeyboardInterrupt):
        run(SAMPLES, tmp_path, kept, stopped, silent)
    after = read_record(tmp_path / "run.json")
    assert after
    assert not after.times.ended


def test_only_the_files_of_a_run_that_has_ended_are_removed(tmp_path: Path) -> None:
    write_record(tmp_path / "run.json", record())
    remove_ended(tmp_path)
    assert (tmp_path / "run.json").exists()
    run(SAMPLES, tmp_path, record(), rows, silent)
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    remove_ended(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_long_value_is_cut_in_a_sentence() -> None:
    assert (
        str(Difference("library.sha256", "a" * 200, None))
        == f"library.sha256 ({'a' * 120}… there, nothing now)"
    )


def test_a_record_with_keys_of_earlier_versions_is_read_and_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_record(path, record())
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "workers": 2}), "utf-8")
    with appending(tmp_path / "samples.jsonl") as append:
        append(next(rows(SAMPLES)))
    assert read_record(path) == record()
    assert kept_record(tmp_path, record()).times.beginnings == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"code": 1}'])
def test_a_damaged_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"run\.json is no record of an evaluation run"):
        read_record(tmp_path / "run.json")
