"""Plain data to bytes and back: JSON for what is small, safetensors for tensors. Nothing that is read can run.

The layout is 4 bytes with the length of the JSON, the JSON, then the safetensors (absent without tensors). All tensors
of one dtype lie end to end in one, in the order in which the JSON names their shapes: many small tensors cost little.
The same data gives the same bytes, so that they can be kept in files and compared.

What is not plain is made plain before it travels, by `settle`:

- tuples become lists, keys become strings, subclasses of plain types become the plain type;
- a `torch.dtype` or a `torch.device` becomes its name;
- a tensor without readable storage (on the meta device, sparse, quantized, of a type unknown to safetensors) becomes a
  dict naming `shape`, `dtype`, `device` and `layout`;
- anything else becomes the name of its type in angle brackets, such as "<module.Name>".

Bytes may come from a stranger's process. `decode` raises `Malformed` for whatever is wrong with them and nothing else.
"""

from __future__ import annotations

import json
import math
import re
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

import torch
from safetensors import torch as tensors_format

from autograder.observations import (
    KIND_LENGTH,
    LINE_LENGTH,
    LINES,
    MESSAGE_LENGTH,
    Line,
    Plain,
    Problem,
    Reply,
    Request,
)

DEPTH = 24  # how deep an observation may nest; the deepest probe of a course needs four or five
ENVELOPE = 8  # how much deeper bytes may nest: what wraps observations on their way
NODES = 500_000  # values in one piece of data: bounds what a list that holds itself twice unfolds to
INTEGER_BITS = 4096  # a longer integer is described, not sent: Python refuses to print the longest ones
TEXT_BYTES = 8 << 20  # of JSON: parsed values take about twenty times the room of their text
TABLE_BYTES = 64 << 10  # of the table in which safetensors lists its tensors: there is one for each dtype
AXES = 16
OUT_OF_MEMORY = b"memory"  # sent in place of a message by a process that has none left to write one

_LENGTH = struct.Struct("<I")
_HEADER = struct.Struct("<Q")
_BIG = re.compile(r"-?0x[0-9a-f]{1,1025}")
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_LONGEST = (1 << 62) - 1
_DTYPES: dict[str, torch.dtype] = {
    **{"bool": torch.bool, "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32},
    **{"int64": torch.int64, "float16": torch.float16, "bfloat16": torch.bfloat16},
    **{"float32": torch.float32, "float64": torch.float64, "complex64": torch.complex64},
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_type_name = type.__dict__["__name__"].__get__
_type_module = type.__dict__["__module__"].__get__


class Malformed(Exception):
    """Bytes or data that are not what this module writes. The message is a sentence."""


class TooLarge(Malformed):
    """A message that is longer than what the reader allows. It is refused before it is read."""


class Closed(Exception):
    """The other end closed its channel before the message was complete."""


# --- Making plain ---------------------------------------------------------------------------------------------------


def settle(value: object, *, depth: int = DEPTH) -> Plain:
    """A copy of `value` made of plain data alone, which later changes to `value` do not reach.

    It looks at values through the methods of the base types, so that what a subclass overrides has no part in it.
    Raises ValueError when there are more than `NODES` values; what nests deeper than `depth` becomes "<too deep>".
    """
    left = [NODES]
    with torch._C.DisableTorchFunctionSubclass():
        return _settle(value, depth, left)


def _settle(value: Any, depth: int, left: list[int]) -> Plain:
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"An observation may hold {NODES:,} values; this one holds more.")
    kind = type(value)
    if value is None or kind is bool or kind is float or kind is str:
        return value  # type: ignore[no-any-return]
    if issubclass(kind, torch.Tensor):
        return _settle_tensor(value)
    if issubclass(kind, int):
        whole = int.__int__(value)
        bits = whole.bit_length()
        return whole if bits <= INTEGER_BITS else f"<int of {bits} bits>"
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, (list, tuple, dict)) and depth <= 0:
        return "<too deep>"
    if issubclass(kind, list):
        return [_settle(one, depth - 1, left) for one in list.__iter__(value)]
    if issubclass(kind, tuple):
        return [_settle(one, depth - 1, left) for one in tuple.__iter__(value)]
    if issubclass(kind, dict):
        pairs = list(dict.items(value))
        return {_key(key): _settle(one, depth - 1, left) for key, one in pairs}
    if kind is torch.dtype or kind is torch.device:
        return str(value)
    return f"<{_name_of(kind)}>"


def _key(key: Any) -> str:
    kind = type(key)
    if issubclass(kind, str):
        return str.__str__(key)
    if kind is bool or key is None or kind is float or kind is torch.dtype or kind is torch.device:
        return str(key)
    if kind is int and key.bit_length() <= INTEGER_BITS:
        return str(key)
    return f"<{_name_of(kind)}>"


def _name_of(kind: type) -> str:
    """Name of a type, read past whatever its metaclass claims."""
    module, name = _type_module(kind), _type_name(kind)
    text = name if module == "builtins" or not isinstance(module, str) else f"{module}.{name}"
    return str(text)[:200]


def _settle_tensor(tensor: torch.Tensor) -> Plain:
    plain = torch.Tensor.detach(tensor)
    if type(plain) is not torch.Tensor:
        plain = torch.Tensor.as_subclass(plain, torch.Tensor)
    if plain.layout != torch.strided or plain.dtype not in _NAMES or plain.dim() > AXES or plain.device.type == "meta":
        return {
            "shape": list(plain.shape),
            "dtype": str(plain.dtype),
            "device": str(plain.device),
            "layout": str(plain.layout),
        }
    if plain.device.type != "cpu":
        return plain.cpu().contiguous().resolve_conj().resolve_neg()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    return plain.clone(memory_format=torch.contiguous_format)


# --- Bytes ----------------------------------------------------------------------------------------------------------


def encode(value: object, *, settled: bool = False) -> bytes:
    """Bytes of plain data; of what is not plain, see the module's text. Raises ValueError when it is too large.

    settled: `value` holds what `settle` made and nothing else, so that a second look can be saved.
    """
    plain: Any = value if settled else settle(value, depth=DEPTH + ENVELOPE)
    tensors: dict[str, list[torch.Tensor]] = {}
    text = json.dumps(_marked(plain, tensors), separators=(",", ":"), allow_nan=False).encode()
    with torch._C.DisableTorchFunctionSubclass():
        joined = {name: torch.cat([one.reshape(-1) for one in several]) for name, several in tensors.items()}
        body = tensors_format.save(joined) if joined else b""
    return _LENGTH.pack(len(text)) + text + body


def _marked(value: Plain, tensors: dict[str, list[torch.Tensor]]) -> Any:
    """JSON for settled data. A dict of one key that starts with "$" stands for what JSON cannot say."""
    if isinstance(value, torch.Tensor):
        name = _NAMES[value.dtype]
        tensors.setdefault(name, []).append(value)
        return {"$t": [name, *value.shape]}
    if isinstance(value, float):
        return value if value - value == 0.0 else {"$f": repr(value)}
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value.bit_length() < 64 else {"$i": hex(value)}
    if isinstance(value, list):
        return [_marked(one, tensors) for one in value]
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)).startswith("$"):
            ((key, one),) = value.items()
            return {"$d": [key, _marked(one, tensors)]}
        return {key: _marked(one, tensors) for key, one in value.items()}
    return value


def decode(data: bytes | bytearray | memoryview) -> Plain:
    """Plain data that `encode` wrote: lists, dicts with text keys, numbers, text, None, base-class CPU tensors.

    Raises Malformed for anything else.
    """
    try:
        return _decode(memoryview(data))
    except (KeyboardInterrupt, SystemExit, Malformed):
        raise
    except BaseException as problem:  # a panic of the Rust side of safetensors is no Exception
        raise Malformed(f"These bytes cannot be read: {type(problem).__name__}.") from problem


def _decode(data: memoryview) -> Plain:
    if len(data) < _LENGTH.size:
        raise Malformed("These bytes end before they begin.")
    (length,) = _LENGTH.unpack_from(data)
    if length > TEXT_BYTES or length > len(data) - _LENGTH.size:
        raise Malformed("The text part is longer than it may be, or than what arrived.")
    text = bytes(data[_LENGTH.size : _LENGTH.size + length])
    body = data[_LENGTH.size + length :]
    tensors = _Tensors(body)
    value = _unmarked(json.loads(text, parse_constant=_refuse_constant), tensors, DEPTH + ENVELOPE + 1)
    tensors.finish()
    return value


class _Tensors:
    """Hands out the tensors of a message, each number once, so that few bytes stay little work."""

    def __init__(self, body: memoryview) -> None:
        self._flat: dict[str, torch.Tensor] = {}
        self._taken: dict[str, int] = {}
        if not len(body):
            return
        if len(body) < _HEADER.size:
            raise Malformed("The tensors end before they begin.")
        (table,) = _HEADER.unpack_from(body)
        if table > TABLE_BYTES or table > len(body) - _HEADER.size:
            raise Malformed("The table of tensors is longer than it may be, or than what arrived.")
        self._flat = tensors_format.load(bytes(body))
        for name, flat in self._flat.items():
            if _DTYPES.get(name) is not flat.dtype or flat.dim() != 1:
                raise Malformed(f"A tensor {name[:40]!r} is not one of those that travel.")
            if flat.dtype is torch.bool:  # a byte other than 0 and 1 in a bool tensor is undefined behaviour
                self._flat[name] = flat.view(torch.uint8) != 0

    def take(self, name: object, shape: list[Any]) -> torch.Tensor:
        """The next tensor of that dtype, in memory of its own."""
        if not isinstance(name, str) or name not in self._flat:
            raise Malformed("A tensor is named that did not arrive.")
        if len(shape) > AXES or any(type(size) is not int or not 0 <= size <= _LONGEST for size in shape):
            raise Malformed("A tensor's shape is not a list of sizes.")
        flat, start = self._flat[name], self._taken.get(name, 0)
        stop = start + math.prod(shape)
        if stop > flat.numel():
            raise Malformed("A tensor is larger than what arrived.")
        self._taken[name] = stop
        return flat[start:stop].reshape(shape).clone()

    def finish(self) -> None:
        """Raises Malformed when something is left over."""
        if any(self._taken.get(name) != flat.numel() for name, flat in self._flat.items()):
            raise Malformed("There are numbers that belong to no tensor.")


def _refuse_constant(name: str) -> None:
    raise Malformed(f"{name} is not written as a bare word.")


def _unmarked(value: Any, tensors: _Tensors, depth: int) -> Plain:
    if depth < 0:
        raise Malformed("The data nests too deep.")
    if isinstance(value, list):
        return [_unmarked(one, tensors, depth - 1) for one in value]
    if isinstance(value, dict):
        if len(value) == 1:
            ((key, one),) = value.items()
            if key.startswith("$"):
                return _meant(key, one, tensors, depth)
        return {key: _unmarked(one, tensors, depth - 1) for key, one in value.items()}
    if isinstance(value, float) and value - value != 0.0:
        raise Malformed("A number is too large to be a float.")
    return value  # type: ignore[no-any-return]


def _meant(key: str, value: Any, tensors: _Tensors, depth: int) -> Plain:
    """What a dict of the one key `key` stands for."""
    if key == "$t" and isinstance(value, list) and value:
        return tensors.take(value[0], value[1:])
    if key == "$f" and isinstance(value, str) and value in _FLOATS:
        return _FLOATS[value]
    if key == "$i" and isinstance(value, str) and _BIG.fullmatch(value):
        return int(value, 16)
    if key == "$d" and isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        return {value[0]: _unmarked(value[1], tensors, depth - 1)}
    raise Malformed(f"{key[:40]!r} marks nothing that is known, or is used wrongly.")


# --- Requests, replies, problems ------------------------------------------------------------------------------------


def plain_request(request: Request) -> Plain:
    """A request as plain data."""
    return {
        "exercise": request.exercise,
        "check": request.check,
        "probe": request.probe,
        "arguments": dict(request.arguments),
        "seed": request.seed,
        "follow": list(request.follow),
        "shown_only": list(request.shown_only),
    }


def plain_problem(problem: Problem) -> Plain:
    """A problem as plain data."""
    lines: list[Plain] = [[line.cell, line.number, line.text] for line in problem.lines]
    return {"kind": problem.kind, "message": problem.message, "lines": lines}


def plain_reply(reply: Reply) -> Plain:
    """A reply as plain data."""
    if reply.problem is not None:
        return {"problem": plain_problem(reply.problem)}
    return {"value": reply.value}


def as_request(plain: Plain) -> Request:
    """The request that `plain_request` wrote. Raises Malformed."""
    content = _content(plain, "exercise", "check", "probe", "arguments", "seed", "follow", "shown_only")
    arguments = content["arguments"]
    if not isinstance(arguments, Mapping):
        raise Malformed("A request's arguments are not a dict.")
    return Request(
        exercise=_text(content["exercise"]),
        check=_text(content["check"]),
        probe=_text(content["probe"]),
        arguments=arguments,
        seed=_whole(content["seed"]),
        follow=_texts(content["follow"]),
        shown_only=_texts(content["shown_only"]),
    )


def as_problem(plain: Plain) -> Problem:
    """The problem that `plain_problem` wrote, cut to what is told of one. Raises Malformed."""
    content = _content(plain, "kind", "message", "lines")
    lines = content["lines"]
    if not isinstance(lines, list):
        raise Malformed("A problem's lines are not a list.")
    kind, message = _text(content["kind"])[:KIND_LENGTH], _text(content["message"])[:MESSAGE_LENGTH]
    return Problem(kind, message, tuple(_as_line(line) for line in lines[:LINES]))


def as_reply(plain: Plain) -> Reply:
    """The reply that `plain_reply` wrote. Raises Malformed."""
    if isinstance(plain, Mapping) and "problem" in plain:
        return Reply(problem=as_problem(_content(plain, "problem")["problem"]))
    return Reply(value=_content(plain, "value")["value"])


def _as_line(plain: Plain) -> Line:
    if not isinstance(plain, list) or len(plain) != 3:
        raise Malformed("A line is not a list of three.")
    return Line(_whole(plain[0]), _whole(plain[1]), _text(plain[2])[:LINE_LENGTH])


def _content(plain: Plain, *keys: str) -> Mapping[str, Plain]:
    if not isinstance(plain, Mapping) or set(plain) != set(keys):
        raise Malformed(f"Expected a dict of {', '.join(keys)}.")
    return plain


def _text(plain: Plain) -> str:
    if not isinstance(plain, str):
        raise Malformed("Expected a text.")
    return plain


def _texts(plain: Plain) -> tuple[str, ...]:
    if not isinstance(plain, list):
        raise Malformed("Expected a list of texts.")
    return tuple(map(_text, plain))


def _whole(plain: Plain) -> int:
    if not isinstance(plain, int) or isinstance(plain, bool):
        raise Malformed("Expected a whole number.")
    return plain


# --- Over a socket --------------------------------------------------------------------------------------------------


def send(channel: socket.socket, payload: bytes, *, deadline: float | None = None) -> None:
    """Sends one message. Raises OSError; TimeoutError at the deadline, which is a time of `time.monotonic`."""
    channel.settimeout(_left(deadline))
    channel.sendall(_HEADER.pack(len(payload)) + payload)


def receive(channel: socket.socket, *, limit: int, deadline: float | None = None) -> bytearray:
    """Receives one message of at most `limit` bytes.

    Raises TooLarge when its header announces more, Closed when the other end closes, TimeoutError at the deadline.
    """
    (length,) = _HEADER.unpack(_exactly(channel, _HEADER.size, deadline))
    if length > limit:
        raise TooLarge(f"A message of {length:,} bytes was announced; {limit:,} are allowed.")
    return _exactly(channel, length, deadline)


def _exactly(channel: socket.socket, count: int, deadline: float | None) -> bytearray:
    # It grows as bytes arrive: an announcement alone costs no memory.
    data = bytearray()
    while len(data) < count:
        channel.settimeout(_left(deadline))
        try:
            piece = channel.recv(min(count - len(data), 1 << 20))
        except ConnectionError as problem:
            raise Closed("The channel was closed in the middle of a message.") from problem
        if not piece:
            raise Closed("The channel was closed in the middle of a message.")
        data += piece
    return data


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("The time for this message has run out.")
    return left
