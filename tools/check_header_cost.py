"""Fail if tessera.h makes a compiler read more than it does today. Run by ctest as `header_cost`.

The cost of including it is counted in lines after preprocessing that are not blank,
which repeat themselves where seconds do not: 73,000, of them 68,000 of the standard library, took
g++ 12 2.0 to 2.6 s to read.
"""
import argparse
import pathlib
import re
import subprocess
import sys

most_own, most_of_all = 5_650, 76_000

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("root", type=pathlib.Path)
parser.add_argument("--compiler", default="g++")
options = parser.parse_args()

folders = [f"-I{options.root / name}" for name in ("include", "src")]
text = subprocess.run([options.compiler, "-std=c++20", *folders, "-E", "-xc++", "-"], text=True,
                      input="#include <tessera.h>\n", capture_output=True, check=True).stdout
own = others = 0
file = ""
for line in text.splitlines():
    if marker := re.match(r'# \d+ "([^"]+)"', line):
        file = marker[1]
    elif line.strip():
        is_own = file.startswith(str(options.root))
        own += is_own
        others += not is_own
print(f"header_cost: {own} lines of the project (at most {most_own}), {own + others} with the standard "
      f"library (at most {most_of_all})")
sys.exit(own > most_own or own + others > most_of_all)
