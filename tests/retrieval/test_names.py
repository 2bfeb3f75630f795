import pytest

from retrieval.text.names import (
    Fit,
    fit,
    folded,
    name_terms,
    name_words,
    spellings,
    words_of_term,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Schölkopf", "scholkopf"),
        ("ŁUKASZ  Kaiser\n", "lukasz kaiser"),
        ("O’Brien", "o'brien"),
        ("ﬁne", "fine"),
        ("Straße", "strasse"),
        ("Søren", "soren"),
        ("", ""),
    ],
)
def test_folded(text: str, expected: str) -> None:
    assert folded(text) == expected


def test_umlauts_are_also_written_out() -> None:
    assert spellings("Schölkopf") == ("scholkopf", "schoelkopf")
    assert spellings("Scho\u0308lkopf") == ("scholkopf", "schoelkopf")
    assert spellings("Kim") == ("kim",)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Yilun Du", "yilun du"),
        ("Du, Yilun", "yilun du"),
        ("H.-C. Jiang", "h c jiang"),
        ("Jimmy T.H. Smith", "jimmy t h smith"),
        ("Filipe de Avila Belbute-Peres", "filipe de avila belbute peres"),
        ("Martin Luther King, Jr.", "martin luther king"),
        ("Conor O'Brien", "conor obrien"),
        ("qihuang", "qihuang"),
        ("?", ""),
        ("王伟", "王伟"),
    ],
)
def test_name_words(name: str, words: str) -> None:
    assert " ".join(name_words(name)) == words


def test_a_name_is_indexed_by_its_surname() -> None:
    assert name_terms("Bernhard Schölkopf") == ("scholkopf, bernhard", "schoelkopf, bernhard")
    assert name_terms("qihuang") == ("qihuang, ",)
    assert name_terms("?") == ()
    assert words_of_term("broeck, guy van den") == ["guy", "van", "den", "broeck"]


@pytest.mark.parametrize(
    ("typed", "name", "expected"),
    [
        ("sung ju hwang", "sung ju hwang", Fit.SAME),
        ("sungju hwang", "sung ju hwang", Fit.SAME),
        ("percy liang", "percy s liang", Fit.BUT_FOR_INITIALS),
        ("percy s liang", "percy liang", Fit.BUT_FOR_INITIALS),
        ("andrew g wilson", "andrew gordon wilson", Fit.BUT_FOR_INITIALS),
        ("marc finzi", "marc anton finzi", Fit.NO_MIDDLE),
        ("marc anton finzi", "marc finzi", Fit.NO_MIDDLE),
        ("y du", "yilun du", Fit.TYPED_INITIALS),
        ("s j hwang", "sung ju hwang", Fit.TYPED_INITIALS),
        ("sj hwang", "sung ju hwang", Fit.TYPED_INITIALS),
        ("yilun du", "y du", Fit.KNOWN_INITIALS),
        ("sung ju hwang", "hyung ju hwang", Fit.NOT),
        ("ju hwang", "sung ju hwang", Fit.NOT),
        ("marc xavier finzi", "marc anton finzi", Fit.NOT),
        ("wei wang", "wei zhang", Fit.NOT),
        ("wang", "wei wang", Fit.NOT),
        ("x du", "yilun du", Fit.NOT),
    ],
)
def test_fit(typed: str, name: str, expected: Fit) -> None:
    assert fit(typed.split(), name.split()) is expected
