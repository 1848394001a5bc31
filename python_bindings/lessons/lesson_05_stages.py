# %% [markdown]
# # 5. Several stages
#
# Pipelines have many stages, and the question that matters most is when each is computed, and how much of it is kept.

# %%
import numpy as np

import tessera as ts

x, y, xi, yi = ts.vars("x y xi yi")
photo = np.random.default_rng(0).integers(0, 255, (120, 160), dtype=np.uint8)
image = ts.BoundaryConditions.repeat_edge(photo)


def blur() -> tuple[ts.Func, ts.Func]:
    """Returns the mean along x of three pixels, and that along y of three such means."""
    blur_x, out = ts.Func("blur_x"), ts.Func("out")
    blur_x[x, y] = (ts.u16(image[x - 1, y]) + image[x, y] + image[x + 1, y]) / 3
    out[x, y] = ts.u8((blur_x[x, y - 1] + blur_x[x, y] + blur_x[x, y + 1]) / 3)
    return blur_x, out


padded = np.pad(photo, 1, mode="edge").astype(np.uint16)
means = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) // 3
expected = (means[:-2] + means[1:-1] + means[2:]) // 3


def is_right(out: ts.Func) -> bool:
    return bool((out.realize([160, 120]).numpy() == expected).all())


# %% [markdown]
# **Inline.** Unless you say otherwise, `blur_x` is written into `out`: it is computed three times for each pixel, and
# never stored.

# %%
blur_x, out = blur()
print(out.loop_nest())
assert "produce blur_x" not in out.loop_nest()
assert is_right(out)

# %% [markdown]
# **Root.** `compute_root` computes all that is needed of it first: nothing twice, but the whole image goes through
# memory.

# %%
blur_x, out = blur()
blur_x.compute_root()
print(out.loop_nest())
assert out.loop_nest().index("produce blur_x") < out.loop_nest().index("produce out")
assert is_right(out)

# %% [markdown]
# **Per tile.** `compute_at(out, x)` computes what one iteration of that loop needs, within it: a small piece that
# stays in the cache. Only the rows at the edges of tiles are computed twice. This is what fast pipelines do.

# %%
blur_x, out = blur()
out.tile(x, y, xi, yi, 64, 16).vectorize(xi, 16).parallel(y)
blur_x.compute_at(out, x).vectorize(x, 16)
print(out.loop_nest())
assert out.loop_nest().index("out.x") < out.loop_nest().index("produce blur_x")
assert is_right(out)

# %% [markdown]
# **Sliding.** Stored further out than it is computed, a row of `blur_x` is there already when the next row of `out`
# wants it, so that each is computed once. Of the rows, the compiler keeps as many as are used, not the whole image.

# %%
blur_x, out = blur()
blur_x.store_root().compute_at(out, y)
assert is_right(out)
assert "blur_x" in out.loop_nest()

# %% [markdown]
# Which schedule is best depends on the machine: measure it. Compile once, then call many times.

# %%
import time


def milliseconds(out: ts.Func) -> float:
    result = np.zeros((120, 160), np.uint8)
    out.realize(result)
    start = time.perf_counter()
    for _ in range(20):
        out.realize(result)
    return (time.perf_counter() - start) / 20 * 1000


blur_x, inlined = blur()
blur_x, tiled = blur()
tiled.tile(x, y, xi, yi, 80, 40).vectorize(xi, 16)
blur_x.compute_at(tiled, x).vectorize(x, 16)
times = {"inlined": milliseconds(inlined), "tiled": milliseconds(tiled)}
print({name: f"{time:.3f} ms" for name, time in times.items()})
assert is_right(inlined) and is_right(tiled) and min(times.values()) > 0

# %% [markdown]
# A pipeline may have several outputs, which are computed together.

# %%
darker, lighter = ts.Func("darker"), ts.Func("lighter")
darker[x, y] = image[x, y] / 2
lighter[x, y] = ts.u8(255 - image[x, y] / 2)
both = ts.Pipeline([darker, lighter]).realize([160, 120])
assert (both[0].numpy() == photo // 2).all()
assert (both[1].numpy() == 255 - photo // 2).all()
