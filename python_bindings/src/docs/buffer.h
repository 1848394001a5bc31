#pragma once

// Docstrings of Buffers. The names in their examples are those of tests/examples.py.
namespace tessera::python::docs {
namespace buffer {

inline constexpr char class_[] = R"doc(An array in memory: input, output or constant of a pipeline.

Axis j of a NumPy array of n axes is dimension n - 1 - j: an image of shape (height, width) has
x = 0 to width - 1 as dimension 0, and is indexed b[x, y].

>>> b = ts.Buffer(np.array([[1, 2, 3], [4, 5, 6]]))
>>> b.shape, b.width(), b[2, 0]
((2, 3), 3, 3)
)doc";

inline constexpr char of_array[] =
    R"doc(Shares the memory of an array: anything with DLPack, the buffer protocol or an array interface.

It may be on the host or a GPU. Axis j of n axes becomes dimension n - 1 - j, unless reverse_axes is
False. That of a read-only array is an input only.

>>> array = np.zeros((2, 3), np.float32)
>>> b = ts.Buffer(array)
>>> b[2, 0] = 5
>>> array.tolist()
[[0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
)doc";

inline constexpr char of_sizes[] =
    R"doc(Allocates memory, of these extents, dimension 0 first. Its elements are not set.

storage_order lists the dimensions, innermost first.

>>> ts.Buffer(ts.UInt(8), [3, 2]).shape
(2, 3)
)doc";

inline constexpr char make_scalar[] = R"doc(Allocates one element, in no dimensions.

>>> s = ts.Buffer.make_scalar(ts.Float(32))
>>> s[()] = 2.5
>>> s[()], s.shape
(2.5, ())
)doc";

inline constexpr char make_interleaved[] =
    R"doc(Allocates dimensions x, y and c, with the channels of a pixel side by side.

>>> b = ts.Buffer.make_interleaved(ts.UInt(8), 640, 480, 3)
>>> b.shape, b.stride(0), b.stride(2)
((3, 480, 640), 3, 1)
)doc";

inline constexpr char make_bounds_query[] =
    R"doc(Makes a Buffer that has a shape and no memory: extents are given dimension 0 first.

A Callable that is given one computes nothing: it sets the mins and extents of such Buffers to what it would use of them.

>>> ts.Buffer.make_bounds_query(ts.Float(32), [8, 4]).shape
(4, 8)
)doc";

inline constexpr char numpy_view[] =
    R"doc(Returns a NumPy array of the same memory, whose last axis is dimension 0.

With reverse_axes=False its axes are in the order of the dimensions.

>>> b.numpy_view().shape, b.numpy_view(reverse_axes=False).shape
((2, 3), (3, 2))
)doc";

inline constexpr char make_with_shape_of[] =
    R"doc(Allocates memory of the type, extents, mins and order of strides of another Buffer.

>>> ts.Buffer.make_with_shape_of(b).shape
(2, 3)
)doc";

inline constexpr char name[] = R"doc(Returns the name, which messages call it by.

>>> b.name()
'b'
)doc";

inline constexpr char set_name[] = R"doc(Gives it another name.

>>> b.set_name("photo")
>>> b.name()
'photo'
)doc";

inline constexpr char type[] = R"doc(Returns the Type of the elements.

>>> b.type()
uint8
)doc";

inline constexpr char defined[] =
    R"doc(Returns True unless it is an undefined Buffer, as after reset().

>>> b.defined()
True
)doc";

inline constexpr char same_as[] =
    R"doc(Returns True if both are the very same Buffer, not only equal.

>>> b.same_as(b), b.same_as(b.copy())
(True, False)
)doc";

inline constexpr char dimensions[] = R"doc(Returns the number of dimensions.

>>> b.dimensions()
2
)doc";

inline constexpr char dim[] = R"doc(Returns a dimension: a BufferDimension.

>>> b.dim(0).extent(), b.dim(1).stride()
(3, 3)
)doc";

inline constexpr char width[] = R"doc(Returns the extent of dimension 0: of the last axis in NumPy.

>>> b.width()
3
)doc";

inline constexpr char height[] = R"doc(Returns the extent of dimension 1.

>>> b.height()
2
)doc";

inline constexpr char channels[] = R"doc(Returns the extent of dimension 2; 1 if there is none.

>>> b.channels()
1
)doc";

inline constexpr char left[] = R"doc(Returns the least coordinate of dimension 0.

>>> b.left()
0
)doc";

inline constexpr char right[] = R"doc(Returns the largest coordinate of dimension 0.

>>> b.right()
2
)doc";

inline constexpr char top[] = R"doc(Returns the least coordinate of dimension 1.

>>> b.top()
0
)doc";

inline constexpr char bottom[] = R"doc(Returns the largest coordinate of dimension 1.

>>> b.bottom()
1
)doc";

inline constexpr char number_of_elements[] = R"doc(Returns the product of the extents.

>>> b.number_of_elements()
6
)doc";

inline constexpr char size_in_bytes[] =
    R"doc(Returns the bytes from the first element to the last, gaps included.

>>> b.size_in_bytes()
6
)doc";

inline constexpr char contains[] =
    R"doc(Returns True if there is an element with these coordinates, dimension 0 first.

>>> b.contains([2, 1]), b.contains([3, 1])
(True, False)
)doc";

inline constexpr char shape[] =
    R"doc(Lists the extents in NumPy's order: dimension 0 is the last axis.

>>> b.shape
(2, 3)
)doc";

inline constexpr char mins[] =
    R"doc(Lists the least coordinate in each dimension, dimension 0 first.

>>> b.translated([10, 20]).mins
(10, 20)
)doc";

inline constexpr char dtype[] = R"doc(Is the type of the elements as NumPy's dtype.

>>> b.dtype
dtype('uint8')
)doc";

inline constexpr char ndim[] = R"doc(Is the number of dimensions.

>>> b.ndim
2
)doc";

inline constexpr char min[] = R"doc(Returns the least coordinate of a dimension.

>>> b.min(0)
0
)doc";

inline constexpr char extent[] = R"doc(Returns the number of coordinates of a dimension.

>>> b.extent(0), b.extent(1)
(3, 2)
)doc";

inline constexpr char stride[] =
    R"doc(Returns the distance of neighbours in a dimension, in elements.

>>> b.stride(0), b.stride(1)
(1, 3)
)doc";

inline constexpr char crop[] =
    R"doc(Leaves of a dimension the coordinates from min on, as many as extent says.

>>> b.crop(0, 1, 2)
>>> b.numpy().tolist(), b.mins
([[1, 2], [4, 5]], (1, 0))
)doc";

inline constexpr char cropped[] =
    R"doc(Returns a part that shares the memory: of a dimension the coordinates from min on.

>>> b.cropped(0, 1, 2).numpy().tolist()
[[1, 2], [4, 5]]
)doc";

inline constexpr char cropped_rect[] =
    R"doc(Does so for (min, extent) of each dimension, dimension 0 first.
)doc";

inline constexpr char slice[] =
    R"doc(Leaves of a dimension one coordinate, and takes the dimension away.

>>> b.slice(1, 1)
>>> b.numpy().tolist()
[3, 4, 5]
)doc";

inline constexpr char sliced[] =
    R"doc(Returns the part of one coordinate, without that dimension, which shares the memory.

>>> b.sliced(0, 2).numpy().tolist()
[2, 5]
)doc";

inline constexpr char embed[] = R"doc(Adds a dimension of one coordinate.

>>> b.embed(0, 5)
>>> b.shape, b.mins
((2, 3, 1), (5, 0, 0))
)doc";

inline constexpr char embedded[] =
    R"doc(Returns the Buffer with one more dimension, of one coordinate, which shares the memory.

>>> b.embedded(2).shape
(1, 2, 3)
)doc";

inline constexpr char add_dimension[] =
    R"doc(Adds a last dimension of one coordinate: a first axis in NumPy.

>>> b.add_dimension()
>>> b.shape
(1, 2, 3)
)doc";

inline constexpr char add_dimension_with_stride[] =
    R"doc(Adds a last dimension of one coordinate, with this distance of neighbours in elements.

>>> b.add_dimension_with_stride(100)
>>> b.stride(2)
100
)doc";

inline constexpr char translate[] = R"doc(Adds a number to the coordinates of a dimension.

>>> b.translate(0, 10)
>>> b.mins
(10, 0)
)doc";

inline constexpr char translate_all[] = R"doc(Does so for all dimensions, dimension 0 first.
)doc";

inline constexpr char translated[] =
    R"doc(Returns the Buffer with other coordinates, which shares the memory.

>>> b.translated(0, 10).mins
(10, 0)
)doc";

inline constexpr char translated_all[] = R"doc(Does so for all dimensions, dimension 0 first.
)doc";

inline constexpr char set_min[] =
    R"doc(Sets the least coordinate of each dimension, dimension 0 first.

>>> b.set_min([10, 20])
>>> b[10, 20], b.mins
(0, (10, 20))
)doc";

inline constexpr char transpose[] = R"doc(Exchanges two dimensions.

>>> b.transpose(0, 1)
>>> b.numpy().tolist()
[[0, 3], [1, 4], [2, 5]]
)doc";

inline constexpr char transpose_all[] = R"doc(Orders all dimensions anew.
)doc";

inline constexpr char transposed[] =
    R"doc(Returns the Buffer with two dimensions exchanged, which shares the memory.

>>> b.transposed(0, 1).numpy().tolist()
[[0, 3], [1, 4], [2, 5]]
)doc";

inline constexpr char transposed_all[] = R"doc(Does so for all dimensions.
)doc";

inline constexpr char reverse_axes[] =
    R"doc(Returns the same memory with the order of dimensions turned round.

>>> b.reverse_axes().shape
(3, 2)
)doc";

inline constexpr char copy[] = R"doc(Returns new memory with the same elements.

>>> other = b.copy()
>>> other.fill(0)
>>> b.numpy().tolist()
[[0, 1, 2], [3, 4, 5]]
)doc";

inline constexpr char copy_from[] = R"doc(Overwrites the elements whose coordinates both have.

`src` is a Buffer or an array, whose last axis is dimension 0; its elements are of the same type.

>>> b.copy_from(np.full((1, 2), 9, np.uint8))
>>> b.numpy().tolist()
[[9, 9, 2], [3, 4, 5]]
)doc";

inline constexpr char fill[] = R"doc(Sets all elements.

>>> b.fill(7)
>>> b.numpy().tolist()
[[7, 7, 7], [7, 7, 7]]
)doc";

inline constexpr char all_equal[] = R"doc(Returns True if all elements have this value.

>>> b.all_equal(0)
False
)doc";

inline constexpr char for_each_element[] =
    R"doc(Calls f with a list of coordinates for each element, dimension 0 innermost.

>>> places = []
>>> b.for_each_element(places.append)
>>> places
[[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
)doc";

inline constexpr char copy_to_interleaved[] =
    R"doc(Returns new memory with the channels of a pixel side by side, for dimensions x, y and c.

>>> ts.Buffer(ts.UInt(8), [640, 480, 3]).copy_to_interleaved().stride(0)
3
)doc";

inline constexpr char copy_to_planar[] =
    R"doc(Returns new memory with each channel a plane, for dimensions x, y and c.

>>> ts.Buffer.make_interleaved(ts.UInt(8), 640, 480, 3).copy_to_planar().stride(0)
1
)doc";

inline constexpr char allocate[] = R"doc(Gives a Buffer without memory some.

>>> b.deallocate()
>>> b.allocate()
>>> b.fill(1)
)doc";

inline constexpr char deallocate[] = R"doc(Gives the memory back; the shape stays.

>>> b.deallocate()
>>> b.shape, b.owns_host_memory()
((2, 3), False)
)doc";

inline constexpr char reset[] = R"doc(Makes this an undefined Buffer.

>>> b.reset()
>>> b
<undefined Buffer>
)doc";

inline constexpr char is_bounds_query[] =
    R"doc(Returns True if it has no memory: an extern stage then says which region it needs.

>>> b.is_bounds_query()
False
)doc";

inline constexpr char owns_host_memory[] =
    R"doc(Returns True if it keeps the memory: its own, or that of an array, which lives as long as it.

>>> b.owns_host_memory()
True
>>> b.deallocate()
>>> b.owns_host_memory()
False
)doc";

inline constexpr char numpy[] =
    R"doc(Returns a NumPy array of the same memory; its last axis is dimension 0.

What is on a GPU is copied to the host first.

>>> b.numpy()
array([[0, 1, 2],
       [3, 4, 5]], dtype=uint8)
)doc";

inline constexpr char torch[] =
    R"doc(Returns a tensor of PyTorch of the same memory; its last axis is dimension 0.

It is on the GPU where the newest contents are there.

>>> b.torch()                                        # doctest: +SKIP
)doc";

inline constexpr char copy_to_host[] =
    R"doc(Copies the elements here, if those on a device are newer.

>>> b.copy_to_host()
)doc";

inline constexpr char copy_to_device[] =
    R"doc(Copies the elements to the device of a target, if those here are newer.

>>> b.copy_to_device("host-cuda")                    # doctest: +SKIP
)doc";

inline constexpr char device_sync[] =
    R"doc(Waits until the device has done what it was told to do with the memory.

>>> b.device_sync()                                  # doctest: +SKIP
)doc";

inline constexpr char device_free[] =
    R"doc(Frees the memory on the device; what is newer there is lost.

>>> b.device_free()
>>> b.has_device_allocation()
False
)doc";

inline constexpr char device_dirty[] = R"doc(Returns True if the elements on the device are newer.

>>> b.device_dirty()
False
)doc";

inline constexpr char host_dirty[] =
    R"doc(Returns True if the elements here are newer than those on the device.

>>> b.set_host_dirty()
>>> b.host_dirty()
True
)doc";

inline constexpr char set_host_dirty[] =
    R"doc(Says that the elements here have changed, so that they are copied to the device again.

>>> b.numpy()[0, 0] = 9
>>> b.set_host_dirty()
)doc";

inline constexpr char set_device_dirty[] =
    R"doc(Says that the elements on the device have changed, so that they are copied here again.

>>> b.set_device_dirty(False)
>>> b.device_dirty()
False
)doc";

inline constexpr char has_device_allocation[] = R"doc(Returns True if it has memory on a device.

>>> b.has_device_allocation()
False
)doc";

inline constexpr char device_malloc[] =
    R"doc(Allocates memory on the device of a target, and copies nothing.

>>> b.device_malloc("host-cuda")                     # doctest: +SKIP
)doc";

inline constexpr char device_malloc_by[] = R"doc(Does so on the device of this DeviceAPI.
)doc";

inline constexpr char device_wrap_native[] =
    R"doc(Has memory of the device that somebody else allocated, at this address.

>>> b.device_wrap_native(ts.DeviceAPI.CUDA, address, "host-cuda")   # doctest: +SKIP
)doc";

inline constexpr char device_detach_native[] =
    R"doc(Forgets memory of the device that device_wrap_native() was given.

>>> b.device_detach_native()                         # doctest: +SKIP
)doc";

inline constexpr char device_deallocate[] = R"doc(Frees the memory on the device and here.

>>> b.device_deallocate()                            # doctest: +SKIP
)doc";

inline constexpr char dimension_class[] =
    R"doc(One dimension of a Buffer, and the range of its coordinates.

>>> d = b.dim(0)
>>> d.min(), d.max(), d.extent(), d.stride()
(0, 2, 3, 1)
)doc";

inline constexpr char dimension_min[] = R"doc(Returns the least coordinate.

>>> b.dim(0).min()
0
)doc";

inline constexpr char dimension_max[] = R"doc(Returns the largest coordinate.

>>> b.dim(0).max()
2
)doc";

inline constexpr char dimension_extent[] = R"doc(Returns the number of coordinates.

>>> b.dim(0).extent()
3
)doc";

inline constexpr char dimension_stride[] = R"doc(Returns the distance of neighbours, in elements.

>>> b.dim(1).stride()
3
)doc";

inline constexpr char load_image[] =
    R"doc(Reads a PNG, PGM or PPM file into dimensions x, y and, unless it is grey, c.

As an array its shape is (height, width), or (channels, height, width).

>>> ts.save_image(a, "picture.png")
>>> ts.load_image("picture.png").numpy().tolist()
[[0, 1, 2], [3, 4, 5]]
)doc";

inline constexpr char save_image[] =
    R"doc(Writes a PNG, PGM or PPM file, by the ending of the path; of dimensions x, y and perhaps c.

An array has the shape (height, width) or (channels, height, width).

>>> ts.save_image(np.zeros((3, 48, 64), np.uint8), "picture.ppm")
>>> ts.load_image("picture.ppm").shape
(3, 48, 64)
)doc";

inline constexpr char convert_image[] =
    R"doc(Returns the image in another element type: integers stand for the range from 0 to 1.

It is a Buffer or an array, whose last axis is dimension 0; what is returned is a new Buffer.

>>> ts.convert_image(np.array([[0, 255]], np.uint8), ts.Float(32)).numpy().tolist()
[[0.0, 1.0]]
)doc";

inline constexpr char load_and_convert_image[] =
    R"doc(Reads an image as load_image() does, with this element type.

>>> ts.save_image(np.array([[0, 255]], np.uint8), "picture.png")
>>> ts.load_and_convert_image("picture.png", ts.Float(32)).numpy().tolist()
[[0.0, 1.0]]
)doc";

}  // namespace buffer
}  // namespace tessera::python::docs
