"""Measures how long it takes to build and to start with Tessera, beside other compilers: README.md."""
import argparse
import collections
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import time

BARS = {"first result": 3.0, "include": 1.5}  # what peer / ours should be at least


def read_commands(path):
    """{what is done: {who: command}}; a header is named differently by each."""
    cases = collections.defaultdict(dict)
    with open(path) as lines:
        for line in lines:
            who, what, command = line.rstrip("\n").split("\t")
            if what.startswith("include"):
                what = "include: the header alone"
            cases[what][who] = shlex.split(command)
    return cases


def run(command):
    """Milliseconds passed and of the processor; what was printed."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    printed, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    passed = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {process.returncode}: {errors.strip()[-300:]}")
    return 1e3 * passed, 1e3 * (usage.ru_utime + usage.ru_stime), printed


def agrees(printed, expected):
    """Sums of rounded values: a few are rounded the other way where functions are approximated."""
    try:
        return math.isclose(float(printed), float(expected), rel_tol=1e-6)
    except ValueError:
        return False


def works(what, who, command, expected):
    """Returns True if it can take part: a peer that is not built, fails, or prints something else cannot."""
    if not os.path.exists(command[0]):
        print(f"left out: {what}, {who}: {command[0]} is not built")
        return False
    try:
        printed = run(command)[2]
    except RuntimeError as failed:
        if expected is None:
            raise
        print(f"left out: {what}, {who}: {failed}")
        return False
    compares = expected is not None and what.startswith("first result")
    if compares and not agrees(printed, expected):
        print(f"left out: {what}, {who}: prints {printed.strip()}, not {expected.strip()}")
        return False
    return True


def measure(what, commands, rounds):
    """{who: times}, ours first, each a list over rounds of (passed, processor)."""
    ours = commands["Tessera"]
    expected = run(ours)[2]
    taking_part = {"Tessera": ours}
    for who, command in commands.items():
        if who != "Tessera" and works(what, who, command, expected):
            taking_part[who] = command
    times = {who: [] for who in taking_part}
    for _ in range(rounds):
        for who, command in taking_part.items():
            times[who].append(run(command)[:2])
    return times


def summary(what, times):
    """One row for each, ours first. Ratios are a peer's time over ours, the median over rounds."""
    ours = times["Tessera"]
    for who, of_one in times.items():
        row = {"case": what, "name": who, "bar": BARS.get(what.split(":")[0])}
        for kind, name in enumerate(["ms", "processor_ms"]):
            taken = [t[kind] for t in of_one]
            row[f"best_{name}"] = min(taken)
            row[f"median_{name}"] = statistics.median(taken)
            row[f"ratio_of_{name}"] = statistics.median(
                t[kind] / own[kind] for t, own in zip(of_one, ours))
        yield row


def show(row):
    text = (f"{row['case']:36} {row['name']:10} {row['best_ms']:9.0f} {row['median_ms']:9.0f} "
            f"{row['best_processor_ms']:9.0f}")
    if row["name"] != "Tessera":
        text += f" {row['ratio_of_ms']:7.2f} {row['ratio_of_processor_ms']:7.2f}"
        if row["bar"]:
            text += f" {row['bar']:5.1f}" + (" *" if row["ratio_of_ms"] < row["bar"] else "")
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", help="the file of commands that the build writes")
    parser.add_argument("--filter", default="", help="a regex: the cases that it matches")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run")
    parser.add_argument("--json", help="a file to write all times to")
    options = parser.parse_args()
    rows = []
    print(f"{'milliseconds':36} {'':10} {'best':>9} {'median':>9} {'processor':>9} {'ratio':>7} "
          f"{'of it':>7} {'bar':>5}")
    for what, commands in read_commands(options.commands).items():
        if not re.search(options.filter, what):
            continue
        for row in summary(what, measure(what, commands, options.rounds)):
            rows.append(row)
            show(row)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


main()
