# %% [markdown]
# # 8. Ahead of time
#
# A pipeline can be compiled to a library, for programs in C and C++ and for Python without a compiler: on another
# machine, in a product, at the start of a script that must not wait.

# %%
import os
import tempfile

import numpy as np

import tessera as ts

x, y = ts.vars("x y")
image = ts.ImageParam(ts.UInt(8), 2, "image")
factor = ts.Param(ts.Float(32), "factor")
brighter = ts.Func("brighter")
brighter[x, y] = ts.u8_sat(image[x, y] * factor)
brighter.vectorize(x, 16).parallel(y, 8)

# %% [markdown]
# This writes `brighten.a` and `brighten.h`. The library carries its runtime: who links with it needs nothing of
# Tessera.

# %%
folder = tempfile.mkdtemp()
prefix = os.path.join(folder, "brighten")
brighter.compile_to_static_library(prefix, [image, factor], "brighten")
print(sorted(os.listdir(folder)))
with open(prefix + ".h") as header:
    declaration = [line for line in header if line.startswith("int brighten(")]
print(declaration[0])
assert "float" in declaration[0]

# %% [markdown]
# `tessera.load` calls such a library from Python. It needs no compiler of ours: a static library is linked by the
# system's C compiler, a shared one (`.so`) is loaded as it is.

# %%
library = ts.load(prefix + ".a")
brighten = library.brighten
print(brighten)

# %% [markdown]
# The library knows the names, types and dimensions of what it takes. Arrays are passed without copies, the output
# last.

# %%
for argument in brighten.arguments:
    print(argument.name, argument.kind, argument.type, argument.dimensions)
picture = np.array([[0, 100, 200], [10, 20, 30]] * 16, np.uint8).repeat(8, axis=1)
result = np.empty_like(picture)
brighten(picture, 1.5, result)
assert (result == np.minimum(picture * 1.5, 255).astype(np.uint8)).all()

# %% [markdown]
# What does not fit is refused, with what would.

# %%
try:
    brighten(picture.astype(np.float32), 1.5, result)
except TypeError as error:
    print(error)
    assert "image" in str(error)
else:
    raise AssertionError("float32 is not what the library takes")

# %% [markdown]
# The target says for which machine the code is: here for one with AVX-512, whether this one has it or not. Objects,
# assembly and C source are written in the same way.

# %%
target = ts.Target("x86-64-linux-avx2-avx512_skylake")
brighter.compile_to({ts.OutputFileType.assembly: prefix + ".s", ts.OutputFileType.c_source: prefix + ".c"},
                    [image, factor], "brighten", target)
with open(prefix + ".s") as assembly:
    assert "zmm" in assembly.read()
