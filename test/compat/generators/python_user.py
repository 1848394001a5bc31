"""Uses generators in C++ from Python: by the module that PYSTUB makes, by their names, and compiled."""
import numpy as np

import tessera.halide as hl
import compat_generators_pystub as stub

x, y = hl.vars("x y")
a = np.full((3, 4), 100, np.uint8)
b = np.arange(12, dtype=np.uint8).reshape(3, 4)
mixed = (a.astype(int) + b) // 2


def refused(call, *words):
    try:
        call()
    except hl.HalideError as e:
        assert all(word in str(e) for word in words), e
        return
    raise AssertionError("it was not refused")


# The stub, by position and by name, with parameters of the generator.
f = stub.call(a, b, 1.0)
assert isinstance(f, hl.Func) and (np.asarray(f.realize([4, 3])) == mixed + 1).all()
f = stub.call(offset=0.0, second=hl.Buffer(b), first=hl.Buffer(a), generator_params={"gain": 2.0, "blend": "largest"})
assert np.asarray(f.realize([4, 3])).tolist() == [[200] * 4] * 3
image = hl.ImageParam(hl.UInt(8), 2)
image.set(a)
f = stub.call(image, b, hl.f32(3), generator_params={"inner_type": hl.Int(32), "vector_size": 8})
f.compute_root()
g = hl.Func("g")
g[x, y] = f[x, y] + 1
assert (np.asarray(g.realize([4, 3])) == mixed + 4).all()
refused(lambda: stub.call(a, b), "offset is missing")
refused(lambda: stub.call(a, b, 1.0, 2), "3 inputs, not 4")
refused(lambda: stub.call(a, b, offset=1.0, other=3), "no input other")
refused(lambda: stub.call(a, b, 1.0, generator_params={"gian": 1}), "gian")
refused(lambda: stub.call(a, b, 1.0, generator_params=[1]), "dict")
refused(lambda: stub.call(a[0], b, 1.0), "first")

# A Callable of it, and another generator of the library by its name.
out = np.zeros((3, 4), np.uint8)
stub.create_callable(hl.get_jit_target_from_environment(), {"gain": 0.5})(a, b, 0.0, out)
assert (out == mixed // 2).all()
line = hl.Buffer(np.arange(4, dtype=np.int32))
import tessera

assert list(tessera.call_generator("shift_by_42", line).realize([4])) == [42, 43, 44, 45]
by_name = tessera.GeneratorStub("mix").set("gain", 2.0).input("first", a).input("second", b).input("offset", 1.0)
assert (np.asarray(by_name.output("output").realize([4, 3])) == 2 * mixed + 1).all()
assert (np.asarray(by_name.pipeline().realize([4, 3])) == 2 * mixed + 1).all()
refused(lambda: tessera.GeneratorStub("mix").set("gian", 2).pipeline(), "gian")
refused(lambda: tessera.GeneratorStub("mix").input("frist", a), "frist")
shift = hl.create_callable_from_generator(hl.get_jit_target_from_environment(), "shift", {"offset": 5})
out = hl.Buffer(hl.Int(32), [4])
shift(line, out)
assert list(out) == [5, 6, 7, 8]

# One module has what the generators have compiled, as functions.
import compat_extension

out = np.zeros((3, 4), np.uint8)
compat_extension.mix(a, b, 1.0, out)
assert (out == mixed + 1).all()
compat_extension.mix(first=a, second=b, output=out)
assert (out == (mixed + 0.5).astype(int)).all()
numbers = np.zeros(4, np.int32)
compat_extension.shift_by_42(np.asarray(line), numbers)
assert numbers.tolist() == [42, 43, 44, 45]
compat_extension.hooks(None, np.arange(5, dtype=np.int32), numbers)
assert numbers.tolist() == [2, 6, 10, 14]
compat_extension.hooks(np.arange(1, 6, dtype=np.int32), output=numbers)
assert numbers.tolist() == [6, 10, 14, 18]
