"""Takes out of every page what this book has no use for, or what is wrong, and gives it a theme without scripts.

The theme brings 1.5 MB of icons as a script beside the icon font that it shows anyway, and
Jupyter Book loads the live-code extension (thebe), which would fetch itself from another host.
"""

import re

MATH_SCRIPTS = re.compile(
    r'<script>window\.MathJax = .*?</script>|<script[^>]*src="[^"]*mathjax/startup\.js[^"]*"></script>'
)
# What it says and what a screen reader hears must agree: its words are "Search Ctrl+K", its label "Search".
SEARCH_LABEL = re.compile(r'(<button class="btn search-button-field [^>]*?) aria-label="[^"]*"')
# The title of the book stands in it, outside of every landmark.
SIDEBAR = '<div id="pst-primary-sidebar" '
ICON_SCRIPT = re.compile(r'<script[^>]*src="[^"]*scripts/fontawesome\.js[^"]*"[^>]*>\s*</script>')


def silence_thebe(app):
    for listeners in app.events.listeners.values():
        for listener in list(listeners):
            if getattr(listener.handler, "__module__", "").startswith("sphinx_thebe"):
                listeners.remove(listener)
    app.registry.css_files[:] = [entry for entry in app.registry.css_files if "sphinx-thebe" not in entry[0]]


def tidy(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    for page in app.builder.outdir.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        lighter = SEARCH_LABEL.sub(r"\1", ICON_SCRIPT.sub("", text))
        lighter = lighter.replace(SIDEBAR, SIDEBAR + 'role="complementary" ')
        if 'class="math' not in text:  # Sphinx adds it to a page when a chapter below it has formulas
            lighter = MATH_SCRIPTS.sub("", lighter)
        lighter = lighter.replace('data-theme="auto"', 'data-theme="light"', 1)  # where no script sets it
        if lighter != text:
            page.write_text(lighter, encoding="utf-8")
    for heavy in (app.builder.outdir / "_static" / "scripts").glob("fontawesome.js*"):
        heavy.unlink()


def setup(app):
    app.connect("config-inited", lambda app, config: silence_thebe(app), priority=900)
    app.connect("build-finished", tidy)
