#include "driver/program_key.h"
#include "base/str.h"
#include "ir/fields.h"
#include "program/environment.h"

namespace tessera::driver {

using namespace program;

namespace {

// Mixes everything that compiling looks at into one number.
class Key {
public:
    uint64_t value = 0x7E55E4A;

    void add(uint64_t x) { value = ir::fields::mix(value, x); }
    void add(Symbol s) { add(uint64_t(s.id())); }
    void add(const std::string &s) { add(std::hash<std::string>()(s)); }
    void add(const Expr &e) { add(e.defined() ? e.hash() : 1); }
    void add(const LoopLevel &l) {
        add(uint64_t(l.defined()) + 2 * l.is_inlined() + 4 * l.is_root() + 8 * uint64_t(l.stage() + 2));
        if (l.is_at()) add(l.func()), add(l.var());
    }
    template<typename T>
    void add(const std::vector<T> &all) {
        add(uint64_t(all.size()));
        for (const T &x : all) add(x);
    }
    void add(const ReductionVariable &r) { add(r.var), add(r.min), add(r.extent); }
    void add(const Split &s) {
        add(s.old), add(s.outer), add(s.inner), add(s.factor), add(uint64_t(s.tail));
    }
    void add(const Fuse &f) { add(f.inner), add(f.outer), add(f.fused); }
    void add(const Rename &r) { add(r.old), add(r.new_name); }
    void add(const Written<LoopTransform> &t) {
        add(uint64_t(t.directive.index()));
        std::visit([this](const auto &d) { add(d); }, t.directive);
    }
    void add(const Loop &l) { add(l.var), add(uint64_t(l.kind) * 8 + uint64_t(l.partition)); }
    void add(const Written<PrefetchDirective> &p) {
        const PrefetchDirective &d = p.directive;
        add(d.what), add(d.at), add(d.from), add(d.offset), add(uint64_t(d.strategy));
    }
    void add(const Written<BoundDirective> &b) {
        const BoundDirective &d = b.directive;
        add(d.var), add(d.min), add(d.extent), add(d.modulus), add(d.remainder);
    }
    void add(const StorageDimension &s) {
        add(s.var), add(s.alignment), add(s.bound), add(s.fold_factor), add(uint64_t(s.fold_forward));
    }
    void add(const DimensionConstraint &c) { add(c.min), add(c.extent), add(c.stride); }
    void add(const StageSchedule &s) {
        add(s.transforms), add(s.loops), add(s.prefetches), add(s.stream_loads);
        add(uint64_t(s.atomic + 2 * s.override_associativity_test + 4 * s.allow_race_conditions +
                     8 * s.stream_stores + 16 * s.stream_all_loads));
    }
    void add(const FuncSchedule &s) {
        add(s.compute_level), add(s.store_level), add(s.hoist_level);
        add(s.storage), add(s.bounds), add(s.ring_buffer), add(s.trace.tag);
        add(uint64_t(s.store_level_set + 2 * s.hoist_level_set + 4 * s.async + 8 * s.no_profiling +
                     16 * s.trace.loads + 32 * s.trace.stores + 64 * s.trace.realizations +
                     128 * int(s.memory)));
    }
    void add(const Definition &d) {
        add(d.args), add(d.values), add(d.reduction), add(d.predicate), add(d.schedule);
        add(uint64_t(d.specializations.size()));
        for (const Specialization &s : d.specializations) {
            add(s.condition), add(s.failure_message);
            if (s.definition) add(*s.definition);
        }
    }
    void add(const ParameterRef &p) {
        if (!p) return add(uint64_t(0));
        add(p->name), add(p->constraints), add(uint64_t(p->host_alignment)), add(p->min_value);
        add(p->max_value);
    }
    void add(const FunctionContents &f) {
        add(f.name), add(f.schedule), add(f.output_buffers);
        for (const DefinitionRef &d : f.stages) add(*d);
        if (f.extern_definition) add(*f.extern_definition);
        for (const auto &[consumer, wrapper] : f.wrappers) add(consumer), add(wrapper->name);
    }
    void add(const ExternDefinition &e) {
        add(e.function), add(uint64_t(e.uses_user_context));
        for (const ExternFuncArgument &a : e.args) {
            if (a.func) add(a.func->name);
            add(a.buffer), add(a.scalar);
        }
    }
};

}  // namespace

uint64_t key_of(const Program &program, const Target &target) {
    Key key;
    key.add(target.to_string());
    key.add(program.name);
    Environment environment = find_transitive_calls(program.outputs);
    for (const FunctionRef &f : environment.order) key.add(*f);
    for (const ParameterRef &p : find_parameters(program, environment)) key.add(p);
    for (const FunctionRef &f : program.outputs) key.add(f->name);
    for (const Requirement &r : program.requirements) key.add(r.condition), key.add(r.message);
    key.add(uint64_t(program.trace_pipeline));
    return key.value;
}

}  // namespace tessera::driver
