#pragma once

// Docstrings of what chooses between values, of values that are special, and of reductions. The
// names in their examples are those of tests/examples.py.
namespace tessera::python::docs {
namespace value {

inline constexpr char min[] = R"doc(Returns the least of two or more.

>>> ts.evaluate(ts.min(3, 1, 2))
1
>>> ts.min(x, y)
min(x, y)
)doc";

inline constexpr char max[] = R"doc(Returns the largest of two or more.

>>> ts.evaluate(ts.max(3, 1, 2))
3
>>> ts.max(x, 0)
max(x, 0)
)doc";

inline constexpr char select[] =
    R"doc(Returns the value after the first condition that is true, or the last value.

Tuples are chosen as a whole. Both values are computed: neither may fail where it is not chosen.

>>> q = ts.Func("q")
>>> q[x] = ts.select(x < 1, 10, x < 3, 20, 30)
>>> q.realize([5]).numpy().tolist()
[10, 20, 20, 30, 30]
)doc";

inline constexpr char mux[] =
    R"doc(Returns values[id]; the last one for an id out of range. Tuples are chosen as a whole.

>>> q = ts.Func("q")
>>> q[x] = ts.mux(x, [10, 20, 30])
>>> q.realize([5]).numpy().tolist()
[10, 20, 30, 30, 30]
)doc";

inline constexpr char likely[] =
    R"doc(Says that the value is the usual one: loops are split where it is.

>>> ts.select(ts.likely(x > 0), f[x - 1, y], 0)
select(likely(x > 0), f(x - 1, y), 0)
)doc";

inline constexpr char likely_if_innermost[] =
    R"doc(Does what likely() does in an innermost loop alone.

>>> ts.likely_if_innermost(x > 0)
likely_if_innermost(x > 0)
)doc";

inline constexpr char logical_not[] = R"doc(Returns the negation of a bool, as `~` does.

>>> ts.logical_not(x < 3)
!(x < 3)
)doc";

inline constexpr char print[] =
    R"doc(Returns the first operand, and prints all when it is evaluated: texts and expressions.

>>> q = ts.Func("q")
>>> q[x] = ts.print(x * x, "is the square of", x)
>>> q.realize([2]).numpy().tolist()
0 is the square of 0
1 is the square of 1
[0, 1]
)doc";

inline constexpr char scatter[] =
    R"doc(Stands for several places of an update: f[scatter(a, b)] = gather(c, d).

Places and values are evaluated before anything is stored.

>>> q = ts.Func("q")
>>> q[x] = x
>>> q[ts.scatter(0, 3)] = ts.gather(q[3], q[0])      # they change places
>>> q.realize([4]).numpy().tolist()
[3, 1, 2, 0]
)doc";

inline constexpr char gather[] =
    R"doc(Stands for several values of an update, all loaded before one is stored.

>>> q = ts.Func("q")
>>> q[x] = x
>>> q[ts.scatter(0, 1)] = ts.gather(q[1] + 10, q[0] + 20)
>>> q.realize([2]).numpy().tolist()
[11, 20]
)doc";

inline constexpr char print_when[] =
    R"doc(Returns the operand after the condition, and prints it and all others where that holds.

>>> q = ts.Func("q")
>>> q[x] = ts.print_when(x == 1, x * x, "is a square")
>>> q.realize([3]).numpy().tolist()
1 is a square
[0, 1, 4]
)doc";

inline constexpr char require[] =
    R"doc(Returns the value after the condition; where that is false, the pipeline fails with a RunError.

The message, of texts and expressions, follows the value.

>>> q = ts.Func("q")
>>> q[x] = ts.require(x < 2, x, "too large:", x)
>>> q.realize([3])
Traceback (most recent call last):
    ...
tessera._errors.RunError: ...Requirement failed: too large: 2
)doc";

inline constexpr char random_float[] =
    R"doc(Returns a float32 in [0, 1), the same for the same seed and point of a definition.

>>> q = ts.Func("q")
>>> q[x, y] = ts.random_float(1)
>>> values = q.realize([100, 100]).numpy()
>>> bool(values.min() >= 0 and values.max() < 1)
True
)doc";

inline constexpr char random_int[] =
    R"doc(Returns any int32, the same for the same seed and point of a definition.

>>> q = ts.Func("q")
>>> q[x] = ts.random_int(1) % 6 + 1
>>> set(q.realize([1000]).numpy().tolist())
{1, 2, 3, 4, 5, 6}
)doc";

inline constexpr char random_uint[] =
    R"doc(Returns any uint32, the same for the same seed and point of a definition.

>>> q = ts.Func("q")
>>> q[x] = ts.random_uint(1) % 6 + 1
>>> set(q.realize([1000]).numpy().tolist())
{1, 2, 3, 4, 5, 6}
)doc";

inline constexpr char reset_random_counters[] =
    R"doc(Lets random numbers without a seed begin anew, so that a program that is built again has the same.

>>> def numbers():
...     ts.reset_random_counters()
...     q = ts.Func("q")
...     q[x] = ts.random_int()
...     return q.realize([4]).numpy().tolist()
>>> numbers() == numbers()
True
)doc";

inline constexpr char undef[] =
    R"doc(Returns the element that is there already: storing it does nothing.

>>> q = ts.Func("q")
>>> q[x] = ts.undef(ts.Int(32))
>>> q[x] = ts.select(x == 1, 7, q[x])
>>> out = np.zeros(3, np.int32)
>>> q.realize(out)
>>> out.tolist()
[0, 7, 0]
)doc";

inline constexpr char target_arch_is[] =
    R"doc(Is true where the pipeline is compiled for this architecture.

>>> e = ts.target_arch_is(ts.TargetArch.X86) | ts.target_arch_is(ts.TargetArch.ARM)
>>> ts.evaluate(e)
True
)doc";

inline constexpr char target_os_is[] =
    R"doc(Is true where the pipeline is compiled for this operating system.

>>> ts.evaluate(ts.target_os_is(ts.TargetOS.Windows))
False
)doc";

inline constexpr char target_has_feature[] =
    R"doc(Is true where the pipeline is compiled for a target with this feature.

>>> q = ts.Func("q")
>>> q[x] = ts.select(ts.target_has_feature(ts.TargetFeature.CUDA), 1, 2)
>>> q.realize([2], "host").numpy().tolist()
[2, 2]
)doc";

inline constexpr char target_bits[] = R"doc(Is the number of bits of an address of the target.

>>> ts.evaluate(ts.target_bits())
64
)doc";

inline constexpr char target_natural_vector_size[] =
    R"doc(Is the number of lanes of the target's vectors for this type.

>>> ts.evaluate(ts.target_natural_vector_size(ts.Float(32))) >= 4
True
)doc";

inline constexpr char sum[] =
    R"doc(Returns the sum over the reduction domain that the expression uses, or that is given first.

The forms are sum(value), sum(rdom, value), and these with a name, or a Func to be scheduled, after
them: the reduction is a Func of its own. The sum has the type of the value.

>>> q = ts.Func("q")
>>> q[x] = ts.sum(f[x, r])
>>> q.realize([3]).numpy().tolist()
[60, 64, 68]
)doc";

inline constexpr char saturating_sum[] =
    R"doc(Returns the sum, to the nearest value of the type in each step; its forms are those of sum().

>>> ts.evaluate(ts.saturating_sum(ts.u8(100) + ts.u8(r)))
255
)doc";

inline constexpr char product[] =
    R"doc(Returns the product over the reduction domain; its forms are those of sum().

>>> ts.evaluate(ts.product(r + 1))
24
)doc";

inline constexpr char maximum[] =
    R"doc(Returns the largest value over the reduction domain; its forms are those of sum().

>>> ts.evaluate(ts.maximum(r * (3 - r)))
2
)doc";

inline constexpr char minimum[] =
    R"doc(Returns the least value over the reduction domain; its forms are those of sum().

>>> ts.evaluate(ts.minimum(r * (r - 3)))
-2
)doc";

inline constexpr char argmax[] =
    R"doc(Returns where the largest value is, a coordinate per dimension, and then the value: a tuple.

Its forms are those of sum(). Of equal values it is the first one.

>>> ts.evaluate(ts.argmax(r * (3 - r)))
(1, 2)
)doc";

inline constexpr char argmin[] =
    R"doc(Returns where the least value is, a coordinate per dimension, and then the value: a tuple.

Its forms are those of sum(). Of equal values it is the first one.

>>> ts.evaluate(ts.argmin(r * (r - 3)))
(1, -2)
)doc";

}  // namespace value
}  // namespace tessera::python::docs
