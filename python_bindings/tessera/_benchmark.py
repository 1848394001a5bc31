"""Timing of calls, and functions that choose the fastest of several ways to make themselves."""
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._errors import CompileError
from ._tessera import Func, Pipeline


class Timing:
    """Says how long calls took, in milliseconds: `minimum`, `median`, and `samples`, each the mean of some calls in a row.

    >>> ts.Timing([2.0, 1.0, 1.5])
    <Timing: 1.5 ms, at least 1 ms, 3 samples>
    """

    def __init__(self, samples: Sequence[float]) -> None:
        self.samples = samples

    @property
    def minimum(self) -> float:
        """Returns the shortest time, in milliseconds.

        >>> ts.Timing([2.0, 1.0, 1.5]).minimum
        1.0
        """
        return min(self.samples)

    @property
    def median(self) -> float:
        """Returns the median of the times, in milliseconds.

        >>> ts.Timing([2.0, 1.0, 1.5]).median
        1.5
        """
        import statistics  # takes as long to import as half of this package

        return float(statistics.median(self.samples))

    def quantile(self, q):
        """Returns the time in milliseconds that this part of the samples is within.

        >>> ts.Timing([2.0, 1.0, 1.5]).quantile(0.9)
        2.0
        """
        if not 0 <= q <= 1:
            raise ValueError(f"a quantile is a number from 0 to 1, not {q}")
        ordered = sorted(self.samples)
        return ordered[min(len(ordered) - 1, int(q * len(ordered)))]

    def __repr__(self):
        return f"<Timing: {self.median:.4g} ms, at least {self.minimum:.4g} ms, {len(self.samples)} samples>"


def _flusher(megabytes):
    import numpy as np

    array = np.zeros(megabytes << 17)  # of 8 bytes each
    return lambda: array.fill(1)


def benchmark(function: Callable[..., Any], *args: Any, seconds: float = 0.2, warm_up: float = 0.05, flush: float = 0,
              **kwargs: Any) -> Timing:
    """Calls a function again and again with these arguments, and returns its Timing.

    `function`: a Callable, or anything that is called; a Func or a Pipeline is realized, its argument being the sizes or
    outputs. `seconds`: how long it is timed, after `warm_up` seconds that are not; short calls are timed several at once.
    `flush`: so many megabytes are written before each call, so that its data are in no cache, and each call is timed by
    itself.

    >>> import tessera as ts
    >>> x, f = ts.Var("x"), ts.Func("f")
    >>> f[x] = x * x
    >>> ts.benchmark(f, [1000], seconds=0.01).median < 1000
    True
    """
    if isinstance(function, (Func, Pipeline)):
        # Into the same outputs each time.
        outputs = function.realize(*args, **kwargs)
        target = kwargs.get("target")
        args = (list(outputs) if isinstance(outputs, tuple) else outputs if outputs is not None else args[0],)
        kwargs = {"target": target} if target is not None else {}
        function = function.realize

    def run(times):
        begin = time.perf_counter()
        for _ in range(times):
            function(*args, **kwargs)
        return 1e3 * (time.perf_counter() - begin) / times

    least, begin = run(1), time.perf_counter()
    while time.perf_counter() - begin < warm_up:
        least = min(least, run(1))
    flush_caches = _flusher(flush) if flush else None
    times = 1 if flush else max(1, min(1000, round(1 / max(least, 1e-3))))
    samples, begin = [], time.perf_counter()
    while not samples or time.perf_counter() - begin < seconds:
        if flush_caches:
            flush_caches()
        samples.append(run(times))
    return Timing(samples)


def _shapes(*args, **kwargs):
    return tuple((getattr(a, "shape", None), str(getattr(a, "dtype", type(a)))) for a in (*args, *kwargs.values()))


def autotune(configs: Sequence[Mapping[str, Any]], key: Callable[..., Any] | None = None,
             seconds: float = 0.05) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function of one that makes a Callable from a config: it calls the Callable that is the fastest.

    `configs`: dicts, the keyword arguments to make a Callable with. `key`: a function of a call's arguments; where it
    gives a value for the first time, the Callables are timed with these arguments, so that outputs are written several
    times; None: the shapes and types of all arrays. A config that the compiler refuses is left out; CompileError if
    all are. `chosen` of the function has the config for each key.

    >>> import numpy as np, tessera as ts
    >>> @ts.autotune([{"lanes": 4}, {"lanes": 8}])
    ... def squares(lanes):
    ...     x, f = ts.Var("x"), ts.Func("f")
    ...     f[x] = x * x
    ...     return f.vectorize(x, lanes).compile_to_callable([])
    >>> out = np.zeros(16, np.int32)
    >>> squares(out)
    >>> int(out[3]), len(squares.chosen)
    (9, 1)
    """
    configs = [dict(c) for c in configs]
    if not configs:
        raise ValueError("autotune has no configs; give it at least one")

    def decorate(make):
        made = functools.cache(lambda place: make(**configs[place]))
        fastest, find_key = {}, key or _shapes

        def search(args, kwargs):
            times, refusal = {}, None
            for place in range(len(configs)):
                try:
                    times[place] = benchmark(made(place), *args, seconds=seconds, warm_up=0, **kwargs).median
                except CompileError as error:
                    refusal = error
            if not times:
                raise refusal
            return min(times, key=times.get)

        @functools.wraps(make)
        def tuned(*args, **kwargs):
            which = find_key(*args, **kwargs)
            if which not in fastest:
                fastest[which] = search(args, kwargs)
                tuned.chosen[which] = configs[fastest[which]]
            return made(fastest[which])(*args, **kwargs)

        tuned.chosen = {}
        return tuned

    return decorate
