#include "error/refusal.h"
#include <cstdlib>
#include <limits>
#include <sys/mman.h>

using namespace tessera;

namespace {

Var x("x"), y("y"), z("z");

// The message of the RuntimeError that f() throws.
template<typename F>
std::string failure(F f) {
    try {
        f();
    } catch (const RuntimeError &e) {
        return e.what();
    }
    return "nothing failed";
}

void check_says(const std::string &message, std::initializer_list<const char *> parts) {
    CAPTURE(message);
    for (const char *part : parts) {
        CAPTURE(part);
        CHECK(message.find(part) != message.npos);
    }
}

// f(x, y) = im(x + 1, y), and works.
struct Shift {
    ImageParam im{UInt(8), 2, "im"};
    Func f{"f"};
    Shift() { f(x, y) = im(x + 1, y); }
    void works() {
        Buffer<uint8_t> in(5, 3);
        in.fill([](int i, int j) { return uint8_t(i + 10 * j); });
        im.set(in);
        Buffer<uint8_t> out = f.realize({4, 3});
        CHECK(out(3, 2) == 24);
    }
};

}  // namespace

TEST_SUITE("pipelines that cannot run") {
    TEST_CASE("an input that is too small, and the process goes on") {
        Shift s;
        s.im.set(Buffer<uint8_t>(4, 3));
        check_says(failure([&] { s.f.realize({4, 3}); }),
                   {"im", "dimension 0", "[1, 4]", "[0, 3]"});
        s.works();
    }
    TEST_CASE("an input that begins too late") {
        Shift s;
        Buffer<uint8_t> in(8, 3);
        in.set_min(2, 0);
        s.im.set(in);
        check_says(failure([&] { s.f.realize({4, 3}); }),
                   {"im", "dimension 0", "[1, 4]", "[2, 9]"});
        s.works();
    }
    TEST_CASE("an input or parameter that was never set") {
        Shift s;
        check_says(failure([&] { s.f.realize({4, 3}); }),
                   {"ImageParam im", "has no Buffer", "set()"});
        s.works();
        Param<int> p("p");
        Func g("g");
        g(x) = x + p;
        check_says(failure([&] { g.realize({4}); }), {"Param p", "no value", "set()"});
        p.set(3);
        Buffer<int> b = g.realize({4});
        CHECK(b(3) == 6);
    }
    TEST_CASE("a Callable names what it takes") {
        Param<int> k("k");
        ImageParam im(Int(32), 1, "im");
        Func f("f");
        f(x) = im(x) + k;
        CHECK_THROWS_WITH_AS(f.compile_to_callable({k, im, k}),
                             doctest::Contains("k is in the list of arguments twice"),
                             CompileError);
        Callable c = f.compile_to_callable({k, im});
        check_says(failure([&] { c(3); }), {"takes 3 arguments (k, im, f), not 1"});
    }
    TEST_CASE("a Callable that is given other arguments than it takes") {
        Param<int> p("p");
        ImageParam im(Int(32), 1, "im");
        Func f("f");
        f(x) = im(x) * p;
        Callable c = f.compile_to_callable({p, im});
        Buffer<int> in(3), out(3);
        Buffer<float> floats(3);
        in.fill(7);
        check_says(failure([&] { c(6, in); }),
                   {"the Callable takes 3 arguments (p, im, f), not 2"});
        check_says(failure([&] { c(in, in, out); }),
                   {"argument 0 of the Callable, p, has to be a number, but a buffer is passed"});
        check_says(failure([&] { c(6, floats, out); }),
                   {"argument 1 of the Callable, im, has to be of type int32, but one of type "
                    "float32 is passed"});
        CHECK(c(6, in, out) == 0);
        CHECK(out(2) == 42);
    }
    TEST_CASE("a Callable that is undefined, or is given what it cannot use") {
        ImageParam im(UInt(8), 2, "im");
        Func f("f");
        f(x, y) = im(x, y) + cast<uint8_t>(1);
        Callable undefined, c = f.compile_to_callable({im});
        Buffer<uint8_t> in(4, 3), out(4, 3), none;
        Buffer<uint8_t> row(4), cube(4, 3, 2);
        FAILS(undefined(in, out), "this Callable is undefined");
        FAILS(c(none, out), "argument 0 of the Callable, im, is an undefined Buffer");
        FAILS(c(in, none), "argument 1 of the Callable, f, is an undefined Buffer");
        FAILS(c(row, out), "im has 2 dimensions, but the Buffer for it has 1");
        FAILS(c(in, cube), "f has 2 dimensions, but the Buffer for it has 3");
        CHECK(c(in, out) == 0);
    }
    TEST_CASE("a Callable without LargeBuffers that is given a large one") {
        Func f("f");
        f(x, y) = cast<uint8_t>(x + y);
        Callable c = f.compile_to_callable({});
        uint8_t one = 0;
        tessera_dimension_t many[2] = {{0, 1 << 16, 1, 0}, {0, 1 << 16, 1, 0}};
        tessera_dimension_t wide[2] = {{0, 4, 1, 0}, {0, 4, 1 << 30, 0}};
        Buffer<uint8_t> too_many(&one, 2, many), too_wide(&one, 2, wide);
        FAILS(c(too_many), "Buffer f has 4294967296 elements, more than the 2147483647 that this "
                           "pipeline can address");
        FAILS(c(too_wide), "Buffer f has 4294967296 elements, more than the 2147483647");
    }
    TEST_CASE("a Realization of nothing, and a result that is not there") {
        Buffer<int> undefined, b(3), c(3);
        FAILS(Realization(std::vector<Buffer<>>{}), "Realization: there are no buffers");
        FAILS(Realization(b, undefined), "Realization: a Buffer is undefined");
        Realization two(b, c);
        FAILS(two[2], "Realization: there is no result 2; it has 2");
        FAILS((Buffer<int>(two)), "a Realization of 2 results stands for no single Buffer");
    }
    TEST_CASE("inputs that each have to be larger than the other") {
        ImageParam a(Int(32), 1, "a"), b(Int(32), 1, "b");
        Func f("f");
        f(x) = a(x) + b(x);
        a.dim(0).set_extent(b.dim(0).extent() + 1);
        b.dim(0).set_extent(a.dim(0).extent() + 1);
        FAILS(f.infer_input_bounds({4}),
              "infer_input_bounds of f: after 16 rounds the inputs still have to be larger; their "
              "constraints cannot be satisfied together");
        b.dim(0).set_extent(Expr());
        f.infer_input_bounds({4});
        CHECK(a.get().width() == 5);
    }
    TEST_CASE("an extern stage whose function is nowhere") {
        Func f("f");
        f.define_extern("nowhere_to_be_found", {}, Int(32), {x});
        REFUSED_ABOVE(f.realize({3}),
                      "the pipeline calls nowhere_to_be_found, which is no function "
                      "that this program exports; link the program with -rdynamic "
                      "(ENABLE_EXPORTS of CMake), or give the address with set_jit_externs()");
    }
    TEST_CASE("copies from or to a Buffer without memory") {
        Buffer<int> full(3, "full"), empty(nullptr, 3, "empty");
        check_says(failure([&] { full.copy_from(empty); }),
                   {"cannot copy from buffer empty to full: empty has no memory"});
        check_says(failure([&] { empty.copy_from(full); }),
                   {"cannot copy from buffer full to empty: empty has no memory"});
    }
    TEST_CASE("an output of the wrong type, dimensions or number") {
        Shift s;
        s.works();
        check_says(failure([&] { s.f.realize(Buffer<uint16_t>(4, 3)); }), {"f", "uint8", "uint16"});
        check_says(failure([&] { s.f.realize(Buffer<uint8_t>(4)); }),
                   {"f has 2 dimensions", "has 1"});
        check_says(failure([&] { s.f.realize({4}); }), {"f has 2 dimensions", "1 sizes"});
        check_says(failure([&] {
                       s.f.realize(Realization(Buffer<uint8_t>(4, 3), Buffer<uint8_t>(4, 3)));
                   }),
                   {"1 results", "2 Buffers"});
        check_says(failure([&] { s.f.realize(Buffer<uint8_t>()); }), {"undefined"});
        s.works();
    }
    TEST_CASE("strides that the pipeline was not compiled for") {
        Shift s;
        Buffer<uint8_t> in = Buffer<uint8_t>::make_interleaved(8, 4, 3).sliced(2, 0);
        s.im.set(in);
        check_says(failure([&] { s.f.realize({4, 3}); }), {"im.stride.0", "3", "1"});
        Shift any;
        any.im.dim(0).set_stride(Expr());
        in.fill(uint8_t(9));
        any.im.set(in);
        Buffer<uint8_t> out = any.f.realize({4, 3});
        CHECK(out(2, 2) == 9);
    }
    TEST_CASE("memory that is not aligned as promised") {
        Shift s;
        s.im.set_host_alignment(64);
        Buffer<uint8_t> big(80, 3);
        s.im.set(big.cropped(0, 1, 40));
        check_says(failure([&] { s.f.realize(Buffer<uint8_t>(4, 3)); }), {"im", "64"});
        s.works();
    }
    TEST_CASE("a buffer whose newest contents are on a device, where none is used") {
        Buffer<uint8_t> in(5, 3), out(4, 3);
        in.fill(uint8_t(3));
        Shift s;
        s.im.set(in);
        in.set_device_dirty();
        check_says(failure([&] { s.f.realize(out); }),
                   {"Buffer im has its newest contents on a device, but the pipeline runs on the "
                    "CPU; copy it to the host first"});
        in.set_device_dirty(false);
        out.set_device_dirty();
        check_says(failure([&] { s.f.realize(out); }),
                   {"Buffer f has its newest contents on a device"});
        out.set_device_dirty(false);
        s.f.realize(out);
        CHECK(out(2, 1) == 3);
        Func g("g");
        Buffer<uint8_t> table(4, "table");
        g(x) = table(x);
        table.set_device_dirty();
        check_says(failure([&] { g.realize({4}); }),
                   {"Buffer table has its newest contents on a device"});
    }
    TEST_CASE("a buffer that has memory on a device only") {
        tessera_dimension_t dims[2] = {{0, 5, 1, 0}, {0, 3, 5, 0}};
        tessera_buffer_t raw{};
        raw.device = 1;
        raw.type = {tessera_type_uint, 8, 1};
        raw.dimensions = 2;
        raw.dim = dims;
        Shift s;
        s.im.set(Buffer<uint8_t>(6, 3));
        check_says(failure([&] { s.f.realize(&raw); }),
                   {"the Buffer for an output has memory on a device only, but the pipeline runs "
                    "on the CPU"});
    }
    TEST_CASE("a Callable's buffer with memory on a device only is no question of bounds") {
        tessera_dimension_t dims[2] = {{7, 5, 1, 0}, {7, 3, 5, 0}};
        tessera_buffer_t raw{};
        raw.device = 1;
        raw.type = {tessera_type_uint, 8, 1};
        raw.dimensions = 2;
        raw.dim = dims;
        Shift s;
        for (const Target &target : {Target(), Target("host-interpret")}) {
            Callable c = s.f.compile_to_callable({s.im}, target);
            Buffer<uint8_t> in(5, 3), wide(40, 20), out(4, 3);
            in.fill(uint8_t(3));
            FAILS(c(&raw, out),
                  "argument 0 of the Callable, im, has memory on a device only, but the "
                  "pipeline runs on the CPU");
            FAILS(c(wide, &raw),
                  "argument 1 of the Callable, f, has memory on a device only, but the "
                  "pipeline runs on the CPU");
            CHECK(dims[0].min == 7);
            CHECK(c(in, out) == 0);
            CHECK(out(2, 1) == 3);
            raw.device = 0;  // now it is one
            CHECK(c(&raw, out) == 0);
            CHECK(dims[0].min == 1);
            dims[0].min = 7;
            raw.device = 1;
        }
    }
    TEST_CASE("failures of arguments begin with the line of the call") {
        Shift s;
        Param<int> p("p", 1, 0, 5);
        Func g("g");
        g(x) = x + p;
        auto begins = [](const std::string &message, int line, const char *part) {
            CAPTURE(message);
            CHECK(message.starts_with(line_of(__FILE__, line) + ": "));
            CHECK(message.find(part) != message.npos);
        };
        begins(failure([&] { s.f.realize({4, 3}); }), __LINE__, "the ImageParam im has no Buffer");
        s.im.set(Buffer<uint8_t>(4, 3));
        begins(failure([&] { s.f.realize({4, 3}); }), __LINE__, "Buffer im is too small");
        begins(failure([&] { s.f.realize({4}); }), __LINE__, "f has 2 dimensions");
        Buffer<uint8_t> line(4);
        begins(failure([&] { s.f.realize(line); }), __LINE__, "f has 2 dimensions");
        p.set(9);
        begins(failure([&] { Pipeline(g).realize({4}); }), __LINE__, "p is 9");
        begins(failure([&] { g.infer_input_bounds({4, 5}); }), __LINE__, "g has 1 dimension");
        // What a directive asked for keeps its own line.
        p.set(5);
        int line_of_bound = __LINE__ + 1;
        g.bound(x, 0, 3);
        begins(failure([&] { g.realize({4}); }), line_of_bound, "bound");
    }
    TEST_CASE("sizes that are negative") {
        Shift s;
        check_says(failure([&] { s.f.realize({-1, 3}); }), {"-1", "negative"});
        s.works();
        Buffer<uint8_t> in(5, 3);
        tessera_dimension_t dims[2] = {{0, -2, 1, 0}, {0, 3, 5, 0}};
        tessera_buffer_t raw = *in.raw_buffer();
        raw.dim = dims;
        check_says(failure([&] { s.f.realize(&raw); }), {"f", "dimension 0", "-2"});
    }
    TEST_CASE("an output without elements is no failure") {
        Shift s;
        s.im.set(Buffer<uint8_t>(5, 3));
        Buffer<uint8_t> none = s.f.realize({0, 3});
        CHECK(none.number_of_elements() == 0);
    }
    TEST_CASE("more memory than there is") {
        Func f("f"), g("g");
        f(x, y) = cast<int64_t>(x) + y;
        check_says(failure([&] { f.realize({1 << 30, 1 << 30}); }), {"out of memory", "f"});
        Func h("h");
        g(x, y, z) = cast<double>(x) * y;
        g.compute_root().bound_extent(x, 1 << 30).bound_extent(y, 1 << 30).bound_extent(z, 99);
        h(x, y) = g(x, y, 0);
        check_says(
            failure([&] { h.realize({3, 3}); }),
            {"The storage of g needs 2^64 or more bytes, more than the 17179869176 that this "
             "target can address"});
        Buffer<int64_t> b = f.realize({3, 3});
        CHECK(b(2, 2) == 4);
    }
    TEST_CASE("an allocation that fails, and the process goes on") {
        Func f("f"), g("g");
        f(x) = x * 2;
        g(x) = f(x) + f(x + 1);
        f.compute_root();
        JITUserContext context;
        context.handlers.custom_malloc = [](JITUserContext *, size_t) -> void * { return nullptr; };
        check_says(failure([&] { g.realize(&context, {100}); }),
                   {"Out of memory: cannot allocate 404 bytes for f"});
        Buffer<int> b = g.realize({100});
        CHECK(b(99) == 398);
    }
    TEST_CASE("an error handler takes the message, and realize returns") {
        static std::string said;
        Shift s;
        s.im.set(Buffer<uint8_t>(1, 1));
        JITUserContext context;
        context.handlers.custom_error = [](JITUserContext *, const char *m) { said = m; };
        said.clear();
        s.f.realize(&context, {4, 3});
        check_says(said, {"im", "dimension 0"});
        s.works();
    }
    TEST_CASE("rows that are further apart than 2^31 bytes") {
        const int64_t row = int64_t(1) << 31;
        void *memory = mmap(nullptr, size_t(row) + 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        tessera_dimension_t dims[2] = {{0, 100, 1, 0}, {0, 2, int32_t(row / 2), 0}};
        Buffer<uint16_t> wide(static_cast<uint16_t *>(memory), 2, dims);
        Func f("f"), g("g");
        f(x, y) = cast<uint16_t>(x + 1000 * y);
        f.realize(wide);
        CHECK(wide(99, 1) == 1099);
        g(x, y) = wide(x, y) + cast<uint16_t>(1);
        Buffer<uint16_t> out = g.realize({100, 2});
        CHECK(out(99, 1) == 1100);
        munmap(memory, size_t(row) + 4096);
    }
    TEST_CASE("an extent of 2^31 - 1") {
        uint8_t one = 7;
        tessera_dimension_t dims[1] = {{0, 2147483647, 0, 0}};
        Buffer<uint8_t> endless(&one, 1, dims);
        ImageParam im(UInt(8), 1, "im");
        im.dim(0).set_stride(Expr());
        im.set(endless);
        Func f("f");
        f(x) = im(x + 1073741817);
        Buffer<uint8_t> out = f.realize({8});
        CHECK(out(7) == 7);
    }
    TEST_CASE("coordinates that 32 bits cannot hold") {
        Func f("f"), g("g"), h("h");
        f(x) = x + 1;
        g(x) = f(x * 1000000 + 3);
        f.compute_root();
        check_says(failure([&] { g.realize({100000}); }),
                   {"coordinates", "too large", "f.x.max", "99999000003", "1073741824"});
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        h(x) = im(x * p);
        p.set(100000);
        im.set(Buffer<int>(10));
        check_says(failure([&] { h.realize({100000}); }),
                   {"coordinates", "im.min.0", "9999900000"});
        im.reset();
        check_says(failure([&] { h.infer_input_bounds({100000}); }), {"coordinates", "im.min.0"});
        p.set(3);
        h.infer_input_bounds({100000});
        CHECK(im.get().dim(0).max() == 299997);
    }
    TEST_CASE("sums with a constant that 32 bits cannot hold") {
        Buffer<int> in(100, "b");
        Func f("f"), g("g");
        f(x) = in(x) + in(x + 2147483640);
        check_says(failure([&] { f.realize({100}); }),
                   {"coordinates", "b.max.0", "2147483739", "1073741824"});
        g(x) = in(max(x - 2147483640, -x));
        check_says(failure([&] { g.realize({100}); }), {"coordinates", "b.min.0", "1073741824"});
    }
    TEST_CASE("coordinates within a loop that a float or a scalar argument makes too large") {
        for (bool is_float : {false, true}) {
            for (int place = 0; place < 3; place++) {
                CAPTURE(is_float);
                CAPTURE(place);
                ImageParam floats(Float(32), 1, "floats"), ints(Int(32), 1, "ints");
                Param<float> p("p");
                Param<int> q("q");
                Func f("f"), g("g");
                f(x) = 3 * x;
                g(x, y) = is_float ? f(1 + cast<int>(clamp(floats(x), 0.f, p)))
                                   : f(1 + clamp(ints(x), 0, q));
                if (place == 0) f.compute_root();
                if (place == 1) f.compute_at(g, y);
                if (place == 2) f.store_at(g, y).compute_at(g, x);
                Buffer<float> some_floats(4);
                Buffer<int> some_ints(4);
                some_floats.fill(5.0f);
                some_ints.fill(5);
                floats.set(some_floats);
                ints.set(some_ints);
                p.set(1e10f);
                q.set(INT32_MAX);
                check_says(failure([&] { g.realize({4, 2}); }),
                           {"coordinates", "too large", "f.x.max",
                            is_float ? "2147483521" : "2147483648", "1073741824"});
                p.set(8.0f);
                q.set(8);
                Buffer<int> out = g.realize({4, 2});
                CHECK(out(3, 1) == 18);
            }
        }
    }
    TEST_CASE("a sum within a clamp in a loop that a scalar argument makes too large") {
        Param<int> p("p");
        Var xi("xi");
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(clamp(x + p, 0, 100));
        g.split(x, x, xi, 8);
        f.compute_at(g, x);
        p.set(2147483644);
        check_says(failure([&] { g.realize({8}); }),
                   {"coordinates", "too large", "f.x.m", "2147483644", "1073741824"});
        p.set(98);
        Buffer<int> out = g.realize({8});
        CHECK(out(1) == 99);
        CHECK(out(7) == 100);
    }
    TEST_CASE("an index of float16 that an integer may not fit") {
        ImageParam in(UInt(32), 1, "in");
        Func f("f"), g("g");
        f(x) = 3 * x;
        const Expr index = cast<int>(cast<float16_t>(in(x)));
        g(x) = f(index);
        f.compute_root();
        CHECK_THROWS_WITH_AS(g.compile_jit(),
                             doctest::Contains("which has no bound above; clamp()"), CompileError);
        g = Func("g");
        g(x) = f(index + 1);  // which wraps to a number below
        CHECK_THROWS_WITH_AS(g.compile_jit(), doctest::Contains("which has no bound; clamp()"),
                             CompileError);
    }
    TEST_CASE("buffers near the ends of 32 bits") {
        Func f("f"), g("g"), h("h");
        g(x) = x;
        f(x) = g(x - 5);
        g.compute_root();
        h(x) = cast<uint8_t>(x);
        Buffer<int> lowest(4), highest(10), far(16), near(16);
        lowest.set_min(INT32_MIN + 1);
        highest.set_min(INT32_MAX - 9);
        check_says(failure([&] { f.realize(lowest); }),
                   {"coordinates", "f.min.0", "-2147483647", "[-1073741824, 1073741824]"});
        check_says(failure([&] { f.realize(highest); }), {"coordinates", "f.max.0", "2147483647"});
        Buffer<uint8_t> ends_late(8);
        ends_late.set_min(INT32_MAX - 3);  // its last coordinate wraps
        check_says(failure([&] { h.realize(ends_late); }), {"coordinates", "h.max.0"});
        ImageParam im(Int(32), 1, "im");
        im.set(lowest);
        Func shifted("shifted"), scaled("scaled");
        shifted(x) = im(clamp(x, im.dim(0).min(), im.dim(0).max()) - 5);
        check_says(failure([&] { shifted.realize({4}); }), {"coordinates", "im.min.0"});
        // What is 16 times a coordinate leaves room for less.
        scaled(x) = g(x * 16);
        far.set_min(1 << 26);
        check_says(failure([&] { scaled.realize(far); }),
                   {"coordinates", "scaled.max.0", "67108879", "[-67108864, 67108864]"});
        near.set_min((1 << 26) - 15);
        scaled.realize(near);
        CHECK(near(1 << 26) == 1 << 30);
    }
    TEST_CASE("sums with a parameter that 32 bits cannot hold") {
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        im.set(Buffer<int>(10));
        Func h("h");
        h(x) = im(x + p);
        for (int far : {INT32_MAX, INT32_MAX - 8, INT32_MIN}) {
            p.set(far);
            check_says(failure([&] { h.realize({10}); }), {"coordinates", "im."});
        }
        p.set(0);
        CHECK_NOTHROW(h.realize({10}));
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x) + f(p);
        f.compute_root();
        p.set(INT32_MIN);
        check_says(failure([&] { g.realize({10}); }), {"coordinates", "f.x.min"});
        // 2^64 * p: nothing of it is left in 64 bits.
        Func k("k");
        const int large = 1 << 20;
        k(x) = im(((p * large + x) * large + x) * (1 << 24) + x);
        p.set(1);
        check_says(failure([&] { k.realize({1}); }), {"coordinates", "im."});
    }
    TEST_CASE("a GPU that is not there") {
        Func f("f");
        f(x) = x;
        Target gpu = get_host_target().with_feature(Target::CUDA);
        if (host_supports_target_device(gpu)) return;
        check_says(failure([&] { f.realize({4}, gpu); }), {"cuda", "GPU"});
        Buffer<int> b = f.realize({4});
        CHECK(b(3) == 3);
    }
    TEST_CASE("a target of another machine") {
        Func f("f");
        f(x) = x;
        REFUSED(f.realize({4}, Target("arm-64-linux")), "arm-64");
        REFUSED(f.compile_jit(Target("arm-64-linux")), "arm-64");
        REFUSED(f.compile_to_callable({}, Target("arm-64-linux")), "arm-64");
        REFUSED(Target("x86-64-linux-sse41-avx9"), "avx9");
        Buffer<int> b = f.realize({4});
        CHECK(b(3) == 3);
    }
    TEST_CASE("an extern stage that fails, or is not there") {
        Func f("f"), g("g");
        f.define_extern("no_such_function_anywhere", {}, Int(32), {x});
        g(x) = f(x);
        f.compute_root();
        std::string message = refusal([&] { g.realize({4}); });
        if (message == "nothing was refused") message = failure([&] { g.realize({4}); });
        check_says(message, {"no_such_function_anywhere"});
        Func h("h");
        int (*failing)(tessera_buffer_t *) = [](tessera_buffer_t *b) { return b->host ? 7 : 0; };
        h.define_extern("failing", {}, Int(32), {x});
        h.set_jit_externs({{"failing", JITExtern(failing)}});
        check_says(failure([&] { h.realize({4}); }),
                   {"The extern stage failing failed: it returned 7"});
    }
    TEST_CASE("an extern stage that does not say which input it needs") {
        Func f("f"), g("g");
        int (*no_answer)(tessera_buffer_t *, tessera_buffer_t *) =
            [](tessera_buffer_t *in, tessera_buffer_t *) { return in->host ? 0 : 9; };
        f(x) = x;
        f.compute_root();
        g.define_extern("no_answer", {f}, Int(32), {x});
        g.set_jit_externs({{"no_answer", JITExtern(no_answer)}});
        check_says(
            failure([&] { g.realize({4}); }),
            {"The extern stage no_answer failed when asked which input it needs: it returned 9"});
    }
    TEST_CASE("a requirement that is not met") {
        Param<int> p("p");
        Func f("f");
        f(x) = x + require(p > 3, p, "p is", p, "and has to be above 3");
        p.set(2);
        check_says(failure([&] { f.realize({4}); }),
                   {"run_error_test.cpp:", "p is 2 and has to be above 3"});
        p.set(4);
        Buffer<int> b = f.realize({4});
        CHECK(b(3) == 7);
    }
    TEST_CASE("a parameter outside of its range") {
        Param<int> i("i");
        Param<uint8_t> u("u");
        Param<float> r("r");
        i.set_range(-2, 5);
        u.set_range(1, 200);
        r.set_range(0.5f, 1.5f);
        Func f("f");
        f(x) = x * i + u + r;
        auto fails = [&](int a, uint8_t b, float c, const char *message) {
            i.set(a);
            u.set(b);
            r.set(c);
            check_says(failure([&] { f.realize({4}); }), {message});
        };
        fails(-3, 9, 1, "Parameter i is -3, but must be at least -2");
        fails(6, 9, 1, "Parameter i is 6, but must be at most 5");
        fails(0, 0, 1, "Parameter u is 0, but must be at least 1");
        fails(0, 201, 1, "Parameter u is 201, but must be at most 200");
        fails(0, 9, 0.25f, "Parameter r is 0.25, but must be at least 0.5");
        fails(0, 9, 2.5f, "Parameter r is 2.5, but must be at most 1.5");
        fails(0, 9, std::numeric_limits<float>::quiet_NaN(), "Parameter r is nan");
        i.set(2);
        r.set(1.5f);
        Buffer<float> b = f.realize({4});
        CHECK(b(3) == 16.5f);
    }
    TEST_CASE("an image that breaks what was promised of its dimensions") {
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        Func f("f");
        f(x) = im(x) + p;
        Buffer<int> in(8);
        in.fill(0);
        im.set(in);
        p.set(3);
        auto fails = [&](const char *message) {
            check_says(failure([&] { f.realize({2}); }), {message});
        };
        im.dim(0).set_min(-1);
        fails("im.min.0 is 0, but must be -1");
        im.dim(0).set_min(Expr()).set_extent(p + 4);
        fails("im.extent.0 is 8, but must be 7 (p + 4)");
        im.dim(0).set_extent(Expr()).set_stride(2);
        fails("im.stride.0 is 1, but must be 2");
        im.dim(0).set_stride(1).set_bounds(0, 9);
        fails("im.extent.0 is 8, but must be 9");
        im.dim(0).set_bounds(0, (p + 5) / 8 * 8);
        f.output_buffer().dim(0).set_extent(1);
        fails("f.extent.0 is 2, but must be 1");
        Buffer<int> b = f.realize({1});
        CHECK(b(0) == 3);
    }
    TEST_CASE("a Buffer of the program's own that is too small") {
        Buffer<int> table(4, "table");
        table.fill(5);
        Func f("f");
        f(x) = table(x + 1);
        check_says(failure([&] { f.realize({8}); }),
                   {"Buffer table is too small in dimension 0: the pipeline touches [1, 8], but "
                    "the buffer has [0, 3] (5 missing beyond its max)"});
        Buffer<int> b = f.realize({3});
        CHECK(b(2) == 5);
    }
    TEST_CASE("directives whose number is a parameter that is too small") {
        Param<int> p("p");
        Var xi("xi");
        // g is what the schedule makes of it, for a p of 8 the same as without a schedule.
        auto fails = [&](auto schedule, const char *message, int above = 0) {
            Func f("f"), g("g");
            f(x, y) = x + y;
            g(x, y) = f(x, y) + f(x, y + 1);
            f.compute_root();
            schedule(f, g);
            for (int bad : {0, -3}) {
                p.set(bad);
                check_says(
                    failure([&] { g.realize({8, 8}); }),
                    {"run_error_test.cpp:", (message + std::to_string(bad - above)).c_str()});
            }
            p.set(8);
            Buffer<int> b = g.realize({8, 8});
            CHECK(b(7, 7) == 29);
        };
        fails([&](Func &, Func &g) { g.split(x, x, xi, p); },
              "In the schedule of g, x is split by p, which is ");
        fails([&](Func &f, Func &) { f.parallel(y, p); },
              "In the schedule of f, y is split by p, which is ");
        fails([&](Func &f, Func &g) { f.compute_at(g, y).hoist_storage_root().ring_buffer(p); },
              "the number of copies of ring_buffer of f must be positive, not ");
        fails([&](Func &f, Func &) { f.align_storage(x, p); },
              "the alignment of align_storage of f must be positive, not ");
        fails([&](Func &f, Func &) { f.align_bounds(x, p); },
              "the modulus of align_bounds of f must be positive, not ");
        fails([&](Func &f, Func &) { f.align_extent(x, p); },
              "the modulus of align_extent of f must be positive, not ");
        fails([&](Func &f, Func &g) { f.store_root().compute_at(g, y).fold_storage(y, p); },
              "The storage of f is folded along y by ");
        fails([&](Func &f, Func &) { f.bound_storage(x, p); }, "The storage of f is bounded to ");
        fails([&](Func &f, Func &) { f.bound(x, 0, p); }, "The bounds given for f along x are [0, ",
              1);
        fails([&](Func &f, Func &) { f.bound_extent(x, p); },
              "The bounds given for f along x are [0, ", 1);
    }
    TEST_CASE("storage and bounds that are given, and too small") {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x) + f(x + 2);
        f.compute_root().bound_storage(x, 8);
        check_says(
            failure([&] { g.realize({7}); }),
            {"run_error_test.cpp:", "The storage of f is bounded to 8 along x, but 9 are needed"});
        Buffer<int> b = g.realize({6});
        CHECK(b(5) == 12);
        f.bound(x, 1, 6);
        check_says(failure([&] { g.realize({6}); }),
                   {"run_error_test.cpp:",
                    "The bounds given for f along x are [1, 6], but [0, 7] is needed"});
    }
    TEST_CASE("a fold by a parameter that is too small") {
        Param<int> p("p");
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x, y + 3);
        f.store_root().compute_at(g, y).fold_storage(y, p);
        p.set(3);
        check_says(failure([&] { g.realize({4, 4}); }),
                   {"run_error_test.cpp:",
                    "The storage of f is folded along y by 3, but one iteration of the loop over "
                    "g.y needs 4"});
        p.set(4);
        Buffer<int> b = g.realize({4, 4});
        CHECK(b(3, 3) == 15);
    }
    TEST_CASE("no specialization fits") {
        Param<int> p("p");
        Func f("f");
        f(x) = x + p;
        f.specialize(p == 1);
        f.specialize_fail("p has to be 1");
        p.set(2);
        check_says(failure([&] { f.realize({4}); }),
                   {"run_error_test.cpp:", "No specialization of f fits: p has to be 1"});
        p.set(1);
        Buffer<int> b = f.realize({4});
        CHECK(b(3) == 4);
    }
    TEST_CASE("a condition of the pipeline that the caller does not meet") {
        Param<int> p("p");
        ImageParam im(Int(32), 1, "im");
        Func f("f");
        f(x) = im(x) + p;
        f.add_requirement(p % 2 == 0, "p is", p, "which is odd");
        f.add_requirement(im.dim(0).extent() >= p);
        im.set(Buffer<int>(4));
        p.set(3);
        check_says(failure([&] { f.realize({4}); }),
                   {"run_error_test.cpp:", "Requirement failed: p % 2 == 0: p is 3 which is odd"});
        p.set(6);
        check_says(failure([&] { f.realize({4}); }),
                   {"run_error_test.cpp:", "Requirement failed: im.extent[0] >= p"});
        p.set(4);
        Buffer<int> b = f.realize({4});
        CHECK(b.width() == 4);
    }
    TEST_CASE("a promise of bound that the caller breaks") {
        Func f("f");
        f(x, y) = x + y;
        f.bound(x, 0, 8);
        check_says(failure([&] { f.realize({9, 2}); }), {"f along x", "[0, 7]", "[0, 8]"});
        Buffer<int> b = f.realize({8, 2});
        CHECK(b(7, 1) == 8);
    }
    TEST_CASE("a fold that is too small") {
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x, y + 3);
        f.store_root().compute_at(g, y).fold_storage(y, 2);
        check_says(failure([&] { g.realize({4, 4}); }), {"f is folded along y by 2", "needs 4"});
    }
    TEST_CASE("a bool in the message of require() is printed as a word") {
        for (bool interpreted : {false, true}) {
            Target t = get_host_target();
            if (interpreted) t = t.with_feature(Target::Interpret);
            Func f("f");
            f(x) = require(x < 0, x, "x is above 1:", x > 1);
            FAILS(f.realize({3}, t), "x is above 1: false");
        }
    }
}
