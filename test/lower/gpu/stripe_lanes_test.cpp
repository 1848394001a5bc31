#include "lower/gpu/canonical_kernels.h"
#include "lower/gpu/stripe_lanes.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// A row of lanes that computes f, then uses it.
std::string row(const std::string &elements, const std::string &writes, const std::string &reads,
                const std::string &memory = "Auto") {
    return "gpu_block for b in [0, +n):\n"
           "    gpu_thread for r in [0, +4):\n"
           "        allocate f: float32[" +
           elements + "] in " + memory + "\n" + writes + reads;
}
std::string lanes(int count, const std::string &s) {
    return "        gpu_lane for x in [0, +" + std::to_string(count) + "):\n            " + s +
           "\n";
}

std::string striped(const std::string &text) { return run(stripe_lanes, text); }
void is_left_alone(const std::string &text) {
    CAPTURE(text);
    CHECK(striped(text) == printed(text));
}

const std::string write_32 = lanes(32, "f[x] = src[r*32 + x]:float32");

}  // namespace

TEST_SUITE("stripe_lanes") {
    TEST_CASE("each lane has what it writes, and reads others' by shuffles") {
        const std::string after =
            striped(row("32", write_32, lanes(32, "out[x] = f[31 - x]:float32")));
        CAPTURE(after);
        CHECK(after.find("allocate f: float32[1] in Tile\n") != after.npos);
        CHECK(after.find("f[0] = src[") != after.npos);
        CHECK(after.find("let other = shuffle_lanes(f[0], (31 - x) % 32, 32)\n"
                         "            out[x] = other\n") != after.npos);
        CHECK(after.find("if ") == after.npos);
    }
    TEST_CASE("what a lane has itself is read without") {
        const std::string after =
            striped(row("32", write_32, lanes(20, "out[x] = f[x]:float32 + 1.0")));
        CAPTURE(after);
        CHECK(after.find("out[x] = f[0] + 1.0") != after.npos);
        CHECK(after.find("shuffle") == after.npos);
        CHECK(after.find("gpu_lane for x in [0, +20)") != after.npos);
    }
    TEST_CASE("lanes that have no iteration come to the shuffle, and do nothing else") {
        const std::string after =
            striped(row("32", write_32, lanes(31, "out[x] = f[x + 1]:float32 + src2[x]:float32")));
        CAPTURE(after);
        CHECK(after.find("        gpu_lane for x in [0, +32):\n"
                         "            let other = shuffle_lanes(f[0], (x + 1) % 32, 32)\n"
                         "            if x < 31:\n"
                         "                out[x] = other + src2[x]:float32") != after.npos);
    }
    TEST_CASE("lanes are a power of two") {
        const std::string after = striped(
            row("6", lanes(6, "f[x] = src[x]:float32"), lanes(6, "out[x] = f[5 - x]:float32")));
        CAPTURE(after);
        CHECK(after.find("gpu_lane for x in [0, +8):\n            let other = "
                         "shuffle_lanes(f[0], (5 - x) % 8, 8)\n") != after.npos);
    }
    TEST_CASE("longer rows have a register for each turn of the lanes") {
        const std::string after =
            striped(row("40", write_32 + lanes(8, "f[x + 32] = src[x]:float32"),
                        lanes(32, "out[x] = f[x + 3]:float32 * f[x + 8]:float32")));
        CAPTURE(after);
        CHECK(after.find("allocate f: float32[2] in Tile") != after.npos);
        CHECK(after.find("f[1] = src[x]") != after.npos);
        CHECK(after.find("select((x + 3) / 32 == 0, ") != after.npos);
        size_t shuffles = 0;
        for (size_t at = 0; (at = after.find("shuffle_lanes(", at)) != after.npos; at++) shuffles++;
        CHECK(shuffles == 4);
    }
    TEST_CASE("a lane may have neighbours") {
        const std::string after = striped(
            row("64",
                lanes(32, "f[x*2] = src[x]:float32\n            f[x*2 + 1] = src[x + 32]:float32"),
                lanes(32, "out[x] = f[x*2 + 1]:float32\n            out[x + 32] = f[x]:float32")));
        CAPTURE(after);
        CHECK(after.find("allocate f: float32[2] in Tile") != after.npos);
        CHECK(after.find("f[0] = src[x]") != after.npos);
        CHECK(after.find("f[1] = src[x + 32]") != after.npos);
        CHECK(after.find("out[x] = f[1]") != after.npos);
        CHECK(after.find("x / 2 % 32") != after.npos);
        CHECK(after.find("select(x % 2 == 0, ") != after.npos);
    }
    TEST_CASE("vectors of a lane's own neighbours are vectors of its registers") {
        const std::string write =
            lanes(32, "f[ramp(x*4, 1, 4)] = src[ramp(x*4, 1, 4)]:float32x4\n"
                      "            let k = x*4 + 128:\n"
                      "                f[ramp(k, 1, 4)] = src[ramp(k, 1, 4)]:float32x4");
        const std::string after =
            striped(row("256", write,
                        lanes(32, "out[ramp(x*2, 1, 2)] = f[ramp(x*4 + 130, 1, 2)]:float32x2") +
                            lanes(32, "out[x] = f[255 - x*4]:float32 + f[x*4 + 3]:float32")));
        CAPTURE(after);
        CHECK(after.find("allocate f: float32[8] in Tile") != after.npos);
        CHECK(after.find("f[ramp(0, 1, 4)] = src[") != after.npos);
        CHECK(after.find("f[ramp(4, 1, 4)] = src[") != after.npos);
        CHECK(after.find("out[ramp(x * 2, 1, 2)] = f[ramp(6, 1, 2)]") != after.npos);
        CHECK(after.find("shuffle_lanes(f[7], ") != after.npos);
        CHECK(after.find(" + f[3]") != after.npos);
        // Those that are several lanes' are not.
        const std::string read = lanes(16, "out[x] = f[x]:float32");
        is_left_alone(row("256", write,
                          lanes(31, "out[ramp(x*4, 1, 4)] = f[ramp(x*4 + 2, 1, 4)]:float32x4")));
        is_left_alone(
            row("64", lanes(32, "f[ramp(x*2, 2, 2)] = src[ramp(x*2, 1, 2)]:float32x2"), read));
        is_left_alone(
            row("66", lanes(32, "f[ramp(x*2, 1, 4)] = src[ramp(x, 1, 4)]:float32x4"), read));
        is_left_alone(row("128", lanes(32, "f[ramp(x*4 + 2, 1, 4)] = x4(1.0)"), read));
        is_left_alone(row("128", lanes(32, "f[ramp(x, 32, 4)] = x4(1.0)"), read));
    }
    TEST_CASE("as many registers as the user wants, within limits") {
        const auto turns = [](int count) {
            std::string all;
            for (int i = 0; i < count; i++)
                all += lanes(32, "f[x + " + std::to_string(i * 32) + "] = 1.0");
            return all;
        };
        const std::string read = lanes(32, "out[x] = f[x]:float32");
        CHECK(striped(row("1024", turns(32), read)).find("float32[32] in Tile") !=
              std::string::npos);
        is_left_alone(row("1056", turns(33), read));
        CHECK(striped(row("4096", turns(128), read, "Register")).find("float32[128] in Tile") !=
              std::string::npos);
        is_left_alone(row("4128", turns(129), read, "Register"));
    }
    TEST_CASE("the first lane alone is shown what the others have") {
        const std::string after =
            striped(row("32", write_32,
                        "        out[r] = 0.0\n"
                        "        for i in [0, +32):\n"
                        "            out[r] = out[r]:float32 + f[i]:float32\n"));
        CAPTURE(after);
        CHECK(after.find("        out[r] = 0.0") != after.npos);
        CHECK(after.find("gpu_lane for lane in [0, +32) partition Never:\n"
                         "            for i in [0, +32):\n"
                         "                let other = shuffle_lanes(f[0], i % 32, 32)\n"
                         "                if lane < 1:\n"
                         "                    out[r] = out[r] + other") != after.npos);
    }
    TEST_CASE("loops and conditions around are those of all lanes") {
        const std::string after =
            striped(row("32", write_32,
                        lanes(16, "for i in [0, +m): if i < k: out[x] = f[(x + i) % 32]:float32")));
        CAPTURE(after);
        CHECK(after.find("if i < k:\n") != after.npos);
        CHECK(after.find("if x < 16:\n") != after.npos);
        const std::string by_lane =
            striped(row("32", write_32, lanes(32, "if x < k: out[x] = f[31 - x]:float32")));
        CAPTURE(by_lane);
        CHECK(by_lane.find("let other = shuffle_lanes(f[0], (31 - x) % 32, 32)\n"
                           "            if x < k:\n                out[x] = other") !=
              by_lane.npos);
        is_left_alone(
            row("32", write_32, lanes(32, "if src3[x]:int32 < k: out[x] = f[31 - x]:float32")));
        is_left_alone(
            row("32", write_32, lanes(16, "for i in [0, +x): out[x] = f[x + i]:float32")));
    }
    TEST_CASE("where an element is nobody's own, or not known, lanes share memory") {
        const std::string read = lanes(32, "out[x] = f[31 - x]:float32");
        is_left_alone(row("32", lanes(32, "f[31 - x] = src[x]:float32"), read));
        is_left_alone(row("32", lanes(32, "f[idx[x]:int32] = src[x]:float32"), read));
        is_left_alone(
            row("33", lanes(32, "f[x] = src[x]:float32\n            f[x + 1] = 1.0"), read));
        is_left_alone(row("32", write_32, "        f[3] = 1.0\n" + read));
        is_left_alone(row("32", write_32, lanes(32, "out[x] = f[idx[x]:int32]:float32")));
        is_left_alone(row("32", write_32,
                          lanes(31, "let i = src3[x]:int32\n            "
                                    "out[x] = f[x + 1]:float32 + float32(i)")));
        is_left_alone(row("32", write_32, read, "GPUShared"));
        is_left_alone(row("1024", lanes(32, "for i in [0, +32): f[x + i*32] = 1.0"), read));
        is_left_alone(row("32", lanes(32, "f[x] = src[x]:float32"),
                          lanes(32, "let p = address_of(f[x]:float32)\n            out[x] = 1.0")));
    }
    TEST_CASE("no barriers are placed for it") {
        const std::string after =
            run(canonical_kernels,
                striped(row("32", write_32, lanes(31, "out[x] = f[x + 1]:float32"))));
        CAPTURE(after);
        CHECK(after.find("barrier") == after.npos);
        CHECK(after.find("GPUShared") == after.npos);
        CHECK(after.find("allocate f: float32[1] in Tile") != after.npos);
        CHECK(after.find("let x = thread_x + 0\n") != after.npos);
    }
}
