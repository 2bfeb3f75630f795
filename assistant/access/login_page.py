"""The page on which people sign in: one form, no script, nothing from elsewhere."""

from fastapi.responses import HTMLResponse
from markupsafe import Markup

_PAGE = Markup("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Sign in – Abstracts assistant</title>
<style>
:root {{ --text: #1c2333; --faint: #4a5368; --back: #f3f4f8; --card: #fff; --line: #7b8499;
  --main: #4338ca; --on-main: #fff; --wrong: #a31621; --wrong-back: #fdecec; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #eceef4; --faint: #b4bbca; --back: #0f1320; --card: #1b2132; --line: #8790a5;
    --main: #a5b4fc; --on-main: #14172b; --wrong: #ffb4b4; --wrong-back: #43181d; }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }}
main {{ width: 100%; max-width: 23rem; padding: 2rem; background: var(--card);
  border-radius: 12px; box-shadow: 0 2px 16px rgb(0 0 0 / 12%); }}
h1 {{ margin: 0 0 .25rem; font-size: 1.35rem; }}
p {{ margin: 0 0 1.25rem; color: var(--faint); }}
label {{ display: block; margin-bottom: .25rem; font-weight: 600; }}
input {{ width: 100%; margin-bottom: 1rem; padding: .6rem .75rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 8px; }}
button {{ width: 100%; padding: .65rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-main); background: var(--main); border: 0; border-radius: 8px; }}
:is(input, button):focus-visible {{ outline: 3px solid var(--main); outline-offset: 2px; }}
[role=alert] {{ padding: .6rem .75rem; color: var(--wrong); background: var(--wrong-back);
  border-radius: 8px; }}
</style>
</head>
<body>
<main>
<h1>Abstracts assistant</h1>
<p>Sign in to go on.</p>
{problem}
<form method="post" action="/login">
<label for="name">Name</label>
<input id="name" name="name" value="{name}" autocomplete="username" autocapitalize="none"
  spellcheck="false" maxlength="64" required{focus_name}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password"
  maxlength="256" required{focus_password}>
<button>Sign in</button>
</form>
</main>
</body>
</html>
""")
_PROBLEM = Markup('<p role="alert">{}</p>')
_FOCUS = Markup(" autofocus")


def login_page(status: int = 200, problem: str = "", name: str = "") -> HTMLResponse:
    """The page, with what went wrong and the name that was typed."""
    page = _PAGE.format(
        problem=_PROBLEM.format(problem) if problem else "",
        name=name,
        focus_name="" if name else _FOCUS,
        focus_password=_FOCUS if name else "",
    )
    return HTMLResponse(page, status)
