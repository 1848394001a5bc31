# %% [markdown]
# # 9. Tensors of PyTorch
#
# Compiled pipelines work on memory that they do not own: arrays of NumPy, and tensors of PyTorch. Here two of them
# become a function that PyTorch can differentiate.

# %%
import numpy as np

import tessera as ts

x, y = ts.vars("x y")
image = ts.ImageParam(ts.Float(32), 2, "image")
upstream = ts.ImageParam(ts.Float(32), 2, "upstream")
slope = ts.Param(ts.Float(32), "slope")

# %% [markdown]
# Forwards: values below 0 are multiplied by the slope. Backwards: what comes from above, times the derivative.

# %%
forward, backward = ts.Func("forward"), ts.Func("backward")
forward[x, y] = ts.select(image[x, y] > 0, image[x, y], image[x, y] * slope)
backward[x, y] = ts.select(image[x, y] > 0, upstream[x, y], upstream[x, y] * slope)
for f in (forward, backward):
    f.vectorize(x, 8, ts.TailStrategy.GuardWithIf).parallel(y)

# %% [markdown]
# `compile_to_callable` compiles once. The Callable takes the arguments in this order, and then the outputs. Nothing
# is copied, and no lock of Python's is held while it runs.

# %%
run = forward.compile_to_callable([image, slope])
run_backward = backward.compile_to_callable([image, upstream, slope])
print(run, [argument.name for argument in run.arguments])

values = np.array([[1.0, -2.0, 3.0], [-0.5, 0.5, -8.0]], np.float32)
result, gradient = np.empty_like(values), np.empty_like(values)
run(values, 0.25, result)
assert (result == np.where(values > 0, values, values * 0.25)).all()
run_backward(values, np.ones_like(values), 0.25, gradient)
assert (gradient == np.where(values > 0, 1, 0.25)).all()

# %% [markdown]
# A mistake in the arguments says which one it is, what came, and what is wanted.

# %%
try:
    run(values.astype(np.float64), 0.25, result)
except TypeError as error:
    print(error)
    assert "image" in str(error) and "float64" in str(error)
else:
    raise AssertionError("float64 is not what the pipeline takes")

# %% [markdown]
# `tessera.torch.op` makes an operator of PyTorch of a pipeline: its arguments are the inputs, and what it returns is a new
# tensor. `backward` is the pipeline of the gradient: inputs of it that are called like those of the operator are these, and
# the other one, `upstream`, is the gradient of the result. The shape of the result is asked from the pipeline.

# %%
try:
    import torch

    import tessera.torch
except ImportError:
    print("PyTorch is not installed: the rest of this lesson is left out. pip install torch, and run it again.")
else:
    leaky = ts.torch.op(forward, [image, slope], backward=(backward, [image, upstream, slope]))
    print(leaky)

    tensor = torch.tensor(values, requires_grad=True)
    total = leaky(tensor, 0.25).sum()
    total.backward()
    expected = torch.nn.functional.leaky_relu(torch.tensor(values), 0.25)
    assert torch.equal(total.detach(), expected.sum())
    assert tensor.grad is not None and (tensor.grad.numpy() == gradient).all()
    print(tensor.grad)

    # torch.compile takes it as it is, without a break of the graph.
    compiled = torch.compile(lambda a: leaky(a * 2, 0.25) + 1, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(tensor.detach()), 2 * expected + 1)

# %% [markdown]
# A GPU wants another schedule. Where the operator gets a function that builds the pipeline for a target, it has one for each
# device, and kernels go on PyTorch's current stream. (Without a GPU, tensors of the CPU are all that come.)


# %%
def build(target: ts.Target) -> tuple[ts.Func, list[ts.ImageParam]]:
    im = ts.ImageParam(ts.Float(32), 2, "im")
    doubled = ts.Func("doubled")
    doubled[x, y] = im[x, y] * 2
    if target.has_gpu_feature():
        doubled.gpu_tile(x, y, ts.Var("xi"), ts.Var("yi"), 32, 8, ts.TailStrategy.GuardWithIf)
    else:
        doubled.vectorize(x, 8, ts.TailStrategy.GuardWithIf)
    return doubled, [im]


if "torch" in globals():
    double = ts.torch.op(build)
    for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
        assert torch.equal(double(torch.tensor(values, device=device)).cpu(), torch.tensor(2 * values))
