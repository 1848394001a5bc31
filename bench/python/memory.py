"""Prints how much memory a process has after a tenth of its work and at the end of it.

usage: memory.py [--pipelines N] [--realizes N] [--most MIB]

"pipelines": N different pipelines are made, run and kept, while the cache of compiled ones has its limit; what belongs to
each of them is its definition, and a compiled program only while that is among the last. "realizes": one pipeline runs N
times in each of the ways that there are. The exit status is 1 if one of the two has grown by more than MIB after its first
tenth.
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


def pipelines(count):
    """Yields after each pipeline."""
    import tessera as ts
    ts.set_cache_limit(programs=count // 20)
    x = ts.Var("x")
    kept = []
    for n in range(count):
        f = ts.Func()
        f[x] = x + n
        kept.append(f)
        assert f.realize([4])[3] == 3 + n
        yield


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


CASES = {"pipelines": pipelines, "realizes": realizes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pipelines", type=int, default=1_000)
    parser.add_argument("--realizes", type=int, default=10_000)
    parser.add_argument("--most", metavar="MIB", type=float, default=2.0)
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
        grown |= end - early > args.most
        print(f"{getattr(args, case):>10,} {case:13} {early:>12.1f} {end:>8.1f} {end - early:>8.1f}")
    sys.exit(int(grown))


if __name__ == "__main__":
    main()
