"""Fail if a header or source of the library does not compile by itself. Run by ctest as `alone`.

The build compiles several sources at a time, where one may use what another includes. Read are the
sources and headers that have been touched since the commit in tools/checked_commit, and the headers
that are not the first include of the source of their name, which would compile them alone; with
--all, everything is. What has passed and not changed is not compiled again: see source_check.py.
"""
import argparse
import pathlib
import re
import subprocess
import sys

from source_check import check_changed, read, touched

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("root", type=pathlib.Path)
parser.add_argument("--compiler", default="g++")
parser.add_argument("--system-include", action="append", default=[])
parser.add_argument("--cache", type=pathlib.Path)
parser.add_argument("--jobs", type=int, default=2)
parser.add_argument("--all", action="store_true", help="leave nothing out")
options = parser.parse_args()

root = options.root.resolve()
src = root / "src"
folders = [src, root / "include", root]
# The runtime's sources are compiled one by one in any build.
compiled_together = [src, root / "autoscheduler"]
command = [options.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-restrict",
           *(f"-I{folder}" for folder in folders),
           *(f"-isystem{path}" for path in options.system_include)]
# A header that is the main file of a compilation may keep its `#pragma once`.
command += ["-Wno-pragma-once-outside-header"] if "clang" in options.compiler else []


def compile_alone(path):
    done = subprocess.run([*command, "-xc++", "-"], input=f'#include "{path}"\n', text=True,
                          capture_output=True)
    return done.returncode == 0, done.stderr


def leads_its_source(header):
    source = header.with_suffix(".cpp")
    first = re.search(r'^#include "([^"]+)"', read(source), re.MULTILINE) if source.is_file() else None
    return bool(first) and src / first[1] == header


def main():
    changed = None if options.all else touched(root)

    def is_chosen(path):
        if changed is None or path in changed:
            return True
        return path.suffix == ".h" and src in path.parents and not leads_its_source(path)

    files = sorted(path for folder in compiled_together for kind in ("*.h", "*.cpp")
                   for path in folder.rglob(kind)
                   if "test" not in path.relative_to(root).parts and is_chosen(path)
                   and not (kind == "*.cpp" and src / "runtime" in path.parents))
    compiled, failed = check_changed(files, folders, " ".join(command), compile_alone,
                                     options.cache, options.jobs)
    print(f"alone: {len(files)} checked, {compiled} compiled, {failed} failed")
    return bool(failed)


sys.exit(main())
