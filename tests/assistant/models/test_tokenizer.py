from pathlib import Path

import gguf
import llama_cpp
import pytest
from tiny_models import merges_of, save, words_of, write_bpe_vocabulary, write_weights

from assistant.models.chat import LlamaCppChatModel
from assistant.models.llama.tokenizer import PATTERNS, encoding_of
from assistant.settings import resource_folder
from retrieval.encoders import llamacpp
from retrieval.formats import files_of, read_file
from retrieval.formats.merge import fold

ODD = (
    "",
    " ",
    "   three  spaces   ",
    "\n\n\t tabs\r\nand lines \n",
    "1,234.56 and 2023 and 0.001",
    "x²+y² ≤ ½ — “quoted” … ’s",
    "don't we'll they've I'M IT'S",
    "naïve café Łukasz Schölkopf",
    "数学 と 日本語 한국어 العربية",
    "🙂👩‍👩‍👧‍👦🏳️‍🌈",
    "$\\mathcal{O}(n \\log n)$ and $\\frac{1}{\\epsilon^2}$",
    "<|im_start|>system\nYou are<|im_end|> <|endoftext|>",
    "a" * 1000,
    "\u200b\u00a0\ufeff",
    "\x00\x01\x7f",
    "CamelCaseWords_and_snake_case-with-hyphens",
    "ÀÉß Dž ʰ ªº İstanbul ΑΒγδ ЖИзн ½ Ⅷ ٣٤٥ ७८",
    "a//b\n\n/c;\r\n  \r\n\t x'S Y'll 'tis HE'D",
)


@pytest.fixture(scope="session")
def abstracts() -> list[str]:
    records = [
        record
        for file in files_of([resource_folder("seeds")])
        for record in read_file(file).records
    ]
    return [record.abstract for record in fold(records)]


def test_tiktoken_gives_llamacpps_tokens_on_every_seed_abstract(
    chat_model: LlamaCppChatModel, abstracts: list[str]
) -> None:
    model = chat_model._model
    encoding = encoding_of(llamacpp.metadata(model), llamacpp.vocabulary(model))
    assert encoding is not None
    assert len(abstracts) == 1643
    for text in abstracts:
        ids = llamacpp.tokenize(model, text)
        assert encoding.encode_ordinary(text) == ids


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:12]))
def test_tiktoken_gives_llamacpps_tokens_on_odd_text(
    chat_model: LlamaCppChatModel, text: str
) -> None:
    model = chat_model._model
    encoding = encoding_of(llamacpp.metadata(model), llamacpp.vocabulary(model))
    assert encoding is not None
    assert encoding.encode_ordinary(text) == llamacpp.tokenize(model, text, special=False)


@pytest.mark.parametrize("text", ["a\x04b", "a\U00050000b", "\U00090000"])
def test_bytes_that_the_vocabulary_lacks_count_as_tokens_of_their_own(
    chat_model: LlamaCppChatModel, text: str
) -> None:
    model = chat_model._model
    encoding = encoding_of(llamacpp.metadata(model), llamacpp.vocabulary(model))
    assert encoding is not None
    known = llamacpp.tokenize(model, text)
    assert [id_ for id_ in encoding.encode_ordinary(text) if id_ in known] == known


@pytest.fixture(scope="module")
def merges(abstracts: list[str]) -> list[tuple[str, str]]:
    """Of a vocabulary whose words and numbers grow beyond what some patterns allow."""
    return merges_of(
        words_of("\n".join([*abstracts[:12], *ODD, "1234 " * 50, "I'M It'S " * 9])), 200
    )


@pytest.mark.parametrize("pre", PATTERNS)
def test_every_way_to_split_is_llamacpps(
    pre: str, merges: list[tuple[str, str]], abstracts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "vocabulary.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    write_weights(writer, "llama", write_bpe_vocabulary(writer, merges, pre, ["<|end|>"]))
    save(writer, path)
    llamacpp.silence()
    model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    encoding = encoding_of(llamacpp.metadata(model), llamacpp.vocabulary(model))
    assert encoding is not None
    for text in (*abstracts[::20], *ODD):
        ids = llamacpp.tokenize(model, text)
        assert encoding.encode_ordinary(text) == ids


@pytest.mark.parametrize(
    "header",
    [
        {"tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "smollm"},
        {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "unheard-of"},
        {},
    ],
)
def test_a_tokenizer_that_tiktoken_cannot_express_has_no_encoding(header: dict[str, str]) -> None:
    assert encoding_of(header, ["a", "b"]) is None


def test_bytes_are_spelled_as_gpt2_spells_them() -> None:
    header = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2"}
    letters = [chr(each) for each in range(0x21, 0x7F)]
    vocabulary = [*letters, "Ġ", "Ċ", "Ã", "©", "Ã©", "Ġa"]
    encoding = encoding_of(header, vocabulary)
    assert encoding is not None
    assert [vocabulary[token] for token in encoding.encode_ordinary("b aé\n")] == [
        "b", "Ġa", "Ã©", "Ċ",
    ]  # fmt: skip
