"""The exceptions and warnings of Tessera, which know the line of the user's that they are about."""
import linecache
import re
import sys
import warnings

# The compiler's messages begin with "file.py:12: ".
_PLACE = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+): (?P<message>.*)$", re.DOTALL)


def _full_path(name, line):
    """Returns the path of the file whose name the message gives: that of a frame, or of a module."""
    frame = sys._getframe(1)
    while frame:
        if _ends_with(frame.f_code.co_filename, name):
            return frame.f_code.co_filename
        frame = frame.f_back
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and _ends_with(path, name):
            return path
    return name


def _ends_with(path, name):
    return path == name or path.endswith("/" + name)


def _split(text):
    """Returns file, line and message; None and None where the text names no place."""
    found = _PLACE.match(text)
    if not found:
        return None, None, text
    line = int(found["line"])
    return _full_path(found["file"], line), line, found["message"]


class Error(Exception):
    """A failure of Tessera. `filename` and `lineno` are the place in the user's program, `message` the rest."""

    def __init__(self, text):
        super().__init__(text)
        self.filename, self.lineno, self.message = _split(text)
        source = linecache.getline(self.filename, self.lineno).strip() if self.filename else ""
        if source and hasattr(self, "add_note"):
            self.add_note(f'  File "{self.filename}", line {self.lineno}\n    {source}')

    def __reduce__(self):
        return type(self), self.args


class CompileError(Error, ValueError):
    """An algorithm or a schedule cannot be compiled as it is written."""


class RunError(Error, RuntimeError):
    """A compiled pipeline failed when it ran: a buffer does not fit, for example."""


class InternalError(Error):
    """The compiler broke its own rules; please report it."""


class Warning(UserWarning):
    """Advice about what compiles, but is hardly meant so."""


def warn(text):
    filename, line, message = _split(text)
    if filename is None:
        warnings.warn(message, Warning, stacklevel=2)
    else:
        warnings.warn_explicit(message, Warning, filename, line)
