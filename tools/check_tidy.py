"""Fail if clang, or clang-tidy with the checks of .clang-tidy, finds a fault. Run by ctest as `tidy`.

Each source that has been touched since the commit in tools/checked_commit is read by itself, so that
it names all that it uses, which builds of several sources at a time do not show; with --all, each
source is. The tests are left out, and the peers of the benchmarks: what those include need not be
installed. A file that has passed and not changed is not read again: see source_check.py.
"""
import subprocess
import sys

from source_check import check_changed, command_line, touched

checked = ("src", "autoscheduler", "apps", "bench", "tools")

options = command_line(__doc__, "--tidy", "clang-tidy-22")

root = options.root.resolve()
# The tools share the random programs of the fuzz tests; those are read as includes only.
folders = [root / name for name in (".", "src", "include", "apps", "bench", "test/fuzz")]
command = [options.tidy, "--quiet", "--warnings-as-errors=*"]
flags = ["-std=c++20", "-Wall", "-Wextra", *(f"-I{folder}" for folder in folders),
         *(f"-isystem{path}" for path in options.system_include)]


def lint(path):
    done = subprocess.run([*command, str(path), "--", *flags], text=True, capture_output=True)
    return done.returncode == 0, done.stdout or done.stderr


def main():
    changed = None if options.all else touched(root)
    sources = sorted(path for name in checked for path in (root / name).rglob("*.cpp")
                     if root / "bench/peers" not in path.parents and "test" not in path.relative_to(root).parts
                     and (changed is None or path in changed))
    settings = [root / ".clang-tidy", *sorted(root.glob("*/.clang-tidy"))]
    salt = " ".join([*command, *flags, *(path.read_text() for path in settings)])
    linted, failed = check_changed(sources, folders, salt, lint, options.cache, options.jobs)
    print(f"tidy: {len(sources)} checked, {linted} read, {failed} failed")
    return bool(failed)


sys.exit(main())
