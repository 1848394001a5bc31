"""Halide's rules in Python, one by one: definitions, operators, types, prints, requirements, and what is refused."""

import contextlib
import io
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tessera.halide as hl

x, y, z, c = hl.vars("x y z c")


# ---- Definitions of Funcs that have none ----


def first(f):
    return f.realize([1])[0]


def test_an_update_first_makes_the_definition():
    for update, wanted in [(lambda v: v + 1, 1), (lambda v: v - 1, -1), (lambda v: v * 2, 2), (lambda v: v / 2, 0)]:
        f = hl.Func("f")
        f[x] = update(f[x])
        assert f.num_update_definitions() == 1
        assert list(f.realize([1])) == [wanted]


def test_in_place_operators_define_too_and_may_follow_one_another():
    f = hl.Func("f")
    f[x] += 1
    f[x] += 1
    assert list(f.realize([2])) == [2, 2]
    g, r = hl.Func("g"), hl.RDom([(0, 5)])
    g[x] += x * r
    assert list(g.realize([3])) == [0, 10, 20]
    h = hl.Func("h")
    h[x] = h[x] + hl.f32(x) * 0.5
    assert h.type() == hl.Float(32) and first(h) == 0


def test_a_value_from_before_the_definition_is_refused_after_it():
    f = hl.Func("f")
    early = f[x] + 1
    f[x] = 0
    with pytest.raises(hl.HalideError, match="had no definition"):
        f[x] = early
    f, g = hl.funcs("f g")
    with pytest.raises(hl.HalideError):
        g[x] = f[x] + 1
    with pytest.raises((hl.HalideError, TypeError)):
        f[x] = 1 + f[x]
    with pytest.raises((hl.HalideError, TypeError)):
        f[x] = f[x] + f[x]


def test_tessera_keeps_its_own_rule():
    program = """
        import tessera as ts
        x, f = ts.Var("x"), ts.Func("f")
        try:
            f[x] = f[x] + 1
        except ts.CompileError as e:
            print("refused")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


def test_funcs_without_definition_or_with_another_type():
    f = hl.Func("f")
    assert not f.defined()
    for question in (lambda: f.type(), lambda: f.outputs(), lambda: f.realize([2]), lambda: f.value()):
        with pytest.raises(hl.HalideError):
            question()
    g = hl.Func([hl.UInt(8), hl.Float(64)], 2, "g")
    assert g.types() == [hl.UInt(8), hl.Float(64)] and g.outputs() == 2
    with pytest.raises(hl.HalideError):
        g[x, y] = (hl.u8(x), hl.f32(y))
    g[x, y] = (hl.u8(x), hl.f64(y))
    a, b = g.realize([2, 2])
    assert a[1, 0] == 1 and b[0, 1] == 1.0
    with pytest.raises(hl.HalideError):
        hl.Func("h")[x, x] = x
    with pytest.raises((hl.HalideError, TypeError)):
        hl.Func("h")[x + 1] = x


def test_funcs_of_no_dimensions():
    image = hl.ImageParam(hl.UInt(16), 0, "image")
    f, g = hl.funcs("f g")
    f[()] = (image[()] + image[()]) / 2
    g[()] = f[()] + 1
    image.set(hl.Buffer.make_scalar(hl.UInt(16)))
    image.get()[()] = 7
    assert g.realize()[()] == 8 and g.realize([])[()] == 8


def test_funcs_of_what_is_none():
    one = hl.Func(hl.Expr(42))
    assert one.realize([])[()] == 42
    b = hl.Buffer(np.arange(4, dtype=np.uint16))
    f = hl.Func(b)
    assert f.dimensions() == 1 and f.realize([4]).all_equal(0) is False
    image = hl.ImageParam(hl.Int(32), 1)
    image.set(hl.Buffer(np.array([5, 6], np.int32)))
    g = hl.Func(image)
    assert list(g.realize([2])) == [5, 6]


# ---- Types of expressions ----


@pytest.mark.parametrize(
    "make, wanted",
    [
        (lambda: x / 2, hl.Int(32)),
        (lambda: x // 2, hl.Int(32)),
        (lambda: 2 / x, hl.Int(32)),
        (lambda: x * 2.5, hl.Float(32)),
        (lambda: 2.5 - x, hl.Float(32)),
        (lambda: hl.f32(x) // 2, hl.Float(32)),
        (lambda: hl.f64(x) * 0.5, hl.Float(64)),
        (lambda: hl.u8(x) + hl.u16(1), hl.UInt(16)),
        (lambda: hl.i8(x) + hl.u8(1), hl.Int(8)),
        (lambda: hl.u8(x) * hl.i32(3), hl.Int(32)),
        (lambda: x % 3, hl.Int(32)),
        (lambda: hl.f32(x) ** 2, hl.Float(32)),
        (lambda: 2 ** hl.f32(x), hl.Float(32)),
        (lambda: x & 3, hl.Int(32)),
        (lambda: 3 | x, hl.Int(32)),
        (lambda: x ^ y, hl.Int(32)),
        (lambda: x << 2, hl.Int(32)),
        (lambda: 1 << x, hl.Int(32)),
        (lambda: hl.u8(x) >> hl.u8(2), hl.UInt(8)),
        (lambda: -hl.u8(x), hl.UInt(8)),
        (lambda: ~x, hl.Int(32)),
        (lambda: (x < y) & (y <= 3), hl.Bool()),
        (lambda: (x == y) | (x != 2), hl.Bool()),
        (lambda: hl.i32(0) + 0x7FFFFFFF, hl.Int(32)),
        (lambda: hl.i32(0) + 0x80000000, hl.Int(64)),
        (lambda: hl.abs(hl.i8(x)), hl.UInt(8)),
        (lambda: hl.cast(hl.Int(16), 3.5), hl.Int(16)),
        (lambda: hl.select(x < 2, hl.u8(1), 2), hl.UInt(8)),
        (lambda: hl.min(hl.u8(x), 7), hl.Int(32)),
        (lambda: hl.max(x, 1.5), hl.Float(32)),
        (lambda: hl.clamp(hl.u8(x), 0, 200), hl.UInt(8)),
        (lambda: hl.sqrt(x), hl.Float(32)),
        (lambda: hl.sqrt(hl.f64(x)), hl.Float(64)),
        (lambda: hl.mux(x, [hl.u8(1), hl.u8(2)]), hl.UInt(8)),
        (lambda: hl.reinterpret(hl.UInt(32), hl.f32(x)), hl.UInt(32)),
    ],
)
def test_types_of_operators(make, wanted):
    assert make().type() == wanted


def test_operands_of_every_kind_in_both_orders():
    p, image, f = hl.Param(hl.Int(32), "p"), hl.ImageParam(hl.Int(32), 1, "image"), hl.Func("f")
    g, r = hl.Func("g"), hl.RDom([(0, 3)])
    f[x] = x
    g[x] = (x, x)
    operands = [x, p, image[x], f[x], g[x][0], r, r.x, hl.Expr(3), 5, np.int32(2)]
    for a in operands:
        for b in operands:
            if isinstance(a, (int, np.int32)) and isinstance(b, (int, np.int32)):
                continue
            for e in (a + b, a - b, a * b, a / b, a // b, a % b, a << b, a >> b, a & b, a | b, a ^ b):
                assert e.type() == hl.Int(32)
            for e in (a < b, a <= b, a == b, a != b, a >= b, a > b):
                assert e.type() == hl.Bool()


def test_casts_of_numbers_and_expressions():
    for name, t in [
        ("i8", hl.Int(8)),
        ("i16", hl.Int(16)),
        ("i32", hl.Int(32)),
        ("i64", hl.Int(64)),
        ("u8", hl.UInt(8)),
        ("u16", hl.UInt(16)),
        ("u32", hl.UInt(32)),
        ("u64", hl.UInt(64)),
        ("f32", hl.Float(32)),
        ("f64", hl.Float(64)),
    ]:
        cast = getattr(hl, name)
        for value in (7, 7.0, hl.Expr(7), np.uint8(7), x):
            assert cast(value).type() == t
        assert hl.evaluate(cast(7)) == 7
        if not t.is_float():
            saturating = getattr(hl, name + "_sat")
            assert saturating(x).type() == t and hl.evaluate(saturating(hl.f32(3))) == 3
    assert hl.evaluate(hl.i8_sat(hl.i32(-1000))) == -128 and hl.evaluate(hl.u16_sat(hl.i32(70000))) == 65535


def test_division_against_python():
    a = np.array([-7, -4, -1, 0, 1, 4, 7], np.int32)
    b = np.array([-3, -2, 2, 3], np.int32)
    f = hl.Func("f")
    numerators, denominators = hl.Buffer(a), hl.Buffer(b)
    n, d = numerators[x], denominators[y]
    f[x, y] = (n / d, n % d, n // d, hl.div_round_to_zero(n, d), hl.mod_round_to_zero(n, d))
    quotient, rest, floor, to_zero, rest_to_zero = f.realize([7, 4])
    for i in range(7):
        for j in range(4):
            p, q = int(a[i]), int(b[j])
            assert quotient[i, j] * q + rest[i, j] == p and 0 <= rest[i, j] < abs(q)
            assert floor[i, j] == quotient[i, j]
            assert to_zero[i, j] == int(p / q) and rest_to_zero[i, j] == p - q * int(p / q)
    g = hl.Func("g")
    g[x] = hl.i32(x) / 0
    assert list(g.realize([2])) == [0, 0]


def test_sums_of_conditions_have_one_bit():
    b = hl.Buffer(np.array([False, True]))
    f = hl.Func("f")
    f[x, y] = (b[x] + b[y], b[x] - b[y], b[x] * b[y], hl.Expr(True) + b[x])
    results = f.realize([2, 2])
    assert [np.asarray(r).tolist() for r in results] == [[[False, True], [True, False]]] * 2 + [
        [[False, False], [False, True]],
        [[True, False], [True, False]],
    ]


def test_conditions_have_no_truth_value():
    for wrong in (lambda: bool(x < 3), lambda: x < 3 and y < 2, lambda: x < 3 or y < 2, lambda: not (x < 3), lambda: 0 < x < 3):
        with pytest.raises(ValueError):
            wrong()


def test_selects_of_all_forms():
    f = hl.Func("f")
    f[x] = hl.select(x == 0, 10, x == 1, 20, x == 2, 30, 40)
    assert list(f.realize([5])) == [10, 20, 30, 40, 40]
    g = hl.Func("g")
    g[x] = hl.select(x < 2, (x, -x), x < 3, (100, 200), (7, 8))
    a, b = g.realize([4])
    assert list(a) == [0, 1, 100, 7] and list(b) == [0, -1, 200, 8]
    h = hl.Func("h")
    h[x] = hl.select((x < 1, x < 3), (1, 2), (3, 4))
    a, b = h.realize([4])
    assert list(a) == [1, 3, 3, 3] and list(b) == [2, 2, 2, 4]
    for wrong in (
        lambda: hl.select(x < 1, 2),
        lambda: hl.select(x < 1),
        lambda: hl.select(x < 1, 2, y < 1, 3),
        lambda: hl.select((x < 1, x < 2), (1, 2, 3), (1, 2, 3)),
        lambda: hl.select(x < 1, (1, 2), (1, 2, 3)),
    ):
        with pytest.raises((hl.HalideError, TypeError, ValueError)):
            wrong()


def test_mux_and_extremes_of_many():
    f = hl.Func("f")
    f[x] = hl.mux(x, [5, 6, 7])
    assert list(f.realize([5])) == [5, 6, 7, 7, 7]
    g = hl.Func("g")
    g[x] = hl.mux(x, [(1, 2.5), (3, 4.5)])
    a, b = g.realize([3])
    assert list(a) == [1, 3, 3] and list(b) == [2.5, 4.5, 4.5]
    assert hl.evaluate(hl.min(hl.i32(5), 3, 4, 9)) == 3 and hl.evaluate(hl.max(hl.i32(5), 3, 14, 9)) == 14
    for wrong in (lambda: hl.min(x), lambda: hl.max()):
        with pytest.raises((hl.HalideError, TypeError, ValueError)):
            wrong()


def test_tuples_and_lists_are_values():
    for values in ((x, x * 2), [x, x * 2], hl.Tuple([x, x * 2])):
        f = hl.Func("f")
        f[x] = values
        a, b = f.realize([3])
        assert list(a) == [0, 1, 2] and list(b) == [0, 2, 4]
    f = hl.Func("f")
    f[x, y] = (x + y, hl.f32(x))
    f[x, y] = (f[x, y][0] * 2, f[x, y][1] + 1)
    assert f.update_values(0)[1].type() == hl.Float(32) and len(hl.Tuple(f[x, y])) == 2
    results = f.realize([2, 2])
    assert isinstance(results, tuple) and results[0][1, 1] == 4 and results[1][1, 1] == 2.0
    into = [hl.Buffer(hl.Int(32), [2, 2]), hl.Buffer(hl.Float(32), [2, 2])]
    assert f.realize(into) is None and into[0][1, 1] == 4
    arrays = [np.zeros((2, 2), np.int32), np.zeros((2, 2), np.float32)]
    assert f.realize(arrays) is None and arrays[0][1, 1] == 4
    with pytest.raises(hl.HalideError):
        f.realize(into[0])


# ---- Printing, requirements ----


def printed(f, size):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        f.realize([size])
    return out.getvalue()


def test_prints():
    f = hl.Func("f")
    f[x] = hl.print(hl.u8(x), "is", 1, "or", 2.5, "of", hl.i32(x) * 10)
    assert printed(f, 2) == "0 is 1 or 2.500000 of 0\n1 is 1 or 2.500000 of 10\n"
    g = hl.Func("g")
    g[x] = hl.print_when(x == 3, hl.u8(x * x), "at", x)
    assert printed(g, 5) == "9 at 3\n"


def test_requirements():
    delta, f = hl.Param(hl.Int(32), "delta"), hl.Func("f")
    f[x] = x + delta
    p = hl.Pipeline([f])
    p.add_requirement(delta != 0)
    p.add_requirement(delta > 0, "it is", delta, "and too small")
    p.compile_jit()
    for wrong in (0, -5):
        delta.set(wrong)
        with pytest.raises(hl.HalideError):
            p.realize([4])
    delta.set(1)
    assert list(p.realize([2])) == [1, 2]
    g = hl.Func("g")
    g[x] = hl.require(delta < 3, x * delta, "too large:", delta)
    assert list(g.realize([2])) == [0, 1]
    delta.set(5)
    with pytest.raises(hl.HalideError, match="too large: 5"):
        g.realize([2])


# ---- Errors ----


def test_errors_of_buffers_and_bounds():
    f = hl.Func("f")
    f[x] = hl.u8(x)
    with pytest.raises(hl.HalideError):
        f.realize(hl.Buffer(hl.UInt(16), [4]))
    with pytest.raises(hl.HalideError):
        f.realize([4, 4])
    g = hl.Func("g")
    g[x] = hl.u8(x)
    g.bound(x, 0, 1)
    with pytest.raises(hl.HalideError):
        g.realize(hl.Buffer(hl.UInt(8), [10]))


def test_enums_take_no_plain_numbers():
    f = hl.Func("f")
    f[x] = x
    with pytest.raises(TypeError, match=r"^Func.vectorize: argument 2 \(tail\): an int, 3; wanted a TailStrategy: RoundUp, "):
        f.vectorize(x, 8, 3)
    for wrong in (
        lambda: f.store_in(1),
        lambda: f.tile([x], [y], [8], 2),
        lambda: f.partition(x, 1),
        lambda: hl.Type(0, 32, 1),
        lambda: hl.Target(1, 1, 64),
        lambda: f.compile_to({3: "f.o"}, [], "f"),
        lambda: f.copy_to_device(2),
    ):
        with pytest.raises((TypeError, hl.HalideError)):
            wrong()
    target = hl.Target("x86-64-linux")
    with pytest.raises(TypeError):
        target.os = 2
    assert f.vectorize(x, 8, hl.TailStrategy.GuardWithIf) is f


def test_errors_within_lists_name_the_function_and_the_argument():
    f = hl.Func("f")
    f[x, y] = x
    for call, message in [
        (lambda: f.reorder(x, "y"), r"^Func.reorder: argument 1 \(vars\): a str is no loop"),
        (lambda: f.reorder([x, 3]), r"^Func.reorder: argument 0 \(vars\), item 1: a int is no loop"),
        (lambda: f.tile([x, "y"], [z, c], [8, 8]), r"^Func.tile: argument 0, item 1: a str is no loop"),
        (lambda: f[x, "y"], r"^Func\[\]: argument 0 \(position\), item 1: a str is no expression"),
        (lambda: f.set_estimates([(0, 1), (0, "1")]), r"^Func.set_estimates: argument 0 \(estimates\), item 1, item 1: a str"),
        (lambda: hl.RDom([(0, 2), 3]), r"^RDom: argument 0 \(bounds\), item 1: bounds are pairs"),
        (lambda: hl.mux(x, [1, "2"]), r"^mux: argument 1 \(values\), item 1: a str is no expression"),
        (lambda: f.compile_to_callable([4]), r"^Func.compile_to_callable: argument 0 \(arguments\), item 0: a int"),
        (lambda: hl.Pipeline([f, 2]), r"^Pipeline: argument 0 \(outputs\), item 1: a int is no Func"),
    ]:
        with pytest.raises(TypeError, match=message) as caught:
            call()
        assert isinstance(caught.value, hl.HalideError)
