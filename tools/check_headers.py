"""Fail if a header below src does not compile by itself. Run by ctest as `headers`.

Only what has changed is compiled again: see source_check.py.
"""
import argparse
import pathlib
import subprocess
import sys

from source_check import check_changed

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("src", type=pathlib.Path)
parser.add_argument("--compiler", default="g++")
parser.add_argument("--system-include", action="append", default=[])
parser.add_argument("--cache", type=pathlib.Path)
parser.add_argument("--jobs", type=int, default=2)
options = parser.parse_args()

command = [options.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
           f"-I{options.src}", *(f"-isystem{path}" for path in options.system_include)]
# A header that is the main file of a compilation may keep its `#pragma once`.
command += ["-Wno-pragma-once-outside-header"] if "clang" in options.compiler else []


def compile_alone(path):
    line = f'#include "{path.relative_to(options.src)}"\n'
    done = subprocess.run([*command, "-xc++", "-"], input=line, text=True, capture_output=True)
    return done.returncode == 0, done.stderr


def main():
    options.src = options.src.resolve()
    headers = sorted(options.src.rglob("*.h"))
    compiled, failed = check_changed(headers, [options.src], " ".join(command), compile_alone,
                                     options.cache, options.jobs)
    print(f"headers: {len(headers)} checked, {compiled} compiled, {failed} failed")
    return bool(failed)


sys.exit(main())
