import pytest

from retrieval.query.values import decision_spellings, venue_spellings, years_at
from retrieval.query.words import words_of


@pytest.mark.parametrize(
    ("venue", "spelled"),
    [
        ("ICLR", "iclr"),
        ("International Conference on Learning Representations", "iclr"),
        ("Proceedings of the 40th International Conference on Machine Learning", "icml"),
        ("Advances in Neural Information Processing Systems 34 (NeurIPS 2021)", "neurips"),
        ("NeurIPS 2021", "neurips"),
        ("Neural Networks (NN)", "nn"),
        ("Journal of Machine Learning Research", "jmlr"),
    ],
)
def test_venues_by_acronym(venue: str, spelled: str) -> None:
    assert venue_spellings((venue,))[tuple(spelled.split())] == (venue,)


def test_one_spelling_of_several_venues() -> None:
    venues = ("ICML", "International Conference on Machine Learning")
    assert venue_spellings(venues)[("icml",)] == venues


@pytest.mark.parametrize(
    ("decision", "spelled"),
    [
        ("oral", "orals"),
        ("oral", "oral presentation"),
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
    assert decision_spellings((decision,))[tuple(spelled.split())] == (decision,)


def test_nothing_is_spelled_where_nothing_is_known() -> None:
    assert venue_spellings(()) == {}
    assert decision_spellings(()) == {}


@pytest.mark.parametrize(
    ("typed", "years"),
    [
        ("2022", (2022,)),
        ("'22", (2022,)),
        ("2020-2022", (2020, 2022)),
        ("2020–2022", (2020, 2022)),
        ("2020 to 2022", (2020, 2022)),
        ("from 2019 to 2021", (2019, 2020)),
        ("between 2019 and 2020", (2019, 2020)),
        ("since 2022", (2022, 2023)),
        ("after 2022", (2023,)),
        ("before 2020", (2019,)),
        ("until 2020", (2019, 2020)),
        ("last year", (2023,)),
        ("this year", (2024,)),
        ("the last two years", (2022, 2023)),
        ("past 4 years", (2020, 2022, 2023)),
        ("since 2030", (2030,)),
    ],
)
def test_years(typed: str, years: tuple[int, ...]) -> None:
    words = words_of(f"'{typed}" if typed.startswith("'") else typed)
    known = [2019, 2020, 2022, 2023]
    assert years_at(words, 0, known, 2024) == (len(words), years)


@pytest.mark.parametrize("typed", ["last layer", "recent work", "units", "since then", "to"])
def test_no_years(typed: str) -> None:
    assert years_at(words_of(typed), 0, [2019], 2024) == (0, ())
