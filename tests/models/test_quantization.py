import json

import pytest

from assistant.models import quantization
from assistant.models.llama.decoding import Decoder, slices
from assistant.models.quantization import (
    Measurement,
    choose,
    measure_all,
    recorded_file,
    write_record,
)
from retrieval.encoders import llamacpp
from retrieval.types import ModelError, silent


def measured(file_type, size, read, write):
    return Measurement(file_type, size, read, write)


def test_the_time_of_a_typical_answer():
    # 1,000 tokens read at 500 a second, 50 written at 100 a second: 2 s + 0.5 s
    assert measured("X", 1, 500, 100).answer_seconds == 2.5


@pytest.mark.parametrize(
    ("measurements", "chosen"),
    [
        # two cores with AVX2: 2.79, 3.24 and 2.55 s
        ([("Q8_0", 145, 451, 88), ("BF16", 271, 405, 65), ("F16", 271, 547, 69)], "F16"),
        # two cores with AVX-512: 1.38 and 1.09 s
        ([("Q8_0", 145, 973, 143), ("BF16", 271, 1587, 109)], "BF16"),
        # 4 % apart: 2.60 and 2.50 s
        ([("Q8_0", 145, 476.19, 100), ("F16", 271, 500, 100)], "Q8_0"),
        # 6 % apart: 2.65 and 2.50 s
        ([("Q8_0", 145, 465.1, 100), ("F16", 271, 500, 100)], "F16"),
        # same size: the faster
        ([("BF16", 271, 490, 100), ("F16", 271, 500, 100)], "F16"),
        ([("Q8_0", 145, 1, 1)], "Q8_0"),
    ],
)
def test_the_fastest_wins_and_the_smaller_where_speeds_are_close(measurements, chosen):
    assert choose([measured(*each) for each in measurements]).type == chosen


@pytest.fixture
def candidates(tmp_path):
    files = [("Q8_0", tmp_path / "a"), ("F16", tmp_path / "b")]
    for _, path in files:
        path.write_bytes(b"123")
    return files


def test_each_candidate_keeps_its_best_of_two_rounds(candidates, monkeypatch):
    times = iter([(1.0, 0.5), (2.0, 0.1), (0.5, 1.0), (4.0, 0.2)])
    monkeypatch.setattr(quantization, "time_one", lambda *_, **__: next(times))
    assert measure_all(candidates, threads=1, progress=silent) == [
        measured("Q8_0", 3, 256.0, 2.0),
        measured("F16", 3, 64.0, 10.0),
    ]


def test_a_slow_first_round_is_the_only_one(candidates, monkeypatch):
    times = iter([(1.0, 1.0), (2.0, 1.0)])
    monkeypatch.setattr(quantization, "time_one", lambda *_, **__: next(times))
    monkeypatch.setattr(quantization, "ANOTHER_ROUND_SECONDS", -1.0)
    assert len(measure_all(candidates, threads=1, progress=silent)) == 2


def test_what_memory_cannot_hold_is_left_out(candidates, monkeypatch):
    def time_one(path, **_):
        if path.name == "b":
            raise ModelError("too large")
        return 1.0, 1.0

    monkeypatch.setattr(quantization, "time_one", time_one)
    [only] = measure_all(candidates, threads=1, progress=silent)
    assert only.type == "Q8_0"
    with pytest.raises(ModelError, match="too large"):
        measure_all(candidates[1:], threads=1, progress=silent)


def test_the_record_names_the_file_and_the_numbers(tmp_path):
    record, file = tmp_path / "model.json", tmp_path / "model.Q8_0.gguf"
    one = measured("Q8_0", 145, 500, 100)
    write_record(record, one, [one], file=file, threads=2)
    written = json.loads(record.read_text())
    assert written["file"] == "model.Q8_0.gguf"
    assert written["threads"] == 2
    assert written["measured"][0]["answer_seconds"] == 2.5
    assert recorded_file(record) is None
    file.touch()
    assert recorded_file(record) == file


@pytest.mark.parametrize("text", ["", "{}", "[1]", '"x"', '{"file": 1}', "{"])
def test_a_damaged_record_counts_as_none(tmp_path, text):
    record = tmp_path / "model.json"
    record.write_text(text)
    assert recorded_file(record) is None


def test_the_chosen_file_writes_text(chat_model_path):
    model = llamacpp.load(chat_model_path, context=512, threads=2)
    prompt = llamacpp.tokenize(model, "The capital of France is", add_bos=True, special=False)
    written = Decoder(model).write(slices([prompt]), 6, "", lambda: False)
    assert "Paris" in "".join(written)
    model.close()


def test_the_chosen_file_is_the_fastest_of_its_record(chat_model_path):
    record = json.loads(chat_model_path.with_name("SmolLM2-135M-Instruct.json").read_text())
    assert record["file"] == chat_model_path.name
    numbers = [
        {key: value for key, value in each.items() if key != "answer_seconds"}
        for each in record["measured"]
    ]
    assert choose([Measurement(**each) for each in numbers]).type == record["type"]
    others = [path for path in chat_model_path.parent.glob("*.gguf") if path != chat_model_path]
    assert others == []
