"""How fast grading is, each way on the same class and machine in one run: a table of ratios, and JSON.

    python benchmarks/run.py                 a small class, some minutes on an idle machine
    python benchmarks/run.py --students 200  a larger one
    python benchmarks/run.py --skip book     without the named parts, which may be given several times
    python benchmarks/run.py --large 10000   also a class of this size, on all cores, with its memory

The figures go to `benchmarks/measured.json`, from which the book's page on speed is made. What a run leaves out stays
there as it was, with the date on which it was measured.

Measured are notebooks a minute after the first third of the class, without the seconds that each way needs to start
(they stand in a column of their own): stock nbgrader with `check()` run in each notebook's kernel, nbgrader with our
step, `autograder grade` with one and with two processes. The floor is the probes of all checks, run in one warm process
without isolation, without judging, without pages: less than that no grader can need.

Only ratios are worth keeping: seconds depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import course_copies  # noqa: E402
import sample_class  # noqa: E402
from page import MEASURED, PAGE, write_page  # noqa: E402

from autograder.course import Course, Source  # noqa: E402

NAME = "multi_head_attention"
SEED = 7
BINARIES = Path(sys.executable).parent
FLOOR = "the bare probes, one warm process"
STOCK = "nbgrader, stock"


@dataclass
class Row:
    """One way of grading. a_minute: notebooks, once it runs. start: seconds before. memory: MB at most, all processes.

    Memory that processes share is counted once.
    """

    name: str
    a_minute: float
    start: float = 0.0
    memory: int = 0


def write_class(course: Course, source: Source, folder: Path, students: int, *, tree: bool = False) -> Path:
    """The class as notebooks in a folder, or as nbgrader's `submitted/`."""
    released = sample_class.released_notebook(course, source)
    for student, answers in sample_class.numbered(source, students):
        path = folder / student / NAME / f"{NAME}.ipynb" if tree else folder / f"{student}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(sample_class.with_answers(released, answers)), encoding="utf-8")
    return folder


# -- measuring --------------------------------------------------------------------------------------------------------


def _memory_of(process: int) -> int:
    """MB of a process and of all below it; what they share counts once."""
    kilobytes, waiting = 0, [process]
    while waiting:
        one = waiting.pop()
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting.extend(map(int, (task / "children").read_text().split()))
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except (OSError, ValueError):
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes >> 10


def timed(command: list[str], folder: Path) -> tuple[float, int]:
    """Seconds of a command, and the most MB that it took."""
    most = 0
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NBGRADER", "PYTEST"))}
    environment["PATH"] = os.pathsep.join((str(BINARIES), environment.get("PATH", "")))
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=said)
        ended = threading.Event()

        def watch() -> None:
            nonlocal most
            while not ended.wait(1):
                most = max(most, _memory_of(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        code = process.wait()
        seconds = time.perf_counter() - started
        ended.set()
        watcher.join()
        if code not in (0, 1):
            said.seek(0)
            raise SystemExit(f"{' '.join(command)} ended with {code}:\n{said.read().decode(errors='replace')[-2000:]}")
    return seconds, most


@dataclass
class Run:
    """What one run left: seconds and memory of the command, and when each result was there, from its begin."""

    seconds: float
    memory: int
    times: list[float]


def watched(command: list[str], folder: Path, results: Callable[[], list[Path]]) -> Run:
    """Run a command; `results` then lists the files it wrote, one for each submission."""
    begun = time.time()
    seconds, memory = timed(command, folder)
    return Run(seconds, memory, sorted(path.stat().st_mtime - begun for path in results()))


def rate(name: str, run: Run) -> Row:
    """The rate after the first third, in which wrong answers are observed; what came before is the start."""
    warm = len(run.times) // 3
    each = max((run.times[-1] - run.times[warm]) / max(len(run.times) - 1 - warm, 1), 1e-9)
    return Row(name, 60 / each, max(run.times[warm] - (warm + 1) * each, 0.0), run.memory)


# -- the ways ---------------------------------------------------------------------------------------------------------


def floor(source: Source, rounds: int = 5) -> Row:
    """The bare probes: the solved notebook's answers in this process, every request of the plan, nothing else."""
    import torch

    from autograder import probes
    from autograder.grading.submission import Grader

    started = time.perf_counter()
    with Grader.open(source, seed=SEED) as grader:
        plan, cells = grader.recording.plan, [cell for cell in grader.reference if cell.exercises]
    names: dict[str, Any] = {}
    exec(compile(source.assignment.namespace, "<course>", "exec"), names)
    for cell in cells:
        exec(compile(cell.source, "<cell>", "exec"), names)
    known = probes.load_probes(source.assignment.probes)
    torch.set_num_threads(1)

    def once() -> float:
        begun = time.perf_counter()
        for request in plan:
            probes.observe(known, names, request)
        return time.perf_counter() - begun

    once()  # what is slow the first time
    start = time.perf_counter() - started
    each = statistics.median(once() for _ in range(rounds))
    return Row(FLOOR, 60 / each, start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)


def ours(course: Course, source: Source, jobs: int, work: Path, students: int) -> Run:
    """`autograder grade`."""
    folder = work / f"class-{students}"
    if not folder.exists():
        write_class(course, source, folder, students)
    output = Path(tempfile.mkdtemp(dir=work))
    command = [str(BINARIES / "autograder"), "grade", str(folder), "--output", str(output)]
    run = watched(
        [*command, "--jobs", str(jobs), "--seed", str(SEED)], ROOT, lambda: list((output / "students").glob("*.json"))
    )
    if len(run.times) != students:
        raise SystemExit("Some submissions have no result.")
    shutil.rmtree(output)
    return run


def nbgrader(course: Course, source: Source, work: Path, students: int, *, stock: bool) -> Run:
    """`nbgrader autograde`, with our settings or without any."""
    folder = Path(tempfile.mkdtemp(dir=work))
    if stock:
        shutil.copytree(course.released / NAME, folder / "source" / NAME)
    else:
        course_copies.copy_course(folder, ROOT, seed=SEED)
    tree = write_class(course, source, folder / "submitted", students, tree=True)
    if stock:
        for student in tree.iterdir():  # what learners were given lies beside their notebook
            for path in (course.released / NAME).iterdir():
                if path.is_dir():
                    shutil.copytree(path, student / NAME / path.name)
                elif path.suffix != ".ipynb":
                    shutil.copyfile(path, student / NAME / path.name)
    timed([str(BINARIES / "nbgrader"), "generate_assignment", NAME], folder)
    command = [str(BINARIES / "nbgrader"), "autograde", NAME]
    run = watched(command, folder, lambda: list((folder / "autograded").glob("*/*/*.ipynb")))
    if len(run.times) != students:
        raise SystemExit("nbgrader left some submissions out.")
    shutil.rmtree(folder)
    return run


def learners_check(course: Course, source: Source) -> dict[str, float]:
    """Median seconds of a warm `check(NAME)`, by exercise, on a sound answer."""
    from autograder.course import Assignment
    from autograder.notebook_check import try_exercises

    assignment = Assignment.read(course.released / NAME)
    names: dict[str, Any] = {}
    exec(compile(source.assignment.namespace, "<course>", "exec"), names)
    for code in sample_class.solved_answers(source).values():
        exec(compile(code, "<cell>", "exec"), names)
    found = {}
    for exercise in assignment.by_name:
        try_exercises(assignment, names, exercise)
        seconds = []
        for _ in range(5):
            started = time.perf_counter()
            try_exercises(assignment, names, exercise)
            seconds.append(time.perf_counter() - started)
        found[exercise] = statistics.median(seconds)
    return found


def launch(source: Source) -> float:
    """Median seconds of an empty job: a child is had, surrounded, asked nothing, and ended."""
    from autograder.observations import Job
    from autograder.sandbox import open_sandbox

    with open_sandbox(source.assignment.probes, namespace_code=source.assignment.namespace) as sandbox:
        seconds = []
        for _ in range(21):
            started = time.perf_counter()
            sandbox.run(Job((), ()))
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def build_book() -> dict[str, float]:
    """Seconds of building the book: from nothing, with nothing changed, and with one chapter changed."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="book-") as folder:
        copy = Path(folder) / "course"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "_build", "build", "dist", ".jupyter_cache")
        )
        for name in ("from nothing", "nothing changed", "one chapter changed"):
            if name == "one chapter changed":
                chapter = copy / "book" / "merging.md"
                chapter.write_text(chapter.read_text(encoding="utf-8") + "\n", encoding="utf-8")
            found[name], _memory = timed([str(BINARIES / "jupyter-book"), "build", "."], copy)
    return found


def machine() -> dict[str, Any]:
    """What was measured on, and when."""
    import torch

    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "date": datetime.date.today().isoformat(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(pages / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


# -- the report -------------------------------------------------------------------------------------------------------


def lines(rows: list[Row]) -> Iterator[str]:
    """The table: how many times stock nbgrader, and what part of the floor."""
    by_name = {row.name: row for row in rows}
    stock, bare = by_name.get(STOCK), by_name[FLOOR]
    yield f"{'':<36} {'× stock':>8} {'× floor':>8} {'start':>7} {'memory':>9}"
    for row in rows:
        faster = f"{row.a_minute / stock.a_minute:8.1f}" if stock else f"{'–':>8}"
        yield f"{row.name:<36} {faster} {row.a_minute / bare.a_minute:8.2f} {row.start:5.1f} s {row.memory:6} MB"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure every way of grading on one class.")
    parser.add_argument("--students", type=int, default=120, help="notebooks for our own grader (default: 120)")
    parser.add_argument("--stock-students", type=int, default=6, help="notebooks for nbgrader (default: 6)")
    parser.add_argument("--skip", action="append", default=[], choices=("stock", "nbgrader", "grade", "book", "check"))
    parser.add_argument("--large", type=int, default=0, metavar="N", help="also grade a class of this size")
    parser.add_argument("--output", type=Path, default=MEASURED)
    options = parser.parse_args()
    course = Course(ROOT)
    source = course.source(NAME)
    where = machine()
    parts: dict[str, Any] = {}
    rows = [floor(source)]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work = Path(folder)
        if "stock" not in options.skip:
            run = nbgrader(course, source, work, options.stock_students, stock=True)
            rows.append(rate(STOCK, run))
        if "nbgrader" not in options.skip:
            run = nbgrader(course, source, work, 3 * options.stock_students, stock=False)
            rows.append(rate("nbgrader, with our step", run))
        for jobs in sorted({1, where["cores"]}) if "grade" not in options.skip else ():
            rows.append(rate(f"autograder grade --jobs {jobs}", ours(course, source, jobs, work, options.students)))
        print("\n".join(lines(rows)))
        if len(rows) > 1:
            parts["ways"] = {"machine": where, "rows": [asdict(row) for row in rows]}
        if options.large:
            run = ours(course, source, where["cores"], work, options.large)
            parts["large"] = {
                "machine": where, "students": options.large, "seconds": run.seconds, "memory": run.memory,
                "workers": where["cores"],
            }  # fmt: skip
            print(f"A class of {options.large}: {run.seconds:.0f} s, {run.memory} MB for {where['cores']} workers.")
    if "check" not in options.skip:
        parts["launch"] = {"machine": where, "seconds": launch(source)}
        parts["check"] = {"machine": where, "seconds": learners_check(course, source)}
        print(f"A child of the sandbox: {1000 * parts['launch']['seconds']:.0f} ms.")
        for name, seconds in parts["check"]["seconds"].items():
            print(f'check("{name}"), warm: {1000 * seconds:.0f} ms')
    if "book" not in options.skip:
        parts["book"] = {"machine": where, "seconds": build_book()}
        for name, seconds in parts["book"]["seconds"].items():
            print(f"The book, {name}: {seconds:.0f} s.")
    before = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({**before, **parts}, indent=1) + "\n", encoding="utf-8")
    print(f"Written to {options.output}.")
    if options.output == MEASURED and {"ways", "check", "launch", "book"} <= {**before, **parts}.keys():
        write_page({**before, **parts})
        print(f"The book's page: {PAGE}.")


if __name__ == "__main__":
    main()
