"""IPython that runs a cell under the file name by which problems and traces tell it from others."""

from __future__ import annotations

from IPython.core.compilerop import CachingCompiler
from IPython.core.interactiveshell import InteractiveShell


def cell_name(position: int) -> str:
    """The file name under which the code of a cell is known."""
    return f"<cell {position}>"


class _Compiler(CachingCompiler):  # type: ignore[misc]
    """Names the code that runs next as it is told to."""

    name = ""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return self.name


class CellShell(InteractiveShell):  # type: ignore[misc]
    """Runs cells; what stops one is returned, not raised."""

    compiler_class = _Compiler

    def run_named(self, name: str, code: str) -> BaseException | None:
        """Runs code that is known by this file name; returns what stopped it."""
        self.compile.name = name
        try:
            result = self.run_cell(code, store_history=False, silent=True)
        except BaseException as error:  # a hook that a cell left behind
            return error
        return result.error_before_exec or result.error_in_exec  # type: ignore[no-any-return]
