"""Each public name of the package has an example in its docstring, and what the examples print is true."""
import ast
import doctest
import enum
import glob
import inspect
import os
import re
import types

import examples
import pytest

import tessera as ts
import tessera.farm
import tessera.halide

MODULES = {"tessera": ts, "tessera.farm": tessera.farm, "tessera.imageio": ts.imageio,
           "tessera.BoundaryConditions": ts.BoundaryConditions}

# Public names that have no example of their own, and why.
WITHOUT = {}

DEVICE = "there is no GPU where the tests run"
PACKAGE = "the package is not installed where the tests run"
# Names whose examples are not run.
NOT_RUN = {
    "tessera.Buffer.torch": PACKAGE,
    "tessera.Buffer.copy_to_device": DEVICE,
    "tessera.Buffer.device_sync": DEVICE,
    "tessera.Buffer.device_malloc": DEVICE,
    "tessera.Buffer.device_wrap_native": DEVICE,
    "tessera.Buffer.device_detach_native": DEVICE,
    "tessera.Buffer.device_deallocate": DEVICE,
    "tessera.cuda_stream": DEVICE,
    "tessera.farm.Dask": PACKAGE,
    "tessera.farm.Dask.submit": PACKAGE,
    "tessera.farm.Dask.resources": PACKAGE,
    "tessera.farm.Dask.close": PACKAGE,
    "tessera.farm.Ray": PACKAGE,
    "tessera.farm.Ray.submit": PACKAGE,
    "tessera.farm.Ray.resources": PACKAGE,
    "tessera.farm.Ray.close": PACKAGE,
}


def is_public(name):
    return not name.startswith("_")


def of_class(path, cls):
    """Yields the path and docstring of a class and of what it has itself: methods and properties, no members of enums."""
    yield path, cls.__doc__ or ""
    if issubclass(cls, enum.Enum):
        return
    for name, member in vars(cls).items():
        docstring = inspect.getattr_static(cls, name).__doc__ or getattr(cls, name).__doc__ or ""
        # The example of a class does for a constructor, too.
        if name == "__init__" and ">>>" not in docstring:
            continue
        if not is_public(name) and name != "__init__":
            continue
        if callable(member) or isinstance(member, (property, classmethod, staticmethod)):
            yield f"{path}.{name}", docstring


def of_module(path, module):
    """Yields the path and docstring of each function and class of a module that is not another one's."""
    yield path, module.__doc__ or ""
    for name, member in vars(module).items():
        if not is_public(name) or isinstance(member, types.ModuleType) or not callable(member):
            continue
        if path != "tessera" and not getattr(member, "__module__", path).startswith(("tessera._tessera", path)):
            continue
        if isinstance(member, type):
            yield from of_class(f"{path}.{name}", member)
        else:
            yield f"{path}.{name}", member.__doc__ or ""


def of_halide():
    """Yields the path and docstring of what tessera.halide does not have of tessera."""
    yield "tessera.halide", tessera.halide.__doc__
    for name in tessera.halide.__all__:
        member = getattr(tessera.halide, name)
        if callable(member) and member is not getattr(ts, name, None) and member is not ts.Error:
            yield f"tessera.halide.{name}", member.__doc__ or ""


def all_docstrings():
    found = {}
    for path, module in MODULES.items():
        found.update(of_module(path, module))
    found.update(of_halide())
    return found


DOCSTRINGS = all_docstrings()


def of_source(name):
    """Yields the same of a module that cannot be imported here, from its text: tessera.torch needs PyTorch."""
    with open(os.path.join(os.path.dirname(ts.__file__), f"{name}.py")) as file:
        tree = ast.parse(file.read())
    yield f"tessera.{name}", ast.get_docstring(tree) or ""
    for node in tree.body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or not is_public(node.name):
            continue
        yield f"tessera.{name}.{node.name}", ast.get_docstring(node) or ""
        for member in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(member, ast.FunctionDef) and is_public(member.name):
                yield f"tessera.{name}.{node.name}.{member.name}", ast.get_docstring(member) or ""


def parsed(docstring):
    return doctest.DocTestParser().get_examples(docstring)


def of_headers():
    """Yields the name and text of each docstring of the extension, as its headers have them."""
    for header in glob.glob(os.path.join(os.path.dirname(__file__), "..", "src", "docs", "*.h")):
        with open(header) as file:
            for name, text in re.findall(r'constexpr char (\w+)\[\] =\s*R"doc\((.*?)\)doc"', file.read(), re.S):
                yield f"{os.path.basename(header)}: {name}", text


def are_skipped(docstring):
    found = parsed(docstring)
    return bool(found) and all(example.options.get(doctest.SKIP) for example in found)


def different_examples():
    """Returns the name and docstring of each list of examples: a Func and a Stage have many in common."""
    found = {}
    for name, docstring in DOCSTRINGS.items():
        found.setdefault("".join(e.source + e.want for e in parsed(docstring)), name)
    return [name for source, name in found.items() if source]


def test_the_walk_finds_names_of_all_kinds():
    wanted = ["tessera", "tessera.Func", "tessera.Func.split", "tessera.Stage.split", "tessera.Var.outermost",
              "tessera.Buffer.shape", "tessera.sin", "tessera.MemoryType", "tessera.tune", "tessera.Timing.median",
              "tessera.Generator.call", "tessera.Knobs.choose", "tessera.CompileError", "tessera.farm.Farm.measure",
              "tessera.imageio.imread", "tessera.BoundaryConditions.repeat_edge", "tessera.halide.memoize_tag"]
    assert not [name for name in wanted if name not in DOCSTRINGS]
    assert not [name for name in DOCSTRINGS if "MemoryType." in name or name.endswith((".json", ".np", ".RunError.filename"))]
    assert len(DOCSTRINGS) > 600


def test_each_public_name_has_an_example():
    missing = [name for name, docstring in DOCSTRINGS.items() if not parsed(docstring) and name not in WITHOUT]
    assert not missing
    assert not [name for name in WITHOUT if parsed(DOCSTRINGS.get(name, ">>> 0"))]


def test_each_docstring_of_the_headers_is_that_of_a_name():
    used = "\n".join([*DOCSTRINGS.values(), ts._tessera._OutputBuffer.__doc__])
    found = list(of_headers())
    assert len(found) > 500
    assert not [name for name, text in found if text.strip() not in used]


@pytest.mark.parametrize("module", ["torch", "jax"])
def test_each_public_name_of_a_module_for_another_package_has_an_example(module):
    found = dict(of_source(module))
    assert f"tessera.{module}.op" in found and f"tessera.{module}.Op" in found
    assert not [name for name, docstring in found.items() if not parsed(docstring)]


def test_examples_are_run_unless_there_is_a_reason():
    assert sorted(name for name, docstring in DOCSTRINGS.items() if are_skipped(docstring)) == sorted(NOT_RUN)


@pytest.mark.filterwarnings("error::tessera.Warning")
@pytest.mark.parametrize("name", different_examples())
def test_example(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = examples.failures(DOCSTRINGS[name], name)
    assert not said, said


@pytest.mark.parametrize("docstring, wanted", [
    (">>> f.realize([2, 1]).numpy().tolist()\n[[0, 2]]", "[[0, 1]]"),
    (">>> f.vectorize(z, 8)", "no loop named z"),
    (">>> no_such_name", "NameError"),
])
def test_an_example_that_is_wrong_fails(docstring, wanted):
    assert wanted in examples.failures(docstring, "wrong")


def test_notes_of_errors_are_left_out_and_messages_are_not():
    example = (">>> f.vectorize(z, 8)\nTraceback (most recent call last):\n    ...\n"
               "tessera._errors.CompileError: ...no loop named {}")
    assert examples.failures(example.format("z in stage f; its loops are x, y"), "notes") == ""
    assert examples.failures(example.format("y in stage f; its loops are x, y"), "notes") != ""
