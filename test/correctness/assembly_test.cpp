// The tests look at machine code where its memory is concerned.
#include "correctness/device_code.h"
#include <regex>
#include <sstream>
#include <tessera.h>
#include <unistd.h>

using namespace tessera;

namespace {

Var x("x"), y("y");

std::string assembly_of(const Func &f) {
    const std::string path = std::filesystem::temp_directory_path() /
                             ("tessera_assembly" + std::to_string(getpid()) + ".s");
    const Target target("x86-64-linux-avx2-fma-no_asserts-no_bounds_query");
    Pipeline(f).compile_to_assembly(path, f.infer_arguments(), "f", target);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

// The largest frame of a function, in bytes.
int frame_size(const std::string &assembly) {
    const std::regex subtraction("sub[lq]\\s+\\$(\\d+), %rsp");
    int largest = 0;
    for (std::sregex_iterator i(assembly.begin(), assembly.end(), subtraction), end; i != end; i++)
        largest = std::max(largest, std::stoi((*i)[1]));
    return largest;
}

}  // namespace

TEST_SUITE("assembly") {
    TEST_CASE("buffers on the stack that do not live together have one place") {
        constexpr int row = 1024, stages = 8;
        ImageParam in(Int(32), 2, "in");
        std::vector<Func> chain;
        for (int i = 0; i < stages; i++) {
            Func f("f" + std::to_string(i));
            f(x, y) = i == 0 ? in(x, y) + in(row - 1 - x, y)
                             : chain.back()(x, y) * 3 + chain.back()(row - 1 - x, y);
            chain.push_back(f);
        }
        Func out = chain.back();
        out.bound(x, 0, row);
        for (int i = 0; i + 1 < stages; i++)
            chain[size_t(i)].compute_at(out, y).store_in(MemoryType::Stack);
        const int frame = frame_size(assembly_of(out));
        CHECK(frame >= 2 * 4 * row);
        CHECK(frame < 3 * 4 * row);
    }
    TEST_CASE("what is promised of the memory of a buffer is known of its vectors") {
        for (bool promised : {false, true}) {
            ImageParam in(Float(32), 2, "in");
            Func f("f");
            f(x, y) = in(x, y) + 1.0f;
            f.vectorize(x, 8, TailStrategy::RoundUp);
            for (OutputImageParam p : {OutputImageParam(in), f.output_buffer()}) {
                p.dim(0).set_bounds(0, 1024);
                p.dim(1).set_min(0).set_stride(1024);
                if (promised) p.set_host_alignment(32);
            }
            const std::string text = assembly_of(f);
            CHECK((test::count_of(text, "vmovups") == 0) == promised);
            CHECK((test::count_of(text, "vmovaps") > 0) == promised);
        }
    }
}
