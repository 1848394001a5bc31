#include "base/large_stack.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/pass_test.h"
#include "lower/storage/flatten_storage.h"

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::lower;

TEST_SUITE("flatten_storage") {
    TEST_CASE("a realized function is an allocation, the innermost dimension dense") {
        CHECK(run(flatten_storage, "realize f: {uint8} in Stack over [a, +n], [b, +m]\n"
                                   "f(x, y) = f(x + 1, y)") ==
              printed("let f_min_0 = a\n"
                      "let f_extent_0 = n\n"
                      "let f_min_1 = b\n"
                      "let f_extent_1 = m\n"
                      "let f_stride_0 = 1\n"
                      "let f_stride_1 = f_extent_0\n"
                      "allocate f: uint8[f_extent_0, f_extent_1] in Stack\n"
                      "f[x - f_min_0 + (y - f_min_1) * f_stride_1] ="
                      " f[x + 1 - f_min_0 + (y - f_min_1) * f_stride_1]"));
    }
    TEST_CASE("inputs and outputs keep the strides of their buffers") {
        CHECK(run(flatten_storage, "out(x) = image img(x, 3)") ==
              printed("out[(x - out.min[0]) * out.stride[0]] ="
                      " img[(x - img.min[0]) * img.stride[0] + (3 - img.min[1]) * img.stride[1]]"));
    }
    TEST_CASE("no dimensions: one element") {
        CHECK(run(flatten_storage, "realize f: {float32}\nf() = 1.0\ng() = f()") ==
              printed("allocate f: float32[] in Auto\nf[0] = 1.0\ng[0] = f[0]:float32"));
    }
    TEST_CASE("indices into large buffers are wide") {
        Context context;
        context.target.bits = 64;
        context.target.set_feature(Target::LargeBuffers);
        CHECK(run(flatten_storage, "out(x) = 1", context) ==
              printed("out[(int64(x) - int64(out.min[0])) * int64(out.stride[0])] = 1"));
    }
    TEST_CASE("a layout says where elements are, in panels that are swizzled") {
        const std::string ring =
            "realize f: {float16} in GPUShared pipelined layout \"d0:128 d1:64 d2:3 -> "
            "byte^128(d0%64*2 + d1*128 + d0/64*8192 + d2*16384)\" over [0, +128], [m, +64], "
            "[0, +3]\n";
        CHECK(run(flatten_storage, ring + "f(x, y, z) = f(x, y + 1, 0):float16") ==
              printed("let f_min_0 = 0\nlet f_extent_0 = 128\n"
                      "let f_min_1 = m\nlet f_extent_1 = 64\n"
                      "let f_min_2 = 0\nlet f_extent_2 = 3\n"
                      "allocate f: float16[24576] in GPUShared pipelined swizzle 128\n"
                      "f[(x - f_min_0) % 64 + (y - f_min_1) * 64 + (x - f_min_0) / 64 * 4096 + "
                      "(z - f_min_2) * 8192] = "
                      "f[(x - f_min_0) % 64 + (y + 1 - f_min_1) * 64 + (x - f_min_0) / 64 * 4096 + "
                      "(0 - f_min_2) * 8192]:float16"));
        CHECK_THROWS_AS(parse_stmt("realize f: {float16} layout \"d0:8 -> byte(d0*2)\" over "
                                   "[0, +8], [0, +8]\nf(0, 0) = f(1, 1)"),
                        Error);
    }
    TEST_CASE("a predicate is an if") {
        CHECK(run(flatten_storage, "out() = 1 if x < 3") == printed("if x < 3: out[0] = 1"));
    }
    TEST_CASE("the values of an output are in its arguments") {
        CHECK(run_on_function(flatten_storage,
                              "a: output int32[1] of g, b: output int8[1] of g value 1",
                              "    g(x:int32) = {3, 4}\n    h(0) = a.min[0] + g.extent[0]") ==
              printed("a[(x - a.min[0]) * 1] = 3\n"
                      "b[(x - b.min[0]) * 1] = 4:int8\n"
                      "h[(0 - h.min[0]) * h.stride[0]] = a.min[0] + a.extent[0]"));
    }
    TEST_CASE("a tuple that reads itself is read before it is written") {
        CHECK(run(flatten_storage, "realize f: {int32, int32} held by f0, f1\n"
                                   "f() = {f().1, f().0}") ==
              printed("allocate f0 of f: int32[] in Auto\nallocate f1 of f: int32[] in Auto\n"
                      "let f_value_0 = f1[0]\nlet f_value_1 = f0[0]\n"
                      "f0[0] = f_value_0\nf1[0] = f_value_1"));
    }
    TEST_CASE("scatter and gather store several elements, all evaluated first") {
        CHECK(run(flatten_storage, "realize f: {int32} over [0, +9]\n"
                                   "f(scatter(1, 2)) = gather(f(2), 7)") ==
              printed("let f_min_0 = 0\nlet f_extent_0 = 9\nlet f_stride_0 = 1\n"
                      "allocate f: int32[f_extent_0] in Auto\n"
                      "let f_value_0 = f[2 - f_min_0]\n"
                      "f[1 - f_min_0] = f_value_0\nf[2 - f_min_0] = 7"));
    }
    TEST_CASE("the order, alignment and bound of the storage are those that the storage says") {
        CHECK(run(flatten_storage, "realize f: {int32} order 1 align 16, 0 bound vx by 100 over "
                                   "[0, +n], [0, +m]\nf(x, y) = 1") ==
              printed(
                  "let f_min_0 = 0\nlet f_extent_0 = n\nlet f_min_1 = 0\nlet f_extent_1 = m\n"
                  "let f_stride_1 = 1\nlet f_stride_0 = (f_extent_1 + 15) / 16 * 16\n"
                  "assert f_extent_0 <= 100, "
                  "extern int32 tessera_error_storage_bound_too_small(user_context(), \"\", \"f\", "
                  "\"vx\", 100, f_extent_0)\n"
                  "allocate f: int32[(f_extent_1 + 15) / 16 * 16, 100] in Auto\n"
                  "f[(x - f_min_0) * f_stride_0 + (y - f_min_1)] = 1"));
    }
    TEST_CASE("dimensions that the order leaves out are outermost") {
        CHECK(run(flatten_storage, "realize f: {int32} order 1, 0 over [0, +n], [0, +m], [0, +k]\n"
                                   "f(x, y, z) = 1") ==
              printed("let f_min_0 = 0\nlet f_extent_0 = n\nlet f_min_1 = 0\nlet f_extent_1 = m\n"
                      "let f_min_2 = 0\nlet f_extent_2 = k\n"
                      "let f_stride_1 = 1\nlet f_stride_0 = f_extent_1\n"
                      "let f_stride_2 = f_stride_0 * f_extent_0\n"
                      "allocate f: int32[f_extent_1, f_extent_0, f_extent_2] in Auto\n"
                      "f[(x - f_min_0) * f_stride_0 + (y - f_min_1) + (z - f_min_2) * f_stride_2]"
                      " = 1"));
    }
    TEST_CASE("who names a function by its handle gets a buffer of it") {
        CHECK(run(flatten_storage, "realize f: {uint16} over [a, +n]\n"
                                   "extern int32 stage(f:handle, f.min[0], f.type_bits)") ==
              printed("let f_min_0 = a\nlet f_extent_0 = n\nlet f_stride_0 = 1\n"
                      "allocate f: uint16[f_extent_0] in Auto\n"
                      "let f_buffer = make_buffer(address_of(f[0]), 1, 16, 1, f_min_0, f_extent_0,"
                      " f_stride_0)\n"
                      "extern int32 stage(f_buffer, f_min_0, 16)"));
    }
    TEST_CASE("thousands of nested realizations") {
        run_on_large_stack([] {
            Stmt s = no_op();
            for (int i = 0; i < 3000; i++) {
                Symbol f = Symbol::fresh("f");
                s = Block::make(Provide::make(f, {1}, {0}), s);
                s = Realize::make(f, {Int(32)}, MemoryType::Auto, {{0, 10}}, {}, s);
            }
            int count = 0;
            for_each_node(apply(flatten_storage, s), [&](const Allocate &) { count++; });
            CHECK(count == 3000);
        });
    }
}
