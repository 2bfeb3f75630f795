"""The reader: texts in windows, what it says of papers and messages, and how its file is made."""

import hashlib
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
import pytest
from fakes import PAPERS, FakeReader, paper
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from assistant.models import resolve_encoder
from assistant.models.gguf.trained import (
    CUTTER,
    READER,
    SENTENCE_READER,
    SUPPORT,
    EncoderWeights,
    read_heads,
    weights_hash,
)
from assistant.models.gguf.writing import fingerprint, write_encoder_gguf
from retrieval.encoders.embedder import CONTEXT, Heads
from retrieval.encoders.llamacpp import fastest_type
from retrieval.library.library import Library
from retrieval.search.reader import FOCUSES, KINDS, READ_ALONE, PaperRead, Reader
from retrieval.search.rerank import ranking
from retrieval.search.sentence_reader import SentenceReader
from retrieval.text.splitting import split_sentences, windows
from retrieval.types import Cancelled, ModelError, Paper

ZEBRA, TIDAL, LICHEN, WHISPER = PAPERS
QUESTION = "How many of its weights does ZebraPrune remove from a vision model?"
SENTENCE = "Grey herons stand in the shallow water of lakes and wait for fish. "


def never() -> bool:
    return False


def read(reader: Reader, question: str, *papers: Paper) -> list[PaperRead]:
    return list(reader.read(question, papers, never))


# windows


@pytest.mark.parametrize(
    ("lengths", "room", "expected"),
    [
        ([], 8, [range(0)]),
        ([4], 8, [range(1)]),
        ([4, 4, 4], 8, [range(2), range(2, 3)]),
        ([4, 4, 4], 12, [range(3)]),
        ([4, 4, 4], 7, [range(1), range(1, 2), range(2, 3)]),
        ([9, 1, 1], 8, [range(1), range(1, 3)]),
        ([1, 9, 1], 8, [range(1), range(1, 2), range(2, 3)]),
        ([1, 7, 1, 7, 8], 8, [range(2), range(2, 4), range(4, 5)]),
    ],
)
def test_windows_by_hand(lengths: list[int], room: int, expected: list[range]) -> None:
    assert windows(lengths, room) == expected


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 40))
def test_every_sentence_is_in_one_window_that_holds_it(lengths: list[int], room: int) -> None:
    found = windows(lengths, room)
    assert [at for window in found for at in window] == list(range(len(lengths)))
    for window in found:
        assert len(window) >= 1
        assert len(window) == 1 or sum(lengths[at] for at in window) <= room
    for before, after in pairwise(found):
        assert sum(lengths[at] for at in before) + lengths[after[0]] > room


# what it says


def test_the_paper_and_the_sentence_that_answer_stand_out(reader: Reader) -> None:
    answering, *others = read(reader, QUESTION, *PAPERS)
    assert answering.relevance > max(each.relevance for each in others)
    assert answering.answered > max(each.answered for each in others)
    best = max(answering.sentences, key=lambda each: each.evidence)
    assert "removes 40%" in best.sentence.text


@pytest.mark.parametrize(
    "of",
    [
        paper(abstract="Herons wait."),
        paper(abstract="no full stop"),
        paper(abstract=SENTENCE * 385),
        paper(abstract="heron " * 5000),
        paper(abstract="a" * 30_000),
        paper(title=""),
        paper(title="   "),
        paper(title="Heron " * 400),
        paper(abstract="鹭站在湖边的浅水里。它们等待鱼。"),
        paper(abstract="Цапли стоят в воде. Они ждут рыбу."),
        paper(abstract="Herons [SEP] wait. [CLS] They fish. <unk> [PAD]"),
        paper(abstract=f"Herons wait. {QUESTION} They fish."),
        paper(abstract="\u0300\ud7ff\U0001f980 ."),
    ],
    ids=lambda of: f"{of.title[:8]}|{of.abstract[:12]}",
)
def test_any_abstract_is_read(reader: Reader, of: Paper) -> None:
    """One finite logit a sentence, and the same bytes twice, whatever was read between."""
    [first] = read(reader, QUESTION, of)
    assert [each.sentence for each in first.sentences] == split_sentences(of.abstract)
    logits = [first.relevance, first.answered, *(each.evidence for each in first.sentences)]
    assert all(map(math.isfinite, logits))
    assert first.tokens > 0
    assert read(reader, QUESTION, TIDAL, of)[1] == first


@pytest.mark.parametrize(
    "question", ["?", "𓀀" * 500, "why " * 500, "[CLS] [SEP]", "Was ist das?", ""]
)
def test_any_question_is_read(reader: Reader, question: str) -> None:
    [first], [second] = (read(reader, question, ZEBRA) for _ in range(2))
    assert first == second
    assert len(first.sentences) == 4


def test_marks_in_a_text_are_no_marks(reader: Reader) -> None:
    marks = {reader._encoder.begin, reader._encoder.end}
    for text in ("[CLS] [SEP]", "[SEP]", "a[SEP]b"):
        assert marks.isdisjoint(reader._encoder.tokens(text, CONTEXT))


def test_a_long_abstract_is_read_in_windows_of_which_the_best_counts(reader: Reader) -> None:
    """Behind many sentences about herons stands the one that answers."""
    filler = SENTENCE * 60
    [alone] = read(reader, QUESTION, paper(title="", abstract=filler))
    [long] = read(reader, QUESTION, paper(title="", abstract=f"{filler}{ZEBRA.abstract}"))
    assert long.tokens > CONTEXT
    assert long.answered > alone.answered
    assert long.relevance > alone.relevance
    assert len(long.sentences) == 64
    best = max(long.sentences, key=lambda each: each.evidence)
    assert best.sentence.start >= len(filler)


def test_what_it_reads_is_counted(reader: Reader) -> None:
    """[CLS] question [SEP] title [SEP] and each sentence with [SEP]."""
    parts = [QUESTION, ZEBRA.title, *(each.text for each in split_sentences(ZEBRA.abstract))]
    expected = 1 + sum(len(reader._encoder.tokens(part, CONTEXT)) + 1 for part in parts)
    assert read(reader, QUESTION, ZEBRA)[0].tokens == expected


def test_each_sentence_is_judged_at_its_own_end(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The input that it was trained on; every vector and logit here is its own position."""
    inputs: list[list[int]] = []

    def positions(tokens: list[int]) -> np.ndarray:
        inputs.append(list(tokens))
        return np.arange(len(tokens), dtype=np.float32)[:, None]

    with monkeypatch.context() as patch:
        patch.setattr(reader._encoder, "vectors", positions)
        patch.setattr(reader._heads, "of", lambda _name, vectors: vectors)
        [found] = read(reader, QUESTION, ZEBRA)
    parts = [QUESTION, ZEBRA.title, *(each.text for each in split_sentences(ZEBRA.abstract))]
    expected, ends = [reader._encoder.begin], []
    for part in parts:
        expected += [*reader._encoder.tokens(part, CONTEXT), reader._encoder.end]
        ends.append(len(expected) - 1)
    assert inputs == [expected]
    assert [each.evidence for each in found.sentences] == ends[2:]
    assert (found.relevance, found.answered) == (0.0, 0.0)


def test_it_stops_between_two_papers(reader: Reader) -> None:
    stop = threading.Event()
    found = reader.read(QUESTION, PAPERS, stop.is_set)
    assert next(found) == read(reader, QUESTION, PAPERS[0])[0]
    stop.set()
    with pytest.raises(Cancelled):
        next(found)


def test_it_stops_within_a_long_abstract(reader: Reader) -> None:
    looks: list[int] = []

    def stopped() -> bool:
        looks.append(1)
        return len(looks) == 3

    with pytest.raises(Cancelled):
        list(reader.read(QUESTION, [paper(abstract=SENTENCE * 200)], stopped))
    assert len(looks) == 3


def test_several_may_read_at_once(reader: Reader) -> None:
    alone = [read(reader, QUESTION, each) for each in PAPERS]
    together = threading.Barrier(len(PAPERS))

    def ask(of: Paper) -> list[PaperRead]:
        together.wait()
        return read(reader, QUESTION, of)

    with ThreadPoolExecutor(len(PAPERS)) as people:
        assert list(people.map(ask, PAPERS)) == alone


@pytest.mark.parametrize("message", ["thanks!", "Who wrote it?", "", "?" * 500, "什么是神经坍缩？"])
@pytest.mark.parametrize("previous", ["", QUESTION, "why " * 400])
def test_a_message_has_kinds_and_focuses(reader: Reader, message: str, previous: str) -> None:
    found = reader.message(message, previous)
    assert tuple(found.kinds) == KINDS
    assert tuple(found.focuses) == FOCUSES
    for shares in (found.kinds, found.focuses):
        assert sum(shares.values()) == pytest.approx(1)
        assert all(0 <= share <= 1 for share in shares.values())
    assert found.kind in KINDS
    assert found.focus in FOCUSES
    assert reader.message(message, previous) == found


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("thanks!", "thanks"),
        ("Hello!", "greeting"),
        ("Who wrote it?", "record"),
        ("How many of its weights does it remove?", "content"),
    ],
)
def test_the_kind_of_a_plain_message(reader: Reader, message: str, kind: str) -> None:
    assert reader.message(message, QUESTION).kind == kind


@pytest.mark.parametrize(
    ("message", "focus"),
    [("Does it need retraining?", "last"), ("What is neural collapse in deep networks?", "alone")],
)
def test_what_a_plain_message_goes_on_about(reader: Reader, message: str, focus: str) -> None:
    assert reader.message(message, QUESTION).focus == focus


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Aspirin lowers the risk of a second stroke in older patients.", True),
        ("Sodium intake raises blood pressure.", True),
        ("Does aspirin lower the risk of a second stroke?", False),
        ("Zebra Pruning for Vision Models", False),
        ("tell me about pruning", False),
        ("graph networks for tides", False),
    ],
)
def test_claims_are_told_from_questions(reader: Reader, text: str, claim: bool) -> None:
    assert reader.is_claim(text) is claim


def test_papers_are_read_for_a_question_and_not_for_a_claim(library: Library) -> None:
    fake = FakeReader()
    claim = "Pruning loses 0.3 points of accuracy."
    found = ranking(library, claim, 4, fake, lambda: False)
    assert fake.papers == []
    assert found == ranking(library, claim, 4, None, lambda: False)
    ranking(library, "How much accuracy is lost by pruning?", 4, fake, lambda: False)
    assert "zebra" in fake.papers


def test_heads_by_hand() -> None:
    weights = {
        "kind.weight": np.array([[1, 0, 2], [0, 1, 0]], dtype=np.float32),
        "kind.bias": np.array([0.5, -1], dtype=np.float32),
    }
    vectors = np.array([[1, 2, 3], [0, 0, 0]], dtype=np.float32)
    assert Heads(weights).of("kind", vectors).tolist() == [[7.5, 1.0], [0.5, -1.0]]


# sentences read alone


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (QUESTION, "removes 40%"),
        ("How much accuracy does ZebraPrune lose on ImageNet?", "0.3 points"),
        ("Does ZebraPrune need retraining?", "retraining"),
    ],
)
def test_the_sentence_that_answers_stands_out_alone(
    reader: Reader, question: str, words: str
) -> None:
    alone = {each.sentence.text: each.alone for each in read_alone(reader, question).sentences}
    best = max(alone, key=lambda text: alone[text] or -math.inf)
    assert words in best


@pytest.mark.parametrize(
    "question",
    [
        "How many GPU hours does ZebraPrune take?",
        "Which learning rate is used after pruning?",
        "How do grey herons catch fish?",
    ],
)
def test_what_the_abstract_leaves_open_is_answered_far_worse(reader: Reader, question: str) -> None:
    left_open, answered = (read_alone(reader, each).alone for each in (question, QUESTION))
    assert left_open is not None
    assert answered is not None
    assert left_open < answered - 5


def test_only_the_likeliest_sentences_are_read_alone(reader: Reader) -> None:
    long = paper(abstract=SENTENCE * 9)
    read_ = reader.read_alone(QUESTION, long, *read(reader, QUESTION, long), never)
    judged = [each.evidence for each in read_.sentences if each.alone is not None]
    others = [each.evidence for each in read_.sentences if each.alone is None]
    assert len(judged) == READ_ALONE
    assert min(judged) >= max(others)
    whole = reader.read_alone(QUESTION, long, read_, never, 9)
    assert all(each.alone is not None for each in whole.sentences)
    assert [each.alone for each in whole.sentences if each in read_.sentences] == [
        each.alone for each in read_.sentences if each.alone is not None
    ]


def test_a_long_question_is_cut(sentence_reader: SentenceReader) -> None:
    long = sentence_reader.logit("why " * 3000, "Because it rains. " * 900, "Rain " * 900)
    assert math.isfinite(long)


def test_it_stops_between_two_sentences(reader: Reader) -> None:
    before = read(reader, QUESTION, ZEBRA)[0]
    calls = iter([False, False, True])
    with pytest.raises(Cancelled):
        reader.read_alone(QUESTION, ZEBRA, before, lambda: next(calls))


def read_alone(reader: Reader, question: str) -> PaperRead:
    return reader.read_alone(question, ZEBRA, *read(reader, question, ZEBRA), never)


# the file


@pytest.fixture
def weights(tmp_path: Path) -> Callable[..., Path]:
    """Writes the shipped weights again, changed as the test wants."""

    def write(**notes: str) -> Path:
        with safe_open(READER.path, "np") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            about = {**file.metadata(), **notes}
        target = tmp_path / "weights.safetensors"
        save_file(tensors, target, about)
        return target

    return write


def at(path: Path) -> EncoderWeights:
    """The reader's weights in another file."""
    return replace(READER, path=path)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_file_is_the_embedder_with_the_difference_added(
    embedder_path: Path, tmp_path: Path
) -> None:
    target = tmp_path / "reader.gguf"
    write_encoder_gguf(embedder_path, target, READER)
    base, merged = (
        {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
        for path in (embedder_path, target)
    )
    assert base.keys() == merged.keys()
    with safe_open(READER.path, "np") as file:
        names = set(file.keys())
        name = next(each for each in sorted(names) if each.endswith(".steps")).removesuffix(
            ".steps"
        )
        steps, scale = (file.get_tensor(f"{name}.{part}") for part in ("steps", "scale"))
    added = steps * scale[:, None]
    expected = (base[name].data.astype(np.float32) + added).astype(base[name].data.dtype)
    assert np.array_equal(merged[name].data, expected)
    assert not np.array_equal(merged[name].data, base[name].data)
    changed = {each.removesuffix(".steps").removesuffix(".added") for each in names}
    for untouched in base.keys() - changed:
        assert np.array_equal(merged[untouched].data, base[untouched].data)


def test_the_same_bytes_twice(embedder_path: Path, own_cache: Path, reader_path: Path) -> None:
    before = digest(embedder_path)
    assert digest(resolve_encoder(READER, own_cache)) == digest(reader_path)
    assert digest(embedder_path) == before
    assert (
        reader_path.name
        == f"reader-{weights_hash(READER)[:16]}.{fastest_type(otherwise='F16')}.gguf"
    )


@pytest.mark.parametrize(("has", "file_type"), [(b"1", "BF16"), (b"0", "F16")])
def test_it_is_of_the_type_that_the_processor_multiplies(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, has: bytes, file_type: str
) -> None:
    told = b"CPU : AVX512 = 1 | AVX512_BF16 = " + has + b" | "
    monkeypatch.setattr(llama_cpp, "llama_print_system_info", lambda: told)
    tensors = gguf.GGUFReader(resolve_encoder(READER, own_cache)).tensors
    types = {each.tensor_type.name for each in tensors if each.name.startswith("blk.")}
    assert types == {"F32", file_type}


@pytest.mark.parametrize(
    "weights", [READER, SENTENCE_READER, SUPPORT, CUTTER], ids=lambda weights: weights.name
)
def test_the_shipped_weights_are_of_the_default_embedder(
    embedder_path: Path, weights: EncoderWeights
) -> None:
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(embedder_path).tensors}
    with safe_open(weights.path, "np") as file:
        assert file.metadata()["base"] == fingerprint(tensors)


def test_weights_of_another_embedder(
    embedder_path: Path, tmp_path: Path, weights: Callable[..., Path]
) -> None:
    other = weights(base="0" * 64, base_name="other")
    with pytest.raises(ModelError, match=r"'other' .* 000000000000, but .* remove that file"):
        write_encoder_gguf(embedder_path, tmp_path / "reader.gguf", at(other))


def missing(_path: Path) -> None:
    pass


def empty(path: Path) -> None:
    path.write_bytes(b"")


def torn(path: Path) -> None:
    path.write_bytes(READER.path.read_bytes()[:100_000])


def noise(path: Path) -> None:
    path.write_bytes(b"\xff" * 4096)


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("damage", [missing, empty, torn, noise, folder])
def test_weights_that_cannot_be_read(
    embedder_path: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "weights.safetensors"
    damage(path)
    target = tmp_path / "reader.gguf"
    for reads in (read_heads, lambda of: write_encoder_gguf(embedder_path, target, of)):
        with pytest.raises(ModelError, match=r"cannot be read .* install the package") as told:
            reads(at(path))
        assert "\n" not in str(told.value)
        assert "weights.safetensors" in str(told.value)
    assert not target.exists()


def test_weights_without_a_hash(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be read \(No such file or directory\)"):
        weights_hash(at(tmp_path / "weights.safetensors"))
    (tmp_path / "weights.safetensors").write_bytes(b"a")
    assert weights_hash(at(tmp_path / "weights.safetensors")) == hashlib.sha256(b"a").hexdigest()


@pytest.fixture
def own_cache(tmp_path: Path, embedder_path: Path) -> Path:
    """A cache that has the embedder alone."""
    cache = tmp_path / "cache"
    copied = cache / embedder_path.parent.name / embedder_path.name
    copied.parent.mkdir(parents=True)
    copied.write_bytes(embedder_path.read_bytes())
    return cache


def test_it_is_made_once_and_older_ones_go(own_cache: Path) -> None:
    folder = own_cache / "encoders"
    folder.mkdir()
    (folder / "reader-0123456789abcdef.F16.gguf").write_bytes(b"old")
    path = resolve_encoder(READER, own_cache)
    assert [each.name for each in folder.glob("reader-*")] == [path.name]
    made = path.stat().st_mtime_ns
    assert resolve_encoder(READER, own_cache) == path
    assert path.stat().st_mtime_ns == made


def test_an_embedder_of_other_numbers_leaves_nothing_half_written(own_cache: Path) -> None:
    [embedder] = own_cache.glob("*/*.gguf")
    tensors = gguf.GGUFReader(embedder, "r+").tensors
    tensors[-1].data[...] = 0
    changed = next(tensor for tensor in tensors if tensor.name.startswith("blk."))
    changed.data[...] = 0
    del tensors, changed
    with pytest.raises(ModelError, match="remove that file so that it is fetched again"):
        resolve_encoder(READER, own_cache)
    assert [each.name for each in (own_cache / "encoders").iterdir()] == [".lock"]


@pytest.mark.parametrize("kept", [0, 4, 2_000_000])
def test_a_torn_embedder_leaves_nothing_half_written(own_cache: Path, kept: int) -> None:
    [embedder] = own_cache.glob("*/*.gguf")
    embedder.write_bytes(embedder.read_bytes()[:kept])
    with pytest.raises(ModelError):
        resolve_encoder(READER, own_cache)
    assert [each.name for each in (own_cache / "encoders").iterdir()] == [".lock"]
