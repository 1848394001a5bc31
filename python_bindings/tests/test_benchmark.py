"""Timing, and functions that choose the fastest of several configs."""
import time

import numpy as np
import pytest

import tessera as ts


def test_calls_are_timed():
    timing = ts.benchmark(time.sleep, 0.005, seconds=0.05, warm_up=0)
    assert 5 <= timing.minimum <= timing.median <= timing.quantile(1)
    assert timing.quantile(0) == timing.minimum
    assert 2 <= len(timing.samples) <= 10
    assert "ms" in repr(timing)
    with pytest.raises(ValueError, match="from 0 to 1, not 2"):
        timing.quantile(2)


def test_short_calls_are_timed_several_at_once():
    calls = []
    timing = ts.benchmark(lambda: calls.append(1), seconds=0.02, warm_up=0)
    assert len(calls) > 20 * len(timing.samples)
    assert timing.median < 0.1


def test_a_func_is_timed_into_the_same_outputs():
    x, f = ts.Var("x"), ts.Func("f")
    f[x] = x * 2
    assert ts.benchmark(f, [64], seconds=0.01).median < 1000
    out = np.zeros(16, np.int32)
    ts.benchmark(f, out, seconds=0.01, flush=1)
    assert out.tolist() == list(range(0, 32, 2))
    g = ts.Func("g")
    g[x] = (x, x + 1)
    assert ts.benchmark(ts.Pipeline([g]), [64], seconds=0.01).minimum > 0


def test_what_a_call_raises_comes_out():
    with pytest.raises(ZeroDivisionError):
        ts.benchmark(lambda: 1 / 0)


def tuned(**more):
    made = []

    @ts.autotune([{"pause": 0.01}, {"pause": 0.0}, {"pause": 0.02}], seconds=0.0, **more)
    def sleeper(pause):
        """Sleeps."""
        made.append(pause)
        return lambda array: (time.sleep(pause), array.fill(1))

    return sleeper, made


def test_the_fastest_config_is_chosen_once_for_each_shape():
    sleeper, made = tuned()
    a, b = np.zeros(4), np.zeros((2, 2))
    for array in (a, a, b):
        sleeper(array)
    assert made == [0.01, 0.0, 0.02] and a.sum() == 4
    assert len(sleeper.chosen) == 2 and set(c["pause"] for c in sleeper.chosen.values()) == {0.0}
    assert sleeper.__doc__ == "Sleeps."


def test_a_key_of_ones_own():
    sleeper, made = tuned(key=lambda array: array.ndim)
    sleeper(np.zeros(4))
    sleeper(np.zeros(5))
    assert list(sleeper.chosen) == [1]


def test_configs_that_are_refused_are_left_out():
    def make(lanes):
        x, f = ts.Var("x"), ts.Func("f")
        f[x] = x
        return f.vectorize(x if lanes else ts.Var("zz"), 4).compile_to_callable([])

    out = np.zeros(8, np.int32)
    some = ts.autotune([{"lanes": 0}, {"lanes": 4}])(make)
    some(out)
    assert list(some.chosen.values()) == [{"lanes": 4}] and out[7] == 7
    with pytest.raises(ts.CompileError, match="no loop named zz"):
        ts.autotune([{"lanes": 0}])(make)(out)
    with pytest.raises(ValueError, match="no configs"):
        ts.autotune([])
