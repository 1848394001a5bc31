"""Fail if any file includes a component above its own. Run by ctest as `layers`."""
import pathlib
import re
import sys

COMPONENTS = ["runtime", "base", "files", "ir", "algebra", "program", "lower", "interpret", "codegen",
         "driver", "lang", "aot"]
# Pairs of which the first may not include the second, although it is below: code generation and the
# oracles are side by side, and an oracle that simplifies what it runs would share the simplifier's
# faults.
APART = {("codegen", "interpret"), ("interpret", "algebra")}
LLVM_COMPONENT = "codegen"
# A pointer to a function that no handle owns; the handle itself may show one.
UNOWNED_FUNCTION = re.compile(r"\bFunction(Contents|Family) \*(?!get\(\)|operator->\(\))")


def violations(src):
    for path in sorted(src.rglob("*.[hc]*")):
        component = path.relative_to(src).parts[0]
        if component not in COMPONENTS:
            continue
        for line, text in enumerate(path.read_text().splitlines(), 1):
            # Definitions never change: a handle that may is not made of one that may not.
            if component == "program" and "const_cast<" in text:
                yield f"{path}:{line}: there is no const_cast in program"
            # What wraps a function reaches it through their family, and not by a pointer back.
            if component == "program" and UNOWNED_FUNCTION.search(text):
                yield f"{path}:{line}: in program a FunctionRef holds a function, and no pointer"
            found = re.match(r'#include ["<](\w+)/', text)
            if not found:
                continue
            other = found.group(1)
            is_above = (other in COMPONENTS
                        and COMPONENTS.index(other) > COMPONENTS.index(component))
            if is_above or (component, other) in APART:
                yield f"{path}:{line}: {component} may not include {other}"
            if other in ("llvm", "llvm-c") and component != LLVM_COMPONENT:
                yield f"{path}:{line}: only {LLVM_COMPONENT} may include LLVM"
            if component == "runtime" and other in COMPONENTS and other != "runtime":
                yield f"{path}:{line}: the runtime includes no other component"


bad = list(violations(pathlib.Path(sys.argv[1])))
print("\n".join(bad) or "layers: ok")
sys.exit(bool(bad))
