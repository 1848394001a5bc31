#include "lower/gpu/canonical_kernels.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/gpu/tensor_tiles.h"
#include "lower/gpu/unit_dimensions.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}
size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}
std::string refusal(Pass::OnBody pass, std::string_view text) {
    try {
        run(pass, text);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

constexpr const char *cleared = "gpu_block for b in [0, +n):\n"
                                "    realize f: {float32} in Tile over [b*16, +16], [0, +32]\n"
                                "    gpu_warp for w in [0, +2) of f w:\n"
                                "        for y in [0, +16) of f y:\n"
                                "            for x in [b*16, +16) of f x: f(x, w*16 + y) = 0.0\n";

// A copy into one of three slots, ahead of its use by 32 threads.
constexpr const char *ahead =
    "gpu_block for b in [0, +n):\n"
    "    realize s: {float16} in GPUShared async copies 3 over [0, +32], [0, +8], [0, +3]\n"
    "    for k in [0, +m) of f k:\n"
    "        produce s:\n"
    "            for y in [0, +8): for x in [k*32, +32):\n"
    "                s(x - k*32, y, k % 3) = image a(x, y + b*8):float16\n"
    "        consume s:\n"
    "            gpu_thread for t in [0, +32): g(t) = s(t, 3, k % 3):float16\n";

}  // namespace

TEST_SUITE("tensor tiles") {
    TEST_CASE("each lane has its elements of a nest, as the instruction deals them out") {
        const std::string text = run(share_tiles, cleared);
        CAPTURE(text);
        CHECK(contains(text, "realize f: {float32} in Tile over [0, +8]"));
        CHECK(contains(text, "gpu_thread for w in [0, +2)"));
        CHECK(contains(text, "gpu_thread for lane in [0, +32)"));
        CHECK(count_of(text, "unrolled for") == 3);
        CHECK(contains(text, "let y = lane / 4 + row_by_8 * 8"));
        CHECK(contains(text, "lane % 4 * 2"));
        CHECK(contains(text, "f(column_by_8 * 4 + row_by_8 * 2 + column) = 0.0"));
    }
    TEST_CASE("a nest that deals them out otherwise is refused") {
        const std::string other = std::string(cleared) +
                                  "    gpu_warp for v in [0, +2) of g v:\n"
                                  "        for q in [0, +16) of g q:\n"
                                  "            for p in [b*16, +16) of g p:\n"
                                  "                g(p, q) = f(p, (1 - v)*16 + q):float32\n";
        CHECK(contains(refusal(share_tiles, other), "has in its registers"));
        const std::string narrow = std::string(cleared) +
                                   "    gpu_warp for v in [0, +4) of g v:\n"
                                   "        for q in [0, +16) of g q:\n"
                                   "            for p in [b*16, +4) of g p:\n"
                                   "                g(p, q) = f(p, v*16 + q):float32\n";
        CHECK(contains(refusal(share_tiles, narrow), "multiple of 8"));
        const std::string open = std::string(cleared) +
                                 "    gpu_warp for v in [0, +n) of g v:\n"
                                 "        for q in [0, +16) of g q:\n"
                                 "            for p in [b*16, +16) of g p:\n"
                                 "                g(p, q) = f(p, v*16 + q):float32\n";
        CHECK(contains(refusal(share_tiles, open), "is not known; it is n. bound_extent() of g"));
    }
    TEST_CASE("who uses a Tile outside of warps, or two elements at a time, is refused") {
        CHECK(contains(
            refusal(share_tiles, std::string(cleared) + "    g(0, 0) = f(b*16, 0):float32\n"),
            "where g uses it, it is outside of any"));
        const std::string two = std::string(cleared) +
                                "    gpu_warp for v in [0, +2) of g v:\n"
                                "        for q in [0, +16) of g q:\n"
                                "            for p in [b*16, +16) of g p:\n"
                                "                g(p, q) = f(p, v*16 + q):float32 + "
                                "f(p, v*16 + 15 - q):float32\n";
        CHECK(contains(refusal(share_tiles, two), "two elements of f at a time"));
    }
    TEST_CASE("a shared term of what is stored may use the Tile, and stages two of them") {
        const std::string twice = std::string(cleared) +
                                  "    gpu_warp for v in [0, +2) of g v:\n"
                                  "        for q in [0, +16) of g q:\n"
                                  "            for p in [b*16, +16) of g p:\n"
                                  "                let t = f(p, v*16 + q):float32\n"
                                  "                g(p, q) = t*t\n";
        const std::string text = run(share_tiles, twice);
        CAPTURE(text);
        CHECK(contains(text, "let t = f(column_by_8.1 * 4 + row_by_8.1 * 2 + column.1)"));

        const std::string other =
            "gpu_block for b in [0, +n):\n"
            "    realize f: {float32} in Tile over [b*16, +16], [0, +32]\n"
            "    realize h: {float32} in Tile over [b*16, +16], [0, +32]\n"
            "    gpu_warp for w in [0, +2) of f w:\n"
            "        for y in [0, +16) of f y:\n"
            "            for x in [b*16, +16) of f x: f(x, w*16 + y) = 1.0\n"
            "    gpu_warp for u in [0, +2) of h u:\n"
            "        for s in [0, +16) of h s:\n"
            "            for r in [b*16, +16) of h r: h(r, u*16 + s) = 2.0\n"
            "    gpu_warp for v in [0, +2) of g v:\n"
            "        for q in [0, +16) of g q:\n"
            "            for p in [b*16, +16) of g p:\n"
            "                g(p, q) = f(p, v*16 + q):float32 * h(p, v*16 + q):float32\n";
        const std::string both = run(share_tiles, other);
        CAPTURE(both);
        CHECK(count_of(both, "in Tile over [0, +8]") == 2);
        CHECK(count_of(both, "gpu_thread for lane") == 3);
        CHECK(contains(both, "f(column_by_8.2 * 4 + row_by_8.2 * 2 + column.2) * "
                             "h(column_by_8.2 * 4 + row_by_8.2 * 2 + column.2)"));
    }
    TEST_CASE("an update that reads another element of a Tile than it writes is refused") {
        const std::string shifted =
            std::string(cleared) + "    gpu_warp for v in [0, +2) of f v:\n"
                                   "        for q in [0, +16) of f q:\n"
                                   "            for p in [b*16, +16) of f p:\n"
                                   "                f(p, v*16 + q) = f(p, v*16 + 15 - q):float32\n";
        CHECK(contains(refusal(share_tiles, shifted), "two elements of f at a time"));
    }
    TEST_CASE("in other dimensions than columns and rows a Tile has one element") {
        const std::string batch =
            "gpu_block for b in [0, +n):\n"
            "    realize f: {float32} in Tile over [0, +16], [b, +1], [0, +16]\n"
            "    gpu_warp for w in [0, +1) of f w:\n"
            "        for y in [0, +16) of f y:\n"
            "            for x in [0, +16) of f x: f(x, b, w*16 + y) = 0.0\n";
        CHECK(contains(run(share_tiles, batch), "realize f: {float32} in Tile over [0, +8]"));
        std::string deep = batch;
        deep.replace(deep.find("[b, +1]"), 7, "[b, +2]");
        CHECK(contains(refusal(share_tiles, deep),
                       "MemoryType::Tile holds one value of two dimensions, columns and rows, or "
                       "those that the loops of a tensorized stage run along, or one of rows "
                       "alone; in others"));
    }
    TEST_CASE("the threads of a row reduce their own elements, and then together") {
        const auto rows = [](const char *update, const char *warps = "v in [0, +2)") {
            return std::string(cleared) +
                   "    realize m: {float32} in Tile over [0, +32]\n"
                   "    gpu_warp for u in [0, +2) of m u:\n"
                   "        for r in [0, +16) of m r: m(u*16 + r) = 0.0\n"
                   "    gpu_warp for " +
                   warps + " of m v reduction:\n" +
                   "        for q in [0, +16) of m q:\n"
                   "            for p in [b*16, +16) of m p reduction:\n                " +
                   update +
                   "    gpu_warp for w in [0, +2) of g w:\n"
                   "        for s in [0, +16) of g s: g(w*16 + s) = m(w*16 + s):float32\n";
        };
        std::string largest =
            rows("m(v*16 + q) = max(m(v*16 + q):float32, f(p, v*16 + q):float32)\n");
        CHECK(contains(refusal(share_tiles, largest),
                       "the columns of a row are reduced within one warp, or warpgroup; the loop "
                       "v of m has them in several"));
        const auto by_rows = [](std::string text) {
            return text.replace(text.find(" of m v reduction"), 17, " of m v");
        };
        const auto shared = [&](const std::string &text) {
            return run(share_tiles, by_rows(text));
        };
        largest = shared(largest);
        CAPTURE(largest);
        // Four threads have a row, and each of them two rows.
        CHECK(contains(largest, "realize m: {float32} in Tile over [0, +2]"));
        CHECK(contains(largest, "m(row_by_8.1) = 0.0"));
        CHECK(contains(largest, "m(row_by_8.2) = max(m(row_by_8.2), f(column_by_8.1 * 4 + "
                                "row_by_8.2 * 2 + column.1))"));
        CHECK(count_of(largest, "shuffle_lanes(") == 2);
        CHECK(contains(largest, "bitwise_xor(lane.2 % 32, 2), 32)"));
        CHECK(contains(largest, "bitwise_xor(lane.2 % 32, 1), 32)"));
        // One of them stores it.
        CHECK(contains(largest, "if lane.3 % 4 * 2 == 0"));

        const std::string total =
            shared(rows("m(v*16 + q) = m(v*16 + q):float32 + f(p, v*16 + q):float32\n"));
        CAPTURE(total);
        CHECK(contains(total, "realize part_of_row: {float32} in Register over [0, +2]"));
        CHECK(count_of(total, "shuffle_lanes(") == 2);
        const std::string other =
            rows("m(v*16 + q) = f(p, v*16 + q):float32 - m(v*16 + q):float32\n");
        CHECK(contains(refusal(share_tiles, by_rows(other)),
                       "the columns of a row are reduced to one value of m by an update that is a "
                       "sum, a product, a minimum or a maximum; it is f("));
    }
    TEST_CASE("threads that would update one element at once are refused, unless atomically") {
        const auto reduced = [](const char *update) {
            return std::string(cleared) + "    gpu_warp for v in [0, +2) of m v:\n" +
                   "        for q in [0, +16) of m q:\n" +
                   "            for p in [b*16, +16) of m p reduction:\n" + update;
        };
        const char *largest = "m(v*16 + q) = max(m(v*16 + q):float32, f(p, v*16 + q):float32)\n";
        CHECK(contains(refusal(share_tiles, reduced(str("                ", largest).c_str())),
                       "its threads share out the loop p of m, so that several of them may update "
                       "one element of m at once; call atomic() before if the update is a sum"));
        CHECK(
            contains(run(share_tiles, reduced(str("                atomic m: ", largest).c_str())),
                     "atomic m:"));
        const char *last = "                atomic m: m(v*16 + q) = f(p, v*16 + q):float32\n";
        CHECK(contains(refusal(share_tiles, reduced(last)),
                       "atomic() is for one sum, product, minimum or maximum there"));
        // Each thread has elements of its own here.
        const char *own = "                h(p, v*16 + q) = h(p, v*16 + q):float32 + "
                          "f(p, v*16 + q):float32\n";
        CHECK(contains(run(share_tiles, reduced(own)), "h("));
    }
    TEST_CASE("dimensions of one element are taken out of the ring buffers of kernels") {
        Context gpu;
        gpu.target = Target("x86-64-linux-cuda");
        const std::string ring =
            "gpu_block for b in [0, +n):\n"
            "    realize s: {float16} in GPUShared async copies 3 over [0, +32], [b, +1], [0, +8], "
            "[0, +3]\n"
            "    for k in [0, +m) of f k:\n"
            "        produce s:\n"
            "            for y in [0, +8): for x in [k*32, +32):\n"
            "                s(x - k*32, b, y, k % 3) = image a(x, b, y):float16\n"
            "        consume s:\n"
            "            gpu_thread for t in [0, +32): g(t) = s(t, b, 3, k % 3):float16\n";
        const std::string text = run(drop_unit_dimensions, ring, gpu);
        CAPTURE(text);
        CHECK(contains(text, "over [0, +32], [0, +8], [0, +3]"));
        CHECK(contains(text, "s(x - k * 32, y, k % 3) = image a(x, b, y)"));
        CHECK(contains(text, "g(t) = s(t, 3, k % 3)"));
        CHECK(contains(run(pipeline_copies, text), "image a("));
    }
    TEST_CASE("copies are begun two iterations ahead, by all threads, and waited for") {
        const std::string text = run(pipeline_copies, ahead);
        CAPTURE(text);
        CHECK(contains(text, "in GPUShared pipelined over [0, +32], [0, +8], [0, +3]"));
        CHECK(contains(text, "for ahead in [0, +2)"));
        CHECK(count_of(text, "machine_op copy_async()") == 2);
        CHECK(count_of(text, "async_commit()") == 2);
        CHECK(count_of(text, "async_wait(1)") == 1);
        CHECK(count_of(text, "gpu_barrier()") == 1);
        CHECK(text.find("async_wait(1)") < text.find("gpu_barrier()"));
        CHECK(contains(text, "if k + 2 < m"));
        CHECK(contains(text, "(k + 2) % 3"));
    }
    TEST_CASE("without a ring buffer threads wait for their copies where they make them") {
        const std::string text = run(
            pipeline_copies, "gpu_block for b in [0, +n):\n"
                             "    realize s: {float32} in GPUSharedAsync over [0, +32]\n"
                             "    produce s:\n"
                             "        gpu_thread for t in [0, +32): s(t) = image a(t):float32\n"
                             "    consume s:\n"
                             "        gpu_thread for t in [0, +32): g(t) = s(31 - t):float32\n");
        CAPTURE(text);
        CHECK(contains(text, "realize s: {float32} in GPUShared over"));
        CHECK(count_of(text, "machine_op copy_async()") == 1);
        CHECK(text.find("async_commit()") < text.find("async_wait(0)"));
        CHECK(text.find("async_wait(0)") < text.find("consume s"));
    }
    TEST_CASE("instructions beside rows of threads whose number is not known are refused") {
        const auto beside = [](const char *threads) {
            return str("gpu_block for b in [0, +m):\n    gpu_thread for t in [0, +", threads,
                       "): h[t] = 1.0\n    gpu_thread for lane in [0, +32):\n"
                       "        machine_op tensor(\"mma.m16n8k16.f32.f16\", 16, 16, 16, "
                       "\"rows along k\", \"rows along k\", address_of(g[lane]:float32), "
                       "address_of(a[lane]:float16), "
                       "address_of(a[lane])): g[lane] = 2.0\n");
        };
        CHECK(contains(refusal(canonical_kernels, beside("n")),
                       "has a number of threads along x that is known when it is compiled; here "
                       "it is max(n, 32)"));
        const std::string text = run(canonical_kernels, beside("40"));
        CAPTURE(text);
        CHECK(contains(text, "gpu_thread for thread_x in [0, +64)"));
        CHECK(contains(text, "if thread_x < 40"));
        CHECK(contains(text, "if thread_x < 32"));
    }
    TEST_CASE("instructions of whose sums an iteration makes use are waited for in it") {
        std::string nest = ahead;
        for (const auto &[narrow, wide] : {std::pair("over [0, +32]", "over [0, +64]"),
                                           {"for x in [k*32, +32)", "for x in [k*64, +64)"},
                                           {"s(x - k*32", "s(x - k*64"}})
            nest.replace(nest.find(narrow), std::string(narrow).size(), wide);
        const std::string use =
            "            gpu_thread for t in [0, +32): g(t) = s(t, 3, k % 3):float16\n";
        const std::string sum =
            "            gpu_thread for t in [0, +128):\n"
            "                machine_op tensor(\"wgmma.m64n8k16.f32.f16\", 64, 8, "
            "16, \"panels along k\", \"panels along k\", "
            "address_of(f(0):float32), address_of(s(t, 0, k % 3):float16), "
            "address_of(s(t, 1, k % 3):float16)):\n"
            "                    f(0) = f(0):float32 + 1.0\n";
        const std::string read = "            gpu_thread for t in [0, +128): h(t) = f(0):float32\n";
        nest.replace(nest.find(use), use.size(), sum + read);
        const std::string begin = "gpu_block for b in [0, +n):\n";
        nest.insert(begin.size(), "    realize f: {float32} in Tile over [0, +4]\n");
        const std::string text = run(pipeline_copies, nest);
        CAPTURE(text);
        const std::string wait = "tensor_wait(0, ";
        const size_t begin_of_sum = text.find("machine_op tensor"),
                     at_end = text.find(wait, begin_of_sum);
        CHECK(count_of(text, "tensor_wait(") == 2);
        CHECK(text.find(wait) < begin_of_sum);
        CHECK(begin_of_sum < at_end);
        CHECK(at_end < text.find("h(t) = f(0)"));
    }
    TEST_CASE("what is no box, or has one copy, is not begun ahead") {
        const auto with = [](const std::string &before, const std::string &after) {
            std::string text = ahead;
            return text.replace(text.find(before), before.size(), after);
        };
        CHECK(contains(refusal(pipeline_copies, with("copies 3", "copies 1")), "2 at least"));
        CHECK(contains(refusal(pipeline_copies, with("s(x - k*32, y", "s(y, y")), "a box"));
        const std::string from_kernel = with("image a(x, y", "h(x, y");
        const std::string begin = "gpu_block for b in [0, +n):\n";
        const std::string computed =
            begin + "    realize h: {float16} in GPUShared over [0, +64], [0, +8]\n" +
            from_kernel.substr(begin.size());
        CHECK(contains(refusal(pipeline_copies, computed),
                       "it copies h, which is computed in the same kernel; copies are made ahead"));
    }
}
