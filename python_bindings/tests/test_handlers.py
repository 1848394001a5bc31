"""Handlers of what pipelines print, trace and fail with, as Python callables."""
import contextlib
import ctypes
import gc
import io
import threading
import weakref

import numpy as np
import pytest

import tessera as ts

x = ts.Var("x")


def printing():
    f = ts.Func("f")
    f[x] = ts.print(ts.u8(x), "is what", "the", 1, "and", 3.5, "saw")
    return f


def test_print_goes_where_pythons_print_goes():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        printing().realize([2])
    assert out.getvalue() == "0 is what the 1 and 3.500000 saw\n1 is what the 1 and 3.500000 saw\n"


def test_print_when_prints_where_the_condition_holds():
    f = ts.Func("f")
    f[x] = ts.print_when(x == 3, ts.u8(x * x), "is the result at", x)
    said = []
    f.on_print(said.append)
    assert f.realize([5]).numpy().tolist() == [0, 1, 4, 9, 16]
    assert said == ["9 is the result at 3\n"]


def test_a_pipeline_has_its_own_handler_and_what_it_raises_comes_out():
    f, g, said = printing(), printing(), []
    assert f.on_print(said.append) is f
    f.realize([1])
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        g.realize([1])
    assert len(said) == 1 and out.getvalue()

    class Mine(Exception):
        pass

    def fail(text):
        raise Mine(text)

    f.on_print(fail)
    with pytest.raises(Mine, match="is what"):
        f.realize([1])
    f.on_print(None)
    with contextlib.redirect_stdout(out):
        f.realize([1])


def test_a_callable_has_the_handlers_of_its_pipeline_and_a_call_its_own():
    f, said, other = printing(), [], []
    f.on_print(said.append)
    call = f.compile_to_callable([])
    f.on_print(None)
    call(np.zeros(2, np.uint8))
    assert len(said) == 2
    context = ts.JITUserContext().on_print(other.append)
    f.realize([3], context=context)
    assert len(said) == 2 and len(other) == 3


def test_an_error_handler_has_the_message_instead_of_an_exception():
    p = ts.Param(ts.Int(32), "p", 5)
    f = ts.Func("f")
    f[x] = ts.require(p < 3, x, "p is", p)
    said = []
    f.on_error(said.append)
    f.realize([2])
    assert len(said) == 1 and "p is 5" in said[0]
    f.on_error(None)
    with pytest.raises(ts.RunError, match="p is 5"):
        f.realize([2])


def test_events_of_a_trace():
    f = ts.Func("f")
    f[x] = ts.f32(x) / 2
    f.trace_stores().trace_realizations()
    events = []
    f.on_trace(events.append)
    f.realize([3])
    stores = [e for e in events if e.event == ts.TraceEventCode.store]
    assert [(e.func, e.coordinates, e.value, e.type) for e in stores] == [
        ("f", (i,), (i / 2,), ts.Float(32)) for i in range(3)]
    assert {"produce", "begin_pipeline"} <= {e.event.name for e in events}
    f.on_trace(lambda e: None if e.event != ts.TraceEventCode.store else 1 // 0)
    with pytest.raises(ZeroDivisionError):
        f.realize([3])


def test_handlers_are_called_from_threads_of_the_pool_while_others_run():
    f, said = printing(), []
    f.parallel(x)
    f.on_print(said.append)
    ticks, running = [], True

    def tick():
        while running:
            ticks.append(1)

    other = threading.Thread(target=tick)
    other.start()
    f.realize([100])
    running = False
    other.join()
    assert len(said) == 100 and ticks


def test_a_handler_that_refers_to_its_pipeline_is_freed():
    class Holder:
        pass

    f, holder = printing(), Holder()
    holder.f = f
    f.on_print(lambda text, holder=holder: None)
    gone = weakref.ref(holder)
    del f, holder
    gc.collect()
    assert gone() is None


def test_c_functions_by_ctypes():
    buffer_p = ctypes.c_void_p
    calls = []

    @ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)
    def halve(v):
        calls.append(v)
        return v / 2

    f = ts.Func("f")
    f[x] = ts.extern_call("halve_it", ts.Float(32), ts.f32(x))
    f.set_jit_externs({"halve_it": halve})
    assert f.realize([3]).numpy().tolist() == [0, 0.5, 1]
    assert sorted(calls) == [0, 1, 2]
    assert ts.JITExtern(halve).address() == ctypes.cast(halve, buffer_p).value


def test_extern_stages_by_name():
    # int function(input, output), by the rules of the runtime: here one that only counts.
    calls = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
    def stage(n, out):
        calls.append(n)
        return 0

    f, g = ts.Func("f"), ts.Func("g")
    f.define_extern("count_calls", [7], ts.Int(32), 1)
    assert f.is_extern() and f.extern_function_name() == "count_calls" and f.dimensions() == 1
    g[x] = f[x] * 0
    f.compute_root()
    g.set_jit_externs({"count_calls": stage})
    assert g.realize([4]).numpy().tolist() == [0] * 4
    assert set(calls) == {7}
    f2 = ts.Func("f2")
    f2.define_extern("other", [g, 1.5], [ts.Int(32), ts.Float(32)], [x], ts.NameMangling.C)
    assert f2.types() == [ts.Int(32), ts.Float(32)]
