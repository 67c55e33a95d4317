"""Plain data survives its way as bytes; bytes that are anything else are refused in one way."""

from __future__ import annotations

import json
import math
import random
import socket
import struct
import threading
import time
from typing import Any

import pytest
import torch

from autograder import wire
from autograder.observations import Line, Problem, Reply, Request


def there_and_back(value: object) -> Any:
    return wire.decode(wire.encode(value))


def packed(text: bytes, body: bytes = b"") -> bytes:
    return struct.pack("<I", len(text)) + text + body


def same(one: Any, two: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return (
            type(two) is torch.Tensor
            and one.dtype == two.dtype
            and one.shape == two.shape
            and torch.equal(one.view(-1).view(torch.uint8), two.view(-1).view(torch.uint8))
        )
    if isinstance(one, dict):
        return type(two) is dict and list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list):
        return type(two) is list and len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, float) and math.isnan(one):
        return isinstance(two, float) and math.isnan(two)
    if isinstance(one, float):
        return type(two) is float and one == two and math.copysign(1, one) == math.copysign(1, two)
    return type(one) is type(two) and one == two


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -0.0,
        1e-320,
        2**63 - 1,
        2**64,
        -(2**200),
        float("nan"),
        float("inf"),
        -float("inf"),
        "",
        "한국어 \x00 \ud800",
        [],
        {},
        [1, [2.5, [None, ["x"]]]],
        {"": 1, "$t": 2, "two": [3]},
        {"$t": ["float32", 3]},
        {"$d": {"$f": "nan"}},
    ],
    ids=repr,
)
def test_plain_data_comes_back_as_it_was(value: object) -> None:
    assert same(value, there_and_back(value))


@pytest.mark.parametrize("dtype", list(wire._DTYPES.values()), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (3,), (2, 3, 4)], ids=str)
def test_tensors_of_every_kind_come_back(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = (torch.rand(shape) * 5 - 2).to(dtype)
    back = there_and_back({"a": tensor, "b": [tensor, 1]})
    assert same(tensor, back["a"])
    assert same(tensor, back["b"][0])


def test_special_floats_in_tensors_keep_their_bits() -> None:
    tensor = torch.tensor([float("nan"), float("inf"), -0.0, 1e-45])
    assert same(tensor, there_and_back(tensor))


def test_views_travel_as_what_they_show() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    for view in (base.T, base[:, 1], base[::2], base.expand(2, 3, 4), base[1:, 1:].T):
        assert same(view.contiguous(), there_and_back(view))


def test_tensors_that_share_memory_do_not_afterwards() -> None:
    base = torch.zeros(4)
    one, two = there_and_back([base, base.view(2, 2)])
    one.add_(1)
    assert two.sum() == 0


def test_a_conjugated_view_travels_as_its_values() -> None:
    tensor = torch.tensor([1 + 2j, 3 - 1j]).conj()
    assert same(torch.tensor([1 - 2j, 3 + 1j]), there_and_back(tensor))


def test_gradients_stay_behind() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    back = there_and_back([parameter, parameter * 2])
    assert type(back[0]) is torch.Tensor
    assert not back[0].requires_grad and not back[1].requires_grad


@pytest.mark.parametrize(
    ("tensor", "dtype", "device", "layout"),
    [
        (torch.empty(2, 3, device="meta"), "torch.float32", "meta", "torch.strided"),
        (torch.eye(2).to_sparse(), "torch.float32", "cpu", "torch.sparse_coo"),
        (torch.zeros(2, dtype=torch.complex128), "torch.complex128", "cpu", "torch.strided"),
    ],
)
def test_a_tensor_without_readable_storage_is_described(
    tensor: torch.Tensor, dtype: str, device: str, layout: str
) -> None:
    assert there_and_back(tensor) == {"shape": list(tensor.shape), "dtype": dtype, "device": device, "layout": layout}


class Hostile(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("This class answers nothing.")


class Shouting(str):
    def __str__(self) -> str:
        return "something else"


class Counting(int):
    def __int__(self) -> int:
        return 99

    def bit_length(self) -> int:
        raise RuntimeError


class Evasive(list[int]):
    def __iter__(self) -> Any:
        return iter([7, 7, 7])


class Named(type):
    __name__ = "a lie"  # type: ignore[assignment]


class Thing(metaclass=Named):
    def __repr__(self) -> str:
        raise RuntimeError

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return torch.Tensor


def test_subclasses_are_read_through_their_base_types() -> None:
    tensor = torch.ones(3).as_subclass(Hostile)
    value = [tensor, Shouting("said"), Counting(3), Evasive([1, 2]), (1, torch.Size([2]))]
    back = there_and_back(value)
    assert same(torch.ones(3), back[0])
    assert back[1:] == ["said", 3, [1, 2], [1, [2]]]
    assert [type(one) for one in back[1:4]] == [str, int, list]


def test_what_is_not_plain_becomes_the_name_of_its_type() -> None:
    assert there_and_back(object()) == "<object>"
    assert there_and_back([Thing()]) == [f"<{__name__}.Thing>"]
    assert there_and_back({1: {2}, None: b"x"}) == {"1": "<set>", "None": "<bytes>"}
    assert there_and_back([torch.float16, torch.device("cpu")]) == ["torch.float16", "cpu"]
    assert there_and_back(1 << 100_000) == "<int of 100001 bits>"


def test_what_nests_too_deep_is_cut() -> None:
    loop: list[Any] = []
    loop.append(loop)
    text = json.dumps(there_and_back(loop))
    assert text.count("[") == wire.DEPTH + wire.ENVELOPE
    assert "<too deep>" in text


def test_what_unfolds_without_end_is_refused() -> None:
    loop: list[Any] = []
    loop += [loop] * 5
    with pytest.raises(ValueError, match="values"):
        wire.encode(loop)


def test_the_same_data_gives_the_same_bytes() -> None:
    def value() -> object:
        generator = torch.Generator().manual_seed(1)
        return {"b": torch.randn(3, generator=generator), "a": [torch.ones(2, dtype=torch.int64), 0.1, {"z": None}]}

    assert wire.encode(value()) == wire.encode(value())
    assert wire.encode(wire.decode(wire.encode(value()))) == wire.encode(value())


def test_settling_is_a_copy() -> None:
    tensor, inner = torch.zeros(2), [1]
    settled: Any = wire.settle({"t": tensor, "l": inner})
    tensor.add_(1)
    inner.append(2)
    assert settled["t"].sum() == 0
    assert settled["l"] == [1]


def test_settled_data_is_encoded_alike() -> None:
    value = {"a": torch.eye(2), "b": (1, 2)}
    assert wire.encode(wire.settle(value), settled=True) == wire.encode(value)


GOOD = wire.encode({"a": torch.arange(6.0).reshape(2, 3), "b": [True, 2**80, float("nan"), torch.tensor([True])]})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\xff\xff\xff\xff",
        packed(b""),
        packed(b"{"),
        packed(b"[NaN]"),
        packed(b"[Infinity]"),
        packed(b"1e999"),
        packed(b"[" * 100_000 + b"]" * 100_000),
        packed(b"[" * 60 + b"]" * 60),
        packed(b"1" * 10_000),
        packed(b'{"$t":["float32",2]}'),
        packed(b'{"$t":[]}'),
        packed(b'{"$t":3}'),
        packed(b'{"$f":"1.5"}'),
        packed(b'{"$i":"99"}'),
        packed(b'{"$i":"0x' + b"f" * 5000 + b'"}'),
        packed(b'{"$x":1}'),
        packed(b'{"$d":[1,2]}'),
        packed(b"\xff\xfe"),
        packed(b"1", b"short"),
        packed(b"1", struct.pack("<Q", 1 << 60) + b"{}"),
        packed(b"1", GOOD[-200:]),
        GOOD[:-1],
        GOOD + b"\x00",
        packed(b"1", wire.tensors_format.save({"float32": torch.ones(3)})),
        packed(b'{"$t":["float32",4]}', wire.tensors_format.save({"float32": torch.ones(3)})),
        packed(b'{"$t":["float32",-1]}', wire.tensors_format.save({"float32": torch.ones(3)})),
        packed(b'{"$t":["float32",true,3]}', wire.tensors_format.save({"float32": torch.ones(3)})),
        packed(b'{"$t":["float32",0,4611686018427387903,4611686018427387903]}', b""),
        packed(b'{"$t":["float32",3]}', wire.tensors_format.save({"float32": torch.ones(3, dtype=torch.float64)})),
        packed(b'{"$t":["float32",3,1]}', wire.tensors_format.save({"float32": torch.ones(3, 1)})),
        packed(b'{"$t":["other",3]}', wire.tensors_format.save({"other": torch.ones(3)})),
    ],
    ids=lambda data: repr(data[:30]),
)
def test_bytes_of_another_kind_are_malformed(data: bytes) -> None:
    with pytest.raises(wire.Malformed):
        wire.decode(data)


def test_damaged_bytes_are_malformed_or_data_and_nothing_else() -> None:
    draw = random.Random(5)
    refused = 0
    for _ in range(3_000):
        data = bytearray(GOOD)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(data))
            if draw.random() < 0.5:
                data[place] = draw.randrange(256)
            else:
                del data[place : place + draw.randint(1, 20)]
        try:
            wire.decode(data)
        except wire.Malformed:
            refused += 1
    assert refused > 1_000


def test_a_bool_is_zero_or_one_whatever_its_byte_was() -> None:
    data = wire.encode(torch.tensor([True, False]))
    back: Any = wire.decode(data[:-2] + b"\x07\x00")
    assert back.view(torch.uint8).tolist() == [1, 0]


def test_a_short_announcement_of_much_costs_little() -> None:
    name = b'{"$t":["float32",3]}'
    body = wire.tensors_format.save({"float32": torch.ones(3)})
    with pytest.raises(wire.Malformed):  # the same numbers cannot be handed out again and again
        wire.decode(packed(b"[" + b",".join([name] * 1000) + b"]", body))


REQUEST = Request("attention", "test_rows", "call", {"x": torch.ones(2), "h": 3}, 7)
PROBLEM = Problem("ValueError", "no", (Line(2, 1, "raise ValueError('no')"),))


def test_requests_replies_and_problems_come_back() -> None:
    back = wire.as_request(there_and_back(wire.plain_request(REQUEST)))
    assert (back.exercise, back.check, back.probe, back.seed) == ("attention", "test_rows", "call", 7)
    assert same(dict(back.arguments), dict(REQUEST.arguments))
    assert wire.as_problem(there_and_back(wire.plain_problem(PROBLEM))) == PROBLEM
    assert wire.as_reply(there_and_back(wire.plain_reply(Reply(problem=PROBLEM)))) == Reply(problem=PROBLEM)
    assert wire.as_reply(there_and_back(wire.plain_reply(Reply(value=[1])))) == Reply(value=[1])


@pytest.mark.parametrize("plain", [None, [], {}, {"value": 1, "more": 2}, {"problem": 3}, {"problem": {"kind": "x"}}])
def test_a_reply_of_another_form_is_malformed(plain: Any) -> None:
    with pytest.raises(wire.Malformed):
        wire.as_reply(plain)


@pytest.mark.parametrize("lines", [None, [1], [[1, 2]], [[True, 1, "x"]], [[1, 1, 1]]])
def test_lines_of_another_form_are_malformed(lines: Any) -> None:
    with pytest.raises(wire.Malformed):
        wire.as_problem({"kind": "a", "message": "b", "lines": lines})


def test_messages_cross_a_socket() -> None:
    one, two = socket.socketpair()
    with one, two:
        big = b"x" * 3_000_000
        sender = threading.Thread(target=lambda: [wire.send(one, part) for part in (b"", b"ab", big)])
        sender.start()
        assert [bytes(wire.receive(two, limit=1 << 22)) for _ in range(3)] == [b"", b"ab", big]
        sender.join()


def test_a_message_that_is_too_long_is_refused_by_its_header() -> None:
    one, two = socket.socketpair()
    with one, two:
        one.sendall(struct.pack("<Q", 1 << 50))
        with pytest.raises(wire.TooLarge, match="1,000 are allowed"):
            wire.receive(two, limit=1_000)


def test_a_message_that_ends_early_is_noticed() -> None:
    one, two = socket.socketpair()
    with two:
        with one:
            one.sendall(struct.pack("<Q", 10) + b"123")
        with pytest.raises(wire.Closed):
            wire.receive(two, limit=1_000)


def test_a_message_that_trickles_in_meets_the_deadline() -> None:
    one, two = socket.socketpair()
    with one, two:
        one.sendall(struct.pack("<Q", 10) + b"1")
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            wire.receive(two, limit=1_000, deadline=started + 0.2)
        assert time.monotonic() - started < 5
