# %% [markdown]
# # 1. A first Func
#
# A `Func` says what the value at every point of a grid is. Nothing is computed until somebody asks for a part of it.

# %%
import numpy as np

import tessera as ts

x, y = ts.vars("x y")
gradient = ts.Func("gradient")
gradient[x, y] = x + 10 * y
gradient

# %% [markdown]
# `realize` compiles the Func to machine code, and computes a rectangle: here 4 columns and 3 rows. Sizes begin with
# the innermost dimension, which is `x`.

# %%
result = gradient.realize([4, 3])
print(result.numpy())
assert result.numpy().tolist() == [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]

# %% [markdown]
# **Axes.** NumPy names the row first, Tessera the column first: `a[y, x]` of an array is `f[x, y]` of a Func. So an
# array of shape (3, 4) is a Buffer of width 4 and height 3. The memory is one and the same; nothing is copied.

# %%
array = result.numpy()
assert array.shape == (3, 4)
assert result.width() == 4 and result.height() == 3
assert array[2, 1] == result[1, 2] == 21

# %% [markdown]
# A Func may read others, and arrays. This one brightens a small picture. `u16` makes room for the sum, since values
# of 8 bits would wrap around at 256, and `u8` makes them 8 bits again after `min` has cut them.

# %%
picture = np.array([[0, 100, 200], [250, 255, 30]], np.uint8)
image = ts.Buffer(picture)
brighter = ts.Func("brighter")
brighter[x, y] = ts.u8(ts.min(ts.u16(image[x, y]) + 50, 255))
bright = brighter.realize([3, 2]).numpy()
print(bright)
assert bright.tolist() == [[50, 150, 250], [255, 255, 80]]
assert bright.dtype == np.uint8

# %% [markdown]
# What `brighter` holds is an expression, which can be looked at. So can the mistakes: an error names the line of the
# definition that it is about.

# %%
print(brighter.value())
wrong = ts.Func("wrong")
wrong[x, y] = x + y
try:
    wrong[x] = 1
except ts.CompileError as error:
    print(error)
    assert error.lineno is not None and error.filename is not None
else:
    raise AssertionError("a second definition with other dimensions is refused")

# %% [markdown]
# Results can be written where they are wanted: into an array of your own.

# %%
mine = np.zeros((2, 3), np.uint8)
brighter.realize(mine)
assert (mine == bright).all()
