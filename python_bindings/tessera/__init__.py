"""Tessera: a language for pipelines over images and tensors, and its compiler.

>>> import numpy as np, tessera as ts
>>> x, f = ts.Var("x"), ts.Func("f")
>>> f[x] = x * x
>>> f.realize([4]).numpy().tolist()
[0, 1, 4, 9]

Axis j of a NumPy array of n axes is dimension n - 1 - j of a Buffer: an image of shape (height, width) is indexed
image[y, x] there and f[x, y] here.

Examples in docstrings find these names: ts and np as above, os and Path; the Vars x, y, z, c, t, xo, yo, xi and yi;
r = RDom([(0, 4)]); the Funcs f[x, y] = x + 10 * y, g[x, y] = f[x, y] + f[x + 1, y], and h[x] = 0, h[x] += f[x, r]; the
array a = [[0, 1, 2], [3, 4, 5]] of uint8 and b, a Buffer of a copy of it; im, an ImageParam of uint8 with 2 dimensions;
p, a Param of int32 that is 3; and Scale, a generator with a factor, an input and an offset.
"""
import ctypes as _ctypes
import glob as _glob
import os as _os
from collections.abc import Callable as _Callable, Sequence as _Sequence
from typing import Any as _Any

# By its path: a library of the same name elsewhere is not meant.
for _library in _glob.glob(_os.path.join(_os.path.dirname(__file__), "libtessera.so*")):
    _ctypes.CDLL(_library)

from . import _tessera
from . import imageio as imageio
from ._benchmark import Timing as Timing, autotune as autotune, benchmark as benchmark
from ._errors import (ArgumentError as ArgumentError, CompileError as CompileError, Error as Error,
                      InternalError as InternalError, RunError as RunError, Warning as Warning)
from ._tessera import *
from ._tessera import (_ as _, _0 as _0, _1 as _1, _2 as _2, _3 as _3, _4 as _4, _5 as _5, _6 as _6, _7 as _7, _8 as _8,
                       _9 as _9)
from ._tune import (Knobs as Knobs, TemplateResult as TemplateResult, export_bundle as export_bundle, tune as tune,
                    tune_template as tune_template)

from ._generator import *
from ._load import link_shared as link_shared, load as load

__version__ = "0.1.0"

_tessera._set_package(_os.path.join(_os.path.dirname(__file__), ""))
_tessera.keep_on_disk(True)


def vars(names: str) -> tuple[Var, ...]:
    """Returns a Var for each name of a text: x, y = ts.vars("x y").

    >>> u, v = ts.vars("u v")
    >>> u + v
    u + v
    """
    return tuple(Var(name) for name in names.split())


def funcs(names: str) -> tuple[Func, ...]:
    """Returns a Func for each name of a text.

    >>> blur_x, blur_y = ts.funcs("blur_x blur_y")
    >>> blur_x
    <Func blur_x, not defined>
    """
    return tuple(Func(name) for name in names.split())


def lambda_func(*args: _Any) -> Func:
    """Returns a Func of these Vars with the value of the expression after them.

    >>> ts.lambda_func(x, y, x + 10 * y).realize([3, 2]).numpy().tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    f = Func()
    f[args[:-1] if len(args) > 1 else _] = args[-1]
    return f


def show(*pictures: object, titles: "_Sequence[str]" = ()) -> object:
    """Shows Buffers and arrays side by side in a notebook, each with its title: show(before, after, titles=["a", "b"]).

    Raises TypeError if there are more titles than pictures.

    >>> ts.show(np.zeros((2, 3), np.uint8), titles=["black"])
    black: shape (2, 3), dtype uint8, min 0, mean 0, max 0
    """
    from . import _notebook

    return _notebook.show(*pictures, titles=titles)


def _shown(page: str) -> "_Callable[[object], object]":
    """Returns a method that makes what a notebook shows of an object: by this function of a module that is only
    imported then."""
    def method(self: object) -> object:
        from . import _notebook

        return getattr(_notebook, page)(self)

    return method


Func._repr_html_ = _shown("of_func")
Pipeline._repr_html_ = _shown("of_pipeline")
Buffer._repr_html_ = _shown("of_buffer")
Buffer._repr_png_ = _shown("png_of_buffer")


def _evaluated(expression: _Any, schedule: _Callable[[Func], object]) -> _Any:
    f = Func()
    f[()] = expression
    schedule(f)
    result = f.realize([])
    if isinstance(result, tuple):
        return tuple(each[()] for each in result)
    return result[()]


def evaluate(expression: _Any) -> _Any:
    """Returns the number that an expression without Vars is; of a tuple a tuple of numbers.

    >>> ts.evaluate(ts.Expr(7) / 2), ts.evaluate((ts.sqrt(2.0), ts.u8(300)))
    (3, (1.4142..., 44))
    """
    return _evaluated(expression, lambda f: None)


def evaluate_may_gpu(expression: _Any) -> _Any:
    """Does the same on the GPU, where the target of the environment has one.

    >>> ts.evaluate_may_gpu(ts.Expr(7) / 2)
    3
    """
    on_gpu = get_jit_target_from_environment().has_gpu_feature()
    return _evaluated(expression, lambda f: f.gpu_single_thread() if on_gpu else None)


def _imported(name: str) -> object:
    """Imports what needs another package only when it is asked for: ts.torch, ts.jax."""
    if name in ("torch", "jax"):
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Checkers of types, which do not see it so, would take any name for one of this module.
globals()["__getattr__"] = _imported
