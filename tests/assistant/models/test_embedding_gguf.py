"""The converted embedder against its original.

`fixtures/minilm_reference.json.gz` holds texts with token ids and vectors that transformers'
BertModel gave once for the same weights in float32: mean of the last hidden states, L2 norm, at
most 512 tokens; vectors rounded to 5 decimals. The last 23 texts are short or odd.
"""

import gzip
import json
from pathlib import Path

import gguf
import numpy as np
import pytest

from assistant.models.gguf.writing import stored_token
from retrieval.encoders import llamacpp

REFERENCE = Path(__file__).parents[2] / "fixtures" / "minilm_reference.json.gz"


@pytest.fixture(scope="module")
def reference():
    return json.loads(gzip.decompress(REFERENCE.read_bytes()))


@pytest.fixture(scope="module")
def embedder(embedder_path):
    model = llamacpp.load(embedder_path, context=512, threads=2, embedding=True)
    yield model
    model.close()


def test_token_ids_are_those_of_the_original(embedder, reference):
    for text, ids in zip(reference["texts"], reference["ids"], strict=True):
        found = embedder.tokenize(text.encode(), add_bos=True, special=False)
        assert found[:512] == ids, text


def test_vectors_are_those_of_the_original(embedder, reference):
    found = [embedder.embed(text, normalize=True, truncate=True) for text in reference["texts"]]
    cosines = np.sum(np.array(found) * np.array(reference["vectors"]), axis=1)
    assert cosines.min() >= 0.999


def test_the_header_tells_what_it_is(embedder_path):
    reader = gguf.GGUFReader(embedder_path)
    assert reader.get_field("general.name").contents() == "all-MiniLM-L6-v2"
    assert reader.get_field("bert.pooling_type").contents() == gguf.PoolingType.MEAN
    types = {tensor.tensor_type for tensor in reader.tensors if len(tensor.shape) > 1}
    assert types == {gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.F32}


@pytest.mark.parametrize(
    ("token", "stored"),
    [
        ("read", "▁read"),
        ("##ing", "ing"),
        ("[CLS]", "[CLS]"),
        ("[unused7]", "[unused7]"),
        ("[", "▁["),
        ("##", ""),
        ("#", "▁#"),
    ],
)
def test_word_starts_are_marked(token, stored):
    assert stored_token(token)[0] == stored
