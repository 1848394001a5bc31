"""Print the longest functions and files below the given folders (default: src). Informative."""
import collections
import json
import pathlib
import subprocess
import sys

SHOWN = 10


def functions(folders):
    command = ["ctags", "--recurse", "--languages=C++", "--kinds-C++=f", "--fields=+ne",
               "--output-format=json", "-f", "-", *folders]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        tag = json.loads(line)
        if "end" in tag:
            scope = f"{tag['scope']}::" if "scope" in tag and "__anon" not in tag["scope"] else ""
            yield tag["end"] - tag["line"] + 1, f"{scope}{tag['name']}", tag["path"], tag["line"]


def files(folders):
    for folder in folders:
        for path in pathlib.Path(folder).rglob("*"):
            if path.suffix in (".h", ".cpp"):
                yield len(path.read_text().splitlines()), str(path)


def percentile(ordered, part):
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0


def main():
    folders = sys.argv[1:] or ["src"]
    found = sorted(functions(folders), reverse=True)
    print(f"The {SHOWN} longest functions:")
    for lines, name, path, line in found[:SHOWN]:
        print(f"{lines:6} {name}  {path}:{line}")
    sizes = sorted(files(folders), reverse=True)
    print(f"The {SHOWN} longest files:")
    for lines, path in sizes[:SHOWN]:
        print(f"{lines:6} {path}")
    per_component = collections.Counter()
    for lines, path in sizes:
        per_component[str(pathlib.Path(path).parts[:2][-1])] += lines
    print("Lines:", ", ".join(f"{name} {lines}" for name, lines in per_component.most_common()))
    lengths = sorted(lines for lines, *_ in found)
    print(f"Functions: {len(lengths)}, median {percentile(lengths, .5)} lines, "
          f"99th percentile {percentile(lengths, .99)}")


main()
