"""Whatever bytes arrive: the reader refuses with its one exception or reads, and so does the parser of replies.

The quick profile runs with every change. FUZZ_SECONDS sets how long the long one goes on (an hour unless told).
"""

from __future__ import annotations

import json
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder import notebooks, wire
from autograder.course import Assignment, Exercise
from autograder.observations import Job, Outcome, Problem, Reply
from autograder.sandbox.running import _Heard, _OutOfMemory, _Readings

EXAMPLES = "FUZZ_EXAMPLES"
DRAWN = settings(
    max_examples=int(os.environ.get(EXAMPLES, "120")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
ASSIGNMENT = Assignment(
    folder=Path("nowhere"),
    name="demo",
    title="Demo",
    exercises=(Exercise("double", "Double", 4.0, ("double",)), Exercise("masks", "Masks", 6.0, ("one", "two"))),
    chapters={},
)

# What kept the reader or the parser from ending well once, or comes close to it.
NOTEBOOKS = [
    b'{"cells": [{"cell_type": "code", "source": "def double(x): return x"}]}',
    b'{"cells": [{"cell_type": ["code"], "source": {"a": 1}, "metadata": []}]}',
    b'{"cells": {"0": 1}}',
    b'{"worksheets": [{"cells": [[]]}, null, 3]}',
    b'{"cells": [{"cell_type": "raw", "source": "def double(:"}, {"source": "double = 1"}]}',
    b'{"cells": [{"cell_type": "code", "source": ["def double(x):\\n", 3, null, " return x"]}]}',
    b'{"cells": [{"cell_type": "code", "source": "def double(x):\\u0000 return \\ud800"}]}',
    b'\xff\xfe{\x00"\x00',
    b"\xef\xbb\xbf\xef\xbb\xbf{}",
    b"\x00" * 40,
    b'{"cells": [' + b'{"cell_type": "code", "source": "double = ' + b"(" * 300 + b'"}]}',
    b'{"cells": [{"cell_type": "code", "source": "double = ' + b"-" * 20_000 + b'1"}]}',
    b'{"cells": 1e999, "cells": []}',
    b'{"cells": [{"cell_type": "code", "source": "double = 1' + b"0" * 6000 + b'"}]}',
    b'{"nbformat": ' + b"9" * 6000 + b', "cells": []}',
]
REPLIES = [
    wire.encode({"problems": [None], "stand_ins": None, "defined": ["a"]}),
    wire.encode([[0, {"value": {"x": torch.ones(2)}}]]),
    wire.encode([[True, {"value": 1}]]),
    wire.encode([[0.0, {"value": 1}]]),
    wire.encode([[0, {"problem": {"kind": "E", "message": "m", "lines": [[0, 1, "x"]]}}]]),
    wire.encode({"problems": [{"kind": 1, "message": "m", "lines": []}], "stand_ins": None, "defined": []}),
    wire.encode(["cell", 0]),
    wire.encode(["ran", 0, None]),
    wire.OUT_OF_MEMORY,
    b"",
]

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=12), inner, max_size=5),
    max_leaves=20,
)
words = st.sampled_from(
    ["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "worksheets", "input", "code", "raw", "double"]
)
cell_like = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "raw", "markdown", "heading"]) | plain,
        "source": st.sampled_from(["def double(x):\n    return 2 * x\n", "%%bash\ndouble = 1", "one, two = 1"]) | plain,
        "input": plain,
        "metadata": st.fixed_dictionaries({}, optional={"nbgrader": st.dictionaries(words, plain) | plain}) | plain,
        "outputs": plain,
    },
)
notebook_like = st.fixed_dictionaries(
    {}, optional={"cells": st.lists(cell_like | plain, max_size=6) | plain, "worksheets": plain, "nbformat": plain}
)


def reads(data: bytes) -> None:
    """The reader's promise."""
    try:
        submission = notebooks.read(data, ASSIGNMENT)
    except notebooks.Unreadable as problem:
        assert str(problem).endswith(".") and "\n" not in str(problem)[:500]
        return
    for cell in submission.cells:
        assert "\0" not in cell.source
        cell.source.encode("utf-8")
        assert set(cell.exercises) <= {"double", "masks"}
        notebooks.without_layout(cell.source)
        assert notebooks.defines(notebooks.definitions(cell.source)) <= notebooks.defines(cell.source)
    notebooks.off_limits_calls(submission.cells, ["nn.Bad"])
    assert notebooks.changed_cells(submission.cells, submission.cells) == []


def decodes(data: bytes) -> None:
    """The parser's promise: plain data, or Malformed."""
    try:
        value = wire.decode(data)
    except wire.Malformed:
        return
    assert wire.encode(value)


def hears(messages: list[bytes], careful: bool) -> None:
    """The same for a whole conversation, whatever was asked."""
    ours, theirs = socket.socketpair()
    job = Job(["x = 1", "y = 1"], [0, 1, 2], "z = 1", careful)
    heard = _Heard(job, ["a", "a", "b"], _Readings())

    def talk() -> None:
        try:
            for message in messages:
                theirs.sendall(message)
        except OSError:
            pass
        theirs.close()

    speaker = threading.Thread(target=talk)
    speaker.start()
    try:
        heard.listen(ours, 1 << 20, time.monotonic() + 5)
    except (wire.Malformed, wire.Closed, _OutOfMemory):
        pass
    finally:
        ours.close()
        speaker.join()
    outcome = heard.outcome(None)
    assert isinstance(outcome, Outcome)
    assert all(one is None or isinstance(one, Problem) for one in outcome.problems)
    assert all(isinstance(one, Reply) for one in outcome.replies.values()) and set(outcome.replies) <= {0, 1, 2}
    step, _ = heard.standing([(2.0, 0.0)] * 7, believed=True)
    assert step is None or step[0] in ("cell", "request")


def framed(message: bytes) -> bytes:
    return struct.pack("<Q", len(message)) + message


@pytest.mark.parametrize("data", NOTEBOOKS, ids=lambda data: repr(data[:40]))
def test_notebooks_that_mattered(data: bytes) -> None:
    reads(data)


@pytest.mark.parametrize("careful", [False, True])
def test_replies_that_mattered(careful: bool) -> None:
    for first in REPLIES:
        decodes(first)
        for second in REPLIES:
            hears([framed(first), framed(second), framed(second)], careful)


@DRAWN
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    reads(data)
    decodes(data)


@DRAWN
@given(notebook_like | plain)
def test_anything_in_json_is_read_or_refused(value: Any) -> None:
    reads(json.dumps(value).encode())


@DRAWN
@given(plain)
def test_any_plain_data_comes_back(value: Any) -> None:
    data = wire.encode(value)
    assert wire.encode(wire.decode(data)) == data


@DRAWN
@given(plain, st.booleans())
def test_any_conversation_ends(value: Any, careful: bool) -> None:
    hears([framed(wire.encode(value)), framed(wire.encode([value, 0]))], careful)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The same bytes after some accidents."""
    made = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        place = draw.randrange(len(made) + 1)
        kind = draw.random()
        if kind < 0.35 and place < len(made):
            made[place] = draw.randrange(256)
        elif kind < 0.55:
            del made[place : place + draw.randint(1, 30)]
        elif kind < 0.75:
            made[place:place] = draw.choice(
                [b'"', b"{", b"[", b"]", b"}", b"\\ud800", b"\0", b"$t", b"1e9", b"null", b","]
            )
        else:
            start = draw.randrange(len(made) + 1)
            made[place:place] = made[start : start + draw.randint(1, 40)]
    return bytes(made)


def mutate_for(seconds: float, seed: int) -> int:
    """Mutations of what mattered, until the time is up. Returns how many."""
    draw = random.Random(seed)
    good = json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "metadata": {"nbgrader": {"grade_id": "double"}},
                    "source": "def double(x):\n    return 2 * x\n",
                }
            ]
        }
    )
    corpus = [*NOTEBOOKS, good.encode()]
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until:
        reads(mutated(draw.choice(corpus), draw))
        decodes(mutated(draw.choice(REPLIES), draw))
        if count % 4 == 0:
            messages = [framed(mutated(draw.choice(REPLIES), draw)) for _ in range(draw.randint(1, 5))]
            hears(
                [mutated(b"".join(messages), draw) if draw.random() < 0.3 else b"".join(messages)], draw.random() < 0.5
            )
        count += 1
    return count


def test_mutations_of_what_mattered() -> None:
    assert mutate_for(2, 1) > 50


@pytest.mark.long
def test_mutations_for_an_hour() -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    count = mutate_for(float(os.environ.get("FUZZ_SECONDS", "3000")), seed)
    print(f"{count} mutations, seed {seed}")


@pytest.mark.long
def test_ten_thousand_examples() -> None:
    """What is drawn above, many times more: in a process of its own, since that number is set when the file is read."""
    examples = str(int(float(os.environ.get("FUZZ_SECONDS", "3000")) * 4))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", __file__],
        env={**os.environ, EXAMPLES: examples}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
