#include "error/refusal.h"

using namespace tessera;

namespace {

Var x("x"), y("y");

}  // namespace

// The statement throws a RuntimeError whose message begins with its line and has this part.
#define FAILS_HERE(statement, part)                                                                \
    CHECK(failure([&] { (void)(statement); }) == Expected{line_of(__FILE__, __LINE__), part})

// Does the same for what is only checked in builds without NDEBUG.
#ifdef NDEBUG
#define FAILS_IF_CHECKED(statement, part) (void)part
#else
#define FAILS_IF_CHECKED(statement, part) FAILS_HERE(statement, part)
#endif

template<typename F>
static std::string failure(F f) {
    try {
        f();
    } catch (const RuntimeError &e) {
        return e.what();
    }
    return "nothing failed";
}

TEST_SUITE("buffers that do not fit") {
    TEST_CASE("a conversion to another type or number of dimensions") {
        Buffer<> bytes(UInt(8), {4, 3}, "bytes");
        FAILS_HERE(Buffer<float>(bytes), "buffer bytes has elements of type uint8, not float32; "
                                         "use a Buffer<uint8_t>, or a Buffer<> for any type");
        FAILS_HERE(bytes.as<int16_t>(), "not int16; use a Buffer<uint8_t>");
        Buffer<uint8_t> typed = bytes;
        FAILS_HERE((Buffer<uint8_t, 3>(typed)), "has 2 dimensions, not 3; embedded() adds one");
        FAILS_HERE((Buffer<uint8_t, 1>(typed)), "not 1; sliced() takes one of them out");
        FAILS_HERE((Buffer<bool>(Buffer<>(Float(64), 3))), "use a Buffer<double>");
        FAILS_HERE((Buffer<bool>(Buffer<>(BFloat(16), 3))), "use a Buffer<bfloat16_t>");
        FAILS_HERE((Buffer<bool>(Buffer<>(Int(64), 3))), "use a Buffer<int64_t>");
        Buffer<const uint8_t, 2> fits = bytes;
        CHECK(fits.width() == 4);
    }
    TEST_CASE("a result that is taken for another") {
        Func f("f"), two("two");
        f(x) = x;
        two(x) = Tuple(x, 2 * x);
        FAILS_HERE(Buffer<float>(f.realize({4})), "has elements of type int32, not float32");
        FAILS_HERE((Buffer<int, 2>(f.realize({4}))), "has 1 dimension, not 2");
        FAILS_HERE(Buffer<int>(two.realize({4})), "stands for no single Buffer; say which");
    }
    TEST_CASE("the shape of a Buffer") {
        FAILS_HERE(Buffer<int>(-3, 4), "cannot have the extent -3");
        FAILS_HERE(Buffer<>(UInt(8), 4, -3, "named"),
                   "a buffer cannot have the extent -3 (dimension 1)");
        FAILS_HERE(Buffer<int>(std::vector<int>{4, -1}), "cannot have the extent -1");
        FAILS_HERE(Buffer<double>(1 << 23, 1 << 22), "out of memory: cannot allocate");
        FAILS_HERE(Buffer<int>(1 << 20, 1 << 20, 4), "the buffer is too large");
        FAILS_HERE(Buffer<int>::make_interleaved(4, -2, 3), "cannot have the extent -2");
        Buffer<int> b(4, 3), none;
        FAILS_HERE(b.dim(2), "has 2 dimensions, and none numbered 2");
        FAILS_HERE(b.extent(-1), "and none numbered -1");
        FAILS_HERE(b.crop(0, 2, 9), "cannot crop");
        FAILS_HERE(b.cropped(0, 2, 9), "cannot crop");
        FAILS_HERE(b.sliced(0, 4), "cannot slice");
        FAILS_HERE(b.embedded(5), "cannot embed");
        FAILS_HERE(b.set_min({1, 2, 3}), "cannot set 3 mins");
        FAILS_HERE(b.for_each_element([](int, int, int) {}), "a function of 3 coordinates");
        FAILS_HERE(none.width(), "this Buffer is undefined");
        FAILS_HERE(none.data(), "this Buffer is undefined");
        FAILS_HERE(none.copy(), "this Buffer is undefined");
        FAILS_HERE(none.copy_to_host(), "this Buffer is undefined");
    }
    TEST_CASE("an element that is not there") {
        Buffer<int> b(4, 3, "b");
        const Buffer<int> same = b;
        b(3, 2) = 7;
        CHECK(same(3, 2) == 7);
        CHECK(*b.address_of(3, 2) == 7);
        FAILS_IF_CHECKED(b(4, 0), "position (4, 0) lies outside of buffer b");
        FAILS_IF_CHECKED(same(0, -1), "position (0, -1) lies outside of buffer b");
        FAILS_IF_CHECKED(b.address_of(0, 0, 0), "position (0, 0, 0) lies outside of buffer b");
    }
    TEST_CASE("results that have no room, or no place") {
        Func f("f"), g("g");
        f(x) = x;
        g(x, y) = x;
        FAILS_HERE(g.realize({1 << 23, 1 << 23}), "out of memory: cannot allocate");
        FAILS_HERE(f.compile_to_object("/no/such/f.o", {}, "f"), "cannot write the file /no/such");
        FAILS_HERE(f.compile_to_static_library("/no/such/f", {}, "f"), "cannot write the file");
        FAILS_HERE(f.compile_to_lowered_stmt("/no/such/f.stmt", {}), "cannot write the file");
        FAILS_HERE(f.compile_to_module({}, "f").compile({{OutputFileType::object, "/no/such/f.o"}}),
                   "cannot write the file");
        FAILS_HERE(compile_standalone_runtime("/no/such/r.a", get_host_target()),
                   "cannot write the file /no/such/r.a");
    }
    TEST_CASE("images that cannot be read or written") {
        FAILS_HERE(load_image("nowhere.png"), "cannot read the image nowhere.png");
        FAILS_HERE(load_and_convert_image<float>("nowhere.png"), "cannot read the image");
        FAILS_HERE(save_image(Buffer<int>(4, 4), "x.png"), "images of int32 are not written");
        FAILS_HERE(convert_and_save_image(Buffer<uint8_t>(4), "x.png"), "2 or 3 dimensions");
        FAILS_HERE(convert_image(Buffer<int>(4, 4), UInt(8)), "images of int32 are not converted");
    }
}

TEST_SUITE("calls whose buffers do not fit") {
    TEST_CASE("the line of a Callable's call") {
        Func f("f");
        Param<int> p("p");
        ImageParam image(UInt(8), 1, "image");
        f(x) = image(x) + p;
        Callable c = f.compile_to_callable({image, p});
        Buffer<uint8_t> in(4);
        Buffer<int> out(4);
        in.fill(1);
        FAILS_HERE(c(), "the Callable takes 3 arguments (image, p, f), not 0");
        FAILS_HERE(c(in, 3), "not 2");
        FAILS_HERE(c(3, in, out), "argument 0 of the Callable, image, has to be a buffer");
        FAILS_HERE(c(in, 3.0f, out), "p, has to be of type int32, but one of type float32");
        JITUserContext context;
        FAILS_HERE(c(&context, in, 3), "not 2");
        Buffer<int> longer(5);
        FAILS_HERE(c(in, 3, longer), "too small");
        CHECK(c(&context, in, 3, out) == 0);
        CHECK(out(3) == 4);
    }
    TEST_CASE("elements of an output that are one place in memory") {
        Func f("f");
        f(x, y) = x + y;
        std::vector<int> memory(64);
        tessera_dimension_t rows[] = {{0, 4, 1}, {0, 4, 0}}, over[] = {{0, 4, 1}, {0, 4, 3}};
        tessera_dimension_t comb[] = {{0, 4, 2}, {0, 4, 3}}, dense[] = {{0, 4, 4}, {0, 4, 1}};
        Buffer<int> same(memory.data(), 2, rows), overlapping(memory.data(), 2, over);
        FAILS_HERE(f.realize(same), "output 0 has the stride 0 in dimension 1, so that its 4 "
                                    "elements there are one place in memory; give each element");
        FAILS_HERE(f.realize(overlapping), "has the strides 1 and 3 in dimensions 0 and 1");
        FAILS_HERE(f.realize(Buffer<int>(memory.data(), 2, comb)), "has the strides 2 and 3");
        f.output_buffer().dim(0).set_stride(Expr());
        f.realize(Buffer<int>(memory.data(), 2, dense));
        CHECK(memory[9] == 2 + 1);
        Callable c = f.compile_to_callable({});
        FAILS_HERE(c(same), "has the stride 0 in dimension 1");
    }
    TEST_CASE("two outputs in the same memory") {
        Func f("f");
        f(x) = Tuple(x, 2 * x);
        Buffer<int> all(8), low = all.cropped(0, 0, 5), high = all.cropped(0, 3, 5);
        high.set_min(0);
        FAILS_HERE(f.realize({all, all}), "the Buffers for outputs 0 and 1 lie in the same memory");
        FAILS_HERE(f.realize({low, high}), "outputs 0 and 1 lie in the same memory");
        // Planes of one picture whose pixels lie side by side share nothing.
        auto picture = Buffer<int>::make_interleaved(4, 1, 2).sliced(1, 0);
        f.output_buffers()[0].dim(0).set_stride(2);
        f.output_buffers()[1].dim(0).set_stride(2);
        f.realize({picture.sliced(1, 0), picture.sliced(1, 1)});
        CHECK(picture(3, 1) == 6);
    }
    TEST_CASE("the values of an output in Buffers of several shapes") {
        Func f("f");
        f(x) = Tuple(x, x * 10);
        Callable c = f.compile_to_callable({});
        Buffer<int> a(4), longer(9), moved(4);
        moved.set_min(1);
        FAILS(f.realize({a, longer}), "f.1.extent.0 is 9, but must be 4 (f.0.extent.0)");
        FAILS(f.realize({longer, a}), "f.1 is too small in dimension 0");
        FAILS(f.realize({a, moved}), "f.1 is too small in dimension 0");
        Buffer<int> earlier(5);
        earlier.set_min(-1);
        FAILS(f.realize({a, earlier}), "f.1.min.0 is -1, but must be 0 (f.0.min.0)");
        FAILS(c(a, longer), "f.1.extent.0 is 9, but must be 4");
        Buffer<int> same(4);
        f.realize({a, same});
        CHECK(same(3) == 30);
    }
}
