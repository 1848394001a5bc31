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
# In PyTorch, a class with `forward` and `backward` is what is differentiated. Tensors are passed as they are.

# %%
try:
    import torch
except ImportError:
    print("PyTorch is not installed: the rest of this lesson is left out. pip install torch, and run it again.")
else:

    class LeakySlope(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(context, tensor, slope):  # type: ignore[no-untyped-def, override, unused-ignore]
            context.save_for_backward(tensor)
            context.slope = slope
            out = torch.empty_like(tensor)
            run(tensor.detach(), slope, out)
            return out

        @staticmethod
        def backward(context, above):  # type: ignore[no-untyped-def, override, unused-ignore]
            (tensor,) = context.saved_tensors
            out = torch.empty_like(tensor)
            run_backward(tensor.detach(), above.contiguous(), context.slope, out)
            return out, None

    tensor = torch.tensor(values, requires_grad=True)
    total = LeakySlope.apply(tensor, 0.25).sum()  # type: ignore[no-untyped-call, unused-ignore]
    total.backward()
    expected = torch.nn.functional.leaky_relu(torch.tensor(values), 0.25)
    assert torch.equal(total.detach(), expected.sum())
    assert tensor.grad is not None and (tensor.grad.numpy() == gradient).all()
    print(tensor.grad)
