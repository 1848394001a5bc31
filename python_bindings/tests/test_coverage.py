"""Each public name of src/lang is bound, or stands below with the reason why it is not."""
import glob
import os

import pytest
from public_names import public_names

import tessera as ts

HEADERS = os.path.join(os.path.dirname(__file__), "..", "..", "src", "lang", "*.h")

# Names that are spelled otherwise in Python.
RENAMED = {
    "lambda": "lambda_func",
    "Func.in": "Func.in_",
    "Func.async": "Func.async_",
    "ImageParam.in": "ImageParam.in_",
    "Argument.Kind": "ArgumentKind",
    "convert_and_save_image": "save_image",
    "Buffer.fill": "Buffer.fill",
    "JITSharedRuntime.set_num_threads": "set_num_threads",
    "JITSharedRuntime.get_num_threads": "get_num_threads",
    "JITSharedRuntime.reuse_device_allocations": "reuse_device_allocations",
    "JITSharedRuntime.release_all": "release_all",
    "Func.jit_handlers": "Func.on_print",
    "Pipeline.jit_handlers": "Pipeline.on_print",
    "Callable.call": "Callable.__call__",
}

# Directives of bases in C++ are those of Func and Stage in Python.
BASES = {
    "LoopDirectives": ("Func", "Stage"),
    "GPUDirectives": ("Func", "Stage"),
    "LaterDirectives": ("Func", "Stage"),
    "LaterFuncDirectives": ("Func",),
}

COMPILER = "a part of the compiler, no part of the language"
CPP = "what only C++ needs: Python's types are known when the program runs"
TUPLE = "a tuple of Python's"
MEMORY = "an address, which only C++ uses"
EXCEPTIONS = {
    "TensorInstructionDescription": "the arguments of TensorInstruction.define",
    # Whole headers' classes.
    "BufferContents": COMPILER,
    "PipelineContents": COMPILER,
    "CallSite": COMPILER,
    "ValueLoop": COMPILER,
    "WrittenIndex": COMPILER,
    "called_at": COMPILER,
    "SearchControl": "the arguments progress, measurer and batch of what searches",
    "SearchProgress": "the arguments of a search's progress function",
    "to_png": "Buffer._repr_png_",
    "check_conversion": COMPILER,
    "check_number_of_dimensions": COMPILER,
    "dense_shape": COMPILER,
    "dense_shape_like": COMPILER,
    "embedded_parameter": COMPILER,
    "for_each_position": COMPILER,
    "image_element": COMPILER,
    "make_contents": COMPILER,
    "throw_undefined_buffer": COMPILER,
    "value_loops": COMPILER,
    "buffers_convert": CPP,
    "specialize": "the definition of a method that stands outside of its class",
    "BoundaryConditions.TESSERA_BOUNDARY_CONDITION": "a macro",
    "Buffer.TESSERA_UP_TO_12": "a macro",
    "Absent": CPP,
    "LoopName": CPP,
    "Fetched": "a Func, an ImageParam or a Buffer is given as it is",
    "LoopGroup": "a loop, or a list of loops, is given as it is",
    "MappingOptions": "the arguments rule, fixed and either_order of possible_mappings()",
    "BoundaryConditions.Source": "a Func, an ImageParam, a Buffer or an array is given as it is",
    "CallableArgument": "numbers, Buffers and arrays are given as they are",
    "RealizationArg": "a Buffer, an array, or a list of these is given as it is",
    "Realization": TUPLE,
    "Tuple": TUPLE,
    "BufferDeviceOwnership": "who owns memory of a device: see Buffer.device_ownership",
    # Methods.
    "Buffer.address_of": MEMORY,
    "Buffer.begin": MEMORY,
    "Buffer.end": MEMORY,
    "Buffer.data": MEMORY,
    "Buffer.raw_buffer": MEMORY,
    "Buffer.contents": COMPILER,
    "Buffer.shared_contents": COMPILER,
    "Buffer.get": CPP,
    "Buffer.as": CPP,
    "Buffer.can_convert_from": CPP,
    "Buffer.static_type": CPP,
    "Buffer.static_halide_type": CPP,
    "Buffer.static_dimensions": CPP,
    "Buffer.for_each_value": "NumPy's operations on Buffer.numpy() do it, without a call for each element",
    "Buffer.set_default_allocate_fn": "functions of C++, called wherever memory is allocated",
    "Buffer.set_default_deallocate_fn": "functions of C++, called wherever memory is freed",
    "Buffer.device_ownership": "a detail of the runtime's",
    "BufferDimension.begin": "range(d.min(), d.max() + 1)",
    "BufferDimension.end": "range(d.min(), d.max() + 1)",
    "BufferDimension.Iterator": "range(d.min(), d.max() + 1)",
    "Callable.make_std_function": CPP,
    "get_device_interface_for_device_api": "pointers to functions of the runtime",
    "ExternSignature": "types of a function of C++, which Python has none of",
    "ExternCFunction": "a pointer to a function of C++: JITExtern takes an address",
    "JITExtern.func": COMPILER,
    "Func.function": COMPILER,
    "Func.scheduled": COMPILER,
    "Stage.schedule": COMPILER,
    "Stage.scheduled": COMPILER,
    "FuncRef.function": COMPILER,
    "FuncRef.where": COMPILER,
    "LoopLevel.later": COMPILER,
    "LoopLevel.now": COMPILER,
    "Pipeline.program": COMPILER,
    "Pipeline.lowered": COMPILER,
    "Pipeline.target_program": COMPILER,
    "OutputImageParam.parameter": COMPILER,
    "Param.static_type": CPP,
    "RDom.domain": COMPILER,
    "RVar.domain": COMPILER,
    "RVar.symbol": COMPILER,
    "Var.symbol": COMPILER,
    "Pipeline.get_jit_externs": "set_jit_externs() is given a dict, which the caller has",
    "JITSharedRuntime": "its functions are functions of the module",
    "JITSharedRuntime.find_symbol": MEMORY,
    "JITSharedRuntime.memoization_cache_set_size": "no results are kept",
    "JITSharedRuntime.memoization_cache_evict": "no results are kept",
    "JITSharedRuntime.populate_jit_handlers": "functions of C++; on_print() and its like take Python's",
    "JITSharedRuntime.set_default_handlers": "functions of C++; on_print() and its like take Python's",
    "Func.add_custom_lowering_pass": "passes are classes of C++ over nodes of the compiler",
    "Func.clear_custom_lowering_passes": "passes are classes of C++ over nodes of the compiler",
    "Pipeline.add_custom_lowering_pass": "passes are classes of C++ over nodes of the compiler",
    "Pipeline.clear_custom_lowering_passes": "passes are classes of C++ over nodes of the compiler",
}


def all_names():
    names = set()
    for path in glob.glob(HEADERS):
        with open(path) as header:
            names |= public_names(header.read())
    return names


def excepted(name):
    return name in EXCEPTIONS or (name.split(".")[0] in EXCEPTIONS and name not in RENAMED)


def spelled(name):
    """Returns where the name has to be in Python; several places for a directive of a base."""
    name = RENAMED.get(name, name)
    first, _, rest = name.partition(".")
    if first in BASES:
        return [f"{place}.{rest}" for place in BASES[first] if rest]
    return [rest if first == "ConciseCasts" else name]


def is_bound(path):
    value = ts
    for part in path.split("."):
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def test_every_public_name_is_bound_or_excepted():
    missing = [f"{name} (as {path})" for name in sorted(all_names()) if not excepted(name)
               for path in spelled(name) if not is_bound(path)]
    assert not missing


def test_exceptions_are_names_that_are_there_and_not_bound():
    names = all_names()
    assert not [name for name in EXCEPTIONS if name not in names]
    bound = [name for name in EXCEPTIONS if name not in ("RDom.domain",) and all(map(is_bound, spelled(name)))]
    assert not bound


def test_enums_have_all_their_members():
    assert ts.MemoryType.GPUShared.name == "GPUShared" and hasattr(ts.MemoryType, "Tile")
    assert [t.name for t in ts.TailStrategy][0] == "RoundUp" and hasattr(ts.TailStrategy, "Auto")
    assert len(ts.TargetFeature) > 100 and ts.TargetFeature.AVX2 != ts.TargetFeature.AVX
    assert len(ts.OutputFileType) > 12


@pytest.mark.parametrize("text, wanted", [
    ("class A { public: void f(); int g() const { return 1; } private: void h(); };", {"A", "A.f", "A.g"}),
    ("namespace tessera { template<typename T> Expr f(T a = g()); enum class E { x }; }", {"f", "E"}),
    ("struct S { S(int a) : b{a}, c(0) { x(); } int operator()(int) const; ~S(); static S make(); };", {"S", "S.make"}),
    ("namespace detail { void hidden(); } void seen(std::function<int(int)> f); using A = B;", {"seen"}),
    ("class C; template<> class D<int> { void f(); };", set()),
])
def test_the_reader_finds_public_names(text, wanted):
    assert public_names(text) == wanted
