# %% [markdown]
# # 10. Tuning
#
# Which schedule is the fastest depends on the machine. A template is a function that schedules a pipeline and asks
# for what it leaves open; the tuner measures the choices.

# %%
import numpy as np

import tessera as ts

x, y, xi, yi = ts.vars("x y xi yi")
photo = np.random.default_rng(5).integers(0, 255, (384, 512), dtype=np.uint8)
image = ts.BoundaryConditions.repeat_edge(photo)
blur_x, out = ts.Func("blur_x"), ts.Func("out")
blur_x[x, y] = (ts.u16(image[x - 1, y]) + image[x, y] + image[x + 1, y]) / 3
out[x, y] = ts.u8((blur_x[x, y - 1] + blur_x[x, y] + blur_x[x, y + 1]) / 3)
expected = out.realize([512, 384]).numpy()

# %% [markdown]
# The tuner has to know how large outputs are.

# %%
out.set_estimates([(0, 512), (0, 384)])

# %% [markdown]
# It calls the template for each candidate, on the same Funcs, with the schedule that they had before. Each is
# measured in a process of its own, and has to compute what the pipeline computes without it: what is refused, or
# crashes, costs that candidate alone.


# %%
def schedule(knobs: ts.Knobs) -> None:
    rows = knobs.choose("rows", [8, 32])
    out.tile(x, y, xi, yi, 128, rows).vectorize(xi, knobs.choose("vector", [8, 16]))
    if knobs.choose("parallel", [True, False]):
        out.parallel(y)
    blur_x.compute_at(out, x).vectorize(x, 16)


best = ts.tune_template(out, schedule, trials=6, progress=False)
print(best)
assert best.milliseconds > 0 and 0 < len(best.trials) <= 6
assert best.choices["rows"] in (8, 32)

# %% [markdown]
# All that was tried, the fastest first:

# %%
for trial in sorted(best.trials, key=lambda trial: trial.milliseconds):
    print(f"{trial.milliseconds:8.3f} ms  {trial.choices}  {trial.message}")

# %% [markdown]
# The Funcs have the best schedule now. It is there as text, too, to be written into the program.

# %%
print(best.schedule_python)
assert "vectorize" in best.schedule_python
assert (out.realize([512, 384]).numpy() == expected).all()
