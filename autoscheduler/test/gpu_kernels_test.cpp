// Kernels by rules for GPUs as PTX, which ptxas takes where it is installed, beside what the rules
// estimate of them; and unscheduled pipelines that are realized for a GPU.
#include "autoscheduler/space/gpu_rules.h"
#include "autoscheduler/test/support.h"
#include "correctness/device_code.h"
#include <regex>
#include <tessera.h>

using namespace tessera;
using namespace tessera::autoscheduler;

namespace {

Var x("x"), y("y"), c("c");

struct Case {
    const char *name;
    Func output;
    std::vector<int> size;
};

Func stencil() {
    ImageParam in(Float(32), 2, "in");
    Func across("across"), f("f");
    across(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
    f(x, y) = across(x, y) + across(x, y + 1) + across(x, y + 2);
    return f;
}
Func product(Type type, bool is_promised) {
    ImageParam a(type, 2, "a"), b(type, 2, "b");
    Func sums("sums"), f("f");
    RDom k(0, 512, "k");
    sums(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
    f(x, y) = max(sums(x, y), 0.0f);
    if (!is_promised) return f;
    for (ImageParam *p : {&a, &b}) p->dim(1).set_stride(512);
    return f.bound(x, 0, 512).bound(y, 0, 512);
}
Func convolution() {
    ImageParam in(Float(32), 3, "in"), filter(Float(32), 4, "filter");
    Func conv("conv"), f("f");
    RDom r(0, 32, 0, 3, 0, 3, "r");
    conv(c, x, y) += filter(c, r.x, r.y, r.z) * in(r.x, x + r.y, y + r.z);
    f(c, x, y) = max(conv(c, x, y), 0.0f);
    return f;
}
Func rows() {
    ImageParam in(Float(32), 2, "in");
    Func sum("sum"), f("f");
    RDom r(0, 1024, "r");
    sum(y) += in(r, y);
    f(x, y) = in(x, y) / sum(y);
    return f;
}
Func scan() {
    ImageParam in(Float(32), 2, "in");
    Func s("s"), f("f");
    RDom r(1, 511, "r");
    s(x, y) = in(x, y);
    s(x, r) = s(x, r - 1) + s(x, r);
    f(x, y) = s(x, y) * 2;
    return f;
}

std::vector<Case> cases() {
    return {{"stencil", stencil(), {1536, 2560}},
            {"product", product(Float(32), false), {1024, 1024}},
            {"product of halves", product(Float(16), true), {512, 512}},
            {"convolution", convolution(), {64, 96, 80}},
            {"rows", rows(), {1024, 4096}},
            {"scan", scan(), {1536, 512}}};
}

void estimate(Func &f, const std::vector<int> &size) {
    Region region;
    for (int s : size) region.emplace_back(0, s);
    f.set_estimates(region);
}

std::vector<int> numbers(const std::string &text, const char *expression) {
    std::vector<int> all;
    const std::regex pattern(expression);
    for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i)
        all.push_back(std::stoi((*i)[1]));
    return all;
}

// Sees the statement that is compiled.
struct Watch {
    std::string *text;
    ir::Stmt operator()(const ir::Stmt &s) const {
        *text = str(s);
        return s;
    }
};

}  // namespace

TEST_SUITE("autoscheduler, kernels of rules for GPUs") {
    TEST_CASE("ptxas takes them, and has the threads and registers that are estimated") {
        const Target target("x86-64-linux-cuda-cuda_capability_90");
        const GpuMachine machine = GpuMachine::usual(target);
        for (Case &one : cases()) {
            CAPTURE(one.name);
            estimate(one.output, one.size);
            const TuningProblem problem(Pipeline(one.output), target, Machine::usual(target, 2));
            const GpuRulesResult found = schedule_for_gpu(problem.workload, machine);
            CHECK_FALSE(found.is_on_cpu);
            Pipeline(one.output).apply_autoscheduler(target, {"simple"});
            const std::string ptx = tessera::test::ptx_of(one.output, 90);
            const std::string said = tessera::test::assembled(ptx, "sm_90a");
            CAPTURE(said);
            const std::vector<int> registers = numbers(said, "Used ([0-9]+) registers");
            const std::vector<int> threads = numbers(ptx, "[.]maxntid ([0-9]+)");
            for (const GpuKernel &k : found.kernels) {
                CAPTURE(k.name);
                CHECK(k.why_illegal(machine).empty());
                CHECK(resident_blocks(machine.limits,
                                      {k.threads, k.registers(), int(k.shared_bytes)}) > 0);
                CHECK(std::ranges::count(threads, k.threads) > 0);
                if (registers.empty()) continue;
                const auto is_near = [&](int r) {
                    return r <= 1.6 * k.registers() && k.registers() <= 3.5 * r;
                };
                CHECK(std::ranges::any_of(registers, is_near));
            }
            for (int r : registers) CHECK(r <= GpuLimits::registers_of_thread);
        }
    }
    TEST_CASE("an unscheduled pipeline with estimates that is realized for a GPU has kernels") {
        const Target target("host-jit-cuda-interpret-cuda_capability_90");
        Buffer<int> in(100, 60);
        in.for_each_element([&](const int *at) { in(at) = at[0] * 3 + at[1]; });
        for (const bool has_estimates : {true, false}) {
            Func twice("twice"), f("f");
            twice(x, y) = in(x, y) * 2;
            f(x, y) = twice(x, y) + twice(x + 1, y);
            if (has_estimates) estimate(f, {99, 60});
            Pipeline p(f);
            std::string text;
            p.add_custom_lowering_pass(new Watch{&text});
            const Buffer<int> result = p.realize({80, 50}, target);
            result.for_each_element([&](const int *at) {
                CHECK(result(at) == 2 * in(at[0], at[1]) + 2 * in(at[0] + 1, at[1]));
            });
            CAPTURE(text);
            CHECK((text.find("gpu_block") != std::string::npos ||
                   text.find("kernel") != std::string::npos) == has_estimates);
            // The pipeline itself stays as it is.
            CHECK(p.schedule_as_cpp().find("gpu_") == std::string::npos);
        }
    }
}
