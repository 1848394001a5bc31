"""Runs the examples of docstrings: the names that they find, and how what they print is compared.

The docstrings of headers and of the package say `f` and `im` without having made them; the names are the same in all
of them, and README.md lists them.
"""
import doctest
import os
import re
from pathlib import Path

import numpy as np

import tessera as ts
import tessera.farm


def namespace():
    """Returns the names that an example finds. They are made anew for each."""
    names = {name: ts.Var(name) for name in "x y z c t xo yo xi yi".split()}
    x, y = names["x"], names["y"]
    r = ts.RDom([(0, 4)], "r")
    f, g, h = ts.Func("f"), ts.Func("g"), ts.Func("h")
    f[x, y] = x + 10 * y
    g[x, y] = f[x, y] + f[x + 1, y]
    h[x] = 0
    h[x] += f[x, r]
    a = np.array([[0, 1, 2], [3, 4, 5]], np.uint8)

    @ts.generator("scale")
    class Scale:
        factor = ts.GeneratorParam(2)
        input = ts.InputBuffer(ts.UInt(8), 2)
        offset = ts.InputScalar(int, 0)
        out = ts.OutputBuffer(ts.UInt(8), 2)

        def generate(g):
            g.out[x, y] = ts.u8(g.input[x, y] * g.factor + g.offset)

    return {
        **names, "ts": ts, "np": np, "os": os, "Path": Path, "f": f, "g": g, "h": h, "r": r, "a": a,
        "b": ts.Buffer(a.copy(), "b"), "Scale": Scale, "im": ts.ImageParam(ts.UInt(8), 2, "im"),
        "p": ts.Param(ts.Int(32), "p", 3), "__name__": "__main__",
    }


class Checker(doctest.OutputChecker):
    """Compares what an example prints. Of errors the notes are left out, which show the user's line."""

    def check_output(self, want, got, flags):
        return super().check_output(want, re.sub(r'\n  File "<doctest .*\n    .*\n', "\n", got), flags)


FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def parse(docstring, name):
    """Returns the examples of a docstring, to be run in names of their own."""
    return doctest.DocTestParser().get_doctest(docstring, namespace(), name, None, 0)


def failures(docstring, name):
    """Runs the examples of a docstring, and returns what doctest says of those that fail."""
    said = []
    doctest.DocTestRunner(Checker(), verbose=False, optionflags=FLAGS).run(parse(docstring, name), out=said.append)
    return "".join(said)
