"""Fail if a header below src does not compile by itself. Run by ctest as `headers`.

A header is compiled again only if it, or a project header that it includes, has changed since it
last compiled: the cache file remembers a hash for each.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import pathlib
import re
import subprocess
import sys

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


@functools.cache
def read(path):
    return path.read_text()


def includes(path):
    for name in re.findall(r'^\s*#include "([^"]+)"', read(path), re.MULTILINE):
        for folder in (options.src, path.parent):
            if (folder / name).is_file():
                yield (folder / name).resolve()
                break


def closure(path):
    seen, pending = set(), [path]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            pending += includes(current)
    return seen


def fingerprint(path):
    text = "\0".join(read(each) for each in sorted(closure(path)))
    return hashlib.sha256((" ".join(command) + text).encode()).hexdigest()


def compile_alone(path):
    line = f'#include "{path.relative_to(options.src)}"\n'
    done = subprocess.run([*command, "-xc++", "-"], input=line, text=True, capture_output=True)
    return path, done.returncode == 0, done.stderr


def main():
    options.src = options.src.resolve()
    known = {}
    if options.cache and options.cache.is_file():
        known = json.loads(options.cache.read_text())
    headers = sorted(options.src.rglob("*.h"))
    prints = {str(path): fingerprint(path) for path in headers}
    stale = [path for path in headers if known.get(str(path)) != prints[str(path)]]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, passed, message in pool.map(compile_alone, stale):
            if not passed:
                failed.append(path)
                print(f"{path} does not compile alone:\n{message}")
    if options.cache:
        passed = {path: mark for path, mark in prints.items()
                  if pathlib.Path(path) not in failed}
        options.cache.write_text(json.dumps(passed, indent=1))
    print(f"headers: {len(headers)} checked, {len(stale)} compiled, {len(failed)} failed")
    return bool(failed)


sys.exit(main())
