"""Print how many lines of src the tests ran, from the counters that a coverage build leaves.

usage: coverage.py BUILD_FOLDER SOURCE_FOLDER
"""
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys

LEAST_COVERED_SHOWN = 25


def counters(notes_file):
    """Yield (source path, line, count) for each line of one object file, 0 if it never ran."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", notes_file.name],
                          cwd=notes_file.parent, capture_output=True, text=True)
    for text in done.stdout.splitlines():
        report = json.loads(text)
        base = pathlib.Path(report["current_working_directory"])
        for source in report["files"]:
            path = (base / source["file"]).resolve()
            for line in source["lines"]:
                yield path, line["line_number"], line["count"]


def collect(build, src):
    """Map source path to {line: ran}: a line ran if any object that contains it ran it."""
    lines = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = pool.map(lambda file: [entry for entry in counters(file) if src in entry[0].parents],
                        build.rglob("*.gcno"))
        for job in jobs:
            for path, line, count in job:
                lines[path][line] = lines[path].get(line, False) or count > 0
    return lines


def percent(ran, total):
    return 100.0 * ran / total if total else 100.0


def main():
    build, src = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    lines = collect(build, src)
    components = collections.defaultdict(lambda: [0, 0])
    files = []
    for path, ran in lines.items():
        relative = path.relative_to(src)
        files.append((percent(sum(ran.values()), len(ran)), sum(ran.values()), len(ran), relative))
        for key in (relative.parts[0], "total"):
            components[key][0] += sum(ran.values())
            components[key][1] += len(ran)
    print("Least covered files (lines that never ran):")
    for share, ran, total, path in sorted(files, key=lambda f: f[1] - f[2])[:LEAST_COVERED_SHOWN]:
        missed = sorted(line for line, hit in lines[src / path].items() if not hit)
        print(f"{share:6.1f} %  {total - ran:5} of {total:5}  {path}  {missed[:8]}")
    for component in sorted(components, key=lambda component: (component == "total", component)):
        ran, total = components[component]
        print(f"{percent(ran, total):6.1f} %  {ran:6} of {total:6} lines  {component}")


main()
