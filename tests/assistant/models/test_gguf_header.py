import struct

import gguf
import pytest
from tiny_models import TRAINED, save, write_bpe_vocabulary, write_weights

from assistant.models.listing import Header, read_header


@pytest.fixture
def model(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    writer.add_name("Añejo")
    writer.add_license("mit")
    size = write_bpe_vocabulary(writer, [("a", "b")], "smollm", ["<|end|>"])
    write_weights(writer, "llama", size)
    return save(writer, tmp_path / "model.gguf")


def test_what_the_header_says(model):
    assert read_header(model) == Header(
        name="Añejo", licence="mit", quantization="Q4_K_M", context=TRAINED, is_embedder=False
    )


def test_the_default_models(chat_model_path, embedder_path):
    chat, embedder = read_header(chat_model_path), read_header(embedder_path)
    assert (chat.is_embedder, embedder.is_embedder) == (False, True)
    assert chat.quantization in chat_model_path.name
    assert (embedder.name, embedder.quantization) == ("all-MiniLM-L6-v2", "F16")


def test_every_cut_is_survived(model):
    whole = model.read_bytes()
    header = whole.index(b"token_embd")
    for end in (*range(0, header, 40), *range(header, header + 40)):
        model.write_bytes(whole[:end])
        read_header(model)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63),
        # one key "k" whose value is an array of 2**63 strings
        b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"k", 9, 8, 2**63),
        b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"k", 99),
        b"GGUF" + b"\xff" * 40,  # a key of 2**64 - 1 letters
    ],
)
def test_what_is_no_header_gives_none(tmp_path, content):
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    assert read_header(path) is None


def test_a_missing_file_gives_none(tmp_path):
    assert read_header(tmp_path / "nothing.gguf") is None


def test_an_unknown_file_type_is_called_unknown(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    write_weights(
        writer, "llama", write_bpe_vocabulary(writer, [("a", "b")], "smollm", ["<|end|>"])
    )
    assert read_header(save(writer, tmp_path / "model.gguf")).quantization == "unknown"
