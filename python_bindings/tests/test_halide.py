"""Halide's rules and names in Python: programs as its users write them."""
import subprocess
import sys
import textwrap
import types
import warnings

import numpy as np
import pytest

import tessera.halide as hl


def module_of(source, name="user"):
    """Returns a module with this source, as if it stood in a file of its own."""
    module = types.ModuleType(name)
    exec(compile(textwrap.dedent(source), f"{name}.py", "exec"), module.__dict__)
    return module


# ---- Names ----

def test_every_name_is_there_and_star_imports_too():
    for name in hl.__all__:
        assert getattr(hl, name) is not None
    user = module_of("from tessera.halide import Var, Func, u8\nx, f = Var('x'), Func('f')\n"
                     "f[x] = u8(x) + 1\nresult = f.realize([3])[2]", "from_import")
    assert user.result == 3
    user = module_of("from tessera.halide import *\nfrom tessera.halide import _, _0\nok = Var('x').name() + _.name()", "star")
    assert user.ok == "x_"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hl.nothing


def test_its_classes_are_the_same():
    import tessera

    assert hl.Func is tessera.Func and hl.HalideError is tessera.Error
    assert issubclass(tessera.CompileError, hl.HalideError)


# ---- Whose rules hold ----

RULES = """
    x = lib.Var("x")
    def type_of_sum():
        return (lib.u8(x) + lib.Expr(1)).type()
    def too_large():
        return (lib.u8(x) + 300).type()
    def power():
        return (lib.i32(x) ** 2).type()
"""


def test_a_file_follows_the_module_that_it_imports_side_by_side():
    ours = module_of("import tessera as lib\n" + textwrap.dedent(RULES), "ours")
    theirs = module_of("import tessera.halide as lib\n" + textwrap.dedent(RULES), "theirs")
    for _ in range(2):
        assert ours.type_of_sum() == hl.UInt(8)
        assert theirs.type_of_sum() == hl.Int(32)
        assert ours.power() == hl.Float(32)
        assert theirs.power() == hl.Int(32)
        assert ours.too_large() == hl.Int(32)
        with pytest.raises(hl.HalideError, match="300 is to be a uint8"):
            theirs.too_large()


def test_cells_of_a_notebook_share_the_rules_and_a_module_may_choose():
    variables = {"__name__": "__main__"}
    for number, cell in enumerate(["import tessera.halide as hl\nx = hl.Var('x')\ne = hl.u8(x)",
                                   "first = (e + hl.Expr(1)).type()", "one = type(e)(1)", "second = (e + one).type()",
                                   "__tessera_dialect__ = 'tessera'", "third = (e + one).type()"]):
        exec(compile(cell, f"cell{number}.py", "exec"), variables)
    assert (variables["first"], variables["second"], variables["third"]) == (hl.Int(32), hl.Int(32), hl.UInt(8))


def test_the_import_changes_nothing_of_a_program_in_tessera():
    program = """
        import tessera as ts
        x = ts.Var("x")
        before = (ts.u8(x) + ts.Expr(1)).type(), (ts.i32(x) ** 2).type(), ts.Target("host").to_string()
        import tessera.halide as hl
        g = hl.Func("g")
        g[x] = hl.u8(x) + 1
        g.realize([4])
        assert before == ((ts.u8(x) + ts.Expr(1)).type(), (ts.i32(x) ** 2).type(), ts.Target("host").to_string())
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_a_func_keeps_the_rules_of_the_file_that_made_it_while_it_compiles():
    theirs = module_of("""
        import tessera.halide as hl
        x = hl.Var("x")
        def make():
            f = hl.Func("f")
            f[x] = x
            f[x] = x + 1
            return f
    """, "theirs2")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        theirs.make()
    assert any("no effect" in str(w.message) for w in caught)


def test_a_warning_of_a_deep_definition_does_not_wait_for_the_interpreter():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    e = hl.Expr(x)
    for i in range(700):
        e = e * 3 + x
    with pytest.warns(UserWarning, match="no effect"):
        f[x] = e


# ---- Types and constants ----

def test_types():
    t = hl.UInt(8)
    assert t.is_uint() and not t.is_int() and t.bits() == 8 and t.bytes() == 1 and t.lanes() == 1 and t.is_scalar()
    assert t.code() == hl.TypeCode.UInt and t.with_lanes(4).is_vector() and hl.UInt(8, 4).element_of() == t
    assert t.widen() == hl.UInt(16) and hl.Int(32).narrow() == hl.Int(16) and t.with_bits(64) == hl.UInt(64)
    assert t.can_represent(255) and not t.can_represent(256) and not t.can_represent(-1)
    assert hl.Int(16).can_represent(t) and not t.can_represent(hl.Int(16))
    assert hl.Float(32).can_represent(0.5) and hl.Bool().is_bool() and hl.Handle().is_handle()
    assert hl.evaluate(hl.Int(8).max()) == 127 and hl.evaluate(hl.Int(8).min()) == -128
    assert str(hl.Int(32)) == "int32" and str(hl.Float(64)) == "float64" and str(hl.UInt(1)) in ("bool", "uint1")
    assert len({hl.Int(8), hl.Int(8), hl.UInt(8)}) == 2


def test_numbers_of_python():
    assert hl.Expr(True).type() == hl.Bool()
    assert hl.Expr(7).type() == hl.Int(32) and hl.Expr(1 << 40).type() == hl.Int(64)
    assert hl.Expr(0.5).type() == hl.Float(32)
    x = hl.Var("x")
    assert (x + 0x7FFFFFFF).type() == hl.Int(32)
    assert (x + (0x7FFFFFFF + 1)).type() == hl.Int(64)
    for e, t in [(hl.u8(x) + 1, hl.UInt(8)), (1 + hl.u8(x), hl.UInt(8)), (hl.u16(x) * 3, hl.UInt(16)),
                 (hl.f32(x) + 1, hl.Float(32)), (hl.f64(x) * 0.5, hl.Float(64)), (hl.u8(x) * 0.5, hl.Float(32)),
                 (hl.i64(x) - 1, hl.Int(64)), (hl.u8(x) >> 1, hl.UInt(8)), (hl.u8(x) & 15, hl.UInt(8)),
                 (7 - hl.i16(x), hl.Int(16)), (hl.u8(x) % 4, hl.UInt(8)), (hl.u8(x) // 2, hl.UInt(8)),
                 (hl.u8(x) / 2, hl.UInt(8)), (hl.u8(x) == 3, hl.Bool()), (3 < hl.u8(x), hl.Bool())]:
        assert e.type() == t, e
    for wrong in (lambda: hl.u8(x) + 256, lambda: hl.u8(x) - -1, lambda: -1 + hl.u8(x), lambda: hl.i8(x) < 200):
        with pytest.raises(hl.HalideError, match="cannot hold it"):
            wrong()
    with pytest.raises((hl.HalideError, ValueError, OverflowError)):
        hl.Expr(1 << 70)


def test_float_literals_that_lose_digits_are_warned_of():
    x, f = hl.Var("x"), hl.Func("f")
    with pytest.warns(RuntimeWarning, match="0.1"):
        f[x] = x * 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hl.f64(0.1), hl.Expr(0.5), hl.f32(3.1415926535)
    assert hl.evaluate(hl.f64(0.1)) == 0.1
    assert hl.evaluate(hl.f32(0.1)) == np.float32(0.1)


def test_numpy_scalars_from_both_sides():
    x = hl.Var("x")
    assert (x + np.int32(3)).type() == hl.Int(32) and (np.float32(2) * x).type() == hl.Float(32)
    with pytest.raises(TypeError):
        np.arange(3) * x
    with pytest.raises(TypeError):
        {x: 1}


def test_conditions_are_no_bools():
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    with pytest.raises(ValueError, match="&"):
        f[x, y] = hl.select(x == 0 and y == 0, 1, 0)
    with pytest.raises(ValueError, match=r"\|"):
        f[x, y] = hl.select(x == 0 or y == 0, 1, 0)
    f[x, y] = hl.select((x == 0) & (y == 0) | ~(x < 3), 1, 0)
    assert f.realize([4, 2]).numpy().tolist() == [[1, 0, 0, 1], [0, 0, 0, 1]]


# ---- Division, precision, operators ----

@pytest.mark.parametrize("t", [hl.Int(8), hl.Int(16), hl.Int(32), hl.UInt(8), hl.UInt(16), hl.UInt(32)])
def test_division_rounds_down_and_the_remainder_is_not_negative(t):
    values = [v for v in (-128, -7, -3, -1, 1, 2, 3, 5, 7, 127) if t.can_represent(v)]
    for a in values:
        for b in values:
            q = hl.evaluate(hl.cast(t, a) / hl.cast(t, b))
            r = hl.evaluate(hl.cast(t, a) % hl.cast(t, b))
            if t == hl.Int(8) and (a, b) == (-128, -1):
                continue
            assert 0 <= r < abs(b) and q * b + r == a
            assert hl.evaluate(hl.cast(t, a) // hl.cast(t, b)) == q
    assert hl.evaluate(hl.div_round_to_zero(hl.i32(-7), hl.i32(2))) == -3
    assert hl.evaluate(hl.mod_round_to_zero(hl.i32(-7), hl.i32(2))) == -1
    assert hl.evaluate(hl.f32(-7) // hl.f32(2)) == -4.0


def test_functions_of_expressions():
    e = hl.evaluate
    assert e(hl.abs(hl.i32(-5))) == 5 and e(hl.absd(hl.u8(3), hl.u8(10))) == 7
    assert e(hl.clamp(hl.i32(300), 0, 255)) == 255 and e(hl.min(hl.i32(3), 1, 2)) == 1 and e(hl.max(hl.i32(3), 1, 7)) == 7
    assert e(hl.u8_sat(hl.i32(300))) == 255 and e(hl.saturating_cast(hl.Int(8), hl.i32(-300))) == -128
    assert e(hl.popcount(hl.u8(0b1011))) == 3 and e(hl.count_leading_zeros(hl.u8(1))) == 7
    assert e(hl.count_trailing_zeros(hl.u8(8))) == 3
    assert e(hl.sqrt(hl.f32(16))) == 4 and e(hl.hypot(hl.f32(3), hl.f32(4))) == 5 and e(hl.pow(hl.f32(2), 10)) == 1024
    assert e(hl.lerp(hl.u8(0), hl.u8(200), hl.u8(128))) == pytest.approx(100, abs=1)
    assert e(hl.reinterpret(hl.Int(32), hl.f32(1))) == 0x3F800000
    assert e(hl.widening_mul(hl.u8(200), hl.u8(200))) == 40000
    assert e(hl.rounding_halving_add(hl.u8(3), hl.u8(4))) == 4
    assert e(hl.mul_shift_right(hl.i16(1000), hl.i16(1000), 4)) == 32767
    assert e(hl.concat_bits([hl.u8(1), hl.u8(2)])) == 0x201 and e(hl.extract_bits(hl.UInt(8), hl.u32(0x1234), 8)) == 0x12
    assert e(hl.mux(hl.i32(2), [5, 6, 7])) == 7
    assert e((hl.i32(1), hl.f32(2.5))) == (1, 2.5)
    assert e(hl.select(hl.i32(3) > 5, 1, hl.i32(3) > 2, 2, 3)) == 2
    assert e(hl.is_nan(hl.f32(float("nan")))) is True or e(hl.is_nan(hl.f32(float("nan")))) == 1
    assert e(hl.fast_inverse(hl.f32(4))) == pytest.approx(0.25, rel=1e-2)
    assert e(hl.logical_not(hl.i32(1) == 2)) and e((hl.i32(1) == 2).logical_not())
    assert e(hl.f32(2) ** 3) == 8 and e(hl.i32(1) << 4) == 16 and e(~hl.u8(1)) == 254 and e(-hl.i32(4)) == -4
    assert e(hl.target_bits()) == 64 and e(hl.target_os_is(hl.TargetOS.Linux))
    assert e(hl.memoize_tag(hl.i32(3), hl.i32(4))) == 3
    assert e(hl.strict_float(hl.f32(1) + 2)) == 3 and e(hl.likely(hl.i32(4))) == 4


# ---- Vars, RDoms, Params ----

def test_vars():
    x, y = hl.vars("x y")
    assert x.name() == "x" and x.same_as(hl.Var("x")) and not x.same_as(y)
    assert hl.Var().name() != hl.Var().name()
    assert hl.Var.implicit(2).is_implicit() and not x.is_implicit()
    from tessera.halide import _, _1

    assert _.is_placeholder() and _1.same_as(hl.Var.implicit(1))
    f, g = hl.funcs("f g")
    f[x, y] = x + 10 * y
    g[_] = f[_] + 1
    assert g.realize([2, 2]).numpy().tolist() == [[1, 2], [11, 12]]
    h = hl.Func("h")
    h[x, _] = f[x, _] * 2
    assert h.realize([2, 2])[1, 1] == 22


def test_rdoms():
    r = hl.RDom([(0, 4), (1, 3)], name="r")
    assert r.dimensions() == 2 and len(r) == 2 and r.defined() and r.x.name() == r[0].name()
    rx, ry = r
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = 0
    r.where(rx < ry)
    f[rx] += ry
    assert f.realize([4]).numpy().tolist() == [1 + 2 + 3, 2 + 3, 3, 0]
    assert [(hl.evaluate(d.min), hl.evaluate(d.extent)) for d in r.domain()] == [(0, 4), (1, 3)]
    b = hl.Buffer(hl.UInt(8), [3, 5])
    assert hl.RDom(b).dimensions() == 2
    assert hl.RDom([hl.Range(0, 4)]).x.extent().type() == hl.Int(32)
    s = hl.RDom([(0, 5)])
    assert hl.evaluate(hl.sum(s)) == 10 and hl.evaluate(hl.sum(s, s * s)) == 30
    assert hl.evaluate(hl.product(s + 1, name="p")) == 120 and hl.evaluate(hl.maximum(s * (4 - s))) == 4
    assert hl.evaluate(hl.argmin(hl.abs(s - 2))) == (2, 0)


def test_params():
    for p in (hl.Param(hl.Int(32), "p", 5), hl.Param(hl.Int(32), 5), hl.Param(hl.Int(32), value=5)):
        assert p.get() == 5 and p.type() == hl.Int(32)
    p.set_range(0, 10)
    assert hl.evaluate(p.min_value()) == 0 and hl.evaluate(p.max_value()) == 10
    p.set_estimate(3)
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = x * p
    p.set(7)
    assert f.realize([3]).numpy().tolist() == [0, 7, 14]
    p.set(11)
    with pytest.raises(hl.HalideError):
        f.realize([3])
    q = hl.Param(hl.Float(32), "q")
    q.set(0.25)
    assert q.get() == 0.25 and (q + 1).type() == hl.Float(32)


# ---- Funcs ----

def test_a_func_of_a_type():
    f = hl.Func(hl.Int(32), 2, "typed")
    assert not f.defined() and f.type() == hl.Int(32) and f.dimensions() == 2 and f.outputs() == 1
    x, y = hl.vars("x y")
    with pytest.raises(hl.HalideError):
        f[x] = hl.i32(0)
    with pytest.raises(hl.HalideError):
        f[x, y] = hl.i16(0)
    f[x, y] = hl.i32(0)
    t = hl.Func([hl.Int(32), hl.Float(32)], 1)
    assert t.types() == [hl.Int(32), hl.Float(32)]
    with pytest.raises(hl.HalideError):
        hl.Func("undefined").realize([3])


def test_queries():
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    r = hl.RDom([(0, 3)], "r")
    f[x, y] = (x, y * 0.5)
    f[r, y] = (f[r, y][0] + 1, f[r, y][1])
    assert f.defined() and f.name().startswith("f") and f.dimensions() == 2 and [a.name() for a in f.args()] == ["x", "y"]
    assert f.outputs() == 2 and len(f.values()) == 2 and f.types() == [hl.Int(32), hl.Float(32)]
    assert f.has_update_definition() and f.num_update_definitions() == 1 and len(f.update_args(0)) == 2
    assert len(f.update_values(0)) == 2 and [v.name() for v in f.rvars(0)] == [r.x.name()]
    assert not f.is_extern() and len(f.output_buffers()) == 2
    assert [v.name() for v in f.update(0).split_vars()] == [r.x.name(), "y"]
    assert f.infer_arguments() == []


def test_zero_dimensions():
    f = hl.Func("f")
    f[()] = 42
    b = f.realize()
    assert b.dimensions() == 0 and b[()] == 42
    assert f.realize([])[()] == 42


def test_implicit_values_lambda_and_buffers():
    x, y = hl.vars("x y")
    f = hl.lambda_func(x, y, x + y)
    assert f.realize([2, 2])[1, 1] == 2
    b = hl.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert (b.width(), b.height()) == (3, 2) and b[2, 1] == 5
    g = hl.Func(b)
    h = hl.Func("h")
    h[x, y] = g[x, y] + b[x, y]
    assert h.realize([3, 2]).numpy().tolist() == [[0, 2, 4], [6, 8, 10]]


def test_updates_with_operators():
    x, f = hl.Var("x"), hl.Func("f")
    r = hl.RDom([(0, 10)])
    f[x] = hl.u8(0)
    f[r % 4] += 1
    f[x] *= 2
    f[x] -= 1
    f[0] = hl.u8(9)
    f[x] = f[x] | 1
    assert f.realize([4]).numpy().tolist() == [9, 5, 3, 3]
    g = hl.Func("g")
    g[x] += hl.i32(r)  # the definition is 0
    assert g.realize([2]).numpy().tolist() == [45, 45]


def test_an_update_is_a_sum_that_is_stored():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.u8(3)
    left = f[x]
    left += 5
    left += f[x]
    assert left.type() == hl.UInt(8) and f.num_update_definitions() == 0
    f[x] += 1
    assert f.num_update_definitions() == 1
    for operation, wanted in [("+=", 2), ("-=", -2), ("*=", 2), ("/=", 0)]:
        user = module_of("import tessera.halide as hl\nx, f = hl.Var('x'), hl.Func('f')\n"
                         f"f[x] {operation} 2\nvalue = f.realize([1])[0]")
        assert user.value == wanted
    g = hl.Func("g")
    pending = g[x]
    pending += 1
    assert not g.defined()
    with pytest.raises(hl.HalideError, match="stored elsewhere"):
        g[x + 1] = pending


def test_tuples():
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = (x, x * 2, hl.f32(x) / 2)
    g[x] = hl.select(x < 2, (f[x][0], f[x][1]), (f[x][1], f[x][0]))
    a, b = g.realize([4])
    assert a.numpy().tolist() == [0, 1, 4, 6] and b.numpy().tolist() == [0, 2, 2, 3]
    assert len(f[x]) == 3
    h = hl.Func("h")
    h[x] = hl.select((x < 1, x < 2), (1, 2), (3, 4))
    assert [v.numpy().tolist() for v in h.realize([3])] == [[1, 3, 3], [2, 2, 4]]
    k = hl.Func("k")
    k[x] = hl.mux(x, [(1, 10), (2, 20), (3, 30)])
    assert [v.numpy().tolist() for v in k.realize([4])] == [[1, 2, 3, 3], [10, 20, 30, 30]]
    w = hl.Func("w")
    w[x] = [x, x]
    w[x] = f[x][0], f[x][1]
    outs = [hl.Buffer(hl.Int(32), [4]), hl.Buffer(hl.Int(32), [4])]
    w.realize(outs)
    assert outs[1][3] == 6
    with pytest.raises(hl.HalideError):
        hl.Func("bad")[x] = hl.select(x < 2, f[x], 3)


class Complex:
    """A pair of expressions with arithmetic, as users write it."""

    def __init__(self, re, im):
        self.parts = (re, im)

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.parts[i]

    def __iter__(self):
        return iter(self.parts)

    def __mul__(self, other):
        return Complex(self[0] * other[0] - self[1] * other[1], self[0] * other[1] + self[1] * other[0])


def test_a_class_of_ones_own_is_a_tuple():
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = Complex(hl.f32(x), hl.f32(1))
    g[x] = Complex(f[x][0], f[x][1]) * f[x]
    re, im = g.realize([3])
    assert re.numpy().tolist() == [-1, 0, 3] and im.numpy().tolist() == [0, 2, 4]


def test_scatter_and_gather_swap():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    f[hl.scatter(0, 3)] = f[hl.gather(3, 0)]
    assert f.realize([4]).numpy().tolist() == [3, 1, 2, 0]


def test_random_numbers():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = (hl.random_float(), hl.random_uint(), hl.random_int(7))
    a, b, c = (v.numpy() for v in f.realize([100]))
    assert 0 <= a.min() and a.max() < 1 and len(set(b)) > 90 and c.dtype == np.int32


def test_requirements():
    p = hl.Param(hl.Int(32), "delta", 0)
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x + p
    pipeline = hl.Pipeline(f)
    pipeline.add_requirement(p != 0)
    pipeline.add_requirement(p > 0, "negative values are bad:", p)
    p.set(2)
    assert pipeline.realize([2])[1] == 3
    p.set(-3)
    with pytest.raises(hl.HalideError, match="negative values are bad: -3"):
        pipeline.realize([2])
    p.set(0)
    with pytest.raises(hl.HalideError):
        pipeline.realize([2])


# ---- Boundary conditions ----

@pytest.mark.parametrize("name, wanted", [
    ("repeat_edge", [1, 1, 1, 2, 3, 3, 3]), ("repeat_image", [2, 3, 1, 2, 3, 1, 2]), ("mirror_image", [2, 1, 1, 2, 3, 3, 2]),
    ("mirror_interior", [3, 2, 1, 2, 3, 2, 1])])
def test_boundary_conditions(name, wanted):
    x, g = hl.Var("x"), hl.Func("g")
    b = hl.Buffer(np.array([1, 2, 3], np.int32))
    condition = getattr(hl.BoundaryConditions, name)
    im = hl.ImageParam(hl.Int(32), 1)
    im.set(b)
    f = hl.Func("f")
    f[x] = b[x]
    for source in (condition(b), condition(f, [(0, 3)]), condition(im), condition(b, [(hl.Expr(0), 3)])):
        g = hl.Func("g")
        g[x] = source[x - 2]
        assert g.realize([7]).numpy().tolist() == wanted
    g = hl.Func("g")
    g[x] = hl.BoundaryConditions.constant_exterior(b, 42)[x - 2]
    assert g.realize([7]).numpy().tolist() == [42, 42, 1, 2, 3, 42, 42]


# ---- Schedules ----

def test_directives_chain_in_all_their_forms():
    x, y, c, xo, yo, xi, yi, t = hl.vars("x y c xo yo xi yi t")

    def make():
        f, g = hl.funcs("f g")
        f[x, y] = x + y
        g[x, y] = f[x, y] + f[x + 1, y]
        return f, g

    def check(schedule):
        f, g = make()
        schedule(f, g)
        assert g.realize([64, 32]).numpy()[5, 7] == 2 * 12 + 1

    check(lambda f, g: g.tile(x, y, xo, yo, xi, yi, 16, 8).fuse(xo, yo, t).parallel(t).vectorize(xi, 4))
    check(lambda f, g: g.tile([x, y], [xo, yo], [xi, yi], [16, 8]).unroll(yi, 2))
    check(lambda f, g: g.tile([x, y], [xi, yi], [16, 8], hl.TailStrategy.GuardWithIf))
    check(lambda f, g: g.tile(x, y, xi, yi, 16, 8, tail=hl.TailStrategy.RoundUp))
    check(lambda f, g: (f.compute_at(g, y).store_root().fold_storage(y, 2), g.reorder(y, x).reorder([x, y])))
    check(lambda f, g: (f.compute_root().vectorize(x, 8, hl.TailStrategy.RoundUp).bound(x, 0, 72),
                        g.split(y, yo, yi, 4).parallel(yo)))
    check(lambda f, g: f.compute_at(hl.LoopLevel(g, y)))
    check(lambda f, g: f.in_(g).compute_root().align_storage(x, 16).reorder_storage(y, x))
    check(lambda f, g: (f.compute_root().store_in(hl.MemoryType.Heap), g.specialize(hl.Expr(1) == 1).vectorize(x, 4)))
    check(lambda f, g: (f.compute_root().async_(), g.never_partition([x]).never_partition_all()))
    check(lambda f, g: (f.compute_root(), g.prefetch(f, y, y, 2).stream_stores().set_estimates([(0, 64), (0, 32)])))
    check(lambda f, g: f.clone_in(g).compute_root().align_bounds(x, 4).bound_extent(y, 32))


def test_loop_levels_are_set_later():
    x, y = hl.vars("x y")
    f, g = hl.funcs("f g")
    f[x, y] = x * y
    g[x, y] = f[x, y] + 1
    level = hl.LoopLevel()
    f.compute_at(level)
    level.set(hl.LoopLevel(g, y))
    assert g.realize([4, 4])[3, 3] == 10
    assert hl.LoopLevel.root() == hl.LoopLevel.root() and not level.lock().is_root()


def test_atomics_and_rfactor():
    x, u = hl.vars("x u")
    im = hl.Buffer((np.arange(1000) * 7 % 256).astype(np.uint8))
    r = hl.RDom(im)
    hist = hl.Func("hist")
    hist[x] = 0
    hist[im[r]] += 1
    wanted = np.bincount(im.numpy(), minlength=256)
    hist.update().atomic().parallel(r)
    assert (hist.realize([256]).numpy() == wanted).all()
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    total = hl.Func("total")
    total[()] = 0
    s = hl.RDom([(0, 1000)])
    total[()] += hl.i32(im[s])
    total.update().split(s, ro, ri, 50)
    partial = total.update().rfactor(ro, u)
    partial.compute_root().update().parallel(u)
    assert total.realize()[()] == int(im.numpy().sum())
    both = hl.Func("both")
    both[()] = 0
    q = hl.RDom([(0, 10), (0, 10)])
    both[()] += q.x * q.y
    both.update().rfactor([(q.y, u)]).compute_root()
    assert both.realize()[()] == 45 * 45


def test_gpu_schedules_by_the_interpreter():
    x, y, bx, by, tx, ty = hl.vars("x y bx by tx ty")

    def check(schedule):
        f = hl.Func("f")
        f[x, y] = x + y
        schedule(f)
        assert f.realize([32, 16], hl.Target("host-cuda-interpret"))[31, 15] == 46

    check(lambda f: f.gpu_tile(x, y, bx, by, tx, ty, 8, 8))
    check(lambda f: f.gpu_tile(x, y, tx, ty, 8, 8, hl.TailStrategy.RoundUp, hl.DeviceAPI.CUDA))
    check(lambda f: f.gpu_tile(x, tx, 16))
    check(lambda f: f.tile(x, y, tx, ty, 8, 8).gpu_blocks(x, y).gpu_threads(tx, ty, hl.DeviceAPI.Default_GPU))
    check(lambda f: f.split(x, bx, tx, 8).gpu(bx, tx))
    check(lambda f: f.gpu_single_thread())


def test_what_is_not_there_is_refused_with_the_reason():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    for wrong in (lambda: f.memoize(), lambda: f.hexagon(), lambda: f.debug_to_file("f.tmp"), lambda: f.eager_inline(f),
                  lambda: f.compute_with(f, x), lambda: hl.propagate_adjoints(f), lambda: hl.serialize_pipeline(hl.Pipeline(f))):
        with pytest.raises(hl.HalideError):
            wrong()


# ---- Inputs, pipelines, callables ----

def test_image_params_infer_and_run():
    im = hl.ImageParam(hl.UInt(16), 2, "im")
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = im[x, y] + im[x + 1, y]
    f.infer_input_bounds([4, 3])
    assert im.get().width() == 5
    im.reset()
    im.set(np.full((3, 5), 2, np.uint16))
    assert f.realize([4, 3]).numpy().tolist() == [[4] * 4] * 3
    im.dim(0).set_stride(1).set_bounds(0, 5)
    assert im.dim(0).min().type() == hl.Int(32)
    im.set_estimates([(0, 5), (0, 3)])
    g = im.in_()
    assert isinstance(g, hl.Func)
    f.output_buffer().dim(0).set_min(0)
    assert hl.evaluate(im.in_().name() != "" and hl.Expr(1)) == 1


def test_pipelines_of_several_funcs():
    x = hl.Var("x")
    f, g = hl.funcs("f g")
    f[x] = x
    g[x] = f[x] * 2.0
    p = hl.Pipeline([f, g])
    a, b = p.realize([3])
    assert a.numpy().tolist() == [0, 1, 2] and b.numpy().tolist() == [0, 2, 4]
    assert len(p.outputs()) == 2 and p.defined()
    p.compile_jit()
    p.invalidate_cache()
    p.realize([hl.Buffer(hl.Int(32), [3]), hl.Buffer(hl.Float(32), [3])])


def test_callables():
    image, k, scale = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Param(hl.Int(32), "k", 42), hl.Param(hl.Float(32), "scale", 2.0)
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = image[x, y] + hl.u8(k / scale)
    c = f.compile_to_callable([image, k, scale])
    data, out = hl.Buffer(hl.UInt(8), [10, 10]), hl.Buffer(hl.UInt(8), [10, 10])
    data.fill(42)
    c(data, 84, 2.0, out)
    assert out.all_equal(84)
    c(image=data, k=42, scale=1.0, f=out)
    assert out.all_equal(84)
    c(data, 44, scale=2.0, f=out)
    assert out.all_equal(64)
    for wrong in (lambda: c(data), lambda: c(data, 1, 1.0, out, foo=3), lambda: c(data, 1, 1.0, out, k=3)):
        with pytest.raises((hl.HalideError, TypeError)):
            wrong()


def test_errors_are_halide_errors():
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.u8(x)
    with pytest.raises(hl.HalideError):
        f.realize(hl.Buffer(hl.UInt(16), [10]))
    f.bound(x, 0, 1)
    with pytest.raises(hl.HalideError):
        f.realize(hl.Buffer(hl.UInt(8), [10]))
    with pytest.raises(hl.HalideError, match="zz"):
        f.vectorize(hl.Var("zz"), 4)


# ---- Targets ----

def test_targets():
    t = hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, [hl.TargetFeature.JIT])
    assert t.to_string() == "x86-64-linux-jit" and hl.Target(t.to_string()) == t
    assert t.has_feature(hl.TargetFeature.JIT) and not t.has_feature(hl.TargetFeature.AVX)
    u = t.with_feature(hl.TargetFeature.NoAsserts).without_feature(hl.TargetFeature.JIT)
    assert u.features_any_of([hl.TargetFeature.NoAsserts, hl.TargetFeature.AVX]) and not u.has_feature(hl.TargetFeature.JIT)
    u.set_features([hl.TargetFeature.AVX2, hl.TargetFeature.SSE41])
    assert u.features_all_of([hl.TargetFeature.AVX2, hl.TargetFeature.SSE41])
    assert str(u) == "x86-64-linux-avx2-no_asserts-sse41"  # features by name, as there
    assert (t.os, t.arch, t.bits) == (hl.TargetOS.Linux, hl.TargetArch.X86, 64)
    t.os = hl.TargetOS.OSX
    assert t.to_string().startswith("x86-64-osx")
    assert hl.Target.validate_target_string("host-cuda") and not hl.Target.validate_target_string("host-unknowntoken")
    with pytest.raises(hl.HalideError):
        hl.Target("host-unknowntoken")
    host = hl.get_host_target()
    assert host.natural_vector_size(hl.Float(32)) in (4, 8, 16) and host.supported() and not host.has_gpu_feature()
    assert host.supports_type(hl.Float(64)) and host.supports_device_api(hl.DeviceAPI.Host)
    assert hl.target_feature_for_device_api(hl.DeviceAPI.CUDA) == hl.TargetFeature.CUDA
    assert hl.get_jit_target_from_environment().has_feature(hl.TargetFeature.JIT)


# ---- Files ----

def test_files(tmp_path):
    p, im = hl.Param(hl.Int(32), "p"), hl.ImageParam(hl.Int(32), 2, "im")
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = im[x, y] + p
    at = lambda name: str(tmp_path / name)
    args = [p, im]
    f.compile_to({hl.OutputFileType.object: at("a.o"), hl.OutputFileType.c_header: at("a.h")}, args, "f")
    f.compile_to_object(at("b.o"), args, "f")
    f.compile_to_bitcode(at("b.bc"), args)
    f.compile_to_llvm_assembly(at("b.ll"), args, "f", hl.get_host_target())
    f.compile_to_header(at("b.h"), args, "f")
    f.compile_to_assembly(at("b.s"), args, "f")
    f.compile_to_c(at("b.c"), args, "f")
    f.compile_to_lowered_stmt(at("b.stmt"), args)
    f.compile_to_lowered_stmt(at("b.html"), args, hl.StmtOutputFormat.HTML)
    f.compile_to_conceptual_stmt(at("b.conceptual"), args, hl.StmtOutputFormat.Text)
    f.compile_to_file(at("c"), args, "f")
    f.compile_to_static_library(at("d"), args, "f")
    targets = [hl.Target("x86-64-linux-avx2-no_runtime"), hl.Target("x86-64-linux-no_runtime")]
    f.compile_to_multitarget_static_library(at("e"), args, targets)
    m = f.compile_to_module(args, "f")
    m.compile({hl.OutputFileType.assembly: at("m.s")})
    assert m.name() == "f" and [each.name for each in m.functions()][0].startswith("f")
    linked = hl.link_modules("both", [m, hl.Pipeline(f).compile_to_module(args, "g")])
    linked.compile({hl.OutputFileType.object: at("both.o")})
    hl.compile_standalone_runtime(at("runtime.o"), hl.Target("host"))
    written = "a.o a.h b.o b.bc b.ll b.h b.s b.c b.stmt b.html b.conceptual c.o c.h d.a d.h e.a e.h m.s both.o runtime.o"
    for name in written.split():
        assert (tmp_path / name).stat().st_size > 0, name
    assert "int f(" in (tmp_path / "b.h").read_text()


def test_images(tmp_path):
    image = (np.arange(3 * 4 * 5) * 4).astype(np.uint8).reshape(3, 4, 5)  # channels, y, x
    path = str(tmp_path / "image.png")
    hl.imageio.imwrite(path, image)
    again = hl.imageio.imread(path)
    assert again.shape == (3, 4, 5) and (again == image).all()
    interleaved = hl.imageio.copy_to_interleaved(image)
    assert interleaved.shape == (4, 5, 3) and hl.imageio.is_interleaved(interleaved) and not hl.imageio.is_interleaved(image)
    assert (hl.imageio.copy_to_planar(interleaved) == image).all()
    hl.imageio.imwrite(path, interleaved)
    assert (hl.imageio.imread(path) == image).all()
