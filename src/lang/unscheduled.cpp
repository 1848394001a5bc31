#include "lang/unscheduled.h"
#include "base/warning.h"
#include "program/environment.h"
#include <algorithm>
#include <mutex>

namespace tessera::detail {
namespace {

struct Finder {
    std::mutex mutex;
    ScheduleFinder function;
};

Finder &finder() {
    static auto *f = new Finder;
    return *f;
}

bool is_estimate(const program::Written<program::FuncDirective> &d) {
    return std::holds_alternative<program::EstimateDirective>(d.directive) ||
           std::holds_alternative<program::BoundDirective>(d.directive);
}

bool has_no_schedule(const program::FunctionContents &f) {
    return f.wrappers.empty() && std::ranges::all_of(f.schedule.directives, is_estimate) &&
           std::ranges::none_of(f.stages, [](const program::DefinitionRef &d) {
               return d->schedule.touched || !d->schedule.directives.empty();
           });
}

bool has_estimates(const program::FunctionContents &f) {
    return std::ranges::all_of(f.args, [&](Symbol arg) {
        return std::ranges::any_of(f.schedule.estimates, [&](const auto &estimate) {
            return estimate.var == arg && estimate.extent.defined();
        });
    });
}

}  // namespace

void set_schedule_finder(ScheduleFinder function) {
    std::lock_guard lock(finder().mutex);
    finder().function = std::move(function);
}

std::optional<program::ScheduledProgram> scheduled_for_gpu(const program::Program &program,
                                                           const Target &target) {
    if (!target.has_gpu_feature()) return {};
    const auto of_outputs = [](const program::FunctionRef &f) {
        return has_estimates(*f) && !f->extern_definition;
    };
    if (!std::ranges::all_of(program.outputs, of_outputs)) return {};
    for (const program::FunctionRef &f : program::find_transitive_calls(program.outputs).order) {
        if (!has_no_schedule(*f)) return {};
    }
    ScheduleFinder find;
    {
        std::lock_guard lock(finder().mutex);
        find = finder().function;
    }
    if (!find) return {};
    try {
        const auto schedule = find(program, target);
        if (!schedule) return {};
        return program::apply(program::Algorithm(program.outputs), *schedule);
    } catch (const CompileError &e) {
        warn(Location(), str("the pipeline has estimates, but no schedule for the GPU, and runs on "
                             "the CPU: ",
                             e.what()));
        return {};
    }
}

}  // namespace tessera::detail
