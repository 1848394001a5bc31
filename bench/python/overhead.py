"""Prints what a call from Python costs, beside the peer's wheel: medians of rounds that take turns.

usage: overhead.py [--peer PYTHON] [--rounds N] [--only WORD]

PYTHON is the interpreter of a virtual environment with the peer's wheel (pip install halide==21.0.0 numpy). Each side is
a process of its own that waits for the other's turn to end, so that both see the same machine.
"""
import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# What is wanted, in microseconds: section by section as the table is printed.
CASES = [
    ("Callable of NumPy arrays", 0.8),
    ("Callable of own Buffers", 0.4),
    ("realize(buffer)", 0.8),
    ("realize([8, 8])", 2.0),
    ("Buffer(array)", 0.6),
    ("np.asarray(buffer)", 0.45),
    ("x + y", 0.5),
    ("x + 1", 0.5),
    ("im[x, y]", 0.8),
    ("f[x, y]", None),
    ("cast(u8, x)", 0.5),
    ("Callable by keywords", None),
    ("loaded, of NumPy arrays", 0.8),
    ("loaded, of own Buffers", 0.4),
    ("standalone.py", None),
]
# The peer has no such thing.
ONLY_OURS = ("loaded, of NumPy arrays", "loaded, of own Buffers", "standalone.py")


def functions(side):
    """Returns a function without arguments for each case."""
    import numpy as np
    if side == "ours":
        import tessera as hl
    else:
        import halide as hl
    x, y = hl.Var("x"), hl.Var("y")
    f = hl.Func("f")
    im = hl.ImageParam(hl.Float(32), 2, "im")
    k = hl.Param(hl.Float(32), "k")
    f[x, y] = im[x, y] * k
    call = f.compile_to_callable([im, k])
    data, out = np.ones((8, 8), np.float32), np.zeros((8, 8), np.float32)
    own, own_out = hl.Buffer(hl.Float(32), [8, 8]), hl.Buffer(hl.Float(32), [8, 8])
    own.fill(1)
    g = hl.Func("g")
    g[x, y] = hl.cast(hl.Float(32), x)
    g.realize(own_out)
    u8 = hl.UInt(8)
    Buffer, asarray, cast = hl.Buffer, np.asarray, hl.cast
    sizes = [8, 8]
    name = f.name().split("$")[0]
    keywords = {"im": data, "k": 2.0, name: out}
    loaded = libraries(hl, f, [im, k]) if side == "ours" else {}
    of_library = {
        "loaded, of NumPy arrays": lambda: loaded["package"](data, 2.0, out),
        "loaded, of own Buffers": lambda: loaded["package"](own, 2.0, own_out),
        "standalone.py": lambda: loaded["alone"](data, 2.0, out),
    }
    return (of_library if loaded else {}) | {
        "Callable of NumPy arrays": lambda: call(data, 2.0, out),
        "Callable of own Buffers": lambda: call(own, 2.0, own_out),
        "Callable by keywords": lambda: call(**keywords),
        "realize(buffer)": lambda: g.realize(own_out),
        "realize([8, 8])": lambda: g.realize(sizes),
        "Buffer(array)": lambda: Buffer(data),
        "np.asarray(buffer)": lambda: asarray(own),
        "x + y": lambda: x + y,
        "x + 1": lambda: x + 1,
        "im[x, y]": lambda: im[x, y],
        "f[x, y]": lambda: f[x, y],
        "cast(u8, x)": lambda: cast(u8, x),
    }


def libraries(ts, f, arguments):
    """Returns the function of a library of this pipeline, as the package loads it and as the file alone does."""
    from tessera import standalone
    functions = {}
    with tempfile.TemporaryDirectory() as folder:
        for side, load in (("package", ts.load), ("alone", standalone.load)):
            path = os.path.join(folder, side + ".so")
            f.compile_to({ts.OutputFileType.shared_library: path}, arguments, "scaled")
            functions[side] = load(path).scaled
    return functions


def nothing():
    pass


def time_of(function, number):
    """Returns the seconds of so many calls."""
    begin = time.perf_counter()
    for _ in range(number):
        function()
    return time.perf_counter() - begin


def number_for(function):
    """Returns how many calls take about 0.2 ms."""
    number = 1
    while True:
        if time_of(function, number) > 2e-4:
            return number
        number *= 2


def serve(side):
    """Times the case that a line of the input names, until there are no more."""
    cases = functions(side)
    numbers = {}
    gc.disable()
    of_nothing = min(time_of(nothing, 1000) for _ in range(20)) / 1000
    print("ready", flush=True)
    for line in sys.stdin:
        name = line.strip()
        numbers.setdefault(name, number_for(cases[name]))
        seconds = time_of(cases[name], numbers[name]) / numbers[name] - of_nothing
        print(json.dumps(1e6 * seconds), flush=True)


class Side:
    def __init__(self, side, python):
        here = os.path.abspath(__file__)
        self.process = subprocess.Popen([python, here, "--serve", side], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit(f"{python} has failed")

    def time(self, case):
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


FIRST = """
import time
begin = time.process_time()
import {module} as hl
imported = time.process_time()
x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
f[x, y] = x + y
f.realize([8, 8])
print(1e3 * (imported - begin), 1e3 * (time.process_time() - imported))
"""


def first(python, module):
    """Returns the milliseconds of processor time of the import and of the first pipeline in a new process."""
    text = subprocess.run([python, "-c", FIRST.format(module=module)], check=True, capture_output=True, text=True).stdout
    return [float(t) for t in text.split()]


def shown(value):
    return "-" if value is None else f"{value:.2f}"


def both(values):
    """Returns the median, and the least: what a machine without other work would show."""
    return f"{statistics.median(values):.2f} ({min(values):.2f})" if values else "-"


def compare(args):
    sides = {"ours": Side("ours", sys.executable)}
    if args.peer:
        sides["peer"] = Side("peer", args.peer)
    cases = [case for case in CASES if not args.only or args.only in case[0]]
    times = {(side, case): [] for side in sides for case, _ in cases}
    for _ in range(args.rounds):
        for case, _ in cases:
            for side in sides:
                if side == "ours" or case not in ONLY_OURS:
                    times[side, case].append(sides[side].time(case))
    print(f"{'us, medians (least)':28} {'ours':>14} {'wanted':>8} {'peer':>14}")
    for case, wanted in cases:
        ours, peer = (both(times.get((side, case))) for side in ("ours", "peer"))
        print(f"{case:28} {ours:>14} {shown(wanted):>8} {peer:>14}")
    if args.only:
        return
    starts = {"ours": [first(sys.executable, "tessera") for _ in range(5)]}
    if args.peer:
        starts["peer"] = [first(args.peer, "halide") for _ in range(5)]
    print(f"\n{'ms of processor time':28} {'ours':>8} {'wanted':>8} {'peer':>8}")
    for i, (what, wanted) in enumerate([("import", 30), ("first pipeline", 100)]):
        medians = {side: statistics.median(run[i] for run in starts[side]) for side in starts}
        print(f"{what:28} {shown(medians['ours']):>8} {shown(wanted):>8} {shown(medians.get('peer')):>8}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", metavar="PYTHON", help="the interpreter that has the peer's wheel")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--only", metavar="WORD", help="only the cases whose names have it")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
    else:
        compare(args)


if __name__ == "__main__":
    main()
