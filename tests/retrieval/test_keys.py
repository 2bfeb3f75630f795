"""Citation keys: what they are made of, and that no two papers of a library share one."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import pytest

from retrieval.formats.citation_keys import base_key, citation_keys
from retrieval.formats.merge import fold, paper_of
from retrieval.text.names import first_name_first, last_name_first, surname
from retrieval.types import Paper, Record, Source


def paper(id_: str = "i", title: str = "Title", author: str = "Ann Bee", **fields: object) -> Paper:
    authors = (author,) if author else ()
    year: int | None = fields.pop("year", 2023)  # type: ignore[assignment]
    given = bool(fields.pop("given", False))
    abstract = "An honest abstract."
    return Paper(id_, title, authors, "", year, "", abstract, (Source("f", 1),), id_is_given=given)


def library(papers: Iterable[Paper]) -> Callable[[str], Sequence[str]]:
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for each in papers:
        ids[base_key(each)].append(each.id)
    return lambda key: ids.get(key, [])


@pytest.mark.parametrize(
    ("author", "title", "year", "key"),
    [
        ("Chao Pan", "Machine Unlearning of Federated Clusters", 2023, "pan2023machine"),
        ("Aäron van den Oord", "Neural Discrete Learning", 2017, "vandenoord2017neural"),
        ("van den Oord, Aäron", "Neural Discrete Learning", 2017, "vandenoord2017neural"),
        ("Petar Veličković", "On the Graph", None, "velickovicndgraph"),
        ("Łukasz Kaiser", "One Model To Learn Them All", 2017, "kaiser2017one"),
        ("Søren Ærø-Ðorđe", "A Straße", 2000, "aerodorde2000strasse"),
        ("Robert Downey Jr.", "T5", 2020, "downey2020t5"),
        ("Chen Xi", "'Don't' Be $\\alpha$-Lazy", 2020, "xi2020dont"),
        ("Shaquille O'Neal", "Text-to-3D", 2020, "oneal2020text"),
        ("Plato", "The Of And", 2020, "plato2020the"),
        ("bell hooks", "X", 2020, "bellhooks2020x"),
        ("王伟", "深層学習", 2020, "anon2020untitled"),
        ("", "Title", 2020, "anon2020title"),
        ("Ann Bee", "", 2020, "bee2020honest"),
        (" ", "–", 2020, "anon2020untitled"),
    ],
)
def test_a_key_is_made_of_author_year_and_title(
    author: str, title: str, year: int | None, key: str
) -> None:
    assert base_key(paper(author=author, title=title, year=year)) == key


@pytest.mark.parametrize(
    ("id_", "is_kept"),
    [
        ("Smith2020", True),
        ("DBLP:conf/iclr/Pan-23_a.b+c", True),
        ("10.48550/arXiv.2301.1", True),
        ("4983", False),
        ("2-s2.0-85126271708", False),
        ("W4323293924", False),
        ("pub.1130000001", False),
        ("WOS:000500000000001", False),
        ("L631000001", False),
        ("http://zotero.org/users/1/items/ABCD1234", False),
        ("0123456789abcdef0123456789abcdef01234567", False),
        ("a b", False),
        ("a,b", False),
        ("é1", False),
        ("a{b}", False),
        ("a%b", False),
        ("-a", False),
    ],
)
def test_a_given_id_is_the_key_if_it_can_be_one(id_: str, is_kept: bool) -> None:
    assert base_key(paper(id_, given=True)) == (id_ if is_kept else "bee2023title")
    assert base_key(paper(id_)) == "bee2023title"


def test_papers_with_the_same_base_get_letters_in_the_order_of_their_ids() -> None:
    papers = [paper(id_) for id_ in ("c", "a", "b")]
    sharing = library(papers)
    expected = {"a": "bee2023titlea", "b": "bee2023titleb", "c": "bee2023titlec"}
    assert citation_keys(papers, sharing) == expected
    assert citation_keys(papers[1:2], sharing) == {"a": "bee2023titlea"}


def test_a_letter_that_makes_another_papers_key_is_passed_over() -> None:
    papers = [paper("1"), paper("2"), paper("bee2023titlea", given=True)]
    keys = citation_keys(papers, library(papers))
    assert keys == {
        "1": "bee2023titleb",
        "2": "bee2023titlec",
        "bee2023titlea": "bee2023titlea",
    }


def test_papers_that_the_library_does_not_tell_of_have_keys() -> None:
    assert citation_keys([paper()], lambda _key: []) == {"i": "bee2023title"}
    both = citation_keys([paper("2"), paper("1")], lambda _key: [])
    assert both == {"1": "bee2023titlea", "2": "bee2023titleb"}


def test_many_papers_with_the_same_base_have_different_keys() -> None:
    papers = [
        paper(f"{title}-{number:03}", title=title)
        for title in ("ab", "aba", "abz", "abz1", "abaz")
        for number in range(40)
    ]
    keys = citation_keys(papers, library(papers))
    assert len(set(keys.values())) == len(papers)
    # `aba` and `abz1` have keys of their own that look like those of `ab` with a suffix.
    assert keys["ab-000"] == "bee2023abb"
    assert keys["ab-023"] == "bee2023aby"
    assert keys["ab-024"] == "bee2023abz2"


def test_keys_of_the_seeds_are_different_safe_and_do_not_depend_on_what_is_exported(
    seed_records: list[Record],
) -> None:
    papers = [paper_of(record) for record in fold(seed_records)]
    sharing = library(papers)
    keys = citation_keys(papers, sharing)
    assert len(set(keys.values())) == len(papers) == 1643
    assert all(re.fullmatch("[a-z]+(?:2022|2023|nd)[a-z0-9]+", key) for key in keys.values())
    some = random.Random(0).sample(papers, 50)  # noqa: S311 - repeatable
    assert citation_keys(some, sharing) == {each.id: keys[each.id] for each in some}


@pytest.mark.parametrize(
    ("spoken", "listed", "last"),
    [
        ("Ann Bee", "Bee, Ann", "Bee"),
        ("Aaron van den Oord", "Oord, Aaron van den", "van den Oord"),
        ("Bob Foo Jr.", "Foo, Bob, Jr.", "Foo"),
        ("Bob Foo III", "Foo, Bob, III", "Foo"),
        ("Plato", "Plato", "Plato"),
        ("", "", ""),
    ],
)
def test_names_in_both_orders(spoken: str, listed: str, last: str) -> None:
    assert last_name_first(spoken) == listed
    assert first_name_first(listed) == first_name_first(spoken) == spoken
    assert surname(spoken) == last


def test_names_as_bibtex_orders_them_are_turned_round_too() -> None:
    assert first_name_first("Foo, Jr., Bob") == "Bob Foo Jr."
    assert first_name_first("Last, ") == "Last"
    assert surname("van den Oord, Aaron") == "van den Oord"
    assert last_name_first("OpenAI, Inc.") == "OpenAI, Inc."
