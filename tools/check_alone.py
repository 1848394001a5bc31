"""Fail if a source or a header of the library does not compile by itself. Run by ctest as `alone`.

The build compiles sixteen sources at a time, where one may use what another includes. This compiles
each by itself that a change since the commit in tools/checked_commit may have broken: a source that
has been touched, whose own header has been, or that reaches a header which has lost an #include. A
header that is not the first include of the source of its name is compiled, too: no source shows that
it is complete. With --all, every source is compiled. A file that has passed and not changed is not compiled
again: see source_check.py.
"""
import subprocess
import sys

from source_check import check_changed, closure, command_line, direct_includes, read_before, touched

# The build compiles several sources at a time in these folders. Those of the runtime are compiled
# one by one.
compiled_together = ("src", "autoscheduler", "tools/run")
compiled_one_by_one = ("src/runtime",)

options = command_line(__doc__, "--compiler", "g++")

root = options.root.resolve()
folders = [root / name for name in ("src", "include", ".")]
command = [options.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-restrict",
           *(f"-I{folder}" for folder in folders),
           *(f"-isystem{path}" for path in options.system_include)]
# A header that is the main file of a compilation may keep its `#pragma once`.
header_flags = ["-Wno-pragma-once-outside-header"] if "clang" in options.compiler else []


def compile_alone(path):
    if path.suffix == ".h":
        done = subprocess.run([*command, *header_flags, "-xc++", "-"], input=f'#include "{path}"\n',
                              text=True, capture_output=True)
    else:
        done = subprocess.run([*command, str(path)], text=True, capture_output=True)
    return done.returncode == 0, done.stderr


def own_header(source):
    """The header of the source's name if it is the source's first include, which makes it complete."""
    header = source.with_suffix(".h")
    first = next(iter(direct_includes(source, folders)), None)
    return header if header.is_file() and first == header else None


def files_of(suffix):
    for name in compiled_together:
        for path in sorted((root / name).rglob(f"*{suffix}")):
            if "test" not in path.relative_to(root).parts:
                yield path


def has_lost_an_include(header):
    before = read_before(header, root)
    return before is not None and not set(direct_includes(header, folders, before)) <= set(direct_includes(header, folders))


def main():
    sources = [path for path in files_of(".cpp")
               if not any((root / name) in path.parents for name in compiled_one_by_one)]
    led = {own_header(source) for source in files_of(".cpp")}
    headers = [path for path in files_of(".h") if path not in led]
    changed = None if options.all else touched(root)
    if changed is not None:
        thinner = {path for path in changed if path.suffix == ".h" and path.is_file() and has_lost_an_include(path)}
        sources = [path for path in sources
                   if path in changed or own_header(path) in changed or closure(path, folders) & thinner]
    files = sorted(sources + headers)
    compiled, failed = check_changed(files, folders, " ".join(command), compile_alone, options.cache, options.jobs)
    print(f"alone: {len(sources)} sources and {len(headers)} headers checked, {compiled} compiled, {failed} failed")
    return bool(failed)


sys.exit(main())
