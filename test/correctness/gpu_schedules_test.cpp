// Schedules for GPUs that are right and unusual: conditions around what is copied ahead, versions
// of stages by one parameter, and stages that are clamped one after the other.
#include "error/refusal.h"
#include <cstdio>
#include <fstream>

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), yo("yo"), xo("xo");

Target interpreted(const std::string &more = "") {
    return Target("host-jit-cuda-interpret" + more);
}

std::vector<Target> targets() {
    std::vector<Target> all = {interpreted()};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

Buffer<int> numbers(int width, int height) {
    Buffer<int> b(width, height);
    b.fill([](int i, int j) { return (i * 37 + j * 11) % 101; });
    return b;
}

// A product of which one part is copied ahead, under a condition that a scalar decides.
struct CopiedAhead {
    ImageParam in{Int(32), 2, "in"};
    Param<int> p{"p", 1};
    Func sum{"sum"}, out{"out"};

    void schedule(const RDom &k, int step) {
        RVar ko("ko"), ki("ki");
        out(x) = sum(x);
        out.bound(x, 0, 32).gpu_tile(x, xi, 32);
        sum.compute_at(out, x).gpu_threads(x);
        sum.update().split(k, ko, ki, step).reorder({ki, x, ko}).gpu_threads(x);
        in.in(sum).compute_at(sum, ko).store_in(MemoryType::GPUShared).async().ring_buffer(2);
        in.set(numbers(32, 16));
    }
};

// A stencil reads these of a Func: its neighbours, or those that an image of this size has.
Expr stencil(const Func &f, const ImageParam &in, bool is_clamped) {
    const auto at = [&](const Expr &u, const Expr &v) {
        if (!is_clamped) return f(u, v);
        return f(clamp(u, 0, in.width() - 1), clamp(v, 0, in.height() - 1));
    };
    return at(x, y) + at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
}

}  // namespace

TEST_SUITE("schedules for GPUs") {
    TEST_CASE("more rows of blocks than a grid has are launched in parts") {
        Func f("f");
        f(x, y) = x + y * 2;
        f.gpu_blocks(x, y);
        const Buffer<int> found = f.realize({1, 140000}, interpreted());
        for (int row : {0, 65534, 65535, 131069, 131070, 139999}) CHECK(found(0, row) == row * 2);
    }
    TEST_CASE("threads beyond the end of a stage of a block read nothing of the input") {
        const auto reads = [](int shrink, int tile, TailStrategy tail) {
            ImageParam in(Int(32), 1, "in");
            Func f("f"), out("out");
            f(x) = in(x) * 3;
            out(x) = f(x / shrink) + x;
            out.gpu_tile(x, xi, tile, tail);
            f.compute_at(out, x).split(x, xo, xi, 16).gpu_threads(xi);
            out.infer_input_bounds({800 * shrink}, interpreted());
            const Buffer<int> wanted = in.get();
            CAPTURE(tile);
            CHECK(wanted.dim(0).min() == 0);
            CHECK(wanted.dim(0).extent() == 800);
            Buffer<int> image(800);
            image.fill([](int i) { return i * i; });
            in.set(image);
            for (const Target &target : targets()) {
                const Buffer<int> result = out.realize({800 * shrink}, target);
                result.for_each_element(
                    [&](int i) { REQUIRE(result(i) == i / shrink * (i / shrink) * 3 + i); });
            }
        };
        reads(2, 16, TailStrategy::Auto);         // 8 points for 16 threads
        reads(1, 24, TailStrategy::GuardWithIf);  // of the last block: 8 points
        reads(1, 7, TailStrategy::Auto);
        reads(1, 32, TailStrategy::Auto);  // as many as there is room for
    }
    TEST_CASE("more memory of a block than GPUs have is refused, and said of which Func") {
        const auto sized = [](int columns, const std::string &more) -> Buffer<int> {
            Func f("f"), g("g");
            f(x, y) = x + y;
            g(x, y) = f(x, y) + f(x + columns - 16, y + 15);
            g.gpu_tile(x, y, xi, yi, 16, 16);
            f.compute_at(g, x).split(x, xo, xi, 32).reorder({xi, y, xo}).gpu_threads(xi);
            f.store_in(MemoryType::GPUShared);
            return g.realize({16, 16}, interpreted(more));
        };
        // 31 rows of that many columns, of 4 bytes each.
        CHECK_THROWS_WITH_AS(sized(2048, "-cuda_capability_90"),
                             doctest::Contains("a block of this kernel shares 253952 bytes of "
                                               "memory, 253952 of them for f; GPUs of compute "
                                               "capability 9.0 have 232448 for a block"),
                             CompileError);
        CHECK_THROWS_WITH_AS(sized(1024, "-cuda_capability_86"),
                             doctest::Contains("compute capability 8.6 have 101376"), CompileError);
        CHECK(sized(1024, "-cuda_capability_80")(3, 4) == 7 + 7 + 1023);
        CHECK(sized(1024, "-cuda_capability_86-cuda_capability_90")(3, 4) == 7 + 7 + 1023);
        CHECK_THROWS_WITH_AS(sized(2048, ""), doctest::Contains("have 232448"), CompileError);
    }
    TEST_CASE("the versions of two stages by one parameter") {
        Param<bool> device("device");
        Param<int> size("size");
        Func a("a"), b("b");
        Var bx("bx"), by("by"), t("t");
        const auto schedule = [&](const Expr &outer, const Expr &inner) {
            a = Func("a");
            b = Func("b");
            a(x, y) = 3 * x + y;
            b(x, y) = a(x, y) + a(x + 1, y + 2);
            b.compute_root().specialize(outer).gpu_tile(x, y, xi, yi, 8, 8);
            b.specialize(outer).split(x, x, t, 1).serial(t);
            b.tile(x, y, bx, by, xi, yi, 8, 8).fuse(bx, by, t).parallel(t);
            a.compute_at(b, t).specialize(inner).gpu_threads(x, y);
        };
        const auto check = [&] {
            const Buffer<int> out = b.realize({32, 24}, interpreted());
            out.for_each_element([&](int i, int j) { REQUIRE(out(i, j) == 6 * i + 2 * j + 5); });
        };
        schedule(device, device);
        for (bool where : {true, false}) {
            device.set(where);
            check();
        }
        schedule(size > 10, size > 12 && Expr(device));
        for (int n : {5, 11, 13}) {
            size.set(n);
            check();
        }
        // The threads would be in no block for sizes from 6 to 10.
        schedule(size > 10, size > 5);
        CHECK_THROWS_WITH_AS(check(), doctest::Contains("in no loop over blocks"), CompileError);
    }
    TEST_CASE("what is copied ahead is copied, whether a scalar wants it or not") {
        for (bool is_where : {false, true}) {
            CAPTURE(is_where);
            CopiedAhead c;
            RDom k(0, 16, "k");
            if (is_where) k.where(k % 3 == c.p);
            c.sum(x) += is_where ? Expr(c.in(x, k)) : select(k % 3 == c.p, c.in(x, k), 0);
            c.schedule(k, 4);
            const Buffer<int> data = c.in.get();
            for (const Target &target : {interpreted("-cuda_capability_80")}) {
                const Buffer<int> found = c.out.realize({32}, target);
                for (int i = 0; i < 32; i++) {
                    int wanted = 0;
                    for (int j = 1; j < 16; j += 3) wanted += data(i, j);
                    CHECK(found(i) == wanted);
                }
            }
        }
    }
    TEST_CASE("the last box that is copied ahead has fewer rows, or all have one") {
        for (int step : {4, 7, 1}) {
            CAPTURE(step);
            CopiedAhead c;
            RDom k(0, 18, "k");
            c.sum(x) += c.in(x, k);
            c.schedule(k, step);
            const Buffer<int> data = numbers(32, 18);
            c.in.set(data);
            const Buffer<int> found = c.out.realize({32}, interpreted("-cuda_capability_80"));
            for (int i = 0; i < 32; i++) {
                int wanted = 0;
                for (int j = 0; j < 18; j++) wanted += data(i, j);
                CHECK(found(i) == wanted);
            }
        }
    }
    TEST_CASE("a row is copied ahead") {
        CopiedAhead c;
        ImageParam weights(Int(32), 1, "weights");
        RDom k(0, 16, "k");
        c.sum(x) += c.in(x, k) * weights(k);
        c.schedule(k, 4);
        weights.in(c.sum)
            .compute_at(c.sum, RVar("ko"))
            .store_in(MemoryType::GPUShared)
            .async()
            .ring_buffer(2);
        Buffer<int> given(16);
        given.fill([](int i) { return i + 1; });
        weights.set(given);
        const Buffer<int> data = c.in.get();
        const Buffer<int> found = c.out.realize({32}, interpreted("-cuda_capability_80"));
        for (int i = 0; i < 32; i++) {
            int wanted = 0;
            for (int j = 0; j < 16; j++) wanted += data(i, j) * (j + 1);
            CHECK(found(i) == wanted);
        }
    }
    TEST_CASE("clamped stages in a block have storage of a known size, however many") {
        for (int depth : {3, 4, 6}) {
            CAPTURE(depth);
            ImageParam in(Int(32), 2, "in");
            const auto stages = [&](bool is_scheduled) {
                std::vector<Func> all;
                Func f = BoundaryConditions::repeat_edge(in);
                for (int i = 0; i < depth; i++) {
                    Func s("s" + std::to_string(i));
                    s(x, y) = stencil(f, in, i > 0) % 1000;
                    s.compute_root();
                    all.push_back(f = s);
                }
                if (!is_scheduled) return all;
                f.gpu_tile(x, y, xi, yi, 32, 8);
                for (int i = 0; i + 1 < depth; i++)
                    all[size_t(i)]
                        .compute_at(f, x)
                        .split(y, yo, yi, 8)
                        .reorder(yo, x, yi)
                        .gpu_threads(x, yi);
                return all;
            };
            in.set(numbers(70, 50));
            const Buffer<int> wanted = stages(false).back().realize({70, 50});
            const std::vector<Func> all = stages(true);
            for (const Target &target : targets()) {
                const Buffer<int> found = Func(all.back()).realize({70, 50}, target);
                found.for_each_element([&](int i, int j) { REQUIRE(found(i, j) == wanted(i, j)); });
            }
            const std::string path = "clamped_stages_" + std::to_string(depth) + ".txt";
            Pipeline(all.back()).compile_to_lowered_stmt(path, {in}, Text, interpreted());
            std::ifstream file(path);
            const std::string text{std::istreambuf_iterator<char>(file), {}};
            std::remove(path.c_str());
            for (int i = 0; i + 1 < depth; i++) {
                const std::string begin = "allocate s" + std::to_string(i) + ": int32[";
                const size_t at = text.find(begin);
                REQUIRE(at != std::string::npos);
                CHECK(std::isdigit(static_cast<unsigned char>(text[at + begin.size()])));
            }
        }
    }
}
