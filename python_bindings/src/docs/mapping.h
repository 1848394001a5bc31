#pragma once

// Docstrings of mappings of loops onto instructions. The names in their examples are those of
// tests/examples.py.
namespace tessera::python::docs::mapping {

inline constexpr char map[] =
    R"doc(Says which loops become which loop of an instruction: a loop, or a list of loops, for each.

The loops of a list are fused, the first the outermost. The groups are those of i, j and k where the instruction
computes D(i, j) += A(i, k) * B(k, j). Stage.tensorize() takes what this returns.

>>> k = ts.RDom([(0, 64)], "k")
>>> ts.map([y, z], [x], [k[0]])
map([y, z], [x], [k$x])
>>> ts.map(y, x, k)
map([y], [x], [k$x])
)doc";

inline constexpr char class_[] = R"doc(Loops on those of an instruction: what map() returns.

>>> mapping = ts.map([y, z], [x], [c])
>>> mapping
map([y, z], [x], [c])
>>> mapping == ts.map([y, z], x, c)
True
)doc";

inline constexpr char groups[] =
    R"doc(Are the loops on each of the instruction's, the outermost first.

>>> [len(group) for group in ts.map([y, z], [x], [c]).groups]
[2, 1, 1]
)doc";

inline constexpr char rule[] = R"doc(Says which mappings possible_mappings() lists.

`Right`: all that compute the definition. `Subscripts`: of these, the mappings that AMOS lists, in which each loop has a
place in a mapping of one loop for each of the instruction's, and no argument of a call has two of these loops.

>>> ts.MappingRule.Right.name
'Right'
)doc";

inline constexpr char possible_mappings[] =
    R"doc(Returns every mapping of the loops of an update onto those of an instruction, as a list.

A Func stands for its last update. Loops in `fixed` stay around. With `either_order` the mappings of the transposed product
are listed, too.

>>> A, w = ts.ImageParam(ts.Float(16), 2, "A"), ts.ImageParam(ts.Float(16), 2, "w")
>>> r, conv = ts.RDom([(0, 3), (0, 8)], "r"), ts.Func("conv")
>>> conv[x, y] = ts.f32(0)
>>> conv[x, y] += ts.f32(A[x + r[0], r[1]]) * ts.f32(w[r[0] + 3 * r[1], y])
>>> for mapping in ts.possible_mappings(conv, ts.TensorInstruction.MMA):
...     print(mapping)
map([x], [y], [r$y])
map([x], [y], [r$x])
map([x], [y], [r$y, r$x])
>>> conv.update().tensorize(mapping, instruction=ts.TensorInstruction.MMA)
<Stage conv.update(0)>
>>> len(ts.possible_mappings(f, ts.TensorInstruction.MMA))
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...possible_mappings: f has no update definition; ...
)doc";

}  // namespace tessera::python::docs::mapping
