#include "base/error.h"
#include "ir/nodes.h"
#include "lang/buffer.h"
#include "program/parameter.h"
#include <cstring>
#include <doctest/doctest.h>
#include <numeric>

using namespace tessera;

namespace {

// Each element says where it is.
Buffer<int> counted(int width, int height) {
    Buffer<int> b(width, height);
    b.fill([](int x, int y) { return x + 100 * y; });
    return b;
}

#define CHECK_REFUSED(expression, words)                                                           \
    CHECK_THROWS_WITH_AS((void)(expression), doctest::Contains(words), RuntimeError)

}  // namespace

TEST_SUITE("buffer: making one") {
    TEST_CASE("sizes make a dense buffer, dimension 0 innermost, aligned to 128 bytes") {
        Buffer<uint16_t> b(4, 3, 2);
        CHECK(b.defined());
        CHECK(b.type() == UInt(16));
        CHECK(b.dimensions() == 3);
        CHECK(b.width() == 4);
        CHECK(b.height() == 3);
        CHECK(b.channels() == 2);
        CHECK(b.stride(0) == 1);
        CHECK(b.stride(1) == 4);
        CHECK(b.stride(2) == 12);
        CHECK(b.number_of_elements() == 24);
        CHECK(b.size_in_bytes() == 48);
        CHECK(uintptr_t(b.data()) % 128 == 0);
        CHECK(b.begin() == b.data());
        CHECK(b.end() == b.data() + 24);
        CHECK(b.left() == 0);
        CHECK(b.right() == 3);
        CHECK(b.top() == 0);
        CHECK(b.bottom() == 2);
        CHECK(b.dim(2).max() == 1);
        CHECK_FALSE(b.host_dirty());
    }
    TEST_CASE("every way to give type, sizes and name") {
        CHECK(Buffer<int>(3, 4, "photo").name() == "photo");
        CHECK(Buffer<int>({3, 4}).height() == 4);
        CHECK(Buffer<int>({100}, "row").width() == 100);
        CHECK(Buffer<int>(std::vector<int>{3, 4}, "photo").name() == "photo");
        CHECK(Buffer<int>({3, 4, 5}, {2, 0, 1}).stride(0) == 5);
        CHECK(Buffer<>(Float(32), 3, 4).type() == Float(32));
        CHECK(Buffer<>(Float(32), {3, 4}, "photo").name() == "photo");
        CHECK(Buffer<>(Int(8), std::vector<int>{2, 3}, std::vector<int>{1, 0}).stride(0) == 3);
        CHECK(Buffer<float>(7).dimensions() == 1);
        CHECK(Buffer<float, 2>(7, 8).dimensions() == 2);
        CHECK(Buffer<int>::make_scalar().dimensions() == 0);
        CHECK(Buffer<int>::make_scalar().number_of_elements() == 1);
        CHECK(Buffer<>::make_scalar(UInt(8)).type() == UInt(8));
        CHECK(Buffer<bool>(3).type() == Bool());
        CHECK(Buffer<float16_t>(3).size_in_bytes() == 6);
        CHECK(Buffer<bfloat16_t>(3).type() == BFloat(16));
        CHECK(Buffer<int *>(3).type() == Handle());
    }
    TEST_CASE("names are kept, and shared by handles") {
        Buffer<int> a(3), b = a;
        a.set_name("other");
        CHECK(b.name() == "other");
        CHECK_FALSE(Buffer<int>(3).name().empty());
    }
    TEST_CASE("interleaved buffers keep the channels of a pixel together") {
        for (Buffer<uint8_t> b : {Buffer<uint8_t>::make_interleaved(4, 3, 2),
                                  Buffer<uint8_t>(Buffer<>::make_interleaved(UInt(8), 4, 3, 2))}) {
            CHECK(b.stride(0) == 2);
            CHECK(b.stride(1) == 8);
            CHECK(b.stride(2) == 1);
        }
        uint8_t data[24] = {};
        auto b = Buffer<uint8_t>::make_interleaved(data, 4, 3, 2);
        b(1, 0, 1) = 7;
        CHECK(data[3] == 7);
        CHECK(Buffer<>::make_interleaved(UInt(8), data, 4, 3, 2).raw_buffer()->host == data);
    }
    TEST_CASE("foreign memory is used where it is") {
        float data[12] = {};
        Buffer<float> b(data, 4, 3), v(data, std::vector<int>{4, 3}, "v");
        b(1, 2) = 5;
        CHECK(data[9] == 5);
        CHECK(v(1, 2) == 5);
        CHECK_FALSE(b.owns_host_memory());
        CHECK(Buffer<float>(4, 3).owns_host_memory());
        CHECK(Buffer<>(Float(32), data, 4, 3).as<float>()(1, 2) == 5);
        CHECK(Buffer<>(Float(32), data, std::vector<int>{4, 3}).as<float>()(1, 2) == 5);
        CHECK(Buffer<float>::make_scalar(data + 9)() == 5);
        tessera_dimension_t shape[] = {{1, 2, 4, 0}, {0, 2, 1, 0}};
        CHECK(Buffer<float>(data, 2, shape).stride(0) == 4);
        CHECK(Buffer<>(Float(32), data, 2, shape, "s").name() == "s");
        const float constant[2] = {1, 2};
        CHECK(Buffer<const float>(constant, 2)(1) == 2);
    }
    TEST_CASE("a C array becomes a buffer, its last index dimension 0") {
        int values[2][3] = {{1, 2, 3}, {4, 5, 6}};
        Buffer<int> b(values, "table");
        CHECK(b.width() == 3);
        CHECK(b.height() == 2);
        CHECK(b(0, 1) == 4);
        CHECK(b.data() == &values[0][0]);
        CHECK(b.name() == "table");
    }
    TEST_CASE("the runtime's struct goes both ways") {
        Buffer<int> a = counted(4, 3);
        Buffer<int> b(*a.raw_buffer());
        CHECK(b.data() == a.data());
        CHECK(b(3, 2) == 203);
        tessera_buffer_t *raw = a;
        CHECK(raw->dim[1].stride == 4);
        CHECK(raw->type.bits == 32);
        CHECK(static_cast<tessera_buffer_t *>(Buffer<int>()) == nullptr);
    }
    TEST_CASE("sizes that cannot be are refused") {
        CHECK_REFUSED(Buffer<int>(3, -4), "extent -4");
        CHECK_REFUSED(Buffer<int>(100000, 100000, 2), "too large: its stride in dimension 2");
        CHECK_REFUSED((Buffer<int, 2>(3)), "has 1 dimension, not 2");
        CHECK_REFUSED(Buffer<int>({3, 4}, {0, 0}), "does not name each");
        CHECK_REFUSED(Buffer<int64_t>(2147483647, 1, 2147483647), "out of memory");
    }
    TEST_CASE("extents may be zero, and the buffer is then empty") {
        Buffer<int> b(0, 5);
        CHECK(b.number_of_elements() == 0);
        CHECK(b.begin() == b.end());
        b.fill(3);
        CHECK(b.all_equal(7));
        int calls = 0;
        b.for_each_element([&](int, int) { calls++; });
        CHECK(calls == 0);
    }
}

TEST_SUITE("buffer: handles") {
    TEST_CASE("copies of a handle share elements and shape") {
        Buffer<int> a = counted(4, 3), b = a;
        b(0, 0) = 77;
        CHECK(a(0, 0) == 77);
        CHECK(a.same_as(b));
        b.translate(0, 5);
        CHECK(a.min(0) == 5);
        CHECK_FALSE(a.same_as(a.copy()));
    }
    TEST_CASE("an undefined buffer says so") {
        Buffer<int> b;
        CHECK_FALSE(b.defined());
        CHECK_REFUSED(b.width(), "undefined");
        CHECK_REFUSED(b.data(), "undefined");
        Buffer<> v = b;
        CHECK_FALSE(v.defined());
    }
    TEST_CASE("buffers without a name are told apart") {
        Buffer<int> a(4), b(4);
        CHECK(a.name() != b.name());
        CHECK(Buffer<int>(a).name() == a.name());
    }
    TEST_CASE("the static type can be dropped and, if it fits, taken up again") {
        Buffer<int, 2> a(4, 3);
        Buffer<> any = a;
        Buffer<int> back = any;
        Buffer<const int> constant = a;
        CHECK(back.data() == a.data());
        CHECK(constant.data() == a.data());
        CHECK(any.as<int>().data() == a.data());
        CHECK_REFUSED(Buffer<float>(any), "has elements of type int32, not float32");
        CHECK_REFUSED((Buffer<int, 3>(back)), "has 2 dimensions, not 3");
        static_assert(!std::is_constructible_v<Buffer<float>, Buffer<int>>);
        static_assert(!std::is_constructible_v<Buffer<int>, Buffer<const int>>);
        static_assert(!std::is_constructible_v<Buffer<int, 2>, Buffer<int, 3>>);
    }
    TEST_CASE("memory lives as long as anything that shows it") {
        Buffer<int> part;
        {
            Buffer<int> whole = counted(10, 10);
            part = whole.cropped(0, 5, 2).sliced(1, 3);
        }
        CHECK(part(5) == 305);
        CHECK(part(6) == 306);
    }
}

TEST_SUITE("buffer: elements") {
    TEST_CASE("elements are found by coordinates, positions and addresses") {
        Buffer<int> b = counted(4, 3);
        int pos[] = {2, 1};
        CHECK(b(2, 1) == 102);
        CHECK(b(pos) == 102);
        CHECK(*b.address_of(2, 1) == 102);
        CHECK(b(2) == 2);
        const Buffer<int> c = b;
        CHECK(c(2, 1) == 102);
        CHECK(c(pos) == 102);
        static_assert(std::is_same_v<decltype(c(0, 0)), const int &>);
    }
#ifndef NDEBUG
    TEST_CASE("a coordinate outside is found in builds that check") {
        Buffer<int> b(4, 3);
        CHECK_REFUSED(b(4, 0), "position (4, 0) lies outside of buffer");
        CHECK_REFUSED(b(0, -1), "position (0, -1)");
    }
#endif
    TEST_CASE("coordinates start at min") {
        Buffer<int> b = counted(4, 3);
        b.set_min(10, -5);
        CHECK(b(12, -4) == 102);
        CHECK(b.contains(10, -5));
        CHECK(b.contains({13, -3}));
        CHECK_FALSE(b.contains(9, -5));
        CHECK_FALSE(b.contains(10, -2));
        CHECK_FALSE(b.contains(10, -5, 0));
        std::vector<int> xs;
        for (int x : b.dim(0)) xs.push_back(x);
        CHECK(xs == std::vector<int>{10, 11, 12, 13});
        CHECK_REFUSED(b.set_min(1, 2, 3), "cannot set 3 mins");
    }
    TEST_CASE("fill takes a value or a function of the coordinates") {
        Buffer<float> b(4, 3);
        b.fill(1.5f);
        CHECK(b.all_equal(1.5f));
        b.fill(2);
        CHECK(b.all_equal(2.0f));
        b(3, 2) = 0;
        CHECK_FALSE(b.all_equal(2.0f));
        b.fill([](const int *pos) { return pos[0] * 10.0f + pos[1]; });
        CHECK(b(3, 2) == 32);
        Buffer<bool> flags(2, 2);
        flags.fill([](int x, int y) { return x == y; });
        CHECK(flags(1, 1));
        CHECK_FALSE(flags(1, 0));
        CHECK_REFUSED(b.fill([](int x) { return x; }), "a function of 1 coordinates");
    }
    TEST_CASE("for_each_element visits each position once, dimension 0 fastest") {
        Buffer<int> b(3, 2);
        b.set_min(1, 5);
        std::vector<std::pair<int, int>> seen;
        b.for_each_element([&](int x, int y) { seen.emplace_back(x, y); });
        CHECK(seen ==
              std::vector<std::pair<int, int>>{{1, 5}, {2, 5}, {3, 5}, {1, 6}, {2, 6}, {3, 6}});
        int calls = 0;
        Buffer<int>::make_scalar().for_each_element([&] { calls++; });
        Buffer<>(UInt(8), 2).for_each_element([&](const int *) { calls++; });
        CHECK(calls == 3);
    }
    TEST_CASE("for_each_value walks several buffers of any strides together") {
        Buffer<int> a = counted(5, 4);
        Buffer<double> sum = Buffer<double>({5, 4}, {1, 0});
        Buffer<int> flipped = Buffer<int>({5, 4}, {1, 0});
        flipped.copy_from(a);
        sum.for_each_value([](double &s, int x, int y) { s = x + y; }, a, flipped);
        CHECK(sum(3, 2) == 2 * 203);
        int total = 0;
        a.cropped(0, 1, 2).for_each_value([&](int v) { total += v; });
        CHECK(total == 4 * 3 + 200 * 6);
        CHECK_REFUSED(a.for_each_value([](int, int) {}, Buffer<int>(5, 3)), "extents");
        CHECK_REFUSED(a.for_each_value([](int, int) {}, Buffer<int>(5)), "2 and 1 dimension");
    }
    TEST_CASE("an access with expressions is an image call that keeps the buffer alive") {
        ir::Expr e;
        {
            Buffer<float> b(4, 3, "table");
            ir::Expr x = ir::Variable::make(Int(32), Symbol::fresh("x"));
            e = b(x, 2);
            CHECK(b.shared_contents().use_count() == 2);
            CHECK_THROWS_WITH_AS(b(x), doctest::Contains("accessed with 1 coordinates"),
                                 CompileError);
            CHECK_THROWS_WITH_AS(b(x, 0.5f), doctest::Contains("not an integer"), CompileError);
            ir::Expr narrow = ir::Variable::make(UInt(8), Symbol::fresh("n"));
            CHECK(b(x, narrow).as<ir::Call>()->args[1].type() == Int(32));
        }
        const ir::Call *call = e.as<ir::Call>();
        REQUIRE(call);
        CHECK(e.type() == Float(32));
        CHECK(call->call_kind == CallKind::Image);
        CHECK(call->args.size() == 2);
        const auto *p = dynamic_cast<const program::Parameter *>(call->referent.get());
        REQUIRE(p);
        CHECK(p->embedded);
        CHECK(p->is_buffer);
        CHECK(p->dimensions == 2);
        CHECK(p->buffer->dim[1].extent == 3);
        CHECK(p->name == call->callee);
    }
}

TEST_SUITE("buffer: in expressions") {
    TEST_CASE("a buffer has one symbol, a part of it another") {
        Buffer<int> b(4, 3, "table");
        Symbol s = embedded_parameter(b.shared_contents())->name;
        CHECK(s.text() == "table");
        CHECK(embedded_parameter(b.shared_contents())->name == s);
        Buffer<int> part = b.cropped(0, 1, 2);
        CHECK(part.name() == "table");
        CHECK(embedded_parameter(part.shared_contents())->name != s);
    }
}

TEST_SUITE("buffer: shapes") {
    TEST_CASE("a crop shows a part of the same memory") {
        Buffer<int> b = counted(10, 10);
        Buffer<int> c = b.cropped({{2, 3}, {4, 5}});
        CHECK(c.min(0) == 2);
        CHECK(c.extent(1) == 5);
        CHECK(c.data() == b.address_of(2, 4));
        CHECK(c(4, 8) == 804);
        CHECK(b.width() == 10);
        b.crop(1, 9, 1);
        CHECK(b.height() == 1);
        b.crop({{0, 1}});
        CHECK(b.width() == 1);
        CHECK_REFUSED(c.crop(0, 1, 2), "cannot crop buffer");
        CHECK_REFUSED(c.crop(0, 2, 4), "[2, 5] in dimension 0: it has [2, 4]");
        CHECK_REFUSED(c.crop(0, 2, -1), "cannot crop");
        CHECK_REFUSED(c.crop(7, 0, 1), "none numbered 7");
    }
    TEST_CASE("a slice drops a dimension, embedding adds one") {
        Buffer<int> b = counted(4, 3);
        Buffer<int> row = b.sliced(1, 2);
        CHECK(row.dimensions() == 1);
        CHECK(row(3) == 203);
        Buffer<int> column = b.sliced(0);
        CHECK(column(1) == 100);
        CHECK(column.stride(0) == 4);
        Buffer<int, 2> fixed = b;
        static_assert(std::is_same_v<decltype(fixed.sliced(0, 1)), Buffer<int, 1>>);
        static_assert(std::is_same_v<decltype(fixed.embedded(0)), Buffer<int, 3>>);
        Buffer<int> again = row.embedded(1, 7);
        CHECK(again.dimensions() == 2);
        CHECK(again.min(1) == 7);
        CHECK(again(3, 7) == 203);
        row.embed(0);
        CHECK(row(0, 3) == 203);
        row.slice(0);
        row.slice(0, 1);
        CHECK(row.dimensions() == 0);
        CHECK(row() == 201);
        CHECK_REFUSED(b.slice(0, 4), "cannot slice");
        CHECK_REFUSED(b.slice(0, b.min(0) - 1), "cannot slice");
        CHECK_REFUSED(b.embed(4), "cannot embed");
    }
    TEST_CASE("dimensions are added behind the others") {
        Buffer<int> b(4, 3);
        b.add_dimension();
        CHECK(b.dimensions() == 3);
        CHECK(b.stride(2) == 12);
        CHECK(b.extent(2) == 1);
        b.add_dimension_with_stride(1000);
        CHECK(b.stride(3) == 1000);
    }
    TEST_CASE("transposing exchanges dimensions, not elements") {
        Buffer<int> b = counted(4, 3);
        CHECK(b.transposed(0, 1)(2, 3) == 203);
        Buffer<int> c(2, 3, 4);
        Buffer<int> d = c.transposed({2, 0, 1});
        CHECK(d.extent(0) == 4);
        CHECK(d.extent(1) == 2);
        CHECK(d.extent(2) == 3);
        CHECK(d.stride(0) == 6);
        c.transpose(0, 2);
        CHECK(c.extent(0) == 4);
        CHECK_REFUSED(c.transpose({0, 1}), "does not name each");
        CHECK_REFUSED(c.transpose({0, 1, 1}), "does not name each");
        CHECK_REFUSED(c.transpose(0, 3), "none numbered 3");
    }
    TEST_CASE("translating moves the coordinates") {
        Buffer<int> b = counted(4, 3);
        CHECK(b.translated(0, 5)(5, 0) == 0);
        CHECK(b.translated({5, -1})(6, 1) == 201);
        b.translate({1, 1});
        CHECK(b(1, 1) == 0);
    }
    TEST_CASE("negative strides have their first element at the highest address") {
        int data[] = {1, 2, 3, 4};
        tessera_dimension_t shape[] = {{0, 4, -1, 0}};
        Buffer<int> b(data + 3, 1, shape);
        CHECK(b(0) == 4);
        CHECK(b(3) == 1);
        CHECK(b.begin() == data);
        CHECK(b.end() == data + 4);
        int sum = 0;
        b.for_each_value([&](int v) { sum += v; });
        CHECK(sum == 10);
        Buffer<int> copy = b.copy();
        CHECK(copy(0) == 4);
        CHECK(copy.stride(0) == 1);
    }
}

TEST_SUITE("buffer: memory") {
    TEST_CASE("copies have their own memory, the same order of dimensions and the same mins") {
        Buffer<uint8_t> b = Buffer<uint8_t>::make_interleaved(4, 3, 2);
        b.fill([](int x, int y, int c) { return uint8_t(x + 10 * y + 100 * c); });
        b.set_min(1, 2, 0);
        Buffer<uint8_t> same = b.copy(), planar = b.copy_to_planar();
        Buffer<uint8_t> interleaved = planar.copy_to_interleaved();
        CHECK(same.stride(2) == 1);
        CHECK(planar.stride(0) == 1);
        CHECK(interleaved.stride(2) == 1);
        b(1, 2, 0) = 99;
        for (Buffer<uint8_t> copy : {same, planar, interleaved}) {
            CHECK(copy(1, 2, 0) == 0);
            CHECK(copy(4, 4, 1) == 123);
            CHECK(copy.min(0) == 1);
        }
        CHECK_REFUSED(Buffer<int>(3, 4).copy_to_interleaved(), "does not name each");
    }
    TEST_CASE("copies of what has no elements have the same order of dimensions") {
        // Its rows lie in one place, and are the outer dimension all the same.
        int none = 0;
        const tessera_dimension_t shape[] = {{0, 0, 1, 0}, {0, 30, 0, 0}};
        const Buffer<int> planar = Buffer<int>(Int(32), &none, 2, shape).copy();
        CHECK(planar.stride(0) == 1);
        const Buffer<int> interleaved = Buffer<int>::make_interleaved(0, 4, 3).copy();
        CHECK(interleaved.stride(2) == 1);
        CHECK(interleaved.stride(0) == 3);
    }
    TEST_CASE("a buffer is made in the shape of another, of another type") {
        Buffer<uint8_t> b = Buffer<uint8_t>::make_interleaved(4, 3, 2);
        b.set_min(5, 0, 0);
        auto f = Buffer<float>::make_with_shape_of(b);
        CHECK(f.type() == Float(32));
        CHECK(f.stride(2) == 1);
        CHECK(f.min(0) == 5);
        CHECK(Buffer<>::make_with_shape_of(b).type() == UInt(8));
    }
    TEST_CASE("copy_from copies what both have") {
        Buffer<int> a = counted(4, 4), b(4, 4);
        b.fill(-1);
        b.set_min(2, 3);
        b.copy_from(a);
        CHECK(b(2, 3) == 302);
        CHECK(b(3, 3) == 303);
        CHECK(b(4, 3) == -1);
        CHECK(b(2, 4) == -1);
        CHECK(b.host_dirty());
        b.set_min(100, 100);
        b.copy_from(a);
        CHECK(b(100, 100) == 302);
        CHECK_REFUSED(b.copy_from(Buffer<float>(4, 4)), "not int32");
        CHECK_REFUSED(b.copy_from(Buffer<int>(4)), "has 1 dimension, not 2");
    }
    TEST_CASE("what a Buffer's type says") {
        using Image = Buffer<float, 3>;
        static_assert(Image::has_static_type && Image::has_static_dimensions);
        static_assert(Image::static_dimensions() == 3 && Image::static_type() == Float(32));
        static_assert(!Buffer<>::has_static_type && !Buffer<int>::has_static_dimensions);
        CHECK(Image(2, 2, 2).type() == Image::static_type());
        CHECK(Image(2, 2, 2).dimensions() == Image::static_dimensions());
    }
    TEST_CASE("memory comes and goes, the shape stays") {
        Buffer<int> b(nullptr, 4, 3);
        CHECK(b.is_bounds_query());
        CHECK(b.data() == nullptr);
        CHECK_REFUSED(b.fill(1), "has no memory");
        b.allocate();
        CHECK_FALSE(b.is_bounds_query());
        b.fill(1);
        b.deallocate();
        CHECK(b.is_bounds_query());
        CHECK(b.width() == 4);
    }
    TEST_CASE("dirty flags are set and cleared") {
        Buffer<int> b(4);
        b.set_host_dirty();
        CHECK(b.host_dirty());
        b.set_host_dirty(false);
        b.set_device_dirty();
        CHECK_FALSE(b.host_dirty());
        CHECK(b.device_dirty());
        b.set_device_dirty(false);
        CHECK_FALSE(b.has_device_allocation());
        CHECK(b.copy_to_host() == 0);
        CHECK(b.device_sync() == 0);
        CHECK(b.device_free() == 0);
    }
}
