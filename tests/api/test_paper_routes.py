"""Papers searched, looked up, and fetched in every form."""

from urllib.parse import quote

import httpx
import pytest
import rispy
from odd_ids import ODD_IDS
from pybtex.database import parse_string

TITLE = "Machine Unlearning of Federated Clusters"


def found(client: httpx.Client, **asked: object) -> dict[str, object]:
    return client.get("/v1/lookup", params=asked).raise_for_status().json()  # type: ignore[arg-type,no-any-return]


def id_of(client: httpx.Client, title: str) -> str:
    return found(client, q=title, k=1)["matches"][0]["paper_id"]  # type: ignore[index,no-any-return]


@pytest.mark.parametrize("rerank", [True, False])
def test_a_search_ranks_papers(client: httpx.Client, rerank: bool) -> None:
    asked = {"query": "unlearning in federated clustering", "k": 3, "rerank": rerank}
    hits = client.post("/v1/search", json=asked).raise_for_status().json()["hits"]
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert hits[0]["title"] == TITLE


def test_a_search_says_which_filter_nothing_passes(client: httpx.Client) -> None:
    asked = {"query": "ICLR 1999 papers on pruning", "rerank": False}
    assert "1999" in client.post("/v1/search", json=asked).json()["notes"][0]


def test_a_lookup_takes_a_misspelled_title(client: httpx.Client) -> None:
    (match,) = found(client, q="machine unlerning of federatd clusters", k=1)["matches"]  # type: ignore[misc]
    assert match["title"] == TITLE
    assert match["why"]


def test_a_lookup_filters(client: httpx.Client) -> None:
    matches = found(client, author=["Chao Pan", "Jin Sima"], venue="ICLR", year=2023, k=5)
    assert [match["title"] for match in matches["matches"]] == [TITLE]  # type: ignore[attr-defined]
    outstanding = found(client, decision="outstanding paper", k=100)
    assert outstanding["total"] == len(outstanding["matches"]) > 1  # type: ignore[arg-type]
    assert "Nobody Atall" in found(client, author="Nobody Atall")["note"]  # type: ignore[operator]


def test_a_paper_comes_as_json_bibtex_and_ris(client: httpx.Client) -> None:
    id_ = id_of(client, TITLE)
    paper = client.get(f"/v1/papers/{id_}").raise_for_status().json()
    bib = client.get(f"/v1/papers/{id_}.bib").raise_for_status()
    ris = client.get(f"/v1/papers/{id_}.ris").raise_for_status()
    key = paper["citation_key"]
    assert paper["title"] == TITLE
    assert paper["abstract"].startswith("Federated clustering")
    assert list(parse_string(bib.text, "bibtex").entries) == [key]
    assert rispy.loads(ris.text)[0]["id"] == key
    assert bib.headers["content-disposition"] == f'attachment; filename="{key}.bib"'


@pytest.mark.parametrize("id_", ODD_IDS)
def test_an_address_carries_any_id(small_client: httpx.Client, id_: str) -> None:
    path = f"/v1/papers/{quote(id_, safe='')}"
    assert small_client.get(path).raise_for_status().json()["paper_id"] == id_
    assert "Turnips" in small_client.get(f"{path}.bib").raise_for_status().text
    assert small_client.get(f"{path}.bib").headers["content-type"].startswith("application/x-bib")


@pytest.mark.parametrize("id_", ["none", "none.bib", "%00", "%FF", "a%2Fb", "..%2F..%2Fetc"])
def test_a_paper_that_is_not_there_is_404(client: httpx.Client, id_: str) -> None:
    response = client.get(f"/v1/papers/{id_}")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"
