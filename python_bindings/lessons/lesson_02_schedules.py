# %% [markdown]
# # 2. Schedules and loop nests
#
# What is computed (the algorithm) and how it is computed (the schedule) are written apart. A schedule changes the
# speed, and never the result.

# %%
import numpy as np

import tessera as ts

x, y, xo, yo, xi, yi = ts.vars("x y xo yo xi yi")


def product() -> ts.Func:
    f = ts.Func("f")
    f[x, y] = x * y
    return f


expected = product().realize([64, 32]).numpy()
assert (expected == np.arange(64)[None, :] * np.arange(32)[:, None]).all()

# %% [markdown]
# Without a schedule there are two loops, and the innermost runs along memory.

# %%
f = product()
print(f.loop_nest())
assert f.loop_nest().index("for f.y") < f.loop_nest().index("for f.x")

# %% [markdown]
# `reorder` puts loops in another order: it lists them from the innermost to the outermost.

# %%
f = product()
f.reorder(y, x)
print(f.loop_nest())
assert f.loop_nest().index("f.x") < f.loop_nest().index("f.y")
assert (f.realize([64, 32]).numpy() == expected).all()

# %% [markdown]
# `split` makes two loops of one: `x = xo * 8 + xi`. The inner one, of 8 iterations, can become one vector
# instruction.

# %%
f = product()
f.split(x, xo, xi, 8).vectorize(xi)
print(f.loop_nest())
assert "vectorized f.xi" in f.loop_nest()
assert (f.realize([64, 32]).numpy() == expected).all()

# %% [markdown]
# `tile` splits two loops at once, so that a small rectangle is computed before the next one: what it reads stays in
# the cache. `parallel` gives rows of tiles to all cores, `unroll` writes a loop's body several times.

# %%
f = product()
f.tile(x, y, xo, yo, xi, yi, 16, 4).vectorize(xi, 8).unroll(yi, 2).parallel(yo)
print(f.loop_nest())
assert "parallel f.yo" in f.loop_nest()
assert (f.realize([64, 32]).numpy() == expected).all()

# %% [markdown]
# Sizes need not be multiples of the factors: 61 columns work as well. How the rest is computed is up to the compiler,
# or to you (`TailStrategy`).

# %%
assert (f.realize([61, 31]).numpy() == expected[:31, :61]).all()

# %% [markdown]
# A schedule that makes no sense is refused where it is written, with the loops that there are.

# %%
try:
    product().vectorize(ts.Var("z"), 8)
except ts.CompileError as error:
    print(error)
    assert "z" in str(error)
else:
    raise AssertionError("there is no loop z")

# %% [markdown]
# The schedule so far can be printed as Python or C++, and the program that it came to be as a statement: in a notebook,
# `f.lowered_stmt()` is shown with loops that fold.

# %%
print(f.schedule_as_python())
assert "vectorize" in f.schedule_as_cpp()
assert "produce f" in f.lowered_stmt()
