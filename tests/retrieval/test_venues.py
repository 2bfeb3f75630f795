import pytest

from retrieval.understanding.venues import decision_spellings, venue_spellings


@pytest.mark.parametrize(
    ("venue", "spelled"),
    [
        ("ICLR", "iclr"),
        ("International Conference on Learning Representations", "iclr"),
        ("Proceedings of the 40th International Conference on Machine Learning", "icml"),
        ("Advances in Neural Information Processing Systems 34 (NeurIPS 2021)", "neurips"),
        ("Advances in Neural Information Processing Systems", "nips"),
        ("NeurIPS 2021", "neurips"),
        ("Neural Networks (NN)", "nn"),
        ("Journal of Machine Learning Research", "jmlr"),
    ],
)
def test_venues_by_acronym(venue: str, spelled: str) -> None:
    assert venue_spellings([venue])[tuple(spelled.split())] == (venue,)


def test_one_spelling_of_several_venues() -> None:
    venues = ["International Conference on Machine Learning", "ICML"]
    assert venue_spellings(venues)[("icml",)] == tuple(sorted(venues))


@pytest.mark.parametrize(
    ("decision", "spelled"),
    [
        ("oral", "orals"),
        ("outstanding paper", "outstanding"),
        ("outstanding paper", "outstanding papers"),
        ("outstanding paper", "best paper"),
        ("honorable mention", "honourable mentions"),
        ("honorable mention", "award-winning"),
        ("notable-top-5%", "notable top 5%"),
        ("notable-top-5%", "top 5%"),
    ],
)
def test_decisions(decision: str, spelled: str) -> None:
    assert decision_spellings([decision])[tuple(spelled.split())] == (decision,)


def test_nothing_is_spelled_where_nothing_is_known() -> None:
    assert venue_spellings([]) == {}
    assert decision_spellings([]) == {}
