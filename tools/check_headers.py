"""Fail if a header below src does not compile by itself. Run by ctest as `headers`.

A header that is the first include of the source of its name compiles alone if that source does: such
headers are read only if they have been touched since the commit in tools/checked_commit, or with
--all. What has passed and not changed is not compiled again: see source_check.py.
"""
import argparse
import pathlib
import re
import subprocess
import sys

from source_check import check_changed, read, touched

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("src", type=pathlib.Path)
parser.add_argument("--compiler", default="g++")
parser.add_argument("--system-include", action="append", default=[])
parser.add_argument("--cache", type=pathlib.Path)
parser.add_argument("--jobs", type=int, default=2)
parser.add_argument("--all", action="store_true", help="leave no header out")
options = parser.parse_args()

command = [options.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
           f"-I{options.src}", *(f"-isystem{path}" for path in options.system_include)]
# A header that is the main file of a compilation may keep its `#pragma once`.
command += ["-Wno-pragma-once-outside-header"] if "clang" in options.compiler else []


def compile_alone(path):
    line = f'#include "{path.relative_to(options.src)}"\n'
    done = subprocess.run([*command, "-xc++", "-"], input=line, text=True, capture_output=True)
    return done.returncode == 0, done.stderr


def leads_its_source(header):
    source = header.with_suffix(".cpp")
    first = re.search(r'^#include "([^"]+)"', read(source), re.MULTILINE) if source.is_file() else None
    return bool(first) and options.src / first[1] == header


def main():
    options.src = options.src.resolve()
    changed = None if options.all else touched(options.src.parent)
    headers = [path for path in sorted(options.src.rglob("*.h"))
               if changed is None or path in changed or not leads_its_source(path)]
    compiled, failed = check_changed(headers, [options.src], " ".join(command), compile_alone,
                                     options.cache, options.jobs)
    print(f"headers: {len(headers)} checked, {compiled} compiled, {failed} failed")
    return bool(failed)


sys.exit(main())
