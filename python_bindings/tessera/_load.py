"""Runs libraries that Tessera has compiled.

    brighten = tessera.load("brighten.so").brighten
    brighten(image, factor=1.5, output=result)

A function of a library is a Callable, as a pipeline is that is compiled now. `standalone.py` does the same where
this package is not installed.
"""
from __future__ import annotations

import os
from typing import Union

from . import _tessera

__all__ = ["Library", "link_shared", "load"]

_Path = Union[str, os.PathLike[str]]


class Library:
    """The functions of a compiled library: its attributes, and `functions` by their names."""

    path: str
    functions: dict[str, _tessera.Callable]

    def __init__(self, path: _Path) -> None:
        self.path = os.fspath(path)
        os.stat(self.path)  # FileNotFoundError says it best
        self.functions = _tessera.load_library(self.path)

    def __getattr__(self, name: str) -> _tessera.Callable:
        functions: dict[str, _tessera.Callable] = self.__dict__.get("functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"{self.__dict__.get('path')} has no function {name}; it has {', '.join(functions)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]

    def __repr__(self) -> str:
        return f"<Library {self.path}: {', '.join(self.functions)}>"


def load(path: _Path) -> Library:
    """Returns the functions of a library that Tessera has compiled (shared, static, or an object), as attributes.

    They are Callables: numbers and arrays are passed by position or name, arrays without copies, also those of a GPU;
    help() of a function says what it takes. An output may be a shape, in NumPy's order, and is then allocated and
    returned. The GIL is released while it runs. RunError has the runtime's message.

    >>> f.compile_to({ts.OutputFileType.shared_library: "f.so"}, [], "picture")
    >>> ts.load("f.so").picture((2, 3)).tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    return Library(path)


def link_shared(library: _Path, output: Union[_Path, None] = None) -> str:
    """Links a static library or an object into a shared one by the C compiler ($CC, cc, gcc or clang); returns its path.

    Without `output` that is the library's, with the ending .so.

    >>> f.compile_to_static_library("f", [], "picture")
    >>> ts.link_shared("f.a")
    'f.so'
    """
    library = os.fspath(library)
    output = os.path.splitext(library)[0] + ".so" if output is None else os.fspath(output)
    _tessera._link_shared(library, output)
    return output
