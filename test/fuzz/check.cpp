#include "check.h"
#include "auto_schedule.h"
#include "build.h"
#include "c_source.h"
#include "tensor_check.h"
#include "terms.h"
#include <atomic>
#include <base/warning.h>
#include <cmath>
#include <codegen/backend.h>
#include <cstring>
#include <interpret/definition.h>
#include <interpret/statement.h>
#include <ir/equal.h>
#include <ir/verifier.h>
#include <lang/extern.h>
#include <lower/lower.h>
#include <nlohmann/json.hpp>
#include <program/canonical.h>
#include <program/steps.h>

namespace tessera::fuzz {

namespace {

// One of the numbers where arithmetic wraps, or nearly does.
int64_t near_an_end(Type t, uint64_t h) {
    const int64_t low = t.is_int() ? t.min_int() : 0;
    const int64_t high = t.is_int() ? t.max_int() : int64_t(t.max_uint());
    const int64_t ends[] = {low,  low + 1,  low + 7,  low / 2,      0, 1, -1,
                            high, high - 1, high - 7, high / 2 + 1, 2, -2};
    return ends[h % std::size(ends)];
}

}  // namespace

void fill_input(Buffer<> &image, int input, const InputPlan &plan) {
    using namespace interpret;
    tessera_buffer_t &raw = *image.raw_buffer();
    Type t = image.type();
    std::vector<int> at(size_t(raw.dimensions), 0);
    for (int i = 0; i < raw.dimensions; i++) {
        if (raw.dim[i].extent <= 0) return;
    }
    size_t d = 0;
    do {
        uint64_t h = uint64_t(input) + 77;
        int64_t offset = 0;
        for (size_t i = 0; i < at.size(); i++) {
            h = (h + uint64_t(at[i] + raw.dim[i].min)) * 0x9E3779B97F4A7C15ull;
            h ^= h >> 29;
            offset += int64_t(at[i]) * raw.dim[i].stride;
        }
        int64_t value = int64_t(h);
        if (t.is_float()) value = int64_t(h % 201) - 100;
        if (!t.is_float() && t.bits() >= 32) {
            uint64_t high = plan.is_wide ? widest_input(t) : 1000;
            value = t.is_int() ? int64_t(h % (2 * high + 1)) - int64_t(high)
                               : int64_t(high == UINT64_MAX ? h : h % (high + 1));
            if (plan.is_wide && h % 3 == 0) value = near_an_end(t, h >> 8);
        }
        const bool is_nan = plan.has_nan && h % 7 == 3;
        store_word(t, raw.host + offset * t.bytes(),
                   is_nan ? word_of_double(t, NAN) : word_of_int(t, value));
        for (d = 0; d < at.size(); d++) {
            if (++at[d] < raw.dim[d].extent) break;
            at[d] = 0;
        }
    } while (d < at.size());
}

namespace {

using Buffers = std::vector<Buffer<>>;
using RawBuffers = std::vector<tessera_buffer_t *>;

Buffers make_outputs(const Plan &plan, const Built &built) {
    Buffers all;
    for (int f : plan.outputs) {
        for (Type t : built.funcs[size_t(f)].types()) {
            Buffer<> b(t, plan.size);
            b.set_min(minima(plan));
            std::memset(b.data(), 0, b.size_in_bytes());  // what is undef stays so
            b.set_host_dirty();
            all.push_back(b);
        }
    }
    return all;
}

RawBuffers raw(const Buffers &buffers) {
    RawBuffers all;
    for (const Buffer<> &b : buffers) all.push_back(b.raw_buffer());
    return all;
}

// Says how the results of the two differ; empty if they do not.
std::string difference(const Plan &plan, const Buffers &expected, const Buffers &got) {
    size_t next = 0;
    for (int f : plan.outputs) {
        for (const Term &value : plan.funcs[size_t(f)].values) {
            const tessera_buffer_t &a = *expected[next].raw_buffer(), &b = *got[next].raw_buffer();
            Type t = expected[next++].type();
            uint64_t n = tessera_buffer_number_of_elements(&a);
            for (uint64_t i = 0; i < n; i++) {
                uint64_t x = interpret::load_word(t, a.host + i * uint64_t(t.bytes()));
                uint64_t y = interpret::load_word(t, b.host + i * uint64_t(t.bytes()));
                double dx = interpret::double_of_word(t, x), dy = interpret::double_of_word(t, y);
                if (x == y || dx == dy || (std::isnan(dx) && std::isnan(dy))) continue;
                if (t.is_float() && std::fabs(dx - dy) <= 4 * value.error) continue;
                return str("f", f, ", element ", i, ": ", dy, " instead of ", dx, " (", t,
                           ", may differ by ", 4 * value.error, ")");
            }
        }
    }
    return "";
}

std::atomic<int32_t> trace_events{0};
bool with_c_source = false;
bool with_auto_schedules = false;

// Events are only counted.
extern "C" int32_t fuzz_trace(void *, const tessera_trace_event_t *) { return ++trace_events; }
int32_t jit_trace(JITUserContext *, const tessera_trace_event_t *) { return ++trace_events; }

interpret::ExternMap make_externs() {
    interpret::ExternMap all = {{"tessera_trace", reinterpret_cast<void *>(fuzz_trace)}};
    for (const auto &[name, function] : extern_functions()) all.emplace(name, function);
    return all;
}

// Returns the steps without the lines where they were written.
nlohmann::json steps_of(const std::string &schedule) {
    nlohmann::json all = nlohmann::json::parse(schedule);
    for (nlohmann::json &step : all["steps"]) step.erase("written");
    return all;
}

// Checks that the schedule, written as JSON and given to the same pipeline without one, is the
// same.
std::string check_json(const Plan &plan, const Built &built) {
    std::string text = built.pipeline.schedule_as_json();
    Built again = build(plan, false);
    try {
        again.pipeline.apply_schedule(text, {again.parameter});
    } catch (const CompileError &e) {
        return str(e.what(), "\n", text);
    }
    std::string second = again.pipeline.schedule_as_json();
    return steps_of(second) == steps_of(text) ? "" : str(text, "\nbecame\n", second);
}

Built build_scheduled(const Plan &plan) {
    Built built = build(plan, !with_auto_schedules);
    if (with_auto_schedules) schedule_automatically(plan, built);
    return built;
}

// Says what differs of the program and of what its algorithm and its schedule make as values.
std::string check_values(const Plan &plan, const Built &plain, const Built &built) {
    const program::Program &program = built.pipeline.program();
    const program::Algorithm algorithm(program.outputs);
    const program::Schedule schedule = program::schedule_of(program.outputs);
    if (algorithm.hash() != program::Algorithm(plain.pipeline.program().outputs).hash()) {
        return "the algorithm is not the one without a schedule";
    }
    const Built twin = build_scheduled(plan);
    const auto &others = twin.pipeline.program().outputs;
    if (schedule.hash(algorithm) != program::schedule_of(others).hash(program::Algorithm(others))) {
        return "the same schedule has another hash";
    }
    const program::ScheduledProgram scheduled = program::apply(algorithm, schedule);
    program::Program value = program;
    value.outputs = scheduled.outputs();
    auto form = [](const program::Program &p) {
        return program::canonical_form(program::copy_reachable(p));
    };
    if (!ir::equal(form(program), form(value))) return "apply() gives another program";
    return program::schedule_of(value.outputs) == schedule ? "" : "its schedule is another";
}

// Catches what the runtime reports while a statement is interpreted.
class ReportedError {
public:
    ReportedError() : before(tessera_set_error_handler(keep)) { message().clear(); }
    ~ReportedError() { tessera_set_error_handler(before); }
    ReportedError(const ReportedError &) = delete;
    ReportedError &operator=(const ReportedError &) = delete;
    static std::string &message() {
        static std::string last;
        return last;
    }

private:
    static void keep(void *, const char *text) { message() = text; }
    tessera_error_handler_t before;
};

void set_handlers(Built &built) {
    std::map<std::string, JITExtern> jit_externs;
    for (const auto &[name, function] : extern_functions()) {
        jit_externs.emplace(name, JITExtern(reinterpret_cast<int (*)()>(function)));
    }
    built.pipeline.set_jit_externs(jit_externs);
    built.pipeline.jit_handlers().custom_trace = jit_trace;
}

// False where interpreting takes long, because the schedule computes much again and again.
bool run_lowered(const program::Program &program, const Target &target, const RawBuffers &outputs,
                 bool outputs_have_values) {
    lower::LowerOptions lowering;
    lowering.verify = true;
    // Lowers the program as for LLVM IR.
    ir::Module module = lower::lower(program, target, lowering);
    for (const lower::ModulePass &pass : lower::module_passes()) {
        module = pass.run(module, target);
        ir::verify(module, pass.name);
    }
    std::vector<void *> args;
    size_t next = 0;
    for (const ir::Argument &arg : module.functions[0].args) {
        const auto *p = dynamic_cast<const program::Parameter *>(arg.referent.get());
        if (arg.kind == ir::ArgumentKind::OutputBuffer) {
            args.push_back(outputs.at(next++));
        } else if (!p) {
            throw InternalError("an argument without its parameter");
        } else if (arg.kind == ir::ArgumentKind::Scalar) {
            args.push_back(const_cast<uint64_t *>(&p->scalar_bits));
        } else {
            args.push_back(p->buffer);
        }
    }
    interpret::StatementOptions options;
    options.externs = make_externs();
    options.max_statements = 3'000'000;
    options.outputs_have_values = outputs_have_values;
    options.module = &module;
    try {
        ReportedError error;
        int code = interpret::run_statement(module.functions[0], args, options);
        if (code) throw RuntimeError(str(ReportedError::message(), " (", code, ")"));
    } catch (const interpret::OutOfSteps &) {
        return false;
    }
    return true;
}

// Loops that are fused, rounded up and slide ask for some inputs of many GB, to be sure.
struct InputTooLarge : RuntimeError {
    InputTooLarge()
        : RuntimeError("out of memory: the pipeline asks for an input that is too large") {}
};

// Sizes of inputs follow from what the pipeline, as scheduled, reads.
void set_inputs(const Plan &plan, Built &built, Built &plain, const Buffers &outputs,
                const Target &target) {
    built.parameter.set(3);
    plain.parameter.set(3);
    bool any = false;
    for (const InputPlan &in : plan.inputs) any |= in.is_param;
    if (!any) return;
    built.pipeline.infer_input_bounds(RealizationArg(outputs), target);
    for (size_t i = 0; i < plan.inputs.size(); i++) {
        if (!plan.inputs[i].is_param) continue;
        Buffer<> image = built.params[i].get();
        if (!image.defined()) continue;  // no function that the output needs reads it
        if (image.number_of_elements() > size_t(1) << 26) throw InputTooLarge();
        if (plan.inputs[i].layout != InputLayout::Dense) {
            std::vector<int> size, min;
            for (int d = 0; d < image.dimensions(); d++) {
                size.push_back(image.dim(d).extent());
                min.push_back(image.dim(d).min());
            }
            image = make_image(plan.inputs[i], size, min, image.name());
            built.params[i].set(image);
        }
        fill_input(image, int(i), plan.inputs[i]);
        plain.params[i].set(image);
    }
}

// A definition that reads an argument which its callee ignores needs more of the inputs than what
// is compiled of it: then they are given all around, too.
void define(const Plan &plan, Built &plain, const RawBuffers &outputs,
            const interpret::DefinitionOptions &options) {
    try {
        return interpret::evaluate_definition(plain.pipeline.program(), outputs, options);
    } catch (const RuntimeError &e) {
        if (std::string(e.what()).find("is read at") == std::string::npos) throw;
    }
    for (size_t i = 0; i < plan.inputs.size(); i++) {
        if (!plan.inputs[i].is_param || !plain.params[i].get().defined()) continue;
        int dims = int(plan.inputs[i].size.size()), margin = dims < 3 ? 200 : 60;
        Buffer<> larger = make_image(plan.inputs[i], std::vector<int>(size_t(dims), 2 * margin),
                                     std::vector<int>(size_t(dims), -margin), "larger");
        fill_input(larger, int(i), plan.inputs[i]);
        plain.params[i].set(larger);
    }
    interpret::evaluate_definition(plain.pipeline.program(), outputs, options);
}

// Returns true if an output may keep what its buffer holds.
bool is_undefined_at_times(const Plan &plan) {
    bool found = false;
    for (int f : plan.outputs) {
        for (const Term &value : plan.funcs[size_t(f)].values) {
            for_each_term(value, [&](const Term &t) { found |= t.op == Op::Undef; });
        }
    }
    return found;
}

// Returns the part of an image that the output is to lie in, moved by so much in the first
// dimension, or an undefined Buffer if it does not fit in there.
Buffer<> part_for_output(const Buffer<> &image, const Buffer<> &output, int moved) {
    if (!image.defined() || image.type() != output.type() ||
        image.dimensions() != output.dimensions() || output.dimensions() == 0) {
        return {};
    }
    Buffer<> part = image;
    std::vector<int> mins;
    for (int d = 0; d < image.dimensions(); d++) {
        const int first = output.dim(d).min() + (d == 0 ? moved : 0), size = output.dim(d).extent();
        if (first < image.dim(d).min() || first + size - 1 > image.dim(d).max()) return {};
        part = part.cropped(d, first, size);
        mins.push_back(output.dim(d).min());
    }
    part.set_min(mins);
    return part;
}

// Computes the output into what is a part of a copy of the input. Returns how its values differ
// from the expected ones; nothing if the run is refused because the two share memory.
std::string compute_in_place(const Plan &plan, const Buffers &expected, size_t output,
                             const Buffer<> &part,
                             const std::function<bool(const Buffers &)> &run) {
    Buffers outputs;
    for (const Buffer<> &b : expected) {
        outputs.push_back(b.copy());
        std::memset(outputs.back().data(), 0, b.size_in_bytes());
        outputs.back().set_host_dirty();
    }
    outputs[output] = part;
    try {
        if (!run(outputs)) return "";
    } catch (const RuntimeError &e) {
        if (std::string(e.what()).find("shares memory") == std::string::npos) throw;
        return "";
    }
    outputs[output] = part.copy();
    return difference(plan, expected, outputs);
}

// Computes each output into the memory of each input that has room for it: that is refused, or the
// result is the same.
std::string check_overlaps(const Plan &plan, Built &built, const Buffers &expected,
                           const std::function<bool(const Buffers &)> &run) {
    if (is_undefined_at_times(plan)) return "";
    for (size_t i = 0; i < plan.inputs.size(); i++) {
        // An output's elements of the first dimension lie side by side.
        const InputLayout layout = plan.inputs[i].layout;
        const bool may_hold_output = plan.inputs[i].is_param && (layout == InputLayout::Dense ||
                                                                 layout == InputLayout::PaddedRows);
        const Buffer<> image = may_hold_output ? built.params[i].get() : Buffer<>();
        for (size_t output = 0; image.defined() && output < expected.size(); output++) {
            for (int moved : {0, 1}) {
                const Buffer<> copy = image.copy();
                const Buffer<> part = part_for_output(copy, expected[output], moved);
                if (!part.defined()) continue;
                built.params[i].set(copy);
                const std::string differs = compute_in_place(plan, expected, output, part, run);
                built.params[i].set(image);
                if (!differs.empty()) return str("in", i, ", moved by ", moved, ": ", differs);
            }
        }
    }
    return "";
}

// Returns true if the runtime's message, by its words, says what only the run can tell of a
// schedule.
bool is_refusal(const std::string &message) {
    for (const char *part : {"fold", "ring", "is bounded to", "out of memory",
                             "are sure not to overflow", "is too large to interpret",
                             "that this target can address", "cannot launch the kernel"}) {
        if (message.find(part) != std::string::npos) return true;
    }
    return false;
}

std::string without_numbers(const std::string &text) {
    std::string kept;
    for (char c : text) {
        if (!std::isdigit(static_cast<unsigned char>(c))) kept += c;
        if (kept.size() > 60) break;
    }
    return kept;
}

}  // namespace

void check_c_source() { with_c_source = true; }
void check_auto_schedules(bool on) { with_auto_schedules = on; }

Report check_here(const Plan &plan, const std::function<void()> &before_long_run) {
    if (plan.tensor.is_drawn) return check_tensor_here(plan.tensor);
    set_warning_handler([](const std::string &) {});  // a random schedule forgets nothing
    std::string doing = "building";
    try {
        Built plain = build(plan, false), built = build_scheduled(plan);
        Buffers native = make_outputs(plan, built), lowered = make_outputs(plan, built),
                defined = make_outputs(plan, built);
        doing = "schedule as JSON";
        std::string json = check_json(plan, built);
        if (!json.empty()) return {Outcome::Fails, "schedule as JSON differs", json};
        if (built.pipeline.schedule_as_cpp().empty() && !plan.directives.empty()) {
            return {Outcome::Fails, "schedule as C++ is empty", ""};
        }
        doing = "schedule as a value";
        const std::string value = check_values(plan, plain, built);
        if (!value.empty()) return {Outcome::Fails, "schedule as a value differs", value};
        doing = "input bounds";
        const bool for_gpu = is_for_gpu(plan);
        Target target = get_jit_target_from_environment();
        if (for_gpu && with_auto_schedules) target = target_of_kernels(plan);
        if (for_gpu) target.set_feature(Target::CUDA);
        Target asked = target;  // which regions are needed, of no GPU
        if (for_gpu) asked.set_feature(Target::Interpret);
        const bool is_run = host_supports_target_device(target);
        set_handlers(built);
        set_inputs(plan, built, plain, native, asked);
        doing = "definition";
        interpret::DefinitionOptions options;
        options.externs = make_externs();
        define(plan, plain, raw(defined), options);
        doing = "lowered code";
        bool done = run_lowered(built.pipeline.program(), target, raw(lowered),
                                is_undefined_at_times(plan));
        std::string differs = done ? difference(plan, defined, lowered) : "";
        if (!differs.empty()) return {Outcome::Fails, "lowered code differs", differs};
        doing = "lowered code, an output in the memory of an input";
        differs = check_overlaps(plan, built, defined, [&](const Buffers &outputs) {
            return done && run_lowered(built.pipeline.program(), target, raw(outputs), true);
        });
        if (!differs.empty()) return {Outcome::Fails, "lowered code in place differs", differs};
        if (!is_run) {
            doing = "code of kernels";
            const ir::Module module = lower::lower(built.pipeline.program(), target);
            codegen::make_code(codegen::CodeKind::Object, module, target);
            return {Outcome::Agrees, "", ""};
        }
        doing = "native code";
        built.pipeline.compile_jit(target);
        if (!done && before_long_run) before_long_run();
        built.pipeline.realize(RealizationArg(native), target);
        for (Buffer<> &b : native) b.copy_to_host();
        differs = difference(plan, defined, native);
        if (!differs.empty()) return {Outcome::Fails, "native code differs", differs};
        doing = "native code, an output in the memory of an input";
        differs = check_overlaps(plan, built, defined, [&](const Buffers &outputs) {
            built.pipeline.realize(RealizationArg(outputs), target);
            for (Buffer<> b : outputs) b.copy_to_host();
            return true;
        });
        if (!differs.empty()) return {Outcome::Fails, "native code in place differs", differs};
        if (!with_c_source || for_gpu) return {Outcome::Agrees, "", ""};
        doing = "C source";
        Buffers in_c = make_outputs(plan, built);
        run_c_source(built.pipeline, raw(in_c), fuzz_trace);
        differs = difference(plan, defined, in_c);
        if (!differs.empty()) return {Outcome::Fails, "C source differs", differs};
        return {Outcome::Agrees, "", ""};
    } catch (const CompileError &e) {
        return {Outcome::Refused, "refused: " + without_numbers(e.what()), e.what()};
    } catch (const InternalError &e) {
        return {Outcome::Fails, doing + ": " + without_numbers(e.what()), e.what()};
    } catch (const std::exception &e) {
        if (is_refusal(e.what())) return {Outcome::Refused, "refused when run", e.what()};
        return {Outcome::Fails, doing + ": " + without_numbers(e.what()), e.what()};
    }
}

namespace {

// Runs the pipeline; the inputs and outputs give back what they have on the device. Returns what
// the run is refused for.
std::string run_and_free(const Plan &plan, Built &built, const Target &target) {
    std::string refusal;
    {
        const Buffers outputs = make_outputs(plan, built);
        try {
            built.pipeline.realize(RealizationArg(outputs), target);
        } catch (const RuntimeError &e) {
            if (!is_refusal(e.what())) throw;
            refusal = e.what();
        }
    }
    for (Buffer<> &image : built.images) {
        if (image.defined()) image.device_free();
    }
    for (ImageParam &in : built.params) {
        Buffer<> image = in.defined() ? in.get() : Buffer<>();
        if (image.defined()) image.device_free();
    }
    return refusal;
}

}  // namespace

Report run_on_device(const Plan &plan, const std::function<uint64_t()> &bytes_in_use) {
    set_warning_handler([](const std::string &) {});
    const Target target("host-jit-cuda"), asked("host-jit-cuda-interpret");
    try {
        Built plain = build(plan, false), built = build(plan, true);
        set_handlers(built);
        set_inputs(plan, built, plain, make_outputs(plan, built), asked);
        const std::string refusal = run_and_free(plan, built, target);
        const uint64_t before = bytes_in_use();
        run_and_free(plan, built, target);
        const uint64_t after = bytes_in_use();
        if (after != before) {
            return {Outcome::Fails, "memory of the device is lost",
                    str(int64_t(after - before), " bytes by one run. ", refusal)};
        }
        return {refusal.empty() ? Outcome::Agrees : Outcome::Refused, "", refusal};
    } catch (const CompileError &e) {
        return {Outcome::Refused, "refused", e.what()};
    } catch (const std::exception &e) {
        return {is_refusal(e.what()) ? Outcome::Refused : Outcome::Fails, "run", e.what()};
    }
}

}  // namespace tessera::fuzz
