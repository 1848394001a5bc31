#include "tensor_check.h"
#include "tensor_build.h"
#include <base/warning.h>
#include <chrono>
#include <cmath>
#include <codegen/backend.h>
#include <cstring>
#include <interpret/definition.h>
#include <interpret/statement.h>
#include <lower/lower.h>
#include <tessera.h>

namespace tessera::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<Buffer<>> buffers_for(const TensorPipeline &p) {
    std::vector<Buffer<>> all;
    for (Type t : p.out.types()) {
        all.emplace_back(t, p.sizes);
        std::memset(all.back().data(), 0x5A, all.back().size_in_bytes());
    }
    return all;
}

// Says how far a value may be off for its rounding: quotients and sums of a few values.
double tolerance(Type t, double value) {
    if (!t.is_float()) return 0;
    const double digits = t == BFloat(16) ? 1.0 / 128 : t == Float(16) ? 1.0 / 1024 : 1e-5;
    return digits * std::max(1.0, std::fabs(value));
}

std::string difference(const std::vector<Buffer<>> &expected, const std::vector<Buffer<>> &got) {
    for (size_t i = 0; i < expected.size(); i++) {
        const Type t = expected[i].type();
        const size_t bytes = size_t(t.bytes()), count = expected[i].size_in_bytes() / bytes;
        const auto value = [&](const Buffer<> &b, size_t at) {
            const auto *p = static_cast<const uint8_t *>(b.data()) + at * bytes;
            return interpret::double_of_word(t, interpret::load_word(t, p));
        };
        size_t wrong = 0, first = 0;
        for (size_t at = 0; at < count; at++) {
            const double a = value(expected[i], at), b = value(got[i], at);
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            if (std::fabs(a - b) <= tolerance(t, a)) continue;
            if (wrong++ == 0) first = at;
        }
        if (wrong > 0)
            return str(wrong, " of ", count, " elements of ", t, " are wrong, element ", first,
                       " is ", value(got[i], first), " instead of ", value(expected[i], first));
    }
    return "";
}

void define(TensorPipeline &plain, std::vector<Buffer<>> &to) {
    std::vector<tessera_buffer_t *> raw;
    for (Buffer<> &b : to) raw.push_back(b.raw_buffer());
    interpret::evaluate_definition(Pipeline(plain.out).program(), raw);
}

std::string beginning_of(const std::string &message) {
    std::string kept;
    const size_t from = message.find(": ");
    for (char c : message.substr(from == std::string::npos ? 0 : from)) {
        if (!std::isdigit(static_cast<unsigned char>(c))) kept += c;
        if (kept.size() > 70) break;
    }
    return kept;
}

}  // namespace

Report check_tensor_here(const TensorPlan &plan) {
    set_warning_handler([](const std::string &) {});
    std::string doing = "building";
    try {
        TensorPipeline plain = build(plan, false), scheduled = build(plan, true);
        std::vector<Buffer<>> expected = buffers_for(plain), got = buffers_for(scheduled);
        doing = "definition";
        define(plain, expected);
        const Target gpu("host-jit-cuda-cuda_capability_90");
        const bool is_run = host_supports_target_device(Target("host-jit-cuda"));
        doing = is_run ? "code on the device" : "interpreted code";
        scheduled.out.realize(RealizationArg(got),
                              is_run ? gpu : Target(gpu.to_string() + "-interpret"));
        if (is_run) {
            for (Buffer<> &b : got) b.copy_to_host();
        }
        const std::string differs = difference(expected, got);
        if (!differs.empty()) return {Outcome::Fails, doing + " differs", differs};
        if (is_run || !plan.is_compiled) return {Outcome::Agrees, "", ""};
        doing = "code of kernels";
        const ir::Module module = lower::lower(Pipeline(scheduled.out).program(), gpu);
        codegen::make_code(codegen::CodeKind::Object, module, gpu);
        return {Outcome::Agrees, "", ""};
    } catch (const CompileError &e) {
        return {Outcome::Refused, "refused" + beginning_of(e.what()), e.what()};
    } catch (const std::exception &e) {
        return {Outcome::Fails, doing + beginning_of(e.what()), e.what()};
    }
}

TensorPlan shrink(TensorPlan plan, const std::string &kind, int seconds) {
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    bool any = true;
    while (any) {
        any = false;
        for (size_t i = 0; i < plan.choices().size(); i++) {
            const int value = *plan.choices()[i].value;
            for (const int less : {0, value / 2, value - 1}) {
                if (less < 0 || less >= value || Clock::now() > end) continue;
                TensorPlan smaller = plan;
                *smaller.choices()[i].value = less;
                Plan all;
                all.tensor = smaller;
                const Report r = check(all, 60);
                if (r.outcome != Outcome::Fails || r.kind != kind) continue;
                plan = smaller;
                any = true;
                break;
            }
        }
    }
    return plan;
}

}  // namespace tessera::fuzz
