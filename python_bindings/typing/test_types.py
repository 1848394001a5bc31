"""Says what a type checker knows of programs: mypy checks it, and nobody runs it."""
from typing import Any

import numpy as np
import tessera as ts
from typing_extensions import assert_type

x, y = ts.Var("x"), ts.Var("y")
f = ts.Func("f")
assert_type(x + 1, ts.Expr)
assert_type(2 * x + y, ts.Expr)
assert_type(x == y, ts.Expr)
assert_type(ts.sqrt(ts.f32(x)), ts.Expr)
assert_type(f.vectorize(x, 8), ts.Func)
assert_type(f.update(0), ts.Stage)
assert_type(f.loop_nest(), str)
assert_type(ts.vars("x y"), tuple[ts.Var, ...])
buffer = ts.Buffer(np.zeros((2, 3), np.float32))
assert_type(buffer.width(), int)
call = f.compile_to_callable([])
assert_type(call, ts.Callable)
assert_type(call.infer_input_bounds(f=(4, 4)), dict[str, list[tuple[int, int]]])
assert_type(ts.load("f.so").functions, dict[str, ts.Callable])
assert_type(ts.GeneratorStub("f").set("n", 1).output("g"), ts.Func)
result: Any = f.realize([4, 4])
found = ts.tune_template(f, lambda k: f.vectorize(x, k.choose("lanes", [4, 8])))
assert_type(found, ts.TemplateResult)
