"""The commands, and nothing else: what is asked is read here, and what came of it is said here."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from autograder.course import Assignment, Course, CourseError, Source
from autograder.interrupting import INTERRUPTED, StoppedIn, stopped
from autograder.results import SubmissionResult

if TYPE_CHECKING:
    from autograder.grading.finding import Found

OK, SOME_FAILED, WRONG_USAGE = 0, 1, 2
VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")  # Gradescope's words


class WrongUsage(Exception):
    """The command cannot be carried out as it was given. The message is a sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit code: 0 well, 1 some submission or check failed, 2 wrong usage."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that this terminal lacks letters for ends nothing
    try:
        try:
            return _run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where what goes wrong can be told
    except StoppedIn as problem:
        print(f"autograder: {problem}", file=sys.stderr)
        return INTERRUPTED
    except KeyboardInterrupt:
        print(stopped(sys.argv[1:] if arguments is None else arguments), file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return SOME_FAILED
    except OSError as problem:
        return _unwritten(problem)


def _unwritten(problem: OSError) -> int:
    """Say what could not be written or read, where that can be said. Returns the exit code."""
    what, advice = problem.filename or "A file", "Mend that and try again."
    verb = "read or written"
    try:
        print(flush=True)  # the error does not say which file it is of
    except OSError:
        what, advice = "What this command prints", "What it wrote into files is whole. Print to another place."
        verb = "written"
        _discard(sys.stdout)
    try:
        print(f"autograder: {what} cannot be {verb}: {problem.strerror or problem}. {advice}", file=sys.stderr)
    except OSError:
        _discard(sys.stderr)
    return SOME_FAILED


def _discard(stream: TextIO) -> None:
    """What is still to be written to a stream goes nowhere, so that Python does not try once more as it ends."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _run(arguments: Sequence[str] | None) -> int:
    parser = _parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        parser.print_help(sys.stderr)
        return WRONG_USAGE
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        options.parser.refuse(unknown)
    from autograder.grading.finding import NothingFound
    from autograder.grading.roster import RosterError
    from autograder.notebooks import Unreadable

    try:
        return int(options.run(options))
    except (CourseError, NothingFound, RosterError, Unreadable, WrongUsage) as problem:
        print(f"autograder: {problem}", file=sys.stderr)
        return WRONG_USAGE


class _Parser(argparse.ArgumentParser):
    """Says in one sentence what is wrong with a call, and what was probably meant."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.set_defaults(parser=self)
        self._given: list[str] = []

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse has it."""
        self._given = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Ends the program over arguments that nothing takes."""
        option = next((one.partition("=")[0] for one in unknown if one.startswith("-")), None)
        if option is not None:
            known = [name for name in self._option_string_actions if name.startswith("--")]
            self._end(f"There is no option {option}.{_meant(option, known)}")
        self._end(f"It takes no further argument: what is {unknown[0]}?")

    def error(self, message: str) -> NoReturn:
        """Ends the program. An option that is not known comes first: what is missing may be what it was to give."""
        names = list(self._option_string_actions)
        for one in self._given:
            option = one.partition("=")[0]
            if option.startswith("--") and len(option) > 2 and not any(name.startswith(option) for name in names):
                self.refuse([option])
        self._end(message[:1].upper() + message[1:] + ("" if message.endswith((".", "?")) else "."))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = None if action.choices is None else [str(choice) for choice in action.choices]
        if choices is None or value in choices:
            return
        what = f"no {action.option_strings[-1] if action.option_strings else action.dest} {value}"
        if isinstance(action, argparse._SubParsersAction):
            what = f"no command {value}"
        raise argparse.ArgumentError(None, f"There is {what}.{_meant(value, choices) or _one_of(choices)}")

    def _end(self, sentence: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {sentence} `{self.prog} --help` says what there is.\n")


def _meant(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return f" Did you mean {near[0]}?" if near else ""


def _one_of(choices: Sequence[str]) -> str:
    return f" Expected one of {', '.join(choices)}."


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="autograder", description="Release, check and grade a course on PyTorch.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    release = commands.add_parser("release", help="write exercises/ and the learners' zip in dist/")
    release.add_argument("--assignment", metavar="NAME")
    release.set_defaults(run=_release)

    check = commands.add_parser("check", help="try the recorded checks on a notebook, as its learner sees them")
    check.add_argument("notebook", type=_path, metavar="NOTEBOOK")
    check.add_argument("exercises", nargs="*", default=[], metavar="EXERCISE")
    check.add_argument("--trace", action="store_true", help="also follow the inputs through the named exercise's code")
    check.set_defaults(run=_check)

    grade = commands.add_parser("grade", help="grade notebooks, folders of them, nbgrader's tree, or zips of either")
    grade.add_argument("paths", nargs="+", type=_path, metavar="PATH")
    grade.add_argument("--output", type=_path, metavar="DIR", help="where grades.csv and students/ are written")
    grade.add_argument(
        "--jobs", type=_positive, metavar="N", help="processes that grade at once (default: one per core)"
    )
    grade.add_argument("--seed", type=_seed, metavar="N", help="the run's seed (default: drawn, and recorded)")
    grade.add_argument(
        "--resume",
        action="store_true",
        help="go on in DIR with its seed: who is done stays, but what has changed since is judged again",
    )
    grade.add_argument("--gradebook", action="store_true", help="write the grades into nbgrader's gradebook as well")
    grade.add_argument("--only", metavar="STUDENT", help="print one student's result; writes nothing")
    grade.add_argument("--check", metavar="NAME", help="with --only: print this check or exercise alone")
    grade.add_argument("--assignment", metavar="NAME")
    grade.add_argument(
        "--scheduler", default="", metavar="ADDRESS", help="grade on a Dask cluster, such as tcp://10.0.0.5:8786"
    )
    grade.add_argument("--json", action="store_true", help="say what came of it as one JSON object, for programs")
    grade.add_argument(
        "--roster", type=_path, metavar="CSV", help="who is in the class: names as your system exports them"
    )
    grade.add_argument(
        "--unsandboxed", action="store_true", help="run submissions without isolation: only those you trust"
    )
    grade.add_argument(
        "--cuda",
        action="store_true",
        help="afterwards, run submissions on this machine's GPU and report whether it gives what the CPU gives, "
        "without points; their code then reaches the GPU's devices, and through them its driver in the kernel",
    )
    grade.set_defaults(run=_grade)

    report = commands.add_parser("report", help="the class report as one HTML page")
    report.add_argument("folder", type=_path, metavar="DIR")
    report.add_argument("--hide-names", action="store_true", help="leave students' names out")
    report.set_defaults(run=_report)

    export = commands.add_parser("export", help="grades for the systems that instructors use")
    export.add_argument("folder", type=_path, metavar="DIR")
    export.add_argument("--to", required=True, choices=("csv", "canvas", "moodle", "gradescope"))
    export.add_argument("--feedback", action="store_true", help="also the students' pages, as a zip that it takes")
    export.add_argument(
        "--submissions",
        nargs="+",
        type=_path,
        default=[],
        metavar="PATH",
        help="what the system handed out, as it was graded: its names hold the numbers by which it knows students",
    )
    export.add_argument("--roster", type=_path, metavar="CSV", help="the roster of that run, where it had one")
    export.set_defaults(run=_export)

    package = commands.add_parser("package", help="the autograder that Gradescope runs, as the zip to upload there")
    package.add_argument("system", choices=("gradescope",))
    package.add_argument("--assignment", metavar="NAME")
    package.add_argument(
        "--visibility",
        choices=VISIBILITIES,
        default="visible",
        help="when students see their results (default: at once)",
    )
    package.add_argument(
        "--unsandboxed",
        action="store_true",
        help="where the container there cannot isolate, grade all the same, as a user who cannot read the course",
    )
    package.set_defaults(run=_package)

    verify = commands.add_parser("verify", help="prove the course: reference, stubs, wrong and right answers, leaks")
    verify.add_argument("--assignment", metavar="NAME")
    verify.add_argument("--seeds", type=_positive, default=2, metavar="N", help="how many seeds (default: 2)")
    verify.add_argument("--unsandboxed", action="store_true")
    verify.set_defaults(run=_verify)

    doctor = commands.add_parser("doctor", help="what this machine offers")
    doctor.set_defaults(run=_doctor)
    return parser


def _path(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected the name of a file or folder, got an empty one")
    return Path(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, got {text}")
    return int(text)


def _seed(text: str) -> int:
    from autograder.grading.class_run import LARGEST_SEED

    if not text.isdecimal() or int(text) >= LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {LARGEST_SEED - 1}, got {text}")
    return int(text)


def _course() -> Course:
    return Course.find(Path.cwd())


def _release(options: argparse.Namespace) -> int:
    from autograder.release import release

    course = _course()
    names = [options.assignment] if options.assignment else list(course.sources)
    for name in names:
        print(release(course, name).sentence)
    return OK


# -- the learner's command --------------------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> int:
    from autograder.notebook_check import CheckError
    from autograder.notebook_file import check_file
    from autograder.notebooks import Unreadable

    try:
        checked = check_file(
            options.notebook, _assignment_for(options.notebook), options.exercises, trace=options.trace
        )
    except CheckError as problem:
        raise WrongUsage(str(problem)) from None
    except Unreadable as problem:
        raise WrongUsage(f"{options.notebook}: {problem}") from None
    for one in checked:
        print(one.text(options.notebook))
    return OK if all(one.passed for one in checked) else SOME_FAILED


def _assignment_for(notebook: Path) -> Assignment:
    """The checks beside the notebook, or those of the course that the working directory belongs to."""
    from autograder.notebook_check import find_assignment

    try:
        return find_assignment(notebook.absolute().parent)
    except CourseError as problem:
        try:
            course = _course()
            return find_assignment(course.released / course.source().assignment.name)
        except CourseError:
            raise problem from None


# -- the instructor's commands ----------------------------------------------------------------------------------------


def _grade(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from autograder.grading import class_run
    from autograder.grading.finding import find
    from autograder.grading.roster import read_roster
    from autograder.sandbox import NoIsolation, SandboxBroken

    course = _course()
    source = course.source(options.assignment)
    name = source.assignment.name
    if options.check and not options.only:
        raise WrongUsage("--check goes with --only STUDENT.")
    if options.resume and not options.output:
        raise WrongUsage("--resume needs --output DIR, the folder of the run to finish.")
    if options.output and not options.only:
        _refuse_output(options.output, course)
    if options.gradebook:
        try:
            from autograder.gradebook import check_gradebook
        except ImportError as problem:
            raise WrongUsage(
                f"--gradebook needs nbgrader, which is not here ({problem}). Install autograder[instructor]."
            ) from None
        check_gradebook(course)
    others: list[Path] = []
    found = find(options.paths, name, read_roster(options.roster) if options.roster else None, others.append)
    if others:
        names = ", ".join(path.name for path in others[:MOST_TOLD]) + (", …" if len(others) > MOST_TOLD else "")
        print(f"autograder: passed over, because these are no notebooks (.ipynb): {names}.", file=sys.stderr)
    seed = options.seed
    if options.resume:
        recorded = class_run.read_seed(options.output)
        if recorded is None:
            drawn = "" if seed is not None else ", with a drawn seed"
            print(f"{options.output} holds no run to finish; a new one begins{drawn}.", file=sys.stderr)
        elif seed is not None and seed != recorded:
            raise WrongUsage(f"The run in {options.output} has seed {recorded}; leave --seed out to finish it.")
        seed = recorded if recorded is not None else seed
    if seed is None:
        seed = class_run.draw_seed()
    before = class_run.read_seed(options.output) if options.output and not options.only else None
    if before not in (None, seed):
        print(
            f"autograder: {options.output} holds a run with seed {before}. The students of this run are graded anew "
            f"with seed {seed} and replaced; with --seed {before} the inputs would be the same.",
            file=sys.stderr,
        )
    if options.unsandboxed:
        print(
            "autograder: submissions run WITHOUT isolation, with your own rights, as --unsandboxed asks.",
            file=sys.stderr,
        )
    try:
        if options.only:
            code = _grade_only(options, source, found, seed)
            if options.cuda:
                _report_on_gpu(options, source, [one for one in found if one.student == options.only], seed)
            return code
        if not options.output:
            raise WrongUsage("Name the folder for the results: --output DIR.")
        settings = class_run.Settings(
            course.root,
            name,
            options.output.absolute(),
            seed,
            options.jobs or _cores(),
            options.unsandboxed,
            options.scheduler,
        )
        tally = _Tally()
        with tqdm(total=len(found), unit="submission", disable=not sys.stderr.isatty(), leave=False) as bar:

            def tell(result: SubmissionResult, done_before: bool) -> None:
                tally.hear(result, done_before)
                bar.update()

            class_run.grade_class(found, settings, tell, resume=options.resume)
        tally.others = class_run.others_in(found, settings)
        if options.gradebook:
            from autograder.gradebook import write_gradebook

            write_gradebook(course, class_run.results_of(found, settings))
        if options.cuda:
            _report_on_gpu(options, source, found, seed)
    except (NoIsolation, SandboxBroken, class_run.RunFailed) as problem:
        raise WrongUsage(str(problem)) from None
    return tally.say(seed, options.output, as_json=options.json)


COURSES_OWN = ("solutions", "exercises", "book", "autograder")


def _refuse_output(folder: Path, course: Course) -> None:
    """Raises `WrongUsage` where results cannot or must not be written, before anything is graded."""
    real, root = Path(os.path.realpath(folder)), Path(os.path.realpath(course.root))
    own = next((part for part in COURSES_OWN if real.is_relative_to(root / part)), None)
    why = f"{folder} lies in the course's own folder {own}" if own else ""
    if real == root:
        why = f"{folder} is the course's own folder"
    elif real == real.parent:
        why = f"{folder} is the root of all files"
    if why:
        raise WrongUsage(f"--output must be a folder for results alone; {why}. Name another, such as --output grades.")
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise WrongUsage(f"--output must be a folder, or a new name for one; {there} is none. Name another.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise WrongUsage(f"--output: you may not write into {there}. Name another folder, or change its permissions.")


def _report_on_gpu(options: argparse.Namespace, source: Source, found: Sequence[Found], seed: int) -> None:
    """Say for each student whether a GPU gives what the CPU gives. It changes no grade."""
    from autograder.grading.on_gpu import NoGpu, on_gpu, write_findings

    stream = sys.stderr if options.json else sys.stdout
    try:
        findings = list(on_gpu(source, found, seed=seed, unsandboxed=options.unsandboxed))
    except NoGpu as problem:
        print(f"autograder: {problem}. Grades do not depend on it.", file=sys.stderr)
        return
    apart = [one for one in findings if one.finding]
    print(
        f"On the GPU {len(findings) - len(apart)} of {len(findings)} answers give what they give on the CPU.",
        file=stream,
    )
    for one in apart[:MOST_TOLD]:
        print(f"  {one.student}, {one.exercise}: {one.finding}", file=stream)
    if options.output and not options.only:
        try:
            print(f"All of them: {write_findings(options.output, findings)}", file=stream)
        except OSError as problem:
            raise WrongUsage(f"A file in {options.output} cannot be written: {problem.strerror or problem}.") from None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _grade_only(options: argparse.Namespace, source: Source, found: Sequence[Found], seed: int) -> int:
    from autograder.grading.class_run import grade_found
    from autograder.grading.submission import Grader
    from autograder.pages.verdict import verdict_text

    own = [one for one in found if one.student == options.only]
    if not own:
        known = ", ".join(one.student for one in found[:5])
        raise WrongUsage(f"No submission of {options.only} was found. Found: {known}{', …' if len(found) > 5 else ''}.")
    with Grader.open(source, seed=seed, unsandboxed=options.unsandboxed) as grader:
        result = grade_found(grader, own[0])
    try:
        print(verdict_text(result, options.check, source.assignment.chapter_link))
    except LookupError:
        raise WrongUsage(
            f"There is no check or exercise {options.check}. The exercises are {', '.join(source.assignment.by_name)}; "
            f"their checks are named in `autograder grade {options.paths[0]} --only {options.only}`."
        ) from None
    return OK if result.status == "graded" else SOME_FAILED


MOST_TOLD = 20


@dataclass
class _Tally:
    """What a run came to, as far as it is told: a class may be of any size, so no result is kept."""

    graded: int = 0
    failed: int = 0
    skipped: int = 0
    moved: int = 0  # students of whom some score is not what an earlier run gave
    points: float = 0.0
    max_score: float = 0.0
    others: Sequence[str] = ()  # results in the folder that are not of this run
    told: list[tuple[str, str]] = field(default_factory=list)  # the first that could not be graded, with reasons

    def hear(self, result: SubmissionResult, done_before: bool) -> None:
        self.skipped += done_before
        self.moved += bool(result.moved) and not done_before
        if result.status == "graded" and result.score is not None:
            self.graded += 1
            self.points += result.score
            self.max_score = result.max_score
        else:
            self.failed += 1
            if len(self.told) < MOST_TOLD:
                self.told.append((result.student, result.reason or ""))

    def say(self, seed: int, output: Path, *, as_json: bool) -> int:
        """Print it; returns the exit code."""
        if as_json:
            mean = round(self.points / self.graded, 2) if self.graded else None
            table = {
                "graded": self.graded, "failed": self.failed, "done_before": self.skipped, "moved": self.moved,
                "others": len(self.others),
                "mean": mean, "seed": seed,
                "grades": str(output / "grades.csv"), "students": str(output / "students"),
            }  # fmt: skip
            print(json.dumps(table))
            return SOME_FAILED if self.failed else OK
        before = f", {self.skipped} of them done before" if self.skipped else ""
        print(f"{self.graded} graded, {self.failed} could not be graded{before} (seed {seed}).")
        if self.graded:
            print(f"Mean score {self.points / self.graded:.1f} of {self.max_score:g}.")
        for student, reason in sorted(self.told):
            print(f"  {student}: {reason}")
        if self.moved:
            print(f"Scores moved: of {self.moved}. Which, and why: `autograder report {output}`.")
        if self.failed > len(self.told):
            print(f"  … and {self.failed - len(self.told)} more: see the column `reason`.")
        if self.others:
            names = ", ".join(self.others[:5]) + (", …" if len(self.others) > 5 else "")
            print(
                f"The folder also holds results of students who are not among these: {names}. They stand in grades.csv "
                "too. Whoever is not to stand there: remove their files in students/ and run again with --resume."
            )
        print(f"Grades: {output / 'grades.csv'}   Pages: {output / 'students'}")
        return SOME_FAILED if self.failed else OK


def _report(options: argparse.Namespace) -> int:
    from autograder.grading.class_run import assignment_of
    from autograder.grading.writing import read_results, write_whole
    from autograder.pages.report import report_html

    assignment = assignment_of(options.folder, _course())
    page = options.folder / "report.html"
    text = report_html(
        read_results(options.folder),
        title=assignment.title,
        hide_names=options.hide_names,
        chapter_link=assignment.chapter_link,
    )
    try:
        write_whole(page, text)
    except OSError as problem:
        raise WrongUsage(
            f"{page} cannot be written: {problem.strerror or problem}. Make room or change the folder's permissions."
        ) from None
    print(f"Class report: {page}")
    return OK


def _export(options: argparse.Namespace) -> int:
    from autograder.exporting import ExportError, export, write_moodle_worksheet
    from autograder.feedback_zips import names_in, write_feedback
    from autograder.grading.class_run import assignment_of
    from autograder.grading.finding import find
    from autograder.grading.roster import read_roster
    from autograder.grading.writing import read_rows

    assignment = assignment_of(options.folder, _course())
    roster = read_roster(options.roster) if options.roster else None
    try:
        found = find(options.submissions, assignment.name, roster) if options.submissions else []
        names = names_in(found, options.to) if found and options.to != "csv" else {}
        numbers = {student: name.number for student, name in names.items()}
        rows = read_rows(options.folder)
        lacking = [row["student"] for row in rows if row["status"] == "graded" and row["student"] not in names]
        if names and len(lacking) == sum(row["status"] == "graded" for row in rows):
            raise WrongUsage(
                f"None of the students in {options.folder} is among these submissions. Name those that were graded, "
                "and the roster if that run had one."
            )
        print(export(rows, options.to, options.folder, title=assignment.title, numbers=numbers))
        if options.to == "moodle" and numbers:
            worksheet = options.folder / "export-moodle-worksheet.csv"
            students = write_moodle_worksheet(rows, worksheet, numbers)
            print(f"Wrote the assignment's grading worksheet, {students} students, to {worksheet}.")
        if options.feedback:
            print(write_feedback(options.folder, assignment, options.to, names))
    except ExportError as problem:
        raise WrongUsage(str(problem)) from None
    if names and lacking:
        told = ", ".join(lacking[:MOST_TOLD]) + (", …" if len(lacking) > MOST_TOLD else "")
        print(f"autograder: not among these submissions, so without a number: {told}.", file=sys.stderr)
        return SOME_FAILED
    return OK


def _package(options: argparse.Namespace) -> int:
    from autograder.gradescope.packaging import package

    course = _course()
    source = course.source(options.assignment)
    print(package(course, source, unsandboxed=options.unsandboxed, visibility=options.visibility))
    return OK


def _verify(options: argparse.Namespace) -> int:
    from autograder.sandbox import SandboxError
    from autograder.verifying import verify

    course = _course()
    names = [options.assignment] if options.assignment else list(course.sources)
    holds = True
    for name in names:
        try:
            verdict = verify(
                course,
                name,
                range(1, options.seeds + 1),
                lambda text: print(text, file=sys.stderr),
                options.unsandboxed,
            )
        except SandboxError as problem:
            raise WrongUsage(str(problem)) from None
        for sentence in verdict.proven:
            print(f"{name}: {sentence}")
        for sentence in verdict.broken:
            print(f"{name}: BROKEN: {sentence}")
        holds = holds and verdict.holds
    print("The course holds." if holds else "The course does not hold.")
    return OK if holds else SOME_FAILED


def _doctor(options: argparse.Namespace) -> int:
    from autograder.doctor import findings

    for name, finding in findings():
        print(f"{name:<12} {finding}", flush=True)  # line by line: some take seconds
    return OK
