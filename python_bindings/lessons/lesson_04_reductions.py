# %% [markdown]
# # 4. Reductions
#
# A Func has one pure definition, for all points, and may have updates after it, which change some of its points.
# `RDom` is a domain of integers that an update runs over.

# %%
import numpy as np

import tessera as ts

x, y = ts.vars("x y")
data = np.array([3, 1, 3, 0, 2, 3], np.uint8)
values = ts.Buffer(data)

# %% [markdown]
# A histogram: every bin is 0, and then each element of the data adds 1 to a bin. The bin comes from the data, so the
# compiler has to be told its range: `clamp` does.

# %%
r = ts.RDom(values)
histogram = ts.Func("histogram")
histogram[x] = 0
histogram[ts.clamp(ts.i32(values[r]), 0, 3)] += 1
assert histogram.realize([4]).numpy().tolist() == np.bincount(data).tolist()
print(histogram)

# %% [markdown]
# Updates run in the order of the domain, so that one may read what the one before has written: running sums.

# %%
sums = ts.Func("sums")
k = ts.RDom([(1, 5)])
sums[x] = ts.i32(values[x])
sums[k] += sums[k - 1]
assert sums.realize([6]).numpy().tolist() == np.cumsum(data).tolist()

# %% [markdown]
# `sum`, `product`, `maximum`, `argmax` and others are updates that are written for you, in the place of a value.

# %%
assert ts.evaluate(ts.sum(ts.i32(values[r]))) == 12
assert ts.evaluate(ts.maximum(values[r])) == 3
position, largest = ts.evaluate(ts.argmax(r, values[r]))
assert (position, largest) == (0, 3)

# %% [markdown]
# A domain may have several dimensions, and a condition: here the entries of a matrix below its diagonal.

# %%
matrix = np.arange(16, dtype=np.int32).reshape(4, 4)
entries = ts.Buffer(matrix)
d = ts.RDom([(0, 4), (0, 4)])
d.where(d.x < d.y)
assert ts.evaluate(ts.sum(entries[d.x, d.y])) == np.tril(matrix, -1).sum()

# %% [markdown]
# Updates have schedules of their own: `f.update(i)`. The product of two matrices, whose loop over the sum is moved
# outside of the vectors:

# %%
a = np.random.default_rng(1).integers(0, 9, (32, 48), dtype=np.int32)
b = np.random.default_rng(2).integers(0, 9, (48, 64), dtype=np.int32)
left, right = ts.Buffer(a), ts.Buffer(b)
product = ts.Func("product")
s = ts.RDom([(0, 48)], "s")
product[x, y] = 0
product[x, y] += left[s, y] * right[x, s]
product.vectorize(x, 8)
product.update().reorder(x, s, y).vectorize(x, 8).parallel(y)
print(product.loop_nest())
assert (product.realize([64, 32]).numpy() == a @ b).all()

# %% [markdown]
# A sum over one long loop has nothing to run in parallel. `rfactor` makes partial sums of an update that is
# associative: here one for each of 8 parts.

# %%
numbers = np.arange(4096, dtype=np.int32)
long = ts.Buffer(numbers)
n = ts.RDom([(0, 4096)], "n")
total = ts.Func("total")
total[()] = 0
total[()] += long[n]
part = ts.Var("part")
outer, inner = ts.RVar("outer"), ts.RVar("inner")
total.update().split(n, outer, inner, 512)
partial = total.update().rfactor(outer, part)
partial.compute_root().update().parallel(part)
assert total.realize([])[()] == numbers.sum()
