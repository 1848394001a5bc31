// Kernels that begin before those before them have ended (cuda_dependent_launch): all that they do
// with memory comes after they have waited.
#include "device_code.h"
#include <algorithm>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

// Three kernels, each of which reads what the one before it has written.
Func blurred(const ImageParam &input) {
    Func f("f"), g("g"), h("h");
    f(x, y) = input(x, y) * 3 + 1;
    g(x, y) = f(x, y) + f(x + 1, y);
    h(x, y) = g(x, y) + g(x, y + 1) + input(x, y);
    for (Func stage : {f, g}) stage.compute_root().gpu_tile(x, y, xi, yi, 16, 8);
    h.gpu_tile(x, y, xi, yi, 16, 8);
    return h;
}

std::string ptx_of(const ImageParam &in, Func f, const std::string &features) {
    const Target target("x86-64-linux-cuda" + features);
    const Module m = Pipeline(f).compile_to_module({in}, "f", target);
    const Buffer<uint8_t> code = m.get_device_code_buffer();
    return {reinterpret_cast<const char *>(code.data()), code.number_of_elements()};
}

}  // namespace

TEST_SUITE("dependent launches") {
    TEST_CASE("every kernel waits first, and no load is free to move ahead of that") {
        const ImageParam in(Int(32), 2, "in");
        const Func f = blurred(in);
        const std::string ptx = ptx_of(in, f, "-cuda_capability_90-cuda_dependent_launch");
        CAPTURE(ptx);
        const size_t kernels = count_of(ptx, ".entry");
        CHECK(kernels >= 3);
        CHECK(count_of(ptx, "griddepcontrol.wait;") == kernels);
        CHECK(count_of(ptx, "griddepcontrol.launch_dependents;") == kernels);
        CHECK(count_of(ptx, "ld.global.nc") == 0);
        for (size_t at = ptx.find(".entry"); at != std::string::npos;) {
            const size_t next = ptx.find(".entry", at + 1);
            const std::string body = ptx.substr(at, next - at);
            const size_t wait = body.find("griddepcontrol.wait;");
            CHECK(wait < std::min({body.find("ld.global"), body.find("st.global"),
                                   body.find("ret;"), body.find("bra")}));
            at = next;
        }
        test::check_assembled(ptx, 90);
    }
    TEST_CASE("kernels wait where the target asks for it and its GPUs can") {
        const ImageParam in(Int(32), 2, "in");
        const Func f = blurred(in);
        for (const char *features :
             {"-cuda_capability_90", "-cuda_capability_80-cuda_dependent_launch",
              "-cuda_capability_80-cuda_capability_90-cuda_dependent_launch"}) {
            CAPTURE(features);
            const std::string ptx = ptx_of(in, f, features);
            CHECK(count_of(ptx, "griddepcontrol") == 0);
            CHECK(count_of(ptx, "ld.global.nc") > 0);
        }
    }
    TEST_CASE("kernels that depend on each other agree with the CPU, again and again") {
        constexpr int width = 300, height = 200, runs = 20;
        std::vector<Target> targets = {
            Target("host-jit-cuda-cuda_capability_90-cuda_dependent_launch-interpret")};
        const Target gpu("host-jit-cuda-cuda_dependent_launch");
        if (host_supports_target_device(gpu)) targets.push_back(gpu);
        for (const Target &target : targets) {
            CAPTURE(target.to_string());
            const int times = target.has_feature(Target::Interpret) ? 1 : runs;
            ImageParam in(Int(32), 2, "in");
            Func h = blurred(in);
            Buffer<int> data(width + 1, height + 1);
            for (int t = 0; t < times; t++) {
                data.for_each_element([&](int i, int j) { data(i, j) = i * 7 + j * 11 + t; });
                in.set(data);
                const Buffer<int> out = h.realize({width, height}, target);
                const auto g = [&](int i, int j) { return (data(i, j) + data(i + 1, j)) * 3 + 2; };
                int wrong = 0;
                out.for_each_element([&](int i, int j) {
                    wrong += out(i, j) != g(i, j) + g(i, j + 1) + data(i, j);
                });
                CHECK(wrong == 0);
            }
        }
    }
}
