"""The exceptions and warnings of Tessera, which know the line of the user's that they are about."""
import linecache
import os
import re
import sys
import warnings

# The compiler's messages begin with "file.py:12: ", and what another process has sent with "Cell [3], line 2: ".
_PLACE = re.compile(r"^(?:[^\s:][^:]*:\d+|Cell \[\d+\], line \d+): (?P<message>.*)$", re.DOTALL)


def _cells():
    """Returns the number of the notebook's cell for each file that one was compiled as."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    # Nothing that is public knows it.
    files = getattr(getattr(shell, "compile", None), "_filename_map", None)
    return files if isinstance(files, dict) else {}


def _with_cells(text):
    """Replaces the files that cells are compiled as: "2718281.py:2" is "Cell [3], line 2"."""
    for file, number in _cells().items():
        name = os.path.basename(file)
        if name in text:
            text = re.sub(re.escape(name) + r":(\d+)", rf"Cell [{number}], line \1", text)
    return text


def _without_place(text):
    found = _PLACE.match(text)
    return found["message"] if found else text


class Error(Exception):
    """A failure of Tessera. `filename` and `lineno` are the place in the user's program, `message` the rest.

    >>> try:
    ...     f.vectorize(z, 8)
    ... except ts.Error as error:
    ...     print(error.message)
    vectorize: no loop named z in stage f; its loops are x, y
    """

    filename: "str | None"
    lineno: "int | None"
    message: str

    def __init__(self, text: str, filename: "str | None" = None, lineno: "int | None" = None):
        super().__init__(_with_cells(text))
        self.filename, self.lineno = filename, lineno
        self.message = _with_cells(_without_place(text))
        source = linecache.getline(filename, lineno).strip() if filename and lineno else ""
        if source and hasattr(self, "add_note"):
            cell = _cells().get(filename)
            place = f'File "{filename}", line {lineno}' if cell is None else f"Cell [{cell}], line {lineno}"
            self.add_note(f"  {place}\n    {source}")

    def __reduce__(self):
        # Another process shows the same text as this one: it does not have these cells.
        return type(self), (str(self), self.filename, self.lineno)


class CompileError(Error, ValueError):
    """An algorithm or a schedule cannot be compiled as it is written.

    >>> f.vectorize(z, 8)
    Traceback (most recent call last):
        ...
    tessera._errors.CompileError: ...vectorize: no loop named z in stage f; its loops are x, y
    """


class ArgumentError(Error, TypeError, ValueError):
    """An argument of a call is not what the function takes.

    >>> f.vectorize(x, "eight")
    Traceback (most recent call last):
        ...
    tessera._errors.ArgumentError: ...
    """


class RunError(Error, RuntimeError):
    """A compiled pipeline failed when it ran: a buffer does not fit, for example.

    >>> q = ts.Func("q")
    >>> q[x] = ts.require(x < 2, x, "is too large")
    >>> q.realize([3])
    Traceback (most recent call last):
        ...
    tessera._errors.RunError: ...Requirement failed: is too large
    """


class InternalError(Error):
    """The compiler broke its own rules; please report it.

    >>> issubclass(ts.InternalError, ts.Error)
    True
    """


class Warning(UserWarning):
    """Advice about what compiles, but is hardly meant so.

    >>> q = ts.Func("q")
    >>> q[x] = x
    >>> q[x] += 1
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     q.vectorize(x, 8).compile_jit()
    >>> print(caught[0].message)
    this update of q has no schedule, but another definition of q has; if that is meant, say q.update().unscheduled()
    """


def warn(text, filename, line):
    message = _with_cells(_without_place(text))
    if filename is None:
        warnings.warn(message, Warning, stacklevel=2)
    else:
        warnings.warn_explicit(message, Warning, filename, line)
