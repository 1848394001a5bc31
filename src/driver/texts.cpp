#include "base/large_stack.h"
#include "base/warning.h"
#include "driver/compile.h"
#include "driver/lower_program.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "program/environment.h"
#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tessera::driver {
namespace {

bool is_output(const ir::Argument &a) { return a.kind == ir::ArgumentKind::OutputBuffer; }

ir::Argument argument_of(const program::ParameterRef &p) {
    return {p->name, p->is_buffer ? ir::ArgumentKind::InputBuffer : ir::ArgumentKind::Scalar,
            p->type, p->dimensions, p};
}

// The function's arguments in the requested order.
void order_arguments(ir::LoweredFunction &f, const Signature &signature) {
    std::vector<ir::Argument> ordered;
    for (const program::ParameterRef &p : signature.args) {
        auto is_it = [&](const ir::Argument &a) { return a.name == p->name; };
        if (std::ranges::any_of(ordered, is_it)) {
            throw CompileError(signature.written,
                               str(p->name, " is in the list of arguments twice"));
        }
        ordered.push_back(argument_of(p));
    }
    for (const ir::Argument &a : f.args) {
        bool given = std::any_of(ordered.begin(), ordered.end(),
                                 [&](const ir::Argument &o) { return o.name == a.name; });
        if (given) continue;
        const program::Parameter *p = program::parameter_of(a);
        if (!is_output(a) && !(p && p->embedded)) {
            throw CompileError(signature.written,
                               str("the pipeline ", f.name, " also reads ", a.name,
                                   ", which is not in the list of its arguments"));
        }
        ordered.push_back(a);
    }
    f.args = ordered;
}

// Prints producers, loops and what is computed; nothing else.
class NestPrinter final : public ir::Visitor {
public:
    std::string text;

private:
    template<typename Body>
    void inside(const std::string &line, const Body &body) {
        text += std::string(size_t(depth) * 2, ' ') + line + "\n";
        depth++;
        (*this)(body);
        depth--;
    }
    void visit(const ir::ProducerConsumer &p) override {
        inside(str(p.is_producer ? "produce " : "consume ", p.func, ":"), p.body);
    }
    void visit(const ir::For &loop) override {
        std::string line = str(name_of(loop.loop_kind), " ", loop.name);
        auto min = loop.min.as<ir::IntImm>(), extent = loop.extent.as<ir::IntImm>();
        if (min && extent) {
            line += str(" in [", min->value, ", ", min->value + extent->value - 1, "]");
        }
        inside(line + ":", loop.body);
    }
    void visit(const ir::Realize &r) override { inside(str("store ", r.func, ":"), r.body); }
    void visit(const ir::Provide &p) override {
        text += std::string(size_t(depth) * 2, ' ') + str(p.func, "(...) = ...\n");
    }
    int depth = 0;
};

// An update with its default loops beside definitions that have a schedule was hardly meant so.
void warn_of_unscheduled(const program::Program &program) {
    for (const program::FunctionRef &f : program::find_transitive_calls(program.outputs).order) {
        auto is_touched = [](const program::DefinitionRef &d) { return d->schedule.touched; };
        // One that is unscheduled() and no more gives no reason to warn of the others.
        auto is_scheduled = [](const program::DefinitionRef &d) {
            const auto &all = d->schedule.directives;
            bool as_it_is =
                all.size() == 1 && std::holds_alternative<program::Unscheduled>(all[0].directive);
            return d->schedule.touched && !as_it_is;
        };
        if (std::ranges::none_of(f->stages, is_scheduled)) continue;
        for (size_t s = 1; s < f->stages.size(); s++) {
            if (is_touched(f->stages[s])) continue;
            std::string update = s == 1 ? "update()" : str("update(", s - 1, ")");
            warn(f->stages[s]->written,
                 str("this update of ", f->name, " has no schedule, but another definition of ",
                     f->name, " has; if that is meant, say ", f->name, ".", update,
                     ".unscheduled()"));
        }
    }
}

// Returns a target that has a GPU if loops are for one: what is shown of them does not depend on
// the machine at hand.
Target with_gpu_if_used(const program::Program &program, const Target &target) {
    if (target.has_gpu_feature()) return target;
    const auto is_for_gpu = [](const program::Loop &l) {
        return traits_of(l.kind).gpu != GPULevel::None;
    };
    for (const program::FunctionRef &f : program::find_transitive_calls(program.outputs).order) {
        for (const program::DefinitionRef &d : f->stages) {
            if (std::ranges::none_of(d->schedule.loops, is_for_gpu)) continue;
            return target.with_feature(Target::CUDA).with_feature(Target::CUDACapability90);
        }
    }
    return target;
}

}  // namespace

// Set to 1 by programs whose loops may have any extent.
bool permits_failed_unroll() {
    const char *permitted = std::getenv("HL_PERMIT_FAILED_UNROLL");
    return permitted && std::string_view(permitted) == "1";
}

ir::Module lower_program(const program::Program &program, const Target &target,
                         lower::LowerOptions options) {
    if (program.outputs.empty()) throw CompileError("the pipeline has no outputs");
    warn_of_unscheduled(program);
    options.verify |= target.has_feature(Target::Debug);
    options.permit_failed_unroll = permits_failed_unroll();
#ifndef NDEBUG
    options.verify = true;
#endif
    return lower::lower(program, target, options);
}

ir::Module lower_for(const program::Program &program, const Target &target,
                     const Signature &signature) {
    program::Program named = program;
    if (!signature.name.empty()) named.name = signature.name;
    if (!signature.outputs.empty()) named.output_names = signature.outputs;
    lower::LowerOptions options;
    options.touched_ranges = true;
    ir::Module module = with_large_stack([&] { return lower_program(named, target, options); });
    if (!signature.any_args) order_arguments(module.functions[0], signature);
    return module;
}

ir::Module conceptual(const program::Program &program, const Target &target) {
    return lower::conceptual(lower::nests(program, target)).module();
}
std::string loop_nest(const program::Program &program, const Target &target) {
    const lower::Lowering lowering = lower::nests(program, with_gpu_if_used(program, target));
    NestPrinter printer;
    run_on_large_stack([&] { printer(lowering.function.body); });
    return printer.text;
}

}  // namespace tessera::driver
