#include "lower/finish/align_accesses.h"
#include "lower/pass_test.h"
#include "program/parameter.h"

using namespace tessera;
using namespace tessera::lower;

namespace {

// Returns what becomes of a function that reads an input `source`, whose memory is at multiples of
// so many bytes.
std::string aligned(int bytes, std::string_view body) {
    const program::ParameterRef in =
        program::make_buffer_parameter(Symbol::interned("source"), Float(32), 1);
    in->host_alignment = bytes;
    ir::NamedSymbols names;
    names.bind("source", in->name);
    const ir::LoweredFunction pipeline{
        "f",
        {{in->name, ir::ArgumentKind::InputBuffer, Float(32), 1, in}},
        ir::parse_stmt(body, names)};
    return ir::to_string(align_accesses(pipeline, {}));
}

}  // namespace

TEST_SUITE("align_accesses") {
    TEST_CASE("what indices are multiples of, by constants, lets and strides") {
        CHECK(aligned(64, "out[ramp(0, 1, 8)] = source[ramp(x * 8, 1, 8)]:float32x8") ==
              printed("out[ramp(0, 1, 8)] = source[ramp(x * 8, 1, 8) aligned(8, 0)]:float32x8"));
        CHECK(aligned(64, "let row = y / 16 * 16 + 4\nout[0] = source[row + x * 8]:float32") ==
              printed("let row = y / 16 * 16 + 4\n"
                      "out[0] = source[row + x * 8 aligned(8, 4)]:float32"));
        CHECK(aligned(64, "out[0] = source[3]:float32") ==
              printed("out[0] = source[3 aligned(128, 3)]:float32"));
    }
    TEST_CASE("nothing is said of other buffers, of kernels, and where nothing is known") {
        for (const char *text : {"out[ramp(0, 1, 8)] = g[ramp(x * 8, 1, 8)]:float32x8",
                                 "out[ramp(0, 1, 8)] = source[ramp(x, 1, 8)]:float32x8",
                                 "gpu_block for x in [0, +n): out[x] = source[x * 8]:float32"}) {
            CHECK(aligned(64, text) == printed(text));
        }
        const char *text = "out[0] = source[x * 8]:float32";
        CHECK(aligned(0, text) == printed(text));
    }
}
