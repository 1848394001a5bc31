// Checks what the compiler makes of the loops that take the time, by counts of instructions: they
// tell more than times, and are the same on every machine.
#include <tessera_generator.h>

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace tessera;

namespace {

// An innermost loop, by the instructions of its body.
struct Loop {
    int instructions = 0, multiply_adds = 0, loads = 0, broadcasts = 0, stores = 0, on_stack = 0;
};

std::string assembly_of(const std::string &generator, const std::string &target,
                        const std::map<std::string, std::string> &params = {}) {
    GeneratorContext context{Target(target)};
    const std::string path = std::filesystem::temp_directory_path() /
                             ("tessera_inner_loop_" + generator + std::to_string(getpid()) + ".s");
    auto made = GeneratorRegistry::create(generator, context);
    for (const auto &[name, value] : params) made->set_generator_param(name, value);
    Pipeline pipeline = made->get_pipeline();
    pipeline.compile_to_assembly(path, made->pipeline_arguments(), generator, Target(target));
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

bool contains(const std::string &line, const char *part) {
    return line.find(part) != std::string::npos;
}

void count(Loop &loop, const std::string &line) {
    const bool to_memory = line.back() == ')';  // AT&T: the target comes last
    loop.instructions++;
    for (const char *name : {"vfmadd", "vpdpbusd", "vdpbf16ps"}) {
        if (contains(line, name)) loop.multiply_adds++;
    }
    if (contains(line, "broadcast")) loop.broadcasts++;
    if (contains(line, "\tvmovup") || contains(line, "\tvmovap") || contains(line, "\tvmovdq")) {
        if (contains(line, "(")) (to_memory ? loop.stores : loop.loads)++;
    }
    if (contains(line, "rsp") || contains(line, "rbp)")) loop.on_stack++;
}

// Those without another in them: from a label to a jump back to it, without another label.
std::vector<Loop> innermost_loops(const std::string &assembly) {
    std::istringstream lines(assembly);
    std::vector<Loop> all;
    Loop current;
    std::string label;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || contains(line, "#") || line[0] != '\t') {
            const size_t colon = line.find(':');
            if (colon == std::string::npos) continue;
            label = line.substr(0, colon);
            current = {};
            continue;
        }
        if (line[1] == '.') continue;  // a directive
        count(current, line);
        const bool jumps_back = line[1] == 'j' && line.substr(line.rfind('\t') + 1) == label;
        if (jumps_back) all.push_back(current);
    }
    return all;
}

// The one with the most multiply-adds.
Loop hottest_loop(const std::string &assembly) {
    Loop best;
    for (const Loop &loop : innermost_loops(assembly)) {
        if (loop.multiply_adds > best.multiply_adds) best = loop;
    }
    return best;
}

const char *avx512 = "x86-64-linux-avx512_skylake", *zen4 = "x86-64-linux-avx512_zen4",
           *sapphire_rapids = "x86-64-linux-avx512_sapphirerapids";

// 24 sums stay in registers, and what they take comes straight from memory.
void check_tile(const Loop &loop, int others = 8) {
    CHECK(loop.multiply_adds == 24);
    CHECK(loop.loads == 4);
    CHECK(loop.broadcasts == 6);
    CHECK(loop.stores == 0);
    CHECK(loop.on_stack == 0);
    CHECK(loop.instructions <= 24 + 4 + 6 + others);
}

int vectors_on_stack(const std::string &assembly) {
    std::istringstream lines(assembly);
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
        count += contains(line, "rsp") && contains(line, "zmm");
    }
    return count;
}

void check_widening_gemm(const char *instruction, const std::string &a, const std::string &b) {
    const std::string assembly = assembly_of("widening_gemm", zen4, {{"a.type", a}, {"b.type", b}});
    CHECK(contains(assembly, instruction));
    check_tile(hottest_loop(assembly));
}

}  // namespace

TEST_SUITE("inner loops") {
    TEST_CASE("gemm: 24 sums stay in registers, and constants in addresses") {
        const std::string assembly = assembly_of("gemm", avx512);
        // One more than needed: twice the stride of a's rows is computed in each iteration.
        check_tile(hottest_loop(assembly), 9);
        // Nor do they pass through memory on their way to the output.
        CHECK(vectors_on_stack(assembly) <= 30);
    }
    TEST_CASE("layer_norm: partial sums stay in registers, in the tail of a row as well") {
        CHECK(vectors_on_stack(assembly_of("layer_norm", avx512)) == 0);
    }
    TEST_CASE("widening_gemm: one instruction for the products of a group") {
        check_widening_gemm("vpdpbusd", "uint8", "int8");
        check_widening_gemm("vdpbf16ps", "bfloat16", "bfloat16");
    }
    TEST_CASE("unsharp: away from the edges, three colours are loaded as they lie in memory") {
        const std::vector<Loop> loops = innermost_loops(assembly_of("unsharp", avx512));
        CHECK(std::ranges::any_of(loops, [](const Loop &loop) {
            return loop.multiply_adds == 2 && loop.stores == 1 && loop.instructions <= 10;
        }));
    }
    TEST_CASE("hist and camera_pipe: tables of bytes are in registers") {
        for (const char *generator : {"hist", "camera_pipe"}) {
            INFO(generator);
            const std::string assembly = assembly_of(generator, zen4);
            CHECK((contains(assembly, "vpermt2b") || contains(assembly, "vpermi2b")));
            CHECK(!contains(assembly, "vpinsrb"));  // no byte is looked up by itself
        }
    }
    TEST_CASE("bilateral_grid: four numbers of a cell are one load") {
        const std::vector<Loop> loops = innermost_loops(assembly_of("bilateral_grid", avx512));
        const Loop loop = *std::ranges::max_element(loops, {}, &Loop::instructions);
        // The loop has 16 pixels, four cells each: 64 loads, of which some are folded into inserts.
        CHECK(loop.multiply_adds >= 14);
        CHECK(loop.instructions < 320);
    }
    TEST_CASE("conv_layer: 20 sums stay in registers") {
        const Loop loop = hottest_loop(assembly_of("conv_layer", avx512));
        CHECK(loop.multiply_adds == 2 * 20);  // the channels are unrolled by 2
        CHECK(loop.loads == 2 * 2);
        CHECK(loop.broadcasts == 2 * 10);
        CHECK(loop.stores == 0);
        CHECK(loop.on_stack <= 3);  // of the addresses of ten places
        CHECK(loop.instructions <= 2 * (20 + 2 + 10) + 6);
    }
    TEST_CASE("conv_layer: on Sapphire Rapids, which would wait for loads, fewer of them") {
        const Loop loop = hottest_loop(assembly_of("conv_layer", sapphire_rapids));
        CHECK(loop.multiply_adds == 2 * 24);
        CHECK(loop.loads + loop.broadcasts == 2 * (4 + 6));
        CHECK(loop.stores == 0);
        CHECK(loop.on_stack <= 3);
    }
    TEST_CASE("a product in an output: rows of sums stay in registers while the reduction runs") {
        ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
        Var x("x"), y("y"), xi("xi"), yi("yi");
        RDom k(0, a.dim(0).extent(), "k");
        Func product("product");
        product(x, y) += a(k, y) * b(x, k);
        product.update()
            .tile(x, y, xi, yi, 32, 4, TailStrategy::GuardWithIf)
            .reorder(xi, yi, k, x, y)
            .vectorize(xi)
            .unroll(yi);
        const std::string path = std::filesystem::temp_directory_path() /
                                 ("tessera_inner_loop_product" + std::to_string(getpid()) + ".s");
        product.compile_to_assembly(path, {a, b}, "product", Target(avx512));
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        std::filesystem::remove(path);
        const Loop loop = hottest_loop(text.str());
        CHECK(loop.multiply_adds == 8);
        CHECK(loop.stores == 0);
        CHECK(loop.loads + loop.broadcasts <= 6);
    }
}
