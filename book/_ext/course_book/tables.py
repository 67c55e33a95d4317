"""Every wide table scrolls inside a box of its own that has a name, and rows have headers where columns leave room.

The theme makes such a box reachable with the tab key where it scrolls, and gives it no name. Here it is named after
its caption or its column headers, so that a screen reader says which table it is. A corner without words is no header;
below one, the first cell of a row says what the row is about.
"""

import html
import re

BOX = re.compile(r'(<div class="pst-scrollable-table-container[^"]*")>\s*(<table.*?</table>)', re.S)
CORNER = re.compile(r"(<tr[^>]*>\s*)<th\b[^>]*>(?:\s|</?p>)*</th>")
FIRST_CELL = re.compile(r"(<tr[^>]*>\s*)<td([^>]*)>(.+?)</td>", re.S)
CAPTION = re.compile(r"<caption[^>]*>(.*?)</caption>", re.S)
COLUMN_HEADER = re.compile(r'<th\b(?![^>]*scope="row")[^>]*>(.*?)</th>', re.S)


def words(markup):
    """The text of a piece of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", markup)).split())


def name_box(match):
    box, table = match.groups()
    if CORNER.search(table):
        table = FIRST_CELL.sub(r'\1<th scope="row"\2>\3</th>', table)
        table = CORNER.sub(r"\1<td></td>", table)
    named = CAPTION.findall(table) or COLUMN_HEADER.findall(table)
    return f'{box} role="region" aria-label="{html.escape(", ".join(map(words, named)))}">{table}'


def name_tables(app, pagename, templatename, context, doctree):
    if context.get("body"):
        context["body"] = BOX.sub(name_box, context["body"])


def setup(app):
    app.connect("html-page-context", name_tables)
