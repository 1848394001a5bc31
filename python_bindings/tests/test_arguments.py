"""Messages say which argument does not fit, what came, and what is wanted."""
import numpy as np
import pytest

import tessera as ts

x, y = ts.vars("x y")


def defined():
    f = ts.Func("f")
    f[x, y] = x + y
    return f


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: ts.sin("text"),
            r"^sin: argument 0 \(a\): a str is no expression: an Expr, a Var, a Param, f\[x, y\] or a number is$",
        ),
        (lambda: ts.atan2(x, np.zeros(3)), r"^atan2: argument 1 \(b\): a ndarray is no expression"),
        (lambda: ts.cast("uint8", x), r"^cast: argument 0 \(type\): a str is no type: UInt\(8\), np.uint8, int or float is$"),
        (lambda: defined().vectorize(8, 8), r"^Func.vectorize: argument 0 \(var\): a int is no loop: a Var, an RVar or an RDom"),
        (
            lambda: defined().vectorize(x, 8, "up"),
            r"^Func.vectorize: argument 2 \(tail\): a str, 'up'; wanted a TailStrategy: RoundUp, .*, Auto$",
        ),
        (lambda: defined().vectorize(), r"^Func.vectorize: argument 0 \(var\) is missing$"),
        (lambda: defined().vectorize(x, 8, ts.TailStrategy.Auto, 4), r"^Func.vectorize takes 3 arguments, not 4$"),
        (
            lambda: defined().vectorize(x, factr=8),
            r"^Func.vectorize: there is no argument factr; the arguments are: var, factor, tail$",
        ),
        (lambda: defined().vectorize(x, var=x), r"^Func.vectorize: argument 0 \(var\) is given twice$"),
        (lambda: defined().realize([8, 8], 3), r"^Func.realize: argument 1 \(target\): an int, 3; wanted a Target$"),
        (lambda: defined().compute_root(1), r"^Func.compute_root takes no arguments, not 1$"),
        (lambda: ts.Var(3), r"^Var: argument 0 \(name\): an int, 3; wanted a str$"),
        (lambda: ts.Int("8"), r"^Int: argument 0 \(bits\): a str, '8'; wanted an int$"),
        (lambda: ts.BoundaryConditions.repeat_edge(), r"^repeat_edge: argument 0 \(f\) is missing$"),
        (lambda: ts.ImageParam(ts.UInt(8), "2"), r"^ImageParam: argument 1 \(dimensions\): a str, '2'; wanted an int$"),
        (lambda: ts.Buffer(ts.UInt(8), [3, "x"]), r"^Buffer: argument 1 \(sizes\): a list, \[3, 'x'\]; wanted a list of int$"),
        (
            lambda: ts.Target.validate_target_string(1),
            r"^Target.validate_target_string: argument 0 \(text\): an int, 1; wanted a str$",
        ),
        (lambda: ts.min(x, "y"), r"^min: argument 1: a str is no expression"),
        (lambda: defined().reorder(x, 3), r"^Func.reorder: argument 1 \(vars\): a int is no loop"),
        (lambda: defined()[x, "y"], r"^Func\[\]: argument 0 \(position\), item 1: a str is no expression"),
        (lambda: ts.RDom(5), r"^RDom: argument 0 \(bounds\): bounds are pairs"),
        (
            lambda: defined().compile_to_callable([3]),
            r"^Func.compile_to_callable: argument 0 \(arguments\), item 0: a int is no argument of a pipeline",
        ),
        (lambda: defined().set_jit_externs(None), r"argument 0 \(externs\): None; wanted a dict"),
    ],
)
def test_the_message_names_the_argument_what_came_and_what_goes(call, message):
    with pytest.raises(TypeError, match=message) as caught:
        call()
    assert "overload" not in str(caught.value) and "supported" not in str(caught.value)


def test_operators_leave_other_objects_to_python():
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "text"
    with pytest.raises(TypeError, match="unsupported operand"):
        "text" - x


def test_no_function_lists_its_overloads():
    """Every function that takes arguments is called with something that fits none of them."""

    class Nothing:
        def __repr__(self):
            raise AssertionError("what fits nothing is not asked for its text")

    listed = []
    for name, function in list(vars(ts._tessera).items()):
        if type(function).__name__ != "nb_func" or name.startswith("_"):
            continue
        try:
            function(Nothing(), nothing=Nothing())
        except TypeError as e:
            if "incompatible function arguments" in str(e):
                listed.append(name)
        except ts.Error:
            pass
    assert not listed


def test_what_reads_like_python_is_refused_with_what_to_write():
    f = defined()
    for wrong in (
        lambda: not (x < 2),
        lambda: (x < 2) and (y < 3),
        lambda: (x < 2) or (y < 3),
        lambda: 1 if x < 2 else 0,
        lambda: 0 < x < 3,
        lambda: x in [y],
        lambda: bool(f[x, y]),
        lambda: bool(ts.Param(ts.Bool(), "p")),
    ):
        with pytest.raises(ValueError, match=r"& for and, \| for or, ~ for not.*select\(c, a, b\) for if"):
            wrong()
