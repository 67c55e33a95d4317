"""Takes the screenshots that the book shows anew, into `book/_static/`.

    make screenshots

They show the course itself: the sample class is graded in a copy of it with a fixed seed, and Chromium looks at the
panel below a check, a feedback page, the class report, and nbgrader's formgrader.
"""

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "book" / "_static"
sys.path.insert(0, str(ROOT / "tests"))

import sample_class  # noqa: E402
from book_support import CHROMIUM, chromium  # noqa: E402
from course_copies import copy_course, nbgrader, run  # noqa: E402
from jupyter_support import jupyter  # noqa: E402

NAME = "multi_head_attention"
STUDENT = "sample-07"  # some exercises right, some wrong, each in a way that people know
WRONG_SPLIT = "def split_heads(x, h):\n    B, T, d_model = x.shape\n    return x.view(B, h, T, d_model // h)\n"


def graded_class(folder):
    """A copy of the course in which the sample class is graded, by our own command and by nbgrader's."""
    course = copy_course(folder, ROOT, seed=1)
    nbgrader(folder, "generate_assignment", NAME, "--force")
    sample_class.build(course, folder / "submitted", nbgrader=True)
    nbgrader(folder, "autograde", NAME)
    run(folder, "autograder", "grade", "submitted", "--output", "grades", "--seed", "1", expected=1)
    run(folder, "autograder", "report", "grades")
    return course


def panel_page(course, folder):
    """The learner's notebook with a wrong `split_heads`, run up to its check: the cell with the panel, as a page."""
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter
    from nbformat import reads

    released = json.loads((course.released / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    notebook = reads(json.dumps(sample_class.with_answers(released, {"split_heads": WRONG_SPLIT})), 4)
    wanted = {"imports", "split_heads", "check-split_heads"}
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id in wanted]
    NotebookClient(notebook, resources={"metadata": {"path": course.released / NAME}}).execute()
    notebook.cells = notebook.cells[-1:]
    page = folder / "panel.html"
    page.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    return page


def take(browser, address, name, height, ready="body", width=930, clicks=()):
    """The top of a page as book/_static/NAME.png, after some clicks."""
    tab = browser.new_page(viewport={"width": width, "height": height})
    tab.route("**/*", lambda route: route.continue_() if is_here(route.request.url) else route.abort())
    tab.goto(address)
    tab.wait_for_selector(ready)
    for place in clicks:
        tab.click(place)
    tab.wait_for_timeout(500)  # what fades in
    tab.screenshot(path=STATIC / f"{name}.png")
    tab.close()
    print(f"book/_static/{name}.png: {(STATIC / f'{name}.png').stat().st_size // 1000} kB")


def is_here(address):
    """Screenshots ask no other host for anything."""
    return address.startswith(("file:", "data:", "blob:", "http://127.0.0.1"))


def main():
    if CHROMIUM is None:
        sys.exit("No Chromium on this machine: install chromium, then take the screenshots.")
    with tempfile.TemporaryDirectory(prefix="screenshots-") as temporary, chromium() as browser:
        folder = Path(temporary)
        course = graded_class(folder)
        take(browser, panel_page(course, folder).as_uri(), "check-panel", 585, ".ag")
        take(browser, (folder / "grades" / "students" / f"{STUDENT}.html").as_uri(), "feedback-page", 760)
        take(browser, (folder / "grades" / "report.html").as_uri(), "class-report", 900)
        with jupyter("server", folder, folder / "settings") as address:
            page = f"{address}/formgrader/manage_submissions/{NAME}"
            broken_first = ["th:has-text('Status')"]
            take(browser, page, "formgrader", 600, "table tbody a", 1080, broken_first)


if __name__ == "__main__":
    main()
