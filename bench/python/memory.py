"""Prints how much memory a process has after a tenth of its work and at the end of it.

usage: memory.py [--pipelines N] [--kept N] [--realizes N] [--most MIB] [--most-each KIB]

"pipelines": N different pipelines are made, run and dropped; the cache keeps the last twentieth of them. "kept": each Func
of N stays, and with it what was compiled of it. "realizes": one pipeline runs N times in each of the ways that there are.
The exit status is 1 if the first or the last has grown by more than MIB after its first tenth, or the second by more than
KIB for each pipeline since then.
"""
import argparse
import gc
import os
import subprocess
import sys


def resident():
    """Returns the MiB of memory that this process has."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def pipelines(count, keep=lambda f: None):
    """Yields after each pipeline."""
    import tessera as ts
    ts.keep_on_disk(False)
    ts.set_cache_limit(programs=count // 20)
    x = ts.Var("x")
    for n in range(count):
        f = ts.Func()
        f[x] = x + n
        assert f.realize([4])[3] == 3 + n
        keep(f)
        yield


def kept(count):
    """The same, with all of them in memory."""
    funcs = []
    yield from pipelines(count, funcs.append)


def realizes(count):
    """Yields after a run in each of the ways."""
    import numpy as np
    import tessera as ts
    x, f = ts.Var("x"), ts.Func("f")
    f[x] = 2 * x
    out, buffer, call = np.zeros(4096, np.int32), ts.Buffer(ts.Int(32), [4096]), f.compile_to_callable([])
    for _ in range(count):
        f.realize([4096])
        f.realize(out)
        f.realize(buffer)
        call(out)
        np.asarray(ts.Buffer(out))
        memoryview(buffer)
        yield


def levels(steps, count):
    """Returns the memory after the first tenth of the steps, and after all."""
    early = None
    for n, _ in enumerate(steps, 1):
        if n == count // 10:
            early = resident()
    return early, resident()


CASES = {"pipelines": pipelines, "kept": kept, "realizes": realizes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pipelines", type=int, default=1_000)
    parser.add_argument("--kept", type=int, default=1_000)
    parser.add_argument("--realizes", type=int, default=10_000)
    parser.add_argument("--most", metavar="MIB", type=float, default=2.0)
    parser.add_argument("--most-each", metavar="KIB", type=float, default=128.0)
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        count = getattr(args, args.case)
        print(*levels(CASES[args.case](count), count))
        return
    print(f"{'MiB':24} {'first tenth':>12} {'end':>8} {'growth':>8}")
    grown = False
    for case in CASES:  # each in a process of its own
        words = [sys.executable, os.path.abspath(__file__), "--case", case, f"--{case}", str(getattr(args, case))]
        text = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        early, end = map(float, text.split())
        count = getattr(args, case)
        grown |= end - early > (0.9 * count * args.most_each / 1024 if case == "kept" else args.most)
        print(f"{count:>10,} {case:13} {early:>12.1f} {end:>8.1f} {end - early:>8.1f}")
    sys.exit(int(grown))


if __name__ == "__main__":
    main()
