#include "base/error.h"
#include "ir/layout.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include <array>
#include <doctest/doctest.h>
#include <random>
#include <set>

using namespace tessera;
using namespace tessera::ir;

namespace {

using Place = std::vector<int64_t>;

const char *const a_fragment = "i:16 k:16 -> thread(i%8*4 + k/2%4) register(k/8*4 + i/8*2 + k%2)";
const char *const sums = "i:64 j:32 -> thread(i/16*32 + i%8*4 + j/2%4) register(j/8*4 + i/8%2*2 + "
                         "j%2)";

std::string refused(const char *text) {
    try {
        parse_layout(text);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

// A layout whose places are one number each, in digits of random extents.
Layout random_layout(std::mt19937 &random) {
    Layout layout;
    layout.outputs.push_back({"place", 0, {}});
    int64_t stride = 1;
    for (size_t c = 0; c < 2; c++) {
        int64_t divisor = 1;
        for (int digits = 0; digits < 3; digits++) {
            const int64_t extent = 1 + int64_t(random() % 4);
            layout.outputs[0].digits.push_back({c, divisor, extent, 0});
            divisor *= extent;
        }
        layout.coordinates.push_back({c ? "j" : "i", divisor});
    }
    std::ranges::shuffle(layout.outputs[0].digits, random);
    for (LayoutDigit &d : layout.outputs[0].digits) {
        d.stride = stride;
        stride *= d.extent;
    }
    return layout;
}

}  // namespace

TEST_SUITE("layouts") {
    TEST_CASE("print what they are read from") {
        for (const char *text :
             {a_fragment, sums, "i:64 k:128 -> byte^128(k/64*8192 + i*128 + k%64*2)",
              "-> thread(0) register(0)", "i:3 -> a(i) b(0)"}) {
            CHECK(str(parse_layout(text)) == text);
            CHECK(parse_layout(str(parse_layout(text))) == parse_layout(text));
        }
    }
    TEST_CASE("refuse what is none") {
        CHECK(refused("i:16 -> byte(k)").find("a coordinate before \")\"") != std::string::npos);
        CHECK(refused("i:16 -> byte(i/3)").find("a digit that divides the 16 of i") !=
              std::string::npos);
        CHECK(refused("i:16 i:2 -> byte(i)").find("another name") != std::string::npos);
        CHECK(refused("i:16 -> byte^48(i)").find("a swizzle of 32, 64 or 128") !=
              std::string::npos);
        CHECK(refused("i:0 -> byte(i)").find("a number above zero") != std::string::npos);
        CHECK(refused("i:16 -> byte(i").find("')'") != std::string::npos);
    }
    TEST_CASE("say where elements lie, and which element lies there") {
        const Layout layout = parse_layout(a_fragment);
        CHECK(place_of(layout, Place{9, 11}) == Place{5, 7});
        CHECK(element_at(layout, Place{5, 7}) == Place{9, 11});
        CHECK(!element_at(layout, Place{32, 0}));
        // The swizzle exchanges the slots of a row of addresses, wherever the tile begins.
        const Layout panel = parse_layout("i:8 k:64 -> byte^128(i*128 + k*2)");
        CHECK(place_of(panel, Place{3, 0}) == Place{3 * 128 + 3 * 16});
        CHECK(place_of(panel, Place{3, 0}, 128) == Place{4 * 128 + 4 * 16});
        CHECK(element_at(panel, Place{4 * 128 + 4 * 16}, 128) == Place{3, 0});
    }
    TEST_CASE("are the same as expressions") {
        const Layout layout = parse_layout(a_fragment);
        const Expr i = int32_variable(Symbol::interned("i")),
                   k = int32_variable(Symbol::interned("k"));
        const std::vector<Expr> element = {i, k};
        CHECK(str(value_of(layout.outputs[0], layout.coordinates, element)) ==
              "i % 8 * 4 + k / 2 % 4");
        CHECK(str(value_of(layout.outputs[1], layout.coordinates, element)) ==
              "k / 8 * 4 + i / 8 * 2 + k % 2");
    }
    TEST_CASE("of panels cut rows of more than 128 bytes, and swizzle what shares banks") {
        const auto panels = [](std::vector<int64_t> extents, int64_t bytes) {
            const Layout layout = panel_layout(extents, bytes);
            CHECK(is_injective(layout));
            CHECK(parse_layout(str(layout)) == layout);
            return str(layout);
        };
        CHECK(panels({128, 64, 3}, 2) == "d0:128 d1:64 d2:3 -> byte^128(d0%64*2 + d1*128 + "
                                         "d0/64*8192 + d2*16384)");
        CHECK(panels({32, 8, 2}, 2) == "d0:32 d1:8 d2:2 -> byte^64(d0*2 + d1*64 + d2*512)");
        CHECK(panels({48, 8, 1}, 2) == "d0:48 d1:8 d2:1 -> byte^32(d0*2 + d1*96)");
        CHECK(panels({40, 8, 1}, 2) == "d0:40 d1:8 d2:1 -> byte(d0*2 + d1*80)");
        CHECK(panels({64, 4, 2, 3}, 4) == "d0:64 d1:4 d2:2 d3:3 -> byte^128(d0%32*4 + d1*128 + "
                                          "d2*512 + d0/32*1024 + d3*2048)");
        CHECK_THROWS_AS(panels({96, 8}, 2), InternalError);
        const Layout layout = panel_layout(std::array<int64_t, 3>{128, 64, 3}, 2);
        CHECK(neighbours(layout.outputs[0], 0, 2) == 64);
        CHECK(neighbours(layout.outputs[0], 1, 2) == 1);
        CHECK(in_units_of(layout.outputs[0], 2).extent() == 128 * 64 * 3);
        CHECK_THROWS_AS(in_units_of(layout.outputs[0], 4), InternalError);
    }
    TEST_CASE("of rows of 16-byte slots keep eight slots above one another in different banks") {
        for (int64_t row = 8; row <= 64; row += 8) {
            const Layout layout = panel_layout(std::array<int64_t, 3>{row, 64, 1}, 2);
            for (int64_t first = 0; first < 64; first += 8) {
                for (int64_t k = 0; k < row; k += 8) {
                    std::set<int64_t> slots;
                    for (int64_t i = 0; i < 8; i++)
                        slots.insert(place_of(layout, Place{k, first + i})[0] / slot_bytes % 8);
                    CAPTURE(layout);
                    CHECK(slots.size() == 8);
                }
            }
        }
    }
    TEST_CASE("invert") {
        CHECK(str(inverse(parse_layout(a_fragment))) ==
              "thread:32 register:8 -> i(thread/4 + register/2%2*8) k(thread%4*2 + register/4*8 + "
              "register%2)");
        CHECK_THROWS_AS(inverse(parse_layout("i:4 -> byte(i*2)")), InternalError);
        CHECK_THROWS_AS(inverse(parse_layout("i:4 -> byte(i/2)")), InternalError);
        CHECK_THROWS_AS(inverse(parse_layout("i:64 -> byte^32(i)")), InternalError);
        std::mt19937 random(1);
        for (int n = 0; n < 200; n++) {
            const Layout layout = random_layout(random);
            CHECK(is_identity(compose(inverse(layout), layout)));
            CHECK(is_identity(compose(layout, inverse(layout))));
        }
    }
    TEST_CASE("compose") {
        const Layout first = parse_layout("i:16 -> a(i%4) b(i/4)"),
                     second = parse_layout("a:4 b:4 -> byte(a*8 + b)");
        CHECK(str(compose(second, first)) == "i:16 -> byte(i%4*8 + i/4)");
        CHECK_THROWS_AS(compose(second, parse_layout("i:4 -> a(i)")), InternalError);
        // Digits of three elements are no digits of two.
        CHECK_THROWS_AS(
            compose(parse_layout("a:6 -> b(a%2)"), parse_layout("i:6 -> a(i/3*3 + i%3)")),
            InternalError);
        std::mt19937 random(2);
        int composed = 0;
        for (int n = 0; n < 500; n++) {
            const Layout inner = random_layout(random);
            Layout outer{{{"place", inner.size()}}, {{"a", 0, {}}, {"b", 0, {}}}};
            int64_t divisor = 1;
            for (int64_t extent : {1, 2, 3, 2, 2, 3}) {
                if (inner.size() % (divisor * extent) != 0) break;
                outer.outputs[random() % 2].digits.push_back({0, divisor, extent, divisor});
                divisor *= extent;
            }
            try {
                const Layout both = compose(outer, inner);
                for (int64_t i = 0; i < inner.coordinates[0].extent; i++) {
                    for (int64_t j = 0; j < inner.coordinates[1].extent; j++)
                        REQUIRE(place_of(both, Place{i, j}) ==
                                place_of(outer, place_of(inner, Place{i, j})));
                }
                composed++;
            } catch (const InternalError &) {
            }
        }
        CHECK(composed > 100);
    }
    TEST_CASE("of sums of one product are those of the next one's operand") {
        // wgmma's accumulators of 16 columns are the A operand of an instruction that sums these.
        const Layout a = parse_layout("i:64 k:16 -> thread(i/16*32 + i%8*4 + k/2%4) "
                                      "register(k/8*4 + i/8%2*2 + k%2)");
        const Layout of_8 = parse_layout("i:64 k:8 -> thread(i/16*32 + i%8*4 + k/2) "
                                         "register(i/8%2*2 + k%2)");
        const Layout of_16 = tiled(of_8, Place{64, 16}, "register");
        CHECK(is_identity(compose(a, inverse(of_16))));
    }
    TEST_CASE("are repeated in a larger tile") {
        const Layout one = parse_layout("i:2 j:2 -> thread(i) register(j)");
        CHECK(str(tiled(one, Place{4, 4}, "register")) ==
              "i:4 j:4 -> thread(i%2) register(i/2*4 + j/2*2 + j%2)");
        const Layout mma = parse_layout("i:16 j:8 -> thread(i%8*4 + j/2) register(i/8*2 + j%2)");
        const Layout tile = tiled(mma, Place{32, 64}, "register");
        CHECK(is_bijective(tile));
        CHECK(tile.output("register")->extent() == 64);
        CHECK_THROWS_AS(tiled(mma, Place{24, 64}, "register"), InternalError);
    }
}
