"""The list of conversations as HTML."""

from collections.abc import Sequence

from markupsafe import Markup

from assistant.conversations import LONGEST_NAME, Conversation


def past_html(conversations: Sequence[Conversation], current: str) -> str:
    """The conversations, the latest first; `current` is the id of the one that is open."""
    if not conversations:
        return str(Markup('<p class="none">Your conversations will be listed here.</p>'))
    entries = Markup().join(_entry(each, is_open=each.id == current) for each in conversations)
    return str(Markup('<ul class="past">{}</ul>').format(entries))


def _entry(conversation: Conversation, *, is_open: bool) -> Markup:
    return Markup(
        '<li class="{}"><button type="button" class="name" data-event="select" '
        'data-conversation="{}"{}>{}</button>{}</li>'
    ).format(
        "open" if is_open else "",
        conversation.id,
        Markup(' aria-current="true"') if is_open else "",
        conversation.name,
        _menu(conversation),
    )


def _menu(conversation: Conversation) -> Markup:
    """Rename, export, delete; deleting asks once more."""
    id_, name = conversation.id, conversation.name
    return Markup(
        '<details class="menu"><summary aria-label="What to do with “{}”">⋯</summary><div>'
        '<form data-event="edit" data-conversation="{}"><label>Name'
        '<input name="name" value="{}" maxlength="{}" required></label>'
        '<button type="submit">Rename</button></form>'
        '<a href="conversations/{}.md" download>Export as Markdown</a>'
        '<a href="conversations/{}.bib" download>Export references as BibTeX</a>'
        '<details class="sure"><summary>Delete …</summary>'
        '<button type="button" class="stop" data-event="delete" data-conversation="{}">'
        "Delete “{}” for good</button></details></div></details>"
    ).format(name, id_, name, LONGEST_NAME, id_, id_, id_, name)
