"""How conversations are laid out in the chat templates of several families."""

import pytest
from chat_templates import CHATML, GEMMA, HARMONY, LLAMA3, MAGISTRAL, QWEN3, R1, R1_BEFORE

from assistant.models.llama.chat_template import ChatTemplate, Part
from retrieval.types import ModelError

ASKED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Why?"},
]
TURNS = [
    *ASKED,
    {"role": "assistant", "content": "So."},
    {"role": "user", "content": "How?"},
]
HARMONY_SYSTEM = "<|start|>system<|message|>Be brief.<|end|>"
HARMONY_ASKED = HARMONY_SYSTEM + "<|start|>user<|message|>Why?<|end|><|start|>assistant"
CHATML_ASKED = (
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n"
    "<|im_start|>assistant\n"
)
DROPPING = (
    "{% for message in messages if message['role'] != 'system' %}[{{ message['content'] }}]"
    "{% endfor %}"
)


def laid_out(source: str, messages: list[dict[str, str]], *, think: bool = False) -> str:
    template = ChatTemplate(source, bos="<s>", eos="</s>")
    return "".join(part.text for part in template.parts(messages, think=think))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (CHATML, CHATML_ASKED),
        (
            LLAMA3,
            "<s><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (
            GEMMA,
            "<s><start_of_turn>user\nBe brief.\n\nWhy?<end_of_turn>\n<start_of_turn>model\n",
        ),
        (DROPPING, "[Be brief.\n\nWhy?]"),
    ],
    ids=["chatml", "llama3", "gemma", "drops the system"],
)
def test_a_question(source: str, expected: str) -> None:
    assert laid_out(source, ASKED) == expected


def test_turns_where_there_is_no_role_for_the_system() -> None:
    assert laid_out(GEMMA, TURNS) == (
        "<s><start_of_turn>user\nBe brief.\n\nWhy?<end_of_turn>\n"
        "<start_of_turn>model\nSo.<end_of_turn>\n"
        "<start_of_turn>user\nHow?<end_of_turn>\n<start_of_turn>model\n"
    )


def test_messages_are_told_from_what_stands_around_them() -> None:
    parts = ChatTemplate(GEMMA, bos="<s>", eos="</s>").parts(ASKED)
    assert [part.text for part in parts if part.is_message] == ["Be brief.", "Why?"]
    assert parts[2] == Part("\n\n", is_message=False)


@pytest.mark.parametrize("source", [CHATML, LLAMA3, GEMMA, QWEN3, R1, MAGISTRAL, HARMONY])
@pytest.mark.parametrize(
    "text",
    ["<|im_end|>", "\ue0000\ue001", "{{ bos_token }}", "<think>", "</think>", "  spaced  ", ""],
)
def test_a_message_is_passed_on_as_it_is(source: str, text: str) -> None:
    messages = [ASKED[0], {"role": "user", "content": text}]
    parts = ChatTemplate(source, bos="<s>", eos="</s>").parts(messages)
    assert Part(text, is_message=True) in parts
    around = [part.text for part in parts if not part.is_message]
    plain = ChatTemplate(source, bos="<s>", eos="</s>").parts(ASKED)
    assert around == [part.text for part in plain if not part.is_message]


@pytest.mark.parametrize(
    ("source", "asked", "told_it_has", "thinking"),
    [
        (CHATML, CHATML_ASKED, "", ""),
        (QWEN3, CHATML_ASKED, "<think>\n\n</think>\n\n", "<think>"),
        (R1, CHATML_ASKED, "<think>\n\n</think>\n\n", "<think>\n"),
        (R1_BEFORE, CHATML_ASKED, "<think>\n\n</think>\n\n", "<think>"),
        (
            MAGISTRAL,
            "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]Why?[/INST]",
            "[THINK][/THINK]",
            "[THINK]",
        ),
        (
            HARMONY,
            HARMONY_ASKED,
            "<|channel|>final<|message|>",
            "<|channel|>analysis<|message|>",
        ),
    ],
    ids=["none", "qwen3", "r1", "r1 before", "magistral", "harmony"],
)
def test_thinking_is_over_or_open(source: str, asked: str, told_it_has: str, thinking: str) -> None:
    assert laid_out(source, ASKED) == asked + told_it_has
    assert laid_out(source, ASKED, think=True) == asked + thinking


def test_the_date_in_a_template_is_always_the_same() -> None:
    dated = "{{ strftime_now('%d %b %Y') }}: {{ messages[0].content }}"
    assert laid_out(dated, ASKED[1:]) == "01 Jan 2025: Why?"


@pytest.mark.parametrize(
    "source",
    [
        "{% for m in messages %}[{{ m.content[0].text }}]{% endfor %}",
        "{{ messages|length }}",
        "{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}",
        "{{ messages[-1].content }}",
    ],
    ids=["lists only", "none", "twice", "the last only"],
)
def test_a_template_that_does_not_show_every_message_once(source: str) -> None:
    with pytest.raises(ModelError, match="loses or repeats messages; choose another model"):
        laid_out(source, TURNS)


def test_a_message_may_stand_out_of_order() -> None:
    reversed_ = "{% for m in messages|reverse %}[{{ m.content }}]{% endfor %}"
    assert laid_out(reversed_, TURNS) == "[How?][So.][Why?][Be brief.]"


def test_marks_of_what_is_trained_on_change_nothing() -> None:
    marked = (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}<{{ m.content }}>"
        "{% endgeneration %}{% else %}[{{ m.content }}]{% endif %}{% endfor %}"
    )
    assert laid_out(marked, TURNS) == "[Be brief.][Why?]<So.>[How?]"


@pytest.mark.parametrize(
    "source", ["{% for", "{{ raise_exception('only pirates') }}", "{{ 1 + 'a' }}"]
)
def test_a_template_that_cannot_be_used(source: str) -> None:
    with pytest.raises(ModelError, match=r"The chat template of the model cannot be used \(.*\)"):
        laid_out(source, ASKED)


def test_a_template_cannot_reach_out() -> None:
    with pytest.raises(ModelError):
        laid_out("{{ ''.__class__.__mro__[1].__subclasses__() }}", ASKED)
