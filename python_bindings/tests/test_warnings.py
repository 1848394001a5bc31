"""Warnings are Python's for what Python does, and for nothing else in the process."""
import ctypes
import itertools
import os
import subprocess
import threading
import warnings

import pytest

import tessera as ts

x = ts.Var("x")

# A program in C++ that has Tessera, too, does this.
BESIDE = """
#include "base/warning.h"
#include "lang/jit_shared_runtime.h"
using namespace tessera;
static int heard = 0;
extern "C" void listen() { set_warning_handler([](const std::string &) { heard++; }); }
extern "C" void listen_no_more() { set_warning_handler({}); }
extern "C" int heard_so_far() { return heard; }
extern "C" void warn_beside() { warn(Location(), "said beside Python"); }
extern "C" bool has_print_handler() {
    const JITHandlers handlers = JITSharedRuntime::set_default_handlers({});
    JITSharedRuntime::set_default_handlers(handlers);
    return handlers.custom_print;
}
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    (folder / "beside.cpp").write_text(BESIDE)
    sources = os.path.join(os.path.dirname(__file__), "..", "..", "src")
    package = os.path.dirname(ts.__file__)
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", f"-I{sources}", "beside.cpp", "-o", "beside.so",
                    os.path.join(package, "libtessera.so.0"), f"-Wl,-rpath,{package}"], cwd=folder, check=True)
    return ctypes.CDLL(folder / "beside.so")


def needless(numbers=itertools.count(1000)):
    """Returns a Func that no other is equal to: compiling it warns."""
    f = ts.Func("f")
    f[x] = x + next(numbers)
    f[x] += 1
    f.vectorize(x, 4)
    return f


def test_what_cpp_beside_reports_is_not_pythons(beside, capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        beside.warn_beside()
    assert not caught and "said beside Python" in capfd.readouterr().err
    assert not beside.has_print_handler()


def test_what_python_reports_is_not_told_to_cpp_beside(beside):
    beside.listen()
    try:
        with pytest.warns(ts.Warning, match="no schedule"):
            needless().realize([8])
        with pytest.warns(ts.Warning, match="atomic has no effect"):
            exec("f = ts.Func('f'); f[x] = x; f.atomic()", {"ts": ts, "x": x, "__tessera_dialect__": "halide"})
        assert beside.heard_so_far() == 0
        beside.warn_beside()
        assert beside.heard_so_far() == 1
    finally:
        beside.listen_no_more()


def test_a_warning_of_the_compilers_threads_comes_on_the_callers_thread():
    told = []

    def show(message, *_):
        told.append((str(message), threading.get_ident()))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        here = threading.get_ident()
        needless().realize([8])
        there = threading.Thread(target=lambda: needless().realize([8]))
        there.start()
        there.join()
    assert [ident for _, ident in told] == [here, there.ident]
    assert all("no schedule" in text for text, _ in told)


def test_a_warning_that_is_an_error_leaves_the_call_that_compiles():
    f = needless()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ts.Warning, match="no schedule"):
            f.realize([8])
    with pytest.warns(ts.Warning, match="no schedule"):
        f.realize([8])


def test_what_a_search_warns_of_is_pythons():
    f = ts.Func("f")
    f[x] = x * x
    f.set_estimates([(0, 64)])
    params = ts.AutoschedulerParams("Adams2019", {"parallelism": "1", "beam_size": "4"})
    with pytest.warns(ts.Warning, match="no use for beam_size"):
        f.apply_autoscheduler(params=params)
