"""Fail if any file includes a room above its own. Run by ctest as `layers`."""
import pathlib
import re
import sys

ROOMS = ["runtime", "base", "files", "ir", "algebra", "program", "lower", "interpret", "codegen",
         "driver", "lang", "aot"]
# Rooms side by side: neither may include the other.
APART = {("codegen", "interpret")}
LLVM_ROOM = "codegen"


def violations(src):
    for path in sorted(src.rglob("*.[hc]*")):
        room = path.relative_to(src).parts[0]
        if room not in ROOMS:
            continue
        for line, text in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'#include ["<](\w+)/', text)
            if not found:
                continue
            other = found.group(1)
            if other in ROOMS and ROOMS.index(other) > ROOMS.index(room) or (room, other) in APART:
                yield f"{path}:{line}: {room} may not include {other}"
            if other in ("llvm", "llvm-c") and room != LLVM_ROOM:
                yield f"{path}:{line}: only {LLVM_ROOM} may include LLVM"
            if room == "runtime" and other in ROOMS and other != "runtime":
                yield f"{path}:{line}: the runtime includes no other room"


bad = list(violations(pathlib.Path(sys.argv[1])))
print("\n".join(bad) or "layers: ok")
sys.exit(bool(bad))
