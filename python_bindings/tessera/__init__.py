"""Tessera: a language for pipelines over images and tensors, and its compiler.

>>> import numpy as np, tessera as ts
>>> x, f = ts.Var("x"), ts.Func("f")
>>> f[x] = x * x
>>> f.realize([4]).numpy().tolist()
[0, 1, 4, 9]

Axis j of a NumPy array of n axes is dimension n - 1 - j of a Buffer: an image of shape (height, width) is indexed
image[y, x] there and f[x, y] here.
"""
import atexit as _atexit
import ctypes as _ctypes
import glob as _glob
import os as _os

# By its path: a library of the same name elsewhere is not meant.
for _library in _glob.glob(_os.path.join(_os.path.dirname(__file__), "libtessera.so*")):
    _ctypes.CDLL(_library)

from . import _tessera
from ._errors import CompileError, Error, InternalError, RunError, Warning
from ._tessera import *
from ._tessera import _, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9

from ._generator import *
from ._load import link_shared as link_shared, load as load

__version__ = "0.1.0"

_tessera._set_package(_os.path.join(_os.path.dirname(__file__), ""))
_tessera.keep_on_disk(True)
_atexit.register(_tessera._unset_handlers)


def vars(names):
    """Returns a Var for each name of a text: x, y = ts.vars("x y")."""
    return tuple(Var(name) for name in names.split())


def funcs(names):
    """Returns a Func for each name of a text."""
    return tuple(Func(name) for name in names.split())


def lambda_func(*args):
    """Returns a Func of these Vars with the value of the expression after them."""
    f = Func()
    f[args[:-1]] = args[-1]
    return f


def evaluate(expression):
    """Returns the number that an expression without Vars is; of a tuple a tuple of numbers."""
    f = Func()
    f[()] = expression
    result = f.realize([])
    if isinstance(result, tuple):
        return tuple(each[()] for each in result)
    return result[()]
