"""Memory over time, copies of the process, and its end."""
import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest

import tessera as ts

x, y = ts.vars("x y")


def resident():
    """Returns the bytes of memory that the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def doubled(name="f"):
    f = ts.Func(name)
    f[x] = 2 * x
    return f


def test_realizes_leave_nothing():
    f, out, buffer = doubled(), np.zeros(4096, np.int32), ts.Buffer(ts.Int(32), [4096])
    call = f.compile_to_callable([])
    levels = []
    for n in range(10_000):
        f.realize([4096])
        f.realize(out)
        f.realize(buffer)
        call(out)
        np.asarray(ts.Buffer(out))
        memoryview(buffer)
        if n in (999, 9_999):
            levels.append(resident())
    assert levels[1] - levels[0] < 2 << 20, levels


def test_pipelines_leave_nothing_beyond_the_limit():
    ts.set_cache_limit(programs=20)
    try:
        levels = []
        for n in range(300):
            f = ts.Func()
            f[x] = x + n
            assert f.realize([4])[3] == 3 + n
            if n in (29, 299):  # a tenth, and all: as bench/python/memory.py
                levels.append(resident())
        assert ts.cache_info()["programs"] == 20
        assert levels[1] - levels[0] < 2 << 20, levels
    finally:
        ts.set_cache_limit()


def test_the_cache_can_be_cleared():
    def compiled():
        before = ts.cache_info()["compiled"]
        f = ts.Func("cleared")
        f[x] = x * 12345
        f.realize([4])
        return ts.cache_info()["compiled"] - before

    on_disk = ts.keep_on_disk(False)
    ts.clear_cache()
    assert ts.cache_info()["programs"] == 0 and ts.cache_info()["bytes"] == 0
    assert (compiled(), compiled()) == (1, 0)
    assert ts.cache_info()["bytes"] > 0
    ts.clear_cache()
    assert compiled() == 1
    ts.keep_on_disk(on_disk)


def in_child(n):
    f = doubled()
    g = ts.Func("g")
    g[x] = x + n  # one that the parent has not compiled
    g.parallel(x)
    return f.realize([8]).numpy().tolist(), g.realize([64]).numpy().sum()


def test_a_forked_child_can_realize():
    p = ts.Func("p")
    p[x] = x
    p.parallel(x)
    p.realize([64])  # so that there are threads
    expected = in_child(1)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if in_child(1) == expected and in_child(2)[1] == expected[1] + 64 else 2
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_takes_and_returns_buffers(method):
    expected = in_child(1)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(in_child, [1, 1, 1]).get(120) == [expected] * 3
        b = ts.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3), name="sent")
        b.set_min([4, 5])
        back = pool.apply_async(returned, (b,)).get(120)
    assert back.mins == (4, 5) and back.name() == "sent" and back.numpy().tolist() == [[1, 2, 3], [4, 5, 6]]


def returned(buffer):
    buffer.numpy()[...] += 1
    return buffer


AT_THE_END = """
import numpy as np, tessera as ts, threading
x, im = ts.Var("x"), ts.ImageParam(ts.Float(32), 1, "im")
f = ts.Func("f")
f[x] = im[x] + 1
f.parallel(x)
im.set(np.zeros(8, np.float32))
kept = f.realize([8]), np.asarray(f.realize([8])), memoryview(f.realize([8])), np.from_dlpack(f.realize([8]))
call = f.compile_to_callable([im])
out = ts.Buffer(ts.Float(32), [8])
threads = [threading.Thread(target=call, args=(np.zeros(8, np.float32), out)) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
try:
    call(out)
except TypeError:
    pass
try:
    f.vectorize(ts.Var("nothing"), 4)
except ts.CompileError:
    pass
"""


def test_the_interpreter_ends_without_complaints():
    ran = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", AT_THE_END], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
