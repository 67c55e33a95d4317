"""A picture without words for those who cannot see it stops the build."""

from html.parser import HTMLParser

from sphinx.errors import ExtensionError


class PicturesWithoutWords(HTMLParser):
    """Collects every <img> and every inline <svg role="img"> that says nothing."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "img" and not is_description(attrs.get("alt"), attrs.get("src", "")):
            self.found.append(attrs.get("src", "an image without a source"))
        hidden = attrs.get("aria-hidden") == "true"
        if tag == "svg" and not hidden and not is_description(attrs.get("aria-label"), ""):
            self.found.append("an inline svg")


def is_description(alt, source):
    """True if `alt` is words. A plot without alt text gets its file name as one."""
    alt = (alt or "").strip()
    return " " in alt and alt not in source and not alt.startswith("_images/")


def check_page(app, pagename, templatename, context, doctree):
    parser = PicturesWithoutWords()
    parser.feed(context.get("body") or "")
    if parser.found:
        raise ExtensionError(
            f"{pagename}: no alt text for {', '.join(parser.found)}. Say in a sentence what the picture shows."
        )


def setup(app):
    app.connect("html-page-context", check_page)
