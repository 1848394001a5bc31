#pragma once

// Docstrings of types of elements and of targets. The names in their examples are those of
// tests/examples.py.
namespace tessera::python::docs {
namespace type {

inline constexpr char class_[] =
    R"doc(The type of an element: of so many bits, and of so many lanes.

Functions take NumPy's dtypes and Python's bool, int (32 bits) and float (32 bits) for it, too.

>>> ts.UInt(8), ts.Float(32, 4), ts.Bool()
(uint8, float32x4, bool)
>>> ts.UInt(8) == np.uint8
True
)doc";

inline constexpr char init[] =
    R"doc(Makes a type of a code, bits and lanes; CompileError if there is none such.

>>> ts.Type(ts.TypeCode.Int, 16)
int16
)doc";

inline constexpr char empty[] = R"doc(Makes an undefined Type.

>>> ts.Type()
<undefined Type>
)doc";

inline constexpr char code[] = R"doc(Returns the TypeCode: what the bits mean.

>>> ts.UInt(8).code()
TypeCode.UInt
)doc";

inline constexpr char bits[] = R"doc(Returns the number of bits of one lane.

>>> ts.UInt(16, 4).bits()
16
)doc";

inline constexpr char bytes[] = R"doc(Returns the number of bytes of one lane in memory.

>>> ts.UInt(16).bytes(), ts.Bool().bytes()
(2, 1)
)doc";

inline constexpr char lanes[] = R"doc(Returns the number of lanes: 1 but for vectors.

>>> ts.UInt(16, 4).lanes()
4
)doc";

inline constexpr char defined[] = R"doc(Returns True unless it is Type().

>>> ts.Type().defined()
False
)doc";

inline constexpr char is_int[] = R"doc(Returns True for signed integers.

>>> ts.Int(8).is_int(), ts.UInt(8).is_int()
(True, False)
)doc";

inline constexpr char is_uint[] =
    R"doc(Returns True for unsigned integers, of which bool is one of 1 bit.

>>> ts.UInt(8).is_uint(), ts.Bool().is_uint()
(True, True)
)doc";

inline constexpr char is_int_or_uint[] = R"doc(Returns True for integers.

>>> ts.Int(8).is_int_or_uint(), ts.Float(32).is_int_or_uint()
(True, False)
)doc";

inline constexpr char is_float[] =
    R"doc(Returns True for floats, bfloats and those of 8 bits among them.

>>> ts.Float(32).is_float(), ts.BFloat().is_float()
(True, True)
)doc";

inline constexpr char is_bfloat[] =
    R"doc(Returns True for a float of 16 bits with the exponent of a float32.

>>> ts.BFloat().is_bfloat(), ts.Float(16).is_bfloat()
(True, False)
)doc";

inline constexpr char is_float8[] = R"doc(Returns True for the floats of 8 bits.

>>> ts.Float8E4M3().is_float8(), ts.Float(16).is_float8()
(True, False)
)doc";

inline constexpr char is_bool[] = R"doc(Returns True for the type of conditions.

>>> (x < 3).type().is_bool()
True
)doc";

inline constexpr char is_handle[] = R"doc(Returns True for pointers.

>>> ts.Handle().is_handle()
True
)doc";

inline constexpr char is_scalar[] = R"doc(Returns True for one lane.

>>> ts.Int(8).is_scalar(), ts.Int(8, 4).is_scalar()
(True, False)
)doc";

inline constexpr char is_vector[] = R"doc(Returns True for more than one lane.

>>> ts.Int(8).is_vector(), ts.Int(8, 4).is_vector()
(False, True)
)doc";

inline constexpr char same_handle_type[] =
    R"doc(Returns True unless both are pointers, of different types.

>>> ts.Handle().same_handle_type(ts.Handle())
True
)doc";

inline constexpr char with_bits[] = R"doc(Returns the type with another number of bits.

>>> ts.Int(8).with_bits(32)
int32
)doc";

inline constexpr char with_lanes[] = R"doc(Returns the type with another number of lanes.

>>> ts.Int(8).with_lanes(4)
int8x4
)doc";

inline constexpr char with_code[] = R"doc(Returns the type with another TypeCode.

>>> ts.Int(8).with_code(ts.TypeCode.UInt)
uint8
)doc";

inline constexpr char element_of[] = R"doc(Returns the type of one lane.

>>> ts.Int(8, 4).element_of()
int8
)doc";

inline constexpr char widen[] = R"doc(Returns the type of twice the bits.

>>> ts.UInt(8).widen()
uint16
)doc";

inline constexpr char narrow[] = R"doc(Returns the type of half the bits.

>>> ts.UInt(16).narrow()
uint8
)doc";

inline constexpr char max[] = R"doc(Returns the largest value, as an expression.

>>> ts.evaluate(ts.Int(8).max())
127
)doc";

inline constexpr char min[] = R"doc(Returns the least value, as an expression.

>>> ts.evaluate(ts.Int(8).min())
-128
)doc";

inline constexpr char can_represent[] =
    R"doc(Returns True if the number, or all values of another type, are some of it.

>>> ts.UInt(8).can_represent(300), ts.Int(16).can_represent(ts.UInt(8))
(False, True)
)doc";

inline constexpr char is_max[] = R"doc(Returns True if the integer is the largest of the type.

>>> ts.UInt(8).is_max(255), ts.Int(8).is_max(255)
(True, False)
)doc";

inline constexpr char is_min[] = R"doc(Returns True if the integer is the least of the type.

>>> ts.Int(8).is_min(-128), ts.UInt(8).is_min(0)
(True, True)
)doc";

inline constexpr char Int[] = R"doc(Returns the signed integer of 8, 16, 32 or 64 bits.

>>> ts.Int(16)
int16
)doc";

inline constexpr char UInt[] = R"doc(Returns the unsigned integer of 1, 8, 16, 32 or 64 bits.

>>> ts.UInt(8)
uint8
)doc";

inline constexpr char Float[] = R"doc(Returns the float of 16, 32 or 64 bits.

>>> ts.Float(32)
float32
)doc";

inline constexpr char BFloat[] = R"doc(Returns the float of 16 bits with the exponent of a float32.

>>> ts.BFloat()
bfloat16
)doc";

inline constexpr char Float8E4M3[] =
    R"doc(Returns the float of 8 bits, 4 of them the exponent's: up to 448, without infinities.

What is too large becomes 448. Arrays are of ml_dtypes' float8_e4m3fn.

>>> ts.Float8E4M3()
float8_e4m3
>>> ts.evaluate(ts.f32(ts.cast(ts.Float8E4M3(), 1000.0)))
448.0
)doc";

inline constexpr char Float8E5M2[] =
    R"doc(Returns the float of 8 bits, 5 of them the exponent's: up to 57344.

What is too large becomes 57344. Arrays are of ml_dtypes' float8_e5m2.

>>> ts.Float8E5M2()
float8_e5m2
>>> ts.evaluate(ts.f32(ts.cast(ts.Float8E5M2(), ts.f64(0.3))))
0.3125
)doc";

inline constexpr char Bool[] = R"doc(Returns the type of conditions.

>>> ts.Bool()
bool
)doc";

inline constexpr char Handle[] = R"doc(Returns the type of pointers.

>>> ts.Handle()
handle
)doc";

inline constexpr char i8[] = R"doc(Converts to int8; integers wrap.

>>> ts.evaluate(ts.i8(200))
-56
)doc";

inline constexpr char i16[] = R"doc(Converts to int16; integers wrap.

>>> ts.evaluate(ts.i16(40000))
-25536
)doc";

inline constexpr char i32[] = R"doc(Converts to int32; integers wrap.

>>> ts.evaluate(ts.i32(-2.75))
-2
)doc";

inline constexpr char i64[] = R"doc(Converts to int64.

>>> ts.evaluate(ts.i64(1) << 40)
1099511627776
)doc";

inline constexpr char u8[] = R"doc(Converts to uint8; integers wrap.

>>> ts.evaluate(ts.u8(300))
44
)doc";

inline constexpr char u16[] = R"doc(Converts to uint16; integers wrap.

>>> ts.evaluate(ts.u16(-1))
65535
)doc";

inline constexpr char u32[] = R"doc(Converts to uint32; integers wrap.

>>> ts.evaluate(ts.u32(-1))
4294967295
)doc";

inline constexpr char u64[] = R"doc(Converts to uint64; integers wrap.

>>> ts.evaluate(ts.u64(-1))
18446744073709551615
)doc";

inline constexpr char f16[] = R"doc(Converts to a float of 16 bits.

>>> ts.evaluate(ts.f16(0.1))
0.0999...
)doc";

inline constexpr char f32[] = R"doc(Converts to a float of 32 bits.

>>> ts.evaluate(ts.f32(1) / 3)
0.3333...
)doc";

inline constexpr char f64[] =
    R"doc(Converts to a float of 64 bits; a number of Python's keeps all of its digits.

>>> ts.evaluate(ts.f64(1) / 3)
0.3333...
)doc";

inline constexpr char bf16[] = R"doc(Converts to a float of 16 bits with the exponent of a float32.

>>> ts.evaluate(ts.bf16(0.1))
0.1000...
)doc";

inline constexpr char i8_sat[] = R"doc(Returns the nearest value that int8 has.

>>> ts.evaluate(ts.i8_sat(200))
127
)doc";

inline constexpr char i16_sat[] = R"doc(Returns the nearest value that int16 has.

>>> ts.evaluate(ts.i16_sat(40000))
32767
)doc";

inline constexpr char i32_sat[] = R"doc(Returns the nearest value that int32 has.

>>> ts.evaluate(ts.i32_sat(2.0 ** 40))
2147483647
)doc";

inline constexpr char i64_sat[] = R"doc(Returns the nearest value that int64 has.

>>> ts.evaluate(ts.i64_sat(2.0 ** 70))
9223372036854775807
)doc";

inline constexpr char u8_sat[] = R"doc(Returns the nearest value that uint8 has.

>>> ts.evaluate((ts.u8_sat(300), ts.u8_sat(-5)))
(255, 0)
)doc";

inline constexpr char u16_sat[] = R"doc(Returns the nearest value that uint16 has.

>>> ts.evaluate(ts.u16_sat(-1))
0
)doc";

inline constexpr char u32_sat[] = R"doc(Returns the nearest value that uint32 has.

>>> ts.evaluate(ts.u32_sat(-1))
0
)doc";

inline constexpr char u64_sat[] = R"doc(Returns the nearest value that uint64 has.

>>> ts.evaluate(ts.u64_sat(-1))
0
)doc";

}  // namespace type
namespace target {

inline constexpr char class_[] =
    R"doc(A machine to compile for, with its features; functions take its text, too.

A text names architecture, bits, operating system and features, or begins with "host".

>>> ts.Target("x86-64-linux-avx2-fma")
Target("x86-64-linux-avx2-fma")
>>> f.realize([3, 2], ts.Target("host")).numpy().tolist()
[[0, 1, 2], [10, 11, 12]]
)doc";

inline constexpr char empty[] =
    R"doc(Makes an undefined target, which stands for TESSERA_JIT_TARGET or the host.

>>> ts.Target()
Target("arch_unknown-0-os_unknown")
)doc";

inline constexpr char text[] =
    R"doc(Makes the target of a text; CompileError says which word is unknown.

>>> ts.Target("arm-64-linux").arch
TargetArch.ARM
)doc";

inline constexpr char target[] = R"doc(Makes a copy of a target.

>>> t = ts.Target("arm-64-linux")
>>> ts.Target(t) == t
True
)doc";

inline constexpr char parts[] =
    R"doc(Makes a target of its operating system, architecture, bits of an address and features.

>>> ts.Target(ts.TargetOS.Linux, ts.TargetArch.X86, 64, [ts.TargetFeature.AVX2])
Target("x86-64-linux-avx2")
)doc";

inline constexpr char all_parts[] =
    R"doc(Makes a target of all of its parts; vector_bits is that of scalable vectors, 0 where it is not said.

>>> ts.Target(ts.TargetOS.Linux, ts.TargetArch.X86, 64, ts.TargetProcessorTune.ZnVer4)
Target("x86-64-linux-tune_znver4")
)doc";

inline constexpr char to_string[] =
    R"doc(Returns the text that makes this target, with all of its features.

>>> ts.Target("x86-64-linux-avx2").to_string()
'x86-64-linux-avx2'
)doc";

inline constexpr char has_feature[] =
    R"doc(Returns True if the target has a TargetFeature, or the feature of this name.

>>> t = ts.Target("x86-64-linux-avx2")
>>> t.has_feature("avx2"), t.has_feature(ts.TargetFeature.CUDA)
(True, False)
)doc";

inline constexpr char features_any_of[] =
    R"doc(Returns True if the target has one of the features at least.

>>> t = ts.Target("x86-64-linux-avx2")
>>> t.features_any_of([ts.TargetFeature.AVX2, ts.TargetFeature.CUDA])
True
)doc";

inline constexpr char features_all_of[] = R"doc(Returns True if the target has all of the features.

>>> t = ts.Target("x86-64-linux-avx2")
>>> t.features_all_of([ts.TargetFeature.AVX2, ts.TargetFeature.CUDA])
False
)doc";

inline constexpr char set_feature[] =
    R"doc(Adds a feature, or takes it away where the value is False.

>>> t = ts.Target("x86-64-linux")
>>> t.set_feature("avx2")
>>> t
Target("x86-64-linux-avx2")
)doc";

inline constexpr char set_features[] =
    R"doc(Adds features, or takes them away where the value is False.

>>> t = ts.Target("x86-64-linux")
>>> t.set_features([ts.TargetFeature.AVX2, ts.TargetFeature.FMA])
>>> t
Target("x86-64-linux-avx2-fma")
)doc";

inline constexpr char with_feature[] = R"doc(Returns the target with one more feature.

>>> ts.Target("x86-64-linux").with_feature("avx2")
Target("x86-64-linux-avx2")
)doc";

inline constexpr char without_feature[] = R"doc(Returns the target without a feature.

>>> ts.Target("x86-64-linux-avx2").without_feature("avx2")
Target("x86-64-linux")
)doc";

inline constexpr char with_implied_features[] =
    R"doc(Returns the target with the features that those which it has imply.

>>> ts.Target("x86-64-linux-avx2").with_implied_features().has_feature("sse41")
True
)doc";

inline constexpr char has_gpu_feature[] = R"doc(Returns True if the target has a GPU.

>>> ts.Target("host-cuda").has_gpu_feature(), ts.Target("host").has_gpu_feature()
(True, False)
)doc";

inline constexpr char has_large_buffers[] =
    R"doc(Returns True if buffers may have more than 2**31 - 1 bytes there.

>>> ts.Target("x86-64-linux-large_buffers").has_large_buffers()
True
)doc";

inline constexpr char has_unknowns[] =
    R"doc(Returns True if the architecture, the operating system or the bits are not known.

>>> ts.Target().has_unknowns(), ts.Target("host").has_unknowns()
(True, False)
)doc";

inline constexpr char get_cuda_capability_lower_bound[] =
    R"doc(Returns the lowest compute capability that is set, 86 for 8.6; 20 if none is, -1 without CUDA.

>>> ts.Target("host-cuda-cuda_capability_80").get_cuda_capability_lower_bound()
80
)doc";

inline constexpr char get_vulkan_capability_lower_bound[] =
    R"doc(Returns the greatest version of Vulkan that is set, 13 for 1.3; 10 if none is, -1 without Vulkan.

>>> ts.Target("x86-64-linux").get_vulkan_capability_lower_bound()
-1
)doc";

inline constexpr char get_arm_v8_lower_bound[] =
    R"doc(Returns the greatest minor version of Armv8 that is set, 82 for 8.2; -1 without one.

>>> ts.Target("arm-64-linux-armv82a").get_arm_v8_lower_bound()
82
)doc";

inline constexpr char feature_to_name[] =
    R"doc(Returns the word of a feature in the text of a target.

>>> ts.Target.feature_to_name(ts.TargetFeature.AVX2)
'avx2'
)doc";

inline constexpr char feature_from_name[] =
    R"doc(Returns the feature of a word; FeatureEnd if there is none.

>>> ts.Target.feature_from_name("avx2")
TargetFeature.AVX2
)doc";

inline constexpr char validate_target_string[] = R"doc(Returns True if the text names a target.

>>> ts.Target.validate_target_string("x86-64-linux"), ts.Target.validate_target_string("toaster")
(True, False)
)doc";

inline constexpr char os[] = R"doc(Is the operating system: a TargetOS.

>>> ts.Target("x86-64-linux").os
TargetOS.Linux
)doc";

inline constexpr char arch[] = R"doc(Is the architecture: a TargetArch.

>>> ts.Target("x86-64-linux").arch
TargetArch.X86
)doc";

inline constexpr char bits[] = R"doc(Is the number of bits of an address.

>>> ts.Target("x86-64-linux").bits
64
)doc";

inline constexpr char vector_bits[] =
    R"doc(Is the number of bits of a scalable vector register; 0 where it is not said.

>>> ts.Target("x86-64-linux-avx2").vector_bits
0
)doc";

inline constexpr char processor_tune[] =
    R"doc(Is the processor whose instruction latencies code is scheduled for: a TargetProcessorTune.

>>> ts.Target("x86-64-linux").processor_tune
TargetProcessorTune.ProcessorGeneric
)doc";

inline constexpr char supported[] = R"doc(Returns True if this compiler can make code for it.

>>> ts.Target("host").supported()
True
)doc";

inline constexpr char supports_device_api[] = R"doc(Returns True if loops may run by this DeviceAPI.

>>> ts.Target("host-cuda").supports_device_api(ts.DeviceAPI.CUDA)
True
)doc";

inline constexpr char supports_type[] =
    R"doc(Returns True if the target, or one of its devices, has values of this type.

>>> ts.Target("host").supports_type(ts.Float(64))
True
)doc";

inline constexpr char get_required_device_api[] =
    R"doc(Returns the DeviceAPI of the feature that it has; None_ if it has none.

>>> ts.Target("host-cuda").get_required_device_api()
DeviceAPI.CUDA
)doc";

inline constexpr char maximum_buffer_size[] = R"doc(Returns the largest number of bytes of a buffer.

>>> ts.Target("x86-64-linux").maximum_buffer_size()
2147483647
)doc";

inline constexpr char get_runtime_compatible_target[] =
    R"doc(Returns the target of a runtime for both; None if there is none.

>>> ts.Target("x86-64-linux-avx2").get_runtime_compatible_target("x86-64-linux-cuda")
Target("x86-64-linux-cuda")
>>> ts.Target("x86-64-linux").get_runtime_compatible_target("arm-64-linux")
)doc";

inline constexpr char natural_vector_size[] =
    R"doc(Returns the lanes of a vector register for a type.

>>> ts.Target("x86-64-linux-avx2").natural_vector_size(ts.Float(32))
8
)doc";

inline constexpr char get_host_target[] = R"doc(Returns this machine, without its GPU.

>>> ts.get_host_target() == ts.Target("host")
True
)doc";

inline constexpr char get_jit_target_from_environment[] =
    R"doc(Returns the target that realize() compiles for: that of TESSERA_JIT_TARGET, or this machine.

>>> ts.get_jit_target_from_environment().supported()
True
)doc";

inline constexpr char get_target_from_environment[] =
    R"doc(Returns the target that files are compiled for: that of TESSERA_TARGET, or this machine.

>>> ts.get_target_from_environment().supported()
True
)doc";

inline constexpr char target_feature_for_device_api[] =
    R"doc(Returns the TargetFeature that a target needs for a DeviceAPI; FeatureEnd if there is none.

>>> ts.target_feature_for_device_api(ts.DeviceAPI.CUDA)
TargetFeature.CUDA
)doc";

inline constexpr char host_supports_target_device[] =
    R"doc(Returns True if the devices that the target names are on this machine.

>>> ts.host_supports_target_device("host")
True
)doc";

}  // namespace target
}  // namespace tessera::python::docs
