r"""Texts that would run a script, ask another host or change the page if it took them for HTML.

192.0.2.1 is an address for documents (RFC 5737) that nobody has; a page that asks it is caught.
"""

HOST = "http://192.0.2.1"

MARKUP = {
    "script": "<script>window.hit=1</script>",
    "script, odd case": "<ScRiPt/x>window.hit=1</sCrIpT >",
    "script from elsewhere": f"<script src={HOST}/a.js></script>",
    "end of a script": "</script><script>window.hit=1</script>",
    "image": "<img src=x onerror=window.hit=1>",
    "image, unclosed": f"<img src='{HOST}/?",
    "image set": f"<img srcset='{HOST}/a.png 2x'>",
    "svg": "<svg onload=window.hit=1>",
    "svg in itself": "<svg><animate onbegin=window.hit=1 attributeName=x dur=1s></svg>",
    "svg script": "<svg><script href=data:,window.hit=1 /></svg>",
    "svg use": f"<svg><use href='{HOST}/a.svg#x'/></svg>",
    "details": "<details open ontoggle=window.hit=1>",
    "focus": "<input autofocus onfocus=window.hit=1>",
    "video": "<video><source onerror=window.hit=1></video>",
    "audio": f"<audio src={HOST}/a.mp3 autoplay></audio>",
    "frame": '<iframe srcdoc="<script>parent.hit=1</script>"></iframe>',
    "frame of a script": "<iframe src=javascript:parent.hit=1></iframe>",
    "object": "<object data=data:text/html,<script>parent.hit=1</script>></object>",
    "embed": f"<embed src={HOST}/a.swf>",
    "link": "<a href=javascript:window.hit=1 autofocus>here</a>",
    "link of data": "<a href=data:text/html,<script>window.hit=1</script>>here</a>",
    "base": f"<base href={HOST}/>",
    "refresh": f'<meta http-equiv=refresh content="0;url={HOST}/">',
    "form": f"<form action={HOST}/ id=log><button>Send</button></form>",
    "button": f"<button formaction={HOST}/ popovertarget=chat>Send</button>",
    "style": f"<style>@import url({HOST}/a.css); * {{display: none}}</style>",
    "style sheet": f"<link rel=stylesheet href={HOST}/a.css>",
    "style of an element": f"<p style='position:fixed;background:url({HOST}/a.png)'>over</p>",
    "comment": "<!--><img src=x onerror=window.hit=1>-->",
    "comment, open": "--!><img src=x onerror=window.hit=1><!--",
    "end of a field": "</textarea><img src=x onerror=window.hit=1>",
    "end of a title": "</title></style></noscript><img src=x onerror=window.hit=1>",
    "noscript": '<noscript><p title="</noscript><img src=x onerror=window.hit=1>">',
    "old text": "<xmp><p title='</xmp><img src=x onerror=window.hit=1>'>",
    "change of meaning": "<math><mtext><table><mglyph><style><!--</style><img title="
    '"--&gt;&lt;img src=1 onerror=window.hit=1&gt;">',
    "svg and style": '<svg></p><style><a id="</style><img src=1 onerror=window.hit=1>">',
    "template": "<template shadowrootmode=open><img src=x onerror=window.hit=1></template>",
    "element of the page": "<p id=question data-event=delete data-paper=x class=chip>mine</p>",
    "quote marks": '" onmouseover="window.hit=1" autofocus onfocus="window.hit=1" x="',
    "single quote marks": "' onmouseover='window.hit=1' autofocus onfocus='window.hit=1' x='",
    "out of an attribute": "\"'></button><img src=x onerror=window.hit=1>",
    "back quotes": "`><img src=x onerror=window.hit=1>",
    "entities": "&lt;img src=x onerror=window.hit=1&gt; &#60;svg onload=window.hit=1&#62;",
    "entities of entities": "&amp;lt;img src=x onerror=window.hit=1&amp;gt;",
    "wide letters": "＜img src=x onerror=window.hit=1＞",
    "line separators": "\u2028<img src=x onerror=window.hit=1>\u2029",
}
"""What is HTML, or would be in an attribute."""

TEMPLATES = {
    "literal": "${window.hit=1} ${window.hit=1}",
    "end of a literal": "`+(window.hit=1)+`",
    "function in a literal": "${(()=>{window.hit=1})()} \\${window.hit=1}",
    "braces": "{{window.hit=1}} {{{value}}} {{constructor.constructor('window.hit=1')()}}",
    "block": "{{#each value}}{{lookup this 'constructor'}}{{/each}}",
    "value": "${value} {{value}} {value}",
}
"""What a template would compute; the framework's HTML components have templates."""

MARKDOWN = {
    "picture": f"![x]({HOST}/x.png)",
    "reference": f"[x](javascript:window.hit=1) [y]: {HOST}/y",
    "shown link": "<javascript:window.hit=1>",
}
"""What Markdown would make pictures and links of."""

FORMULAS = {
    "link": r"$\href{javascript:window.hit=1}{x}$",
    "text": r"$\text{<img src=x onerror=window.hit=1>}$",
    "command with markup": r"$\frac{<img src=x onerror=window.hit=1>}{2}$",
    "style": r"$\style{background:url(http://192.0.2.1/)}{x}$",
    "class": r"$\class{chip}{x} \cssId{log}{y} \data{event=delete}{z}$",
    "picture": r"$\includegraphics{http://192.0.2.1/x.png}$",
    "colour": r'$\color{red" onmouseover="window.hit=1}{x}$',
    "characters": r"$&#x3C;img src=x onerror=window.hit=1&#x3E;$",
    "definition": r"$\def\a{\a\a}\a \unicode{x3C}$",
}
"""What a renderer of formulas might pass on."""

ADDRESSES = (
    "javascript:window.hit=1",
    "JaVaScRiPt://192.0.2.1/%0Awindow.hit=1",
    "java\tscript:window.hit=1",
    "data:text/html,<script>window.hit=1</script>",
    "vbscript:window.hit",
    "//192.0.2.1/x",
    f'{HOST}/"onmouseover="window.hit=1',
    f"{HOST}/'><img src=x onerror=window.hit=1>",
)
"""Addresses of papers."""

ALL = (*MARKUP.values(), *TEMPLATES.values(), *MARKDOWN.values())
"""All but formulas: what has to be shown letter by letter."""
