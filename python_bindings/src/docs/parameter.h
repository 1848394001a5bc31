#pragma once

// Docstrings of Parameters. The names in their examples are those of tests/examples.py.
namespace tessera::python::docs::parameter {

inline constexpr char class_[] =
    R"doc(A Param or an ImageParam, where a program does not say which: Halide's name for either.

>>> ts.Parameter(ts.Int(32), False, 0, "k")
<Parameter k: int32>
)doc";

inline constexpr char of_param[] = R"doc(Returns the Parameter that it is.

>>> p.parameter()
<Parameter p: int32>
)doc";

inline constexpr char of_image[] = R"doc(Returns the Parameter that it is.

>>> im.parameter()
<Parameter im: uint8>
)doc";

inline constexpr char type[] = R"doc(Returns the Type of the number, or of the elements.

>>> str(im.parameter().type())
'uint8'
)doc";

inline constexpr char dimensions[] = R"doc(Returns the number of dimensions: 0 for a number.

>>> im.parameter().dimensions(), p.parameter().dimensions()
(2, 0)
)doc";

inline constexpr char name[] = R"doc(Returns the name.

>>> im.parameter().name()
'im'
)doc";

inline constexpr char is_buffer[] =
    R"doc(Returns True if it is an ImageParam, False if it is a Param.

>>> im.parameter().is_buffer(), p.parameter().is_buffer()
(True, False)
)doc";

inline constexpr char defined[] = R"doc(Returns True: it always stands for an input.

>>> p.parameter().defined()
True
)doc";

inline constexpr char same_as[] = R"doc(Returns True if the other one is the same input.

>>> p.parameter().same_as(p.parameter()), p.parameter().same_as(im.parameter())
(True, False)
)doc";

inline constexpr char buffer[] =
    R"doc(Returns the Buffer that was set. Raises CompileError if it is a number.

>>> im.parameter().set_buffer(b)
>>> im.parameter().buffer().shape
(2, 3)
)doc";

inline constexpr char set_buffer[] = R"doc(Sets the Buffer, or the array, for the runs that follow.

>>> im.parameter().set_buffer(a)
>>> im.get().shape
(2, 3)
)doc";

inline constexpr char min_constraint[] =
    R"doc(Returns what the least coordinate of a dimension has to be; undefined where nothing is said.

>>> im.parameter().set_min_constraint(0, 0)
>>> str(im.parameter().min_constraint(0))
'0'
)doc";

inline constexpr char set_min_constraint[] =
    R"doc(Says what the least coordinate of a dimension has to be.

>>> im.parameter().set_min_constraint(1, 0)
>>> str(im.parameter().min_constraint(1))
'0'
)doc";

inline constexpr char extent_constraint[] =
    R"doc(Returns what the extent of a dimension has to be; undefined where nothing is said.

>>> im.parameter().set_extent_constraint(0, 640)
>>> str(im.parameter().extent_constraint(0))
'640'
)doc";

inline constexpr char set_extent_constraint[] = R"doc(Says what the extent of a dimension has to be.

>>> im.parameter().set_extent_constraint(1, 480)
>>> str(im.parameter().extent_constraint(1))
'480'
)doc";

inline constexpr char stride_constraint[] =
    R"doc(Returns what the stride of a dimension has to be, in elements.

>>> im.parameter().set_stride_constraint(0, 3)
>>> str(im.parameter().stride_constraint(0))
'3'
)doc";

inline constexpr char set_stride_constraint[] =
    R"doc(Says what the stride of a dimension has to be, in elements: 3 for the channels of a pixel side by side.

>>> im.parameter().set_stride_constraint(0, 3)
>>> str(im.parameter().stride_constraint(0))
'3'
)doc";

inline constexpr char min_constraint_estimate[] =
    R"doc(Returns which least coordinate is usual, for autoschedulers.

>>> im.parameter().set_min_constraint_estimate(0, 0)
>>> str(im.parameter().min_constraint_estimate(0))
'0'
)doc";

inline constexpr char set_min_constraint_estimate[] =
    R"doc(Says which least coordinate is usual, to an autoscheduler.

>>> im.parameter().set_min_constraint_estimate(0, 8)
>>> str(im.dim(0).min_estimate())
'8'
)doc";

inline constexpr char extent_constraint_estimate[] =
    R"doc(Returns which extent is usual, for autoschedulers.

>>> im.parameter().set_extent_constraint_estimate(0, 640)
>>> str(im.parameter().extent_constraint_estimate(0))
'640'
)doc";

inline constexpr char set_extent_constraint_estimate[] =
    R"doc(Says which extent is usual, to an autoscheduler.

>>> im.parameter().set_extent_constraint_estimate(1, 480)
>>> str(im.dim(1).extent_estimate())
'480'
)doc";

inline constexpr char set_host_alignment[] =
    R"doc(Says that the first element lies at a multiple of so many bytes.

>>> im.parameter().set_host_alignment(64)
>>> im.host_alignment()
64
)doc";

inline constexpr char host_alignment[] =
    R"doc(Returns of how many bytes the place of the first element is a multiple; 0: nothing is said.

>>> im.parameter().host_alignment()
0
)doc";

inline constexpr char scalar[] = R"doc(Returns the number that was set.

>>> p.parameter().scalar()
3
)doc";

inline constexpr char set_scalar[] =
    R"doc(Sets the number for the runs that follow. A type that is given has to be that of the parameter.

>>> p.parameter().set_scalar(7)
>>> p.get()
7
)doc";

inline constexpr char scalar_expr[] = R"doc(Returns the number as an expression.

>>> str(p.parameter().scalar_expr() + 1)
'p + 1'
)doc";

inline constexpr char set_min_value[] = R"doc(Limits what callers may pass from below.

>>> p.parameter().set_min_value(1)
>>> str(p.min_value())
'1'
)doc";

inline constexpr char set_max_value[] = R"doc(Limits what callers may pass from above.

>>> p.parameter().set_max_value(8)
>>> str(p.max_value())
'8'
)doc";

inline constexpr char min_value[] =
    R"doc(Returns the least number that callers may pass, as an expression.

>>> p.parameter().set_min_value(1)
>>> str(p.parameter().min_value())
'1'
)doc";

inline constexpr char max_value[] =
    R"doc(Returns the largest number that callers may pass, as an expression.

>>> p.parameter().set_max_value(8)
>>> str(p.parameter().max_value())
'8'
)doc";

inline constexpr char set_estimate[] = R"doc(Says which number is usual, to an autoscheduler.

>>> p.parameter().set_estimate(5)
>>> str(p.estimate())
'5'
)doc";

inline constexpr char estimate[] = R"doc(Returns which number is usual, as an expression.

>>> p.parameter().set_estimate(5)
>>> str(p.parameter().estimate())
'5'
)doc";

}  // namespace tessera::python::docs::parameter
