"""Writes the stubs of the extension: make_stubs.py FOLDER, which has the package tessera.

nanobind's generator writes what the extension declares. This adds the names of what converts (ExprLike and its kin),
types of variable arguments, and marks the operators that do not compare, as == of expressions.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ALIASES = """
from types import EllipsisType
from typing import Any, SupportsFloat, SupportsInt, TypeAlias, Union
import numpy.typing

# Functions take these for an expression, a loop, a type, and an array.
ExprLike: TypeAlias = Union[{expressions}, SupportsInt, SupportsFloat, bool]
VarOrRVar: TypeAlias = Union[{loops}]
TypeLike: TypeAlias = Union[Type, type, str, numpy.dtype[Any]]
ArrayLike: TypeAlias = Any
"""
EXPRESSIONS = ["Expr", "Var", "RVar", "RDom", "FuncRef", "FuncTupleElementRef", "Param"]
LOOPS = ["Var", "RVar", "RDom"]


def generated(folder: pathlib.Path) -> dict[str, str]:
    """Returns the stubs that nanobind writes, by the names of their files."""
    # pip builds in an environment whose packages are found by this variable.
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-r", "-P", "-i", str(folder), "-m",
                        "tessera._tessera", "-O", out], check=True, env=environment)
        root = pathlib.Path(out)
        return {str(p.relative_to(root)): p.read_text() for p in root.rglob("*.pyi")}


def with_types(text: str) -> str:
    """Gives what nanobind leaves without a type one."""
    text = re.sub(r"(\(|, )\*(\w+)(?=[,)])", r"\1*\2: Any", text)
    text = re.sub(r"(\(|, )\*\*(\w+)(?=[,)])", r"\1**\2: Any", text)
    text = re.sub(r"\b(tuple|dict)(?=[,)\n :|]|\])(?!\[)", r"\1[Any, ...]", text)
    text = text.replace("dict[Any, ...]", "dict[Any, Any]")
    text = re.sub(r"(?<!as )\b(_Callable)(?=[,) |])", r"\1[..., Any]", text)
    text = text.replace("-> object:", "-> Any:")
    text = re.sub(r"(def __reduce__\(self\) -> )Any", r"\1tuple[Any, ...]", text)
    for line in (r"def __(eq|ne)__\(self, .*\.\.\.", r"def __i\w+__\(self, .*\.\.\.", r"__hash__.*= None"):
        text = re.sub(rf"( +{line})\n", r"\1  # type: ignore\n", text)
    return text


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    stubs = generated(folder)
    top = next(name for name in stubs if name.endswith("_tessera/__init__.pyi"))
    classes = set(re.findall(r"^class (\w+)", stubs[top], re.M))
    aliases = ALIASES.format(expressions=", ".join(c for c in EXPRESSIONS if c in classes),
                             loops=", ".join(c for c in LOOPS if c in classes))
    for name, text in stubs.items():
        text = with_types(text)
        doc = re.match(r'(""".*?"""\n)?', text, re.S)
        assert doc
        head = aliases if name == top else "from typing import Any\nfrom . import ArrayLike, ExprLike, TypeLike, VarOrRVar\n"
        text = text[:doc.end()] + head + text[doc.end():]
        target = folder / "tessera" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


if __name__ == "__main__":
    main()
