"""What is shown before and around the tabs, as HTML. Every text from outside is escaped here."""

from markupsafe import Markup

from assistant.setup import State
from assistant.stages import Stage

_BYTES_IN_MEGABYTE = 1_000_000


def error_html(sentence: str) -> str:
    """Something that the person can fix."""
    return _block(Markup('<p class="error" role="alert">{}</p>').format(sentence))


def setup_html(state: State) -> str:
    """How far the first start is."""
    if state.error:
        return error_html(state.error)
    intro = Markup(
        "<p><strong>Setting up.</strong> The first start fetches two small models and reads the "
        "papers; this takes a few minutes and happens once.</p>"
    )
    stages = Markup().join(_stage(stage) for stage in state.stages)
    return _block(intro + Markup('<ul class="stages">{}</ul>').format(stages))


def library_html(papers: int, model: str) -> str:
    """What is being chatted with."""
    return _block(
        Markup("<span>{} papers · answered on this machine by {}</span>").format(
            f"{papers:,}", model
        )
    )


def _stage(stage: Stage) -> Markup:
    total, done, unit = stage.total, stage.done, stage.unit
    if unit == "B":
        total, done, unit = total // _BYTES_IN_MEGABYTE, done // _BYTES_IN_MEGABYTE, "MB"
    if not total:
        return Markup("<li>{}<progress></progress></li>").format(stage.name)
    return Markup(
        '<li>{} <progress max="{}" value="{}" aria-label="{}"></progress> {:,} of {:,} {}</li>'
    ).format(stage.name, total, done, stage.name, done, total, unit)


def _block(html: Markup) -> str:
    return str(Markup('<div class="assistant-block">{}</div>').format(html))
