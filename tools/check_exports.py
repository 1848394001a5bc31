#!/usr/bin/env python3
"""Fails if a shared library exports names that are not Tessera's: check_exports.py LIBRARY."""
import subprocess
import sys


def main():
    listed = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True, capture_output=True, text=True)
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    foreign = [name for name in names if "tessera" not in name]
    print(f"{len(names)} names, {len(foreign)} of others")
    if len(names) < 1000:
        sys.exit("the library exports too little")
    if foreign:
        sys.exit("not Tessera's: " + ", ".join(foreign[:10]))


if __name__ == "__main__":
    main()
