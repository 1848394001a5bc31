"""This module holds what the checks that compile one source file after the other share.

A file is checked again only if it, or a project file that it includes, or the command that checks
it has changed since it last passed: a cache file remembers a hash for each.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import pathlib
import re
import subprocess


def command_line(description, option, tool):
    """The arguments of such a check: `option` names the program that reads a file, by default `tool`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument(option, default=tool)
    parser.add_argument("--system-include", action="append", default=[])
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="read every source")
    return parser.parse_args()


@functools.cache
def read(path):
    return path.read_text()


def direct_includes(path, folders, text=None):
    """The project files that `path`, or `text` in its place, includes, found in `folders` or beside it."""
    for name in re.findall(r'^\s*#include ["<]([^">]+)[">]', read(path) if text is None else text, re.MULTILINE):
        for folder in (*folders, path.parent):
            if (folder / name).is_file():
                yield (folder / name).resolve()
                break


def closure(path, folders):
    """`path` and all the project files that it includes, directly or not."""
    seen, pending = set(), [path]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            pending += direct_includes(current, folders)
    return seen


def fingerprint(path, folders, salt):
    text = "\0".join(read(each) for each in sorted(closure(path, folders)))
    return hashlib.sha256((salt + text).encode()).hexdigest()


def save(cache, passed):
    """Writes it as a whole and after each file, so that what is interrupted goes on where it was."""
    if cache:
        partial = cache.with_suffix(".partial")
        partial.write_text(json.dumps(passed, indent=1))
        partial.replace(cache)


def touched(root):
    """The files that differ from the commit in tools/checked_commit, at which all passed.

    None if that cannot be told: without git, or where the clone does not reach back to the commit.
    """
    commit = read(root / "tools" / "checked_commit").strip()
    listed = []
    for command in (["diff", "--name-only", "--relative", commit], ["ls-files", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", "-C", str(root), *command], text=True, capture_output=True)
        if done.returncode != 0:
            return None
        listed += done.stdout.splitlines()
    return {(root / name).resolve() for name in listed}


def read_before(path, root):
    """The text of `path` at the commit in tools/checked_commit, or None if it was not there."""
    commit = read(root / "tools" / "checked_commit").strip()
    done = subprocess.run(["git", "-C", str(root), "show", f"{commit}:./{path.relative_to(root)}"],
                          text=True, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def check_changed(paths, folders, salt, check, cache=None, jobs=2):
    """Call check(path) -> (passed, message) for each path that is not known to pass.

    Prints the messages of those that fail, and returns how many were checked and how many failed.
    `salt` is what the outcome depends on besides the files: the command, and its configuration.
    """
    known = json.loads(cache.read_text()) if cache and cache.is_file() else {}
    prints = {str(path): fingerprint(path, folders, salt) for path in paths}
    passed = {path: mark for path, mark in prints.items() if known.get(path) == mark}
    stale = [path for path in paths if str(path) not in passed]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, (ok, message) in zip(stale, pool.map(check, stale)):
            if ok:
                passed[str(path)] = prints[str(path)]
                save(cache, passed)
            else:
                failed += 1
                print(f"{path} fails:\n{message}", flush=True)
    save(cache, passed)
    return len(stale), failed
