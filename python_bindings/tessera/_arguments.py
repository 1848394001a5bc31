"""Says what is wrong with the arguments of a call: which one, what came, and what is wanted."""
import enum
import operator
import re

from . import _tessera

# These kinds stand in signatures for several classes; messages say "a str is no expression: ... is".
_KINDS = {
    "ExprLike": ("expression", "an Expr, a Var, a Param, f[x, y] or a number is"),
    "VarOrRVar": ("loop", "a Var, an RVar or an RDom of one dimension is one"),
    "TypeLike": ("type", "UInt(8), np.uint8, int or float is"),
}
_PLAIN = {"str": str, "bool": bool, "bytes": bytes, "dict": dict, "list": list, "tuple": tuple}
_NUMBERS = {"int": operator.index, "float": float}


def _split(text, separator):
    """Splits a text where the separator stands outside of brackets and quotes."""
    parts, depth, quote, begin, i = [], 0, "", 0, 0
    while i < len(text):
        c = text[i]
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(separator, i):
            parts.append(text[begin:i].strip())
            i += len(separator)
            begin = i
            continue
        i += 1
    return parts + [text[begin:].strip()] if text[begin:].strip() else parts


class _Parameter:
    def __init__(self, text):
        head, *default = _split(text, "=")
        name, *kind = _split(head, ":")
        self.name, self.kind = name, kind[0] if kind else "object"
        self.has_default = bool(default)


def _parameters(signature, is_method):
    """Returns the parameters of "def f(self, a: int = 1, *args) -> str", and whether there may be more by position and name."""
    begin = signature.index("(")
    depth = 0
    for end in range(begin, len(signature)):
        depth += (signature[end] in "([{") - (signature[end] in ")]}")
        if depth == 0:
            break
    texts = _split(signature[begin + 1 : end], ",")[1 if is_method else 0 :]
    named = [_Parameter(t) for t in texts if not t.startswith("*") and t != "/"]
    return named, any(re.match(r"\*\w", t) for t in texts), any(t.startswith("**") for t in texts)


def _bare(kind):
    return kind.split(".")[-1] if "[" not in kind else kind


def _fits(kind, value):
    """Returns true if the value converts to what a signature calls this."""
    alternatives = _split(kind, "|")
    if len(alternatives) > 1:
        return any(_fits(a, value) for a in alternatives)
    if kind in ("object", "Any", "typing.Any"):
        return True
    if kind == "None":
        return value is None
    if kind in _KINDS:
        return _tessera._converts(kind, value)
    if kind == "ArrayLike":  # as the extension decides: no type stands for an array
        return hasattr(value, "__array_interface__") or not _tessera._converts("TypeLike", value)
    if "[" in kind:
        return _fits_generic(kind, value)
    kind = _bare(kind)
    if kind in _NUMBERS:
        try:
            _NUMBERS[kind](value)
        except (TypeError, ValueError):
            return False
        return not isinstance(value, str)
    if kind in _PLAIN:
        return isinstance(value, _PLAIN[kind])
    if kind == "Callable":
        return callable(value)
    if kind == "Target" and isinstance(value, str):
        return True
    known = getattr(_tessera, kind, None)
    return isinstance(value, known) if isinstance(known, type) else True


def _fits_generic(kind, value):
    origin, inner = kind[: kind.index("[")], _split(kind[kind.index("[") + 1 : -1], ",")
    if _bare(origin) in ("Callable",):
        return callable(value)
    if _bare(origin) in ("dict", "Mapping"):
        return hasattr(value, "items")
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or not hasattr(value, "__len__"):
        return False
    if _bare(origin) == "tuple" and inner[-1] != "...":
        return len(value) == len(inner) and all(_fits(k, v) for k, v in zip(inner, value))
    return all(_fits(inner[0], v) for v in value)


def _with_article(noun):
    if noun == "None" or noun[0].isupper() and noun.endswith("s"):
        return noun
    return ("an " if noun[0] in "aeioAEIO" else "a ") + noun


def _members(kind):
    """Returns the names of an enum's values after a colon; nothing for what is no enum."""
    known = getattr(_tessera, kind, None)
    if not (isinstance(known, type) and issubclass(known, enum.Enum)):
        return ""
    names = [member.name for member in known]
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ": " + ", ".join(names[:12]) + more


def _wanted(kind):
    """Returns what a signature calls this in words."""
    words = []
    for k in _split(kind, "|"):
        k = k.replace("collections.abc.", "").replace("tessera._tessera.", "")
        if k in _KINDS:
            words.append(_KINDS[k][1].rsplit(" is", 1)[0])
        elif k.startswith(("Sequence[", "list[")):
            words.append("a list of " + _bare(k[k.index("[") + 1 : -1]))
        elif k.startswith("tuple["):
            words.append("a tuple of " + k[6:-1])
        else:
            words.append(_with_article(k) + _members(k))
    return " or ".join(words)


def _came(value):
    """Returns what a value is: its class, and the value itself where that is short."""
    name = _with_article(type(value).__name__)
    if value is None:
        return "None"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{name} of shape {tuple(shape)} {dtype}"
    if isinstance(value, (bool, int, float, str, bytes, list, tuple)):
        text = repr(value)
        return f"{name}, {text}" if len(text) <= 40 else name
    return name


def _does_not_fit(which, kind, value):
    if kind in _KINDS:
        noun, wanted = _KINDS[kind]
        return f"{which}: a {type(value).__name__} is no {noun}: {wanted}"
    return f"{which}: {_came(value)}; wanted {_wanted(kind)}"


def _try(parameters, more_by_position, more_by_name, args, kwargs):
    """Returns how many arguments fit before the first one that does not, and what is wrong with that."""
    if len(args) > len(parameters) and not more_by_position:
        n = len(parameters)
        takes = "no arguments" if n == 0 else "1 argument" if n == 1 else f"{n} arguments"
        return -1, f"takes {takes}, not {len(args)}"
    by_name = dict(kwargs)
    fitting = 0
    for i, p in enumerate(parameters):
        if i < len(args):
            value = args[i]
            if p.name in by_name:
                return fitting, f"argument {i} ({p.name}) is given twice"
        elif p.name in by_name:
            value = by_name.pop(p.name)
        elif p.has_default:
            continue
        else:
            return fitting, f"argument {i} ({p.name}) is missing"
        if not _fits(p.kind, value):
            return fitting, _does_not_fit(f"argument {i} ({p.name})", p.kind, value)
        fitting += 1
    if by_name and not more_by_name:
        names = ", ".join(p.name for p in parameters) or "none"
        return fitting, f"there is no argument {next(iter(by_name))}; the arguments are: {names}"
    return fitting, None


def _name(function):
    """Returns what a function is called: Func.split, but Func for its constructor, and Func[] for __getitem__."""
    owner, _, name = function.__qualname__.rpartition(".")
    if name == "__init__":
        return owner
    return f"{owner}[]" if name in ("__getitem__", "__setitem__") else function.__qualname__


def _find(culprit, value, depth=2):
    """Returns ", item 1" where a list has the culprit there, "" where it is the value itself, and else None."""
    if value is culprit:
        return ""
    if depth and isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            found = _find(culprit, item, depth - 1)
            if found is not None:
                return f", item {i}{found}"
    return None


def _which(parameters, rest, at):
    """Returns "argument 1 (tail)" for a position or a keyword; `rest` is what the arguments after the named ones are called."""
    names = [p.name for p in parameters]
    if isinstance(at, str):
        return f"argument {names.index(at)} ({at})" if at in names else f"argument {at}"
    name = names[at] if at < len(names) else rest
    return f"argument {at} ({name})" if name else f"argument {at}"


def blame(function, is_method, args, kwargs, error):
    """Returns the text of an error about an object, its culprit, after the function and the argument that this is (in)."""
    parameters, rest = [], None
    for signature, *_ in function.__nb_signature__:
        parameters, more, _ = _parameters(signature, is_method)
        rest = re.search(r"[(\s]\*(?!args\b)(\w+)", signature)
        if (more or len(args) <= len(parameters)) and all(name in (p.name for p in parameters) for name in kwargs):
            break
    for at, value in [*enumerate(args), *kwargs.items()]:
        found = _find(error.culprit, value)
        if found is not None:
            return f"{_name(function)}: {_which(parameters, rest and rest[1], at)}{found}: {error}"
    return f"{_name(function)}: {error}"


def explain(function, is_method, args, kwargs):
    """Returns what is wrong with the arguments, for that overload which most of them fit; None where nothing is found."""
    name = _name(function)
    best = None
    for signature, *_ in function.__nb_signature__:
        fitting, wrong = _try(*_parameters(signature, is_method), args, kwargs)
        if wrong and (best is None or fitting > best[0]):
            best = fitting, wrong
    if not best:
        return None
    return f"{name} {best[1]}" if best[1].startswith("takes") else f"{name}: {best[1]}"
