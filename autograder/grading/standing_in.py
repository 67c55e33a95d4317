"""The stand-ins that one judgement needs, and no others: what runs beside an answer can be read by it."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def source_for(stand_ins: str, functions: Sequence[str]) -> str:
    """Code that puts the stand-ins for `functions` in their places. stand_ins: the course's file of all of them.

    Of its definitions those that are wanted come along, and those that they call. Imports and settings all do.
    """
    tree = ast.parse(stand_ins)
    definitions = {
        node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    wanted: set[str] = set()
    waiting = [name for name in functions if name in definitions]
    while waiting:
        name = waiting.pop()
        if name in wanted:
            continue
        wanted.add(name)
        waiting += [
            node.id for node in ast.walk(definitions[name]) if isinstance(node, ast.Name) and node.id in definitions
        ]
    kept = [node for node in tree.body if getattr(node, "name", None) not in definitions or node.name in wanted]  # type: ignore[attr-defined]
    pieces = ast.unparse(ast.Module(body=kept, type_ignores=[]))
    return (
        f"def _stand_ins(wanted):\n    own = dict(globals())\n    exec({pieces!r}, own)\n"
        f"    globals().update({{name: own[name] for name in wanted}})\n"
        f"_stand_ins({list(functions)!r})\ndel _stand_ins\n"
    )
