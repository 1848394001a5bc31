// Storage within kernels: padded rows in the memory of a block, registers of lanes that others read
// by shuffles, and registers of threads; without a GPU, as PTX, and on the GPU, where there is one.
#include "base/warning.h"
#include "correctness/device_code.h"
#include "error/refusal.h"
#include <cstdio>
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), t("t"), u("u");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// make(scheduled) is one pipeline without a schedule, and with it.
template<typename T>
void agrees(const std::function<Func(bool)> &make, const std::vector<int> &sizes) {
    const Buffer<T> wanted = make(false).realize(sizes);
    Func scheduled = make(true);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<T> found = scheduled.realize(sizes, target);
        wanted.for_each_element([&](int i, int j) { REQUIRE(wanted(i, j) == found(i, j)); });
    }
}

std::string ptx_of(const Func &f) { return test::ptx_of(f, 80); }
std::string lowered_text(Func f) {
    const std::string path =
        (std::filesystem::temp_directory_path() / "gpu_storage_test.stmt").string();
    f.compile_to_lowered_stmt(path, {}, Text, Target("x86-64-linux-cuda"));
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::filesystem::remove(path);
    return text;
}
void check_assembled(const std::string &ptx) { test::check_assembled(ptx, 80); }

// in(y, x) by tiles of 32 x 32 that 32 x 8 threads copy.
template<typename T> Func transposed(bool scheduled, Func *tile = nullptr) {
    Func in("in"), staged("staged"), out("out");
    in(x, y) = cast<T>(x * 3 + y * y);
    staged(x, y) = in(x, y);
    out(x, y) = staged(y, x);
    if (!scheduled) return out;
    in.compute_root();
    out.tile(x, y, xo, yo, xi, yi, 32, 32).split(yi, t, yi, 8);
    out.gpu_blocks(xo, yo).reorder(t, xi, yi, xo, yo).gpu_threads(xi, yi);
    staged.compute_at(out, xo).split(y, t, y, 8).reorder(t, x, y).gpu_threads(x, y);
    if (tile) *tile = staged;
    return out;
}

// The sum of what the lanes of a row have at two distances.
template<typename T> Func stencil_of_lanes(bool scheduled, int lanes, int width) {
    Func f("f"), out("out");
    f(x, y) = cast<T>(x * 37 - y * 1001);
    out(x, y) = f(x, y) + f(x + 1, y) - f(x + 3, y);
    if (!scheduled) return out;
    out.split(x, xo, xi, width, TailStrategy::GuardWithIf).reorder(xi, y, xo);
    out.gpu_blocks(xo).gpu_threads(y).gpu_lanes(xi);
    f.compute_at(out, y).split(x, x, u, lanes, TailStrategy::RoundUp).gpu_lanes(u).unroll(x);
    return out;
}

// Each lane has 4 neighbours at a time of a row of 512, and reads the row's other end, too.
Func row_of_vectors(bool scheduled, bool mirrored) {
    Func in("in"), row("row"), out("out");
    in(x, y) = cast<float>(x * 3 + y * 100);
    row(x, y) = in(x, y);
    out(x, y) = row(x, y) + row(mirrored ? 511 - x : x, y) * 2;
    if (!scheduled) return out;
    in.compute_root();
    for (Func f : {row, out}) f.split(x, xo, x, 128).split(x, xi, x, 4).vectorize(x).unroll(xo);
    out.bound(x, 0, 512).split(y, y, yi, 4).reorder(x, xo, xi, yi, y);
    out.gpu_blocks(y).gpu_threads(yi).gpu_lanes(xi);
    row.compute_at(out, yi).reorder(x, xo, xi).gpu_lanes(xi).store_in(MemoryType::Register);
    return out;
}

}  // namespace

TEST_SUITE("padded rows") {
    TEST_CASE("a transposed tile has rows of one element more") {
        agrees<int>([](bool scheduled) { return transposed<int>(scheduled); }, {64, 96});
        agrees<uint8_t>([](bool scheduled) { return transposed<uint8_t>(scheduled); }, {64, 96});
        agrees<double>([](bool scheduled) { return transposed<double>(scheduled); }, {64, 96});
    }
    TEST_CASE("bytes of the memory of a block: 32 rows of 33, 36 and 33 elements") {
        const auto elements = [](Func f) {
            const std::string text = lowered_text(std::move(f));
            for (int n : {1024, 1056, 1152}) {
                if (text.find("[" + std::to_string(n) + "] in GPUShared") != text.npos) return n;
            }
            FAIL(text);
            return 0;
        };
        CHECK(elements(transposed<int>(true)) == 1056);
        CHECK(elements(transposed<double>(true)) == 1056);
        CHECK(elements(transposed<uint8_t>(true)) == 1152);
        Func staged;
        Func aligned = transposed<int>(true, &staged);
        staged.align_storage(x, 32);  // as the user wants it
        CHECK(elements(aligned) == 1024);
    }
    TEST_CASE("a warning names the Func whose conflicts remain") {
        static std::vector<std::string> warnings;
        warnings.clear();
        Func f("f"), out("out");
        f(x, y) = x + y;
        out(x, y) = f(x * 16, y);
        out.tile(x, y, xo, yo, xi, yi, 32, 8).gpu_blocks(xo, yo).gpu_threads(xi, yi);
        const int line = __LINE__ + 1;
        f.compute_at(out, xo).split(x, x, t, 16).reorder(t, x, y).gpu_threads(x, y);
        const WarningHandler before =
            set_warning_handler([](const std::string &w) { warnings.push_back(w); });
        ptx_of(out);
        set_warning_handler(before);
        REQUIRE(warnings.size() == 1);
        CHECK(warnings[0].find(line_of(__FILE__, line)) == 0);
        CHECK(warnings[0].find("threads of a warp access 16 words in one bank") !=
              std::string::npos);
    }
}

TEST_SUITE("registers of lanes") {
    TEST_CASE("others read them by shuffles, of all types and widths") {
        const auto check = [](auto zero) {
            using T = decltype(zero);
            for (int lanes : {32, 16, 8}) {
                for (int width : {lanes, lanes - 3}) {
                    agrees<T>(
                        [&](bool scheduled) {
                            return stencil_of_lanes<T>(scheduled, lanes, width);
                        },
                        {61, 5});
                }
            }
        };
        check(uint8_t(0)), check(int16_t(0)), check(int32_t(0)), check(int64_t(0));
        check(float(0)), check(double(0));
    }
    TEST_CASE("a shuffle for each register and word, and no memory of the block") {
        // Of three reads, one is the lane's own, and the others are of two registers of 32 lanes;
        // blocks at the edge have code of their own.
        const std::string ints = ptx_of(stencil_of_lanes<int>(true, 32, 32));
        CHECK(count_of(ints, "shfl.sync.idx.b32") == 2 * 4);
        CHECK(count_of(ints, "shared") == 0);
        CHECK(count_of(ints, "bar.warp.sync") == 0);
        check_assembled(ints);
        const std::string longs = ptx_of(stencil_of_lanes<int64_t>(true, 32, 32));
        CHECK(count_of(longs, "shfl.sync.idx.b32") == 2 * 8);
        check_assembled(longs);
        const std::string bytes = ptx_of(stencil_of_lanes<uint8_t>(true, 16, 13));
        CHECK(count_of(bytes, "shfl.sync.idx.b32") == 2 * 2);
        check_assembled(bytes);
    }
    TEST_CASE("a sum over lanes that the first one does") {
        RDom r(0, 256, "r");
        const auto make = [&](bool scheduled) {
            Func sum("sum"), out("out");
            sum(x, y) = cast<int64_t>(0);
            sum(x, y) += cast<int64_t>(x + 1) * (r + y);
            out(x, y) = sum(x, y) * 2;
            if (!scheduled) return out;
            RVar ro("ro"), ri("ri");
            out.gpu_tile(x, y, xi, yi, 1, 4);
            sum.compute_at(out, xi);
            Func partial = sum.update().split(r, ro, ri, 32).rfactor(ri, u);
            partial.compute_at(out, xi).gpu_lanes(u);
            partial.update().gpu_lanes(u);
            return out;
        };
        agrees<int64_t>(make, {3, 8});
        const std::string ptx = ptx_of(make(true));
        CHECK(count_of(ptx, "shfl.sync.idx.b32") % 2 == 0);
        CHECK(count_of(ptx, "shfl.sync.idx.b32") > 0);
        check_assembled(ptx);
    }
    TEST_CASE("rows that lanes hold by vectors are read once") {
        agrees<float>([](bool scheduled) { return row_of_vectors(scheduled, false); }, {512, 8});
        agrees<float>([](bool scheduled) { return row_of_vectors(scheduled, true); }, {512, 8});
        const std::string ptx = ptx_of(row_of_vectors(true, false));
        // Once by vectors, and in a kernel for buffers that are not aligned.
        CHECK(count_of(ptx, "ld.global.nc.v4") == 4);
        CHECK(count_of(ptx, "st.global.v4") == 4);
        CHECK(count_of(ptx, "ld.global") == 4 + 16);
        CHECK(count_of(ptx, "shared") == 0);
        check_assembled(ptx);
    }
    TEST_CASE("what the first lane of each row computes has a place for each row in memory of the "
              "block") {
        const auto make = [](bool scheduled) {
            Func f("f"), g("g"), out("out");
            f(x) = x * x;
            g(x, y) = f(x) + f(x + 3) * y;
            out(x, y) = g(x, y) + g(x + 1, y + 1);
            if (!scheduled) return out;
            out.gpu_blocks(y).gpu_threads(x);
            f.compute_at(out, x).split(x, x, u, 8).gpu_lanes(u);
            g.compute_at(out, x).store_in(MemoryType::GPUShared);
            return out;
        };
        agrees<int>(make, {24, 5});
        // Storage of the block stands outside of the loops over its threads.
        const std::string text = lowered_text(make(true));
        const size_t threads = text.find("gpu_thread"), storage = text.rfind("in GPUShared");
        REQUIRE(threads != std::string::npos);
        REQUIRE(storage != std::string::npos);
        CHECK(storage < threads);
    }
    TEST_CASE("where the user wants memory of the block, lanes share that") {
        Func f("f"), out("out");
        f(x, y) = x * 3 + y;
        out(x, y) = f(x, y) + f(x + 1, y);
        out.split(x, xo, xi, 16).gpu_blocks(xo).reorder(xi, y, xo).gpu_threads(y).gpu_lanes(xi);
        f.compute_at(out, y).store_in(MemoryType::GPUShared).gpu_lanes(x);
        const std::string ptx = ptx_of(out);
        CHECK(count_of(ptx, "shfl") == 0);
        CHECK(count_of(ptx, "bar.warp.sync") > 0);
    }
}

TEST_SUITE("registers of threads, at the level of a block") {
    TEST_CASE("each thread has what it computes and reads itself") {
        const auto make = [](bool scheduled) {
            Func f("f"), out("out");
            f(x, y) = x * 3 + y * y;
            f(x, y) += x * y;
            out(x, y) = f(x, y) * f(x, y);
            if (!scheduled) return out;
            out.gpu_tile(x, y, xi, yi, 16, 8);
            f.compute_at(out, x).store_in(MemoryType::Register).gpu_threads(x, y);
            f.update().gpu_threads(x, y);
            return out;
        };
        agrees<int>(make, {48, 32});
        const std::string ptx = ptx_of(make(true));
        CHECK(count_of(ptx, "shared") == 0);
        CHECK(count_of(ptx, "bar.sync") + count_of(ptx, "barrier") == 0);
        check_assembled(ptx);
    }
    TEST_CASE("several elements a thread, and vectors") {
        for (const bool vectors : {false, true}) {
            const auto make = [&](bool scheduled) {
                Func f("f"), out("out");
                f(x, y) = x * 3 + y * y;
                out(x, y) = f(x, y) + 1;
                if (!scheduled) return out;
                out.tile(x, y, xo, yo, xi, yi, 64, 16).gpu_blocks(xo, yo);
                out.split(xi, xi, t, 4).split(yi, u, yi, 8).reorder(t, u, xi, yi);
                out.gpu_threads(xi, yi).unroll(u);
                f.compute_at(out, xo).store_in(MemoryType::Register);
                f.split(x, x, t, 4).split(y, u, y, 8).reorder(t, u, x, y).unroll(u);
                f.gpu_threads(x, y);
                if (vectors) out.vectorize(t), f.vectorize(t);
                return out;
            };
            agrees<int>(make, {128, 32});
            check_assembled(ptx_of(make(true)));
        }
    }
    TEST_CASE("an access of what another thread has written is refused, and named") {
        Func f("f"), out("out");
        f(x, y) = x * 3 + y * y;
        out(x, y) = f(x, y) + f(x + 1, y);
        out.gpu_tile(x, y, xi, yi, 16, 8);
        const int line = __LINE__ + 1;
        f.compute_at(out, x).store_in(MemoryType::Register).gpu_threads(x, y);
        REFUSED_AT(line, out.realize({32, 16}, Target("host-jit-cuda-interpret")),
                   "private to each thread, and f is computed outside of the loops over "
                   "threads, where one thread accesses what is another one's");
    }
}
