"""Late machine code: it is made of what Python calls or what is called by address, and of nothing else.

Numba optimises each function that it compiles and makes machine code of it, also where the function is only
called by compiled code, whose own machine code then holds a copy. That took half the time of a first run.
Here such a function stays LLVM's intermediate code, which its callers copy: it is optimised in there. What
is kept on disk of it is that code.

Of numba's own parts this uses JITCodeLibrary and JITCPUCodegen, as they are from 0.59 to 0.68.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment

_codegen: Any = codegen
_Library: Any = _codegen.JITCodeLibrary
_set_env = _codegen.JITCPUCodegen.set_env


class LateLibrary(_Library):
    """The code of a function and of all that it calls; machine code once an address in there is wanted."""

    made = False

    def _optimize_final_module(self) -> None:
        """Leave that to `make`."""

    def _finalize_final_module(self) -> None:
        """End what can be linked, and with it machine code that was loaded from disk."""
        self._finalized = True
        if self._object_caching_enabled and self._compiled_object:
            self._make()

    def make(self) -> None:
        """Optimise the code and make machine code of it, once."""
        with global_compiler_lock:
            self._ensure_finalized()
            if not self.made:
                super()._optimize_final_module()
                self._make()

    def _make(self) -> None:
        self.made = True
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:  # of a function that this one calls
                self.codegen.set_env(variable.name, environment)

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function, 0 where it is not in this library."""
        if not self.made:
            with suppress(NameError):
                self.get_function(name)
                self.make()
        return super().get_pointer_to_function(name) if self.made else 0

    def serialize_using_object_code(self) -> tuple:
        """What is kept on disk."""
        return super().serialize_using_object_code() if self.made else self.serialize_using_bitcode()


def _set_env_where_made(self: Any, name: str, environment: Any) -> None:
    """Let machine code find its globals; there may be none yet."""
    if self._engine.is_symbol_defined(name):
        _set_env(self, name, environment)


_codegen.JITCPUCodegen.set_env = _set_env_where_made


@contextmanager
def late() -> Iterator[None]:
    """Make late libraries of what is compiled or loaded meanwhile; other code of the process has numba's."""
    with global_compiler_lock:
        before = _codegen.JITCPUCodegen._library_class
        _codegen.JITCPUCodegen._library_class = LateLibrary
        try:
            yield
        finally:
            _codegen.JITCPUCodegen._library_class = before
