#include "lower/gpu/lane_reductions.h"
#include "lower/gpu/stripe_lanes.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// A row of lanes that run the statement.
std::string row(int count, const std::string &s, const std::string &before = "") {
    return "gpu_block for b in [0, +n):\n"
           "    gpu_thread for r in [0, +4):\n"
           "        allocate f: float32[2] in GPUShared\n" +
           before + "        gpu_lane for x in [0, +" + std::to_string(count) + "):\n            " +
           s +
           "\n"
           "        gpu_lane for x1 in [0, +1):\n"
           "            out[r] = f[0]:float32\n";
}

// What a row does, of storage of its own.
std::string in_row(const std::string &s, const std::string &memory = "Auto") {
    return "gpu_block for b in [0, +n):\n"
           "    gpu_thread for r in [0, +4):\n"
           "        allocate f: float32[1] in " +
           memory + "\n" + s;
}

std::string reduced(const std::string &text) { return run(reduce_lanes, text); }
void is_left_alone(const std::string &text) {
    CAPTURE(text);
    CHECK(reduced(text) == printed(text));
}
bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("reduce_lanes") {
    TEST_CASE("an update of one element by all lanes becomes shuffles and one update") {
        const std::string after =
            reduced(row(8, "atomic f: f[0] = f[0]:float32 + src[r*8 + x]:float32"));
        CAPTURE(after);
        CHECK(has(after, "            let part = src[r * 8 + x]:float32\n"
                         "            let other = shuffle_lanes(part, bitwise_xor(x, 4), 8)\n"
                         "            let part.1 = strict_float(part + other)\n"
                         "            let other.1 = shuffle_lanes(part.1, bitwise_xor(x, 2), 8)\n"
                         "            let part.2 = strict_float(part.1 + other.1)\n"
                         "            let other.2 = shuffle_lanes(part.2, bitwise_xor(x, 1), 8)\n"
                         "            let part.3 = strict_float(part.2 + other.2)\n"
                         "            if x < 1:\n"
                         "                f[0] = f[0] + part.3\n"));
    }
    TEST_CASE("where other rows have the element, too, it stays atomic") {
        const std::string after =
            reduced(row(32, "atomic g: g[3] = min(g[3]:int32, src[x]:int32)"));
        CAPTURE(after);
        CHECK(has(after, "            if x < 1:\n"
                         "                atomic g:\n"
                         "                    g[3] = min(g[3], part.5)\n"));
    }
    TEST_CASE("all that is the same for the lanes may be around it") {
        const std::string after =
            reduced(row(32, "let i = r*2 + 1\n"
                            "            let v = src[x]:int32\n"
                            "            for k in [0, +i): if k < m:\n"
                            "                atomic g: g[i + k] = max(g[i + k]:int32, v + k)"));
        CAPTURE(after);
        CHECK(has(after, "let part = v + k\n"));
        CHECK(has(after, "bitwise_xor(x, 16), 32)"));
        CHECK(has(after, "g[i + k] = max(g[i + k], part.5)"));
    }
    TEST_CASE("several values of one update") {
        const std::string after =
            reduced(row(2, "atomic f:\n"
                           "                f[0] = f[0]:float32 * src[x]:float32\n"
                           "                f[1] = max(f[1]:float32, src[x]:float32)"));
        CAPTURE(after);
        CHECK(has(after, "f[0] = f[0] * part.1\n"));
        CHECK(has(after, "f[1] = max(f[1], part.3)\n"));
        CHECK(!has(after, "atomic"));
    }
    TEST_CASE("lanes that do not begin at 0") {
        const std::string after = reduced(
            "gpu_block for b in [0, +n): gpu_thread for r in [0, +4): gpu_lane for x in [3, +2):\n"
            "    atomic g: g[r] = g[r]:int32 + x");
        CAPTURE(after);
        CHECK(has(after, "let other = shuffle_lanes(part, bitwise_xor(x - 3, 1), 2)\n"));
        CHECK(has(after, "if x - 3 < 1:\n"));
    }
    TEST_CASE("what the lanes do not all do to one element is left alone") {
        const auto sum = [](const std::string &index, const std::string &value) {
            return "atomic f: f[" + index + "] = f[" + index + "]:float32 + " + value;
        };
        const std::string plain = sum("0", "src[x]:float32");
        is_left_alone(row(32, sum("x % 2", "1.0")));         // by some lanes
        is_left_alone(row(32, sum("idx[0]:int32", "1.0")));  // who knows
        is_left_alone(row(32, "let i = x / 16: " + sum("i", "1.0")));
        is_left_alone(row(32, "if x < k: " + plain));  // not by all
        is_left_alone(row(32, "if idx[x]:int32 < k: " + plain));
        is_left_alone(row(32, "for i in [0, +x): " + plain));
        is_left_alone(row(31, plain));  // rows have 32
        is_left_alone(row(16, plain, "        gpu_lane for y in [0, +17): out[y] = 1.0\n"));
        is_left_alone(row(32, "atomic f mutexes m: f[0] = f[0]:float32 + 1.0"));
        is_left_alone(row(32, "atomic f: f[0] = f[0]:float32 / src[x]:float32"));
        is_left_alone(row(32, "atomic f: f[0] = src[x]:float32"));
        is_left_alone(row(32, "f[0] = f[0]:float32 + src[x]:float32"));
        is_left_alone(row(32, sum("0", "f[1]:float32")));
        is_left_alone(row(32, "atomic f:\n"
                              "                f[0] = f[0]:float32 + 1.0\n"
                              "                g[0] = g[0]:float32 + f[0]:float32"));
        is_left_alone("gpu_block for b in [0, +n): gpu_lane for x in [0, +32):\n"
                      "    atomic g: g[0] = g[0]:int32 + x");  // no row
    }
    TEST_CASE("sums of floats that are strict keep their order") {
        Context strict;
        strict.target.set_feature(Target::StrictFloat);
        const std::string sum = row(32, "atomic f: f[0] = f[0]:float32 + src[x]:float32");
        CHECK(run(reduce_lanes, sum, strict) == printed(sum));
        const std::string most = row(32, "atomic f: f[0] = max(f[0]:float32, src[x]:float32)");
        CHECK(run(reduce_lanes, most, strict) != printed(most));
    }
    TEST_CASE("what is the same for all lanes is in registers of each") {
        const std::string after = reduced(in_row(
            "        f[0] = 0.0\n"
            "        gpu_lane for x in [0, +2):\n"
            "            atomic f: f[0] = f[0]:float32 + src[x]:float32\n"
            "        allocate g: float32[2] in Auto\n"
            "        for i in [0, +2):\n"
            "            g[1] = f[0]:float32 * src[i]:float32\n"
            "        g[0] = g[1]:float32\n"
            "        gpu_lane for x1 in [0, +1): out[r] = f[0]:float32 * g[0]:float32\n"
            "        gpu_lane for x2 in [0, +2):\n"
            "            out[ramp(x2, 2, 2)] = f[x2(0) if ramp(x2, 1, 2) < x2(k)]:float32x2\n"
            "        out[r + 4] = g[1]:float32\n"));
        CAPTURE(after);
        CHECK(has(after, "    gpu_thread for r in [0, +4):\n"
                         "        allocate f: float32[1] in Tile\n"
                         "        gpu_lane for lane in [0, +2) partition Never:\n"
                         "            f[0] = 0.0\n"
                         "        gpu_lane for x in [0, +2):\n"
                         "            let part = src[x]:float32\n"
                         "            let other = shuffle_lanes(part, bitwise_xor(x, 1), 2)\n"
                         "            let part.1 = strict_float(part + other)\n"
                         "            f[0] = f[0] + part.1\n"
                         "        allocate g: float32[2] in Tile\n"
                         "        for i in [0, +2):\n"
                         "            gpu_lane for lane.1 in [0, +2) partition Never:\n"
                         "                g[1] = f[0] * src[i]\n"
                         "        gpu_lane for lane.2 in [0, +2) partition Never:\n"
                         "            g[0] = g[1]\n"
                         "        gpu_lane for x1 in [0, +1):\n"
                         "            out[r] = f[0] * g[0]\n"
                         "        gpu_lane for x2 in [0, +2):\n"
                         "            out[ramp(x2, 2, 2)] = f[x2(0) if ramp(x2, 1, 2) < x2(k)]\n"
                         "        out[r + 4] = g[1]\n"));
    }
    TEST_CASE("all lanes have one maximum, also of what may not be a number") {
        const std::string after =
            reduced(in_row("        f[0] = 0.0\n"
                           "        gpu_lane for x in [0, +2):\n"
                           "            atomic f: f[0] = max(f[0]:float32, src[x]:float32)\n"));
        CAPTURE(after);
        CHECK(has(after, "            let part.1 = max(part, other)\n"
                         "            f[0] = max(f[0], part.1)\n"));
    }
    TEST_CASE("what lanes, or somebody else, may see differently is the row's") {
        const std::string lanes = "        gpu_lane for x1 in [0, +2): out[x1] = f[0]:float32\n";
        const auto is_of_row = [&](const std::string &s, const std::string &memory = "Auto") {
            const std::string after = reduced(in_row(s + lanes, memory));
            CAPTURE(after);
            CHECK(has(after, "allocate f: float32[1] in " + memory));
        };
        is_of_row("        gpu_lane for x in [0, +2): f[0] = 1.0\n");
        is_of_row("        gpu_lane for x in [0, +1): f[0] = src[0]:float32\n");
        is_of_row("        f[r % 1] = 1.0\n");
        is_of_row("        f[0] = 1.0\n", "GPUShared");
        is_of_row("        f[0] = 1.0\n", "Heap");
        is_of_row("        f[0] = float32(extern int32 count())\n");
        is_of_row("        let v = extern int32 count():\n            f[0] = float32(v)\n");
        is_of_row("        if src[0]:float32 < 1.0: f[0] = 1.0\n");
        is_of_row("        for i in [0, +idx[0]:int32): f[0] = 1.0\n");
        is_of_row("        for i in [0, +2):\n"
                  "            allocate t: float32[1] in Auto\n"
                  "            t[0] = 1.0\n"
                  "            f[0] = t[0]:float32\n");
        is_of_row("        atomic f: f[0] = f[0]:float32 + 1.0\n");
        is_of_row("        gpu_lane for x in [0, +2):\n"
                  "            if x < k: atomic f: f[0] = f[0]:float32 + 1.0\n");
        is_of_row("        gpu_lane for x in [0, +1):\n"
                  "            atomic f: f[0] = f[0]:float32 + 1.0\n");
        is_of_row("        f[0] = 1.0\n"
                  "        gpu_lane for x in [0, +2):\n"
                  "            out[x] = f[x % 1]:float32\n");
        is_of_row("        f[0] = 1.0\n"
                  "        gpu_lane for x in [0, +2):\n"
                  "            let p = address_of(f[0]:float32)\n"
                  "            out[x] = 1.0\n");
        is_of_row("        f[0] = 1.0\n"
                  "        gpu_thread for x in [0, +2): out[x] = f[0]:float32\n");
        const std::string of_threads = reduced("gpu_block for b in [0, +n):\n"
                                               "    allocate g: float32[4] in Register\n"
                                               "    gpu_thread for r in [0, +4):\n"
                                               "        allocate f: float32[1] in Auto\n"
                                               "        f[0] = g[0]:float32\n" +
                                               lanes);
        CHECK(has(of_threads, "allocate f: float32[1] in Auto"));
    }
    TEST_CASE("the partial results are registers of the lanes") {
        const std::string after =
            run(stripe_lanes,
                reduced(row(32, "atomic f: f[0] = f[0]:float32 + part[x]:float32",
                            "        allocate part: float32[32] in Auto\n"
                            "        gpu_lane for x2 in [0, +32): part[x2] = src[x2]:float32\n")));
        CAPTURE(after);
        CHECK(has(after, "allocate part: float32[1] in Tile"));
        CHECK(has(after, "= part[0]\n"));
    }
}
