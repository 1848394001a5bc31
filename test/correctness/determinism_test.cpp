#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tessera.h>
#include <unistd.h>

// The code of a pipeline does not depend on what was made or compiled before it.
using namespace tessera;

namespace {

// Sums, products and extrema of many operands, whose order somebody has to choose, in loops with
// tails, tiles and a window that slides.
std::string assembly_of_a_pipeline() {
    ImageParam in(Int(32), 2, "in"), weights(Float(32), 2, "weights");
    Param<int> p("p"), q("q");
    Var x("x"), y("y"), xi("xi"), yi("yi");
    Func f("f"), g("g"), h("h"), out("out");
    f(x, y) = in(clamp(x + p, 0, in.width() - 1), clamp(q - y, 0, in.height() - 1)) * (p * q * x);
    g(x, y) = min(f(x, y) + p, f(x + q, y) * 2, in(x, y) % 7, x * y + p * q, f(x - 1, y) / 3);
    h(x, y) = max(weights(x, y), weights(x + 1, y), weights(x, y + 1)) + weights(y, x) * p;
    Expr far = cast<int>((x + 0.5f) * weights(0, 0));
    out(x, y) = select(far % 3 == p && q < x, g(x, y) + g(x, y + 1), cast<int>(h(x, y)) + g(y, x));
    out.tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf).vectorize(xi, 8);
    f.compute_at(out, y).vectorize(x, 4);
    g.compute_at(out, x).store_at(out, y).vectorize(x, 8, TailStrategy::GuardWithIf);
    h.compute_at(out, yi);
    const std::string path = std::filesystem::temp_directory_path() /
                             ("tessera_determinism" + std::to_string(getpid()) + ".s");
    out.compile_to_assembly(path, {in, weights, p, q}, "pipeline", Target("x86-64-linux-avx2-fma"));
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

}  // namespace

TEST_CASE("two compilations of one pipeline give the same code") {
    const std::string first = assembly_of_a_pipeline();
    REQUIRE(first.size() > 1000);
    // Names are numbered as they are made, and a hash of a name follows its number.
    for (int others : {3, 60, 12345}) {
        for (int i = 0; i < others; i++) Var();
        CAPTURE(others);
        CHECK(assembly_of_a_pipeline() == first);
    }
}
