"""The models as HTML: what is said of them, and that nothing of a model file is markup."""

from pathlib import Path

from assistant.models import ModelDescription
from assistant.models.chat import Speed
from assistant.server.web.models import Memory, Running, Use, models_html, speed_html
from assistant.settings import WritingMode

HOSTILE = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>"
CHAT = ModelDescription(
    "chat", "Tiny", "default", "a file", Path("t.gguf"), 145_000_000, "Q8_0", "MIT", True, 8192
)
EMBEDDER = ModelDescription("embedder", "E", "e", "a file", Path("e"), 1, "F16", None, True)
OTHER = ModelDescription(
    "chat", "Big", "hf:a/b:c.gguf", "hub", Path("c"), 4_700_000_000, "Q4_K_M", None, False
)
MEMORY = Memory(652_000_000, 21_600_000_000, 25_300_000_000)


def shown(*models: ModelDescription, mode: WritingMode = WritingMode.FREE) -> str:
    return models_html(Running("Tiny.Q8_0", 4096, 2, mode), models, MEMORY, Path("/c.toml"))


def test_what_is_in_use_and_what_else_is_here() -> None:
    html = shown(CHAT, EMBEDDER, OTHER)
    assert "4,096 tokens in use, trained for 8,192" in html
    assert "652 MB, 145 MB of it model weights" in html
    assert "21.6 GB free of 25.3 GB" in html
    assert "<dd>not said in its file</dd>" in html
    assert "<strong>Big</strong> (chat): Q4_K_M, 4.7 GB" in html
    assert 'data-copy="assistant serve --model hf:a/b:c.gguf"' in html
    assert "<p>None.</p>" in shown(CHAT, EMBEDDER)
    assert "/c.toml" in html


def test_whether_it_writes_is_said_plainly() -> None:
    assert "It answered 4 of 6 short test questions or more" in shown(CHAT, EMBEDDER)
    assert "With its adapter it answered" in shown(CHAT, EMBEDDER, mode=WritingMode.BRIEF)
    assert "It did not answer 4 of 6" in shown(CHAT, EMBEDDER, mode=WritingMode.QUOTE)


def test_the_speed_as_measured_and_in_use() -> None:
    html = speed_html(Speed(1234.5, 56.4), Use(2, 1.25, 3.5))
    assert "Reads 1,234 and writes 56 tokens a second" in html
    assert "first sentence after 1.2 s, whole after 3.5 s on average" in html
    assert "Not measured yet" in speed_html(None, Use(0, 0, 0))
    assert "Measuring" in speed_html(None, Use(0, 0, 0), measuring=True)
    assert "32 questions" in speed_html(Speed(1, 1), Use(0, 0, 0), "32 questions are waiting")


def test_no_text_of_a_model_is_markup() -> None:
    hostile = ModelDescription(
        "chat", HOSTILE, HOSTILE, HOSTILE, Path("x"), 1, HOSTILE, HOSTILE, False
    )
    used = ModelDescription("chat", HOSTILE, "x", HOSTILE, Path("x"), 1, HOSTILE, HOSTILE, True)
    html = shown(used, EMBEDDER, hostile)
    assert "alert(1)" in html
    assert "<script" not in html
    assert "<img" not in html
