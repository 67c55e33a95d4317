"""Builds the solutions edition into `_build/solutions/`: the learners' book and one chapter more.

    python book/_publish/edition.py

Its settings and its order are those of the learners' edition, read from `_config.yml` and `_toc.yml`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = {
    "caption": "Solutions",
    "chapters": [{"file": "book/solutions_edition/line-by-line"}],
}


def settings_of_the_solutions_edition(root):
    """(config, table of contents) as dicts."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    extensions = config["sphinx"]["local_extensions"]
    config["sphinx"]["local_extensions"] = {name: str(root / folder) for name, folder in extensions.items()}
    config["title"] += ": solutions edition"
    config["sphinx"]["config"]["course_book_edition"] = "solutions"
    toc["parts"].append(CHAPTER)
    return config, toc


def build(root=ROOT):
    """Build it as strictly as the learners' edition. Returns the exit code."""
    work = root / "build" / "solutions-edition"
    work.mkdir(parents=True, exist_ok=True)
    names = ("_config.yml", "_toc.yml")
    for name, settings in zip(names, settings_of_the_solutions_edition(root), strict=True):
        text = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
        if not (work / name).is_file() or (work / name).read_text(encoding="utf-8") != text:
            (work / name).write_text(text, encoding="utf-8")
    tool = Path(sys.executable).with_name("jupyter-book")
    options = ["--config", work / "_config.yml", "--toc", work / "_toc.yml", "--path-output", work]
    code = subprocess.call([tool, "build", ".", "-n", "-W", "--keep-going", *options], cwd=root)
    if code == 0:
        finished = root / "_build" / "solutions"
        shutil.rmtree(finished, ignore_errors=True)
        shutil.copytree(work / "_build" / "html", finished)
        print(f"The solutions edition: {finished / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(build())
