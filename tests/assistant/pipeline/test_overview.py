"""Which papers belong to an overview, with the real seeds and the default models."""

from dataclasses import replace
from pathlib import Path

import pytest

from assistant.pipeline.assistant import Assistant
from assistant.pipeline.overview import features_of
from assistant.pipeline.startup import open_assistant
from assistant.settings import load_settings
from retrieval.search.rerank import ReadPassage
from retrieval.search.search import search
from retrieval.types import never, silent


@pytest.fixture(scope="module")
def assistant(library_home: Path, cache: Path) -> Assistant:
    return open_assistant(load_settings({"home": library_home, "cache": cache}), silent)


def test_an_overview_has_the_papers_on_its_topic_and_no_others(assistant: Assistant) -> None:
    answer = assistant.answer("Give me an overview of the work on machine unlearning.")
    assert {each.paper.title for each in answer.citations} == {
        "Efficient Model Updates for Approximate Unlearning of Graph-Structured Data",
        "GNNDelete: A General Unlearning Strategy for Graph Neural Networks",
        "Machine Unlearning of Federated Clusters",
    }
    assert answer.search is not None
    read = [each for each in answer.search.found if each.probability is not None]
    assert answer.coverage.startswith(f"Shown: 3 of the {len(read)} abstracts read")
    assert len(read) > 3


def test_a_paper_found_alone_is_like_no_other(assistant: Assistant) -> None:
    topic = "machine unlearning"
    found = search(assistant.library, topic, 2)
    reads = assistant.reader.read(topic, [each.paper for each in found], never)
    read = list(map(ReadPassage, found, reads))
    alone = features_of(assistant.library, topic, found[:1], read[:1])
    both = features_of(assistant.library, topic, found, read)
    assert [each.likeness for each in alone.values()] == [0.0]
    one, other = (each.likeness for each in both.values())
    assert one == pytest.approx(other)
    assert 0 < one < 1
    assert max(each.answered for each in both.values()) == 0


def test_a_paper_that_has_gone_since_it_was_found_is_like_no_other(assistant: Assistant) -> None:
    topic = "machine unlearning"
    found = search(assistant.library, topic, 1)
    [result] = assistant.reader.read(topic, [found[0].paper], never)
    gone = replace(found[0], paper=replace(found[0].paper, id="gone"))
    read = [ReadPassage(each, result) for each in (found[0], gone)]
    features = features_of(assistant.library, topic, [found[0], gone], read)
    assert [each.likeness for each in features.values()] == [0.0, 0.0]
