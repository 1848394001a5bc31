"""Halide's names and rules: `import tessera.halide as hl`.

The classes are those of `tessera`. A module (or notebook) that uses a name of this one follows Halide's rules where
these differ (docs/coming_from_halide.md lists them), unless it imports `tessera` itself, too: then Tessera's hold. Its
variable `__tessera_dialect__` says which, "halide" or "tessera", and may be set. Other modules of the process keep
theirs. A program that says `import halide` runs where `sys.modules["halide"]` is this module.

>>> import tessera.halide as hl
>>> x, f = hl.Var("x"), hl.Func("f")
>>> f[x] = hl.u8(x) + 1
>>> f.realize([3])[2]
3
"""
import os as _os
import sys as _sys
import typing as _typing

import tessera as _tessera
from tessera import imageio

if _typing.TYPE_CHECKING:
    from tessera import *
    from tessera import Error as HalideError

# Names that are the same in both, and are not Tessera's own.
_SAME = """
    Argument ArgumentEstimates ArgumentKind AutoschedulerParams AutoSchedulerResults Buffer BufferDimension Callable
    Dimension EvictionKey Expr ExternFuncArgument Func FuncRef FuncTupleElementRef ImageParam LoopLevel Module
    OutputImageParam Param Parameter Pipeline RDom RVar Range Stage Target Type Var VarOrRVar
    DeviceAPI LinkageType LoopAlignStrategy MemoryType NameMangling OutputFileType Partition PrefetchBoundStrategy
    StmtOutputFormat TailStrategy TargetArch TargetFeature TargetOS TargetProcessorTune TypeCode
    JITExtern JITUserContext
    Int UInt Float BFloat Bool Handle cast reinterpret saturating_cast
    f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 i8_sat i16_sat i32_sat i64_sat u8_sat u16_sat u32_sat u64_sat
    select mux clamp min max likely likely_if_innermost undef require unsafe_promise_clamped
    abs absd sin asin cos acos tan atan atan2 sinh asinh cosh acosh tanh atanh sqrt hypot exp log pow erf fma floor
    ceil round trunc fract lerp is_nan is_inf is_finite fast_exp fast_log fast_pow fast_inverse fast_inverse_sqrt
    fast_sin fast_cos strict_float
    popcount count_leading_zeros count_trailing_zeros div_round_to_zero mod_round_to_zero widening_add widening_sub
    widening_mul widening_shift_left widening_shift_right widen_right_add widen_right_sub widen_right_mul
    saturating_add saturating_sub halving_add halving_sub rounding_halving_add rounding_shift_left
    rounding_shift_right mul_shift_right rounding_mul_shift_right extract_bits concat_bits
    sum saturating_sum product maximum minimum argmax argmin
    print print_when random_float random_int random_uint scatter gather logical_not
    target_arch_is target_os_is target_bits target_has_feature target_natural_vector_size
    lambda_func funcs vars evaluate evaluate_may_gpu user_context_value
    get_host_target get_target_from_environment get_jit_target_from_environment target_feature_for_device_api
    host_supports_target_device link_modules compile_standalone_runtime
    BoundaryConditions
    ArgInfo ArgInfoDirection ArgInfoKind Generator GeneratorContext GeneratorParam InputBuffer InputScalar OutputBuffer
    OutputScalar active_generator_context alias generator main create_callable_from_generator
    _ _0 _1 _2 _3 _4 _5 _6 _7 _8 _9
""".split()


def memoize_tag(result, *keys):
    """Returns the result: none is kept from one call to the next, so that there is nothing to tag.

    >>> import tessera.halide as hl
    >>> hl.memoize_tag(x + 1, p)
    x + 1
    """
    return _tessera.Expr(result)


def install_dir():
    """Returns the folder of the package `tessera`.

    >>> import tessera.halide as hl
    >>> hl.install_dir().endswith("tessera")
    True
    """
    return _os.path.dirname(_os.path.dirname(_os.path.abspath(__file__)))


class Tuple(tuple):
    """The values of a Func: a tuple of expressions, of a list of them or of f[x, y].

    >>> import tessera.halide as hl
    >>> len(hl.Tuple([x, x + 1]))
    2
    """

    def __new__(cls, values):
        return super().__new__(cls, (_tessera.Expr(value) for value in values))


class Derivative:
    """Is what propagate_adjoints() would return, which is refused.

    >>> ts.halide.Derivative()
    Traceback (most recent call last):
        ...
    tessera._errors.CompileError: Derivative: there are no derivatives yet
    """

    def __init__(self, *args, **kwargs):
        raise _tessera.CompileError("Derivative: there are no derivatives yet")


# Halide's plugins whose autoschedulers Tessera answers to by itself.
_PLUGINS = ("autoschedule_mullapudi2016", "autoschedule_adams2019", "autoschedule_li2018")


def load_plugin(name):
    """Loads a shared library for good, which adds autoschedulers; Halide's own need none and are there already.

    >>> ts.halide.load_plugin("autoschedule_adams2019")
    """
    if _os.path.basename(name).removeprefix("lib").removesuffix(".so") not in _PLUGINS:
        _tessera.load_plugin(name)


def _refused(name, why):
    def function(*args, **kwargs):
        raise _tessera.CompileError(f"{name}: {why}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Raises HalideError: {why}.

    >>> import tessera.halide as hl
    >>> hl.{name}(f)
    Traceback (most recent call last):
        ...
    tessera._errors.CompileError: {name}: {why}
    """
    return function


_own = {
    "HalideError": _tessera.Error,
    "memoize_tag": memoize_tag,
    "install_dir": install_dir,
    "imageio": imageio,
    "Tuple": Tuple,
    "Derivative": Derivative,
    "load_plugin": load_plugin,
    "propagate_adjoints": _refused("propagate_adjoints", "there are no derivatives yet"),
}
for _name in ("serialize_pipeline", "deserialize_pipeline", "deserialize_parameters"):
    _own[_name] = _refused(_name, "pipelines are not written to files yet; schedule_as_json() keeps a schedule")

# Names are looked up by __getattr__(), which so knows who uses them.
del memoize_tag, install_dir, imageio, Tuple, Derivative, load_plugin

__all__ = [name for name in [*_SAME, *_own] if not name.startswith("_")]


def _let_module_follow(variables):
    """Lets the code of a module follow Halide's rules, unless it imports `tessera` itself, too."""
    is_mixed = any(value is _tessera for value in list(variables.values()))
    variables["__tessera_dialect__"] = "tessera" if is_mixed else "halide"
    _tessera._tessera._forget_dialect()


def __getattr__(name):
    if name in _own:
        value = _own[name]
    elif name in _same:
        value = _same[name]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    variables = _sys._getframe(1).f_globals
    if "__tessera_dialect__" not in variables and not variables.get("__name__", "").startswith("importlib."):
        _let_module_follow(variables)
    return value


def __dir__():
    return sorted(__all__)


_same = {name: getattr(_tessera, name) for name in _SAME}
