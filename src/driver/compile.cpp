#include "driver/compile.h"
#include "base/large_stack.h"
#include "codegen/compile.h"
#include "driver/program_key.h"
#include "ir/fields.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include <cstring>
#include <list>
#include <mutex>
#include <unordered_map>

namespace tessera::driver {

using program::Parameter;
using program::Program;

struct CompiledPipeline::Code {
    Target target;
    std::vector<ir::Argument> arguments;
    codegen::JitModule jit;
    codegen::JitModule::ArgvFunction entry;
    Program keep_alive;  // parameters and buffers that the arguments refer to
};

CompiledPipeline::CompiledPipeline(std::unique_ptr<Code> code) : code(std::move(code)) {}
CompiledPipeline::~CompiledPipeline() = default;

const std::vector<ir::Argument> &CompiledPipeline::arguments() const { return code->arguments; }
const Target &CompiledPipeline::target() const { return code->target; }

int CompiledPipeline::run(const std::vector<void *> &args, JITUserContext *context) const {
    ActiveCall call(context);
    std::vector<void *> argv{call.user_context()};
    argv.insert(argv.end(), args.begin(), args.end());
    int result = code->entry(argv.data());
    if (result != 0 && !call.has_error_handler()) {
        std::string text = call.error_text();
        throw RuntimeError(text.empty() ? str("the pipeline failed with error code ", result)
                                        : text);
    }
    return result;
}

std::vector<void *> CompiledPipeline::bind(
    const std::vector<tessera_buffer_t *> &outputs,
    const std::map<const Parameter *, tessera_buffer_t *> &inputs) const {
    std::vector<void *> args;
    size_t next_output = 0;
    for (const ir::Argument &a : code->arguments) {
        if (a.kind == ir::ArgumentKind::OutputBuffer) {
            if (next_output == outputs.size()) {
                throw RuntimeError(str("too few output buffers: ", outputs.size(), " are given, and ",
                                       a.name, " has none"));
            }
            args.push_back(outputs[next_output++]);
            continue;
        }
        auto *p = const_cast<Parameter *>(dynamic_cast<const Parameter *>(a.referent.get()));
        if (!p) throw InternalError(str("argument ", a.name, " stands for no parameter"));
        if (a.kind == ir::ArgumentKind::InputBuffer) {
            auto given = inputs.find(p);
            tessera_buffer_t *buffer = given != inputs.end() ? given->second : p->buffer;
            if (!buffer) {
                throw RuntimeError(str("the ImageParam ", a.name, " has no buffer; call set() on it "
                                       "before realize()"));
            }
            args.push_back(buffer);
        } else {
            if (!p->scalar_is_set) {
                throw RuntimeError(str("the Param ", a.name, " has no value; call set() on it "
                                       "before realize()"));
            }
            args.push_back(&p->scalar_bits);
        }
    }
    if (next_output != outputs.size()) {
        throw RuntimeError(str("too many output buffers: ", outputs.size(), " are given for ",
                               next_output, " values"));
    }
    return args;
}

namespace {

constexpr size_t remembered_pipelines = 256;

// Most recently used first.
struct Cache {
    std::mutex mutex;
    std::list<std::pair<uint64_t, CompiledPipelineRef>> entries;
    std::unordered_map<uint64_t, std::list<std::pair<uint64_t, CompiledPipelineRef>>::iterator> by_key;
};

Cache &cache() {
    static auto *c = new Cache;
    return *c;
}

CompiledPipelineRef look_up(uint64_t key) {
    Cache &c = cache();
    std::lock_guard lock(c.mutex);
    auto found = c.by_key.find(key);
    if (found == c.by_key.end()) return nullptr;
    c.entries.splice(c.entries.begin(), c.entries, found->second);
    return found->second->second;
}

void remember(uint64_t key, const CompiledPipelineRef &pipeline) {
    Cache &c = cache();
    std::lock_guard lock(c.mutex);
    if (c.by_key.contains(key)) return;
    c.entries.emplace_front(key, pipeline);
    c.by_key[key] = c.entries.begin();
    if (c.entries.size() <= remembered_pipelines) return;
    c.by_key.erase(c.entries.back().first);
    c.entries.pop_back();
}

ir::Module lower_program(const Program &program, const Target &target) {
    return lower::lower(program, target, {.trace = {}, .verify = target.has_feature(Target::Debug)});
}

CompiledPipelineRef compile_anew(const Program &program, const Target &target,
                                 const ExternSymbols &externs) {
    ir::Module module = lower_program(program, target);
    codegen::JitModule jit(module, target, externs);
    auto entry = jit.argv_function(module.functions[0].name);
    auto code = std::make_unique<CompiledPipeline::Code>(CompiledPipeline::Code{
        target, module.functions[0].args, std::move(jit), entry, program});
    return std::make_shared<const CompiledPipeline>(std::move(code));
}

bool needs_large_buffers(const tessera_buffer_t *b) {
    if (!b) return false;
    int64_t elements = 1;
    for (int d = 0; d < b->dimensions; d++) {
        int64_t extent = b->dim[d].extent;
        if (extent > 0) elements *= extent;
        if (elements > INT32_MAX || extent * int64_t(std::abs(int64_t(b->dim[d].stride))) > INT32_MAX) {
            return true;
        }
    }
    return false;
}

}  // namespace

CompiledPipelineRef compile(const Program &program, const Target &target,
                            const ExternSymbols &externs) {
    uint64_t key = key_of(program, target);
    for (const auto &[name, address] : externs) {
        key = ir::fields::mix(key, std::hash<std::string>()(name) ^ uint64_t(uintptr_t(address)));
    }
    if (CompiledPipelineRef known = look_up(key)) return known;
    CompiledPipelineRef pipeline = compile_anew(program, target, externs);
    remember(key, pipeline);
    return pipeline;
}

int realize(const Program &program, const Target &target,
            const std::vector<tessera_buffer_t *> &outputs, const ExternSymbols &externs,
            JITUserContext *context) {
    CompiledPipelineRef pipeline = compile(program, target, externs);
    std::vector<void *> args = pipeline->bind(outputs);
    bool large = false;
    for (size_t i = 0; i < args.size(); i++) {
        bool is_buffer = pipeline->arguments()[i].kind != ir::ArgumentKind::Scalar;
        large |= is_buffer && needs_large_buffers(static_cast<tessera_buffer_t *>(args[i]));
    }
    if (large && !target.has_feature(Target::LargeBuffers)) {
        pipeline = compile(program, target.with_feature(Target::LargeBuffers), externs);
    }
    return pipeline->run(args, context);
}

void infer_bounds(const Program &program, const Target &target,
                  const std::vector<tessera_buffer_t *> &outputs,
                  const std::map<const Parameter *, tessera_buffer_t *> &inputs,
                  const ExternSymbols &externs, JITUserContext *context) {
    constexpr int max_rounds = 16;
    CompiledPipelineRef pipeline = compile(program, target, externs);
    std::vector<void *> args = pipeline->bind(outputs, inputs);
    std::vector<tessera_buffer_t *> queries;
    for (size_t i = 0; i < args.size(); i++) {
        if (pipeline->arguments()[i].kind == ir::ArgumentKind::Scalar) continue;
        auto *b = static_cast<tessera_buffer_t *>(args[i]);
        if (!b->host) queries.push_back(b);
    }
    if (queries.empty()) return;
    auto shapes = [&] {
        std::vector<int32_t> all;
        for (tessera_buffer_t *b : queries) {
            for (int d = 0; d < b->dimensions; d++) {
                all.insert(all.end(), {b->dim[d].min, b->dim[d].extent, b->dim[d].stride});
            }
        }
        return all;
    };
    for (int round = 0; round < max_rounds; round++) {
        std::vector<int32_t> before = shapes();
        if (pipeline->run(args, context) != 0) return;
        if (shapes() == before) return;
    }
    throw RuntimeError(str("the bounds of ", program.name, " do not settle: each answer to a bounds "
                           "query asks for more"));
}

std::string to_lowered_text(const Program &program, const Target &target) {
    std::string text;
    run_on_large_stack([&] { text = str(lower_program(program, target)); });
    return text;
}

std::string to_llvm_ir(const Program &program, const Target &target) {
    return codegen::to_llvm_ir(lower_program(program, target), target);
}

std::string to_assembly(const Program &program, const Target &target) {
    return codegen::to_assembly(lower_program(program, target), target);
}

std::vector<char> to_object(const Program &program, const Target &target) {
    return codegen::to_object(lower_program(program, target), target);
}

std::vector<char> to_bitcode(const Program &program, const Target &target) {
    return codegen::to_bitcode(lower_program(program, target), target);
}

void clear_cache() {
    Cache &c = cache();
    std::lock_guard lock(c.mutex);
    c.by_key.clear();
    c.entries.clear();
}

size_t cache_size() {
    Cache &c = cache();
    std::lock_guard lock(c.mutex);
    return c.entries.size();
}

}  // namespace tessera::driver
