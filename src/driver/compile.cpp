#include "driver/compile.h"
#include "base/kept_files.h"
#include "base/large_stack.h"
#include "base/least_recently_used.h"
#include "base/small_array.h"
#include "base/warning.h"
#include "driver/lower_program.h"
#include "interpret/statement.h"
#include "ir/equal.h"
#include "ir/stable_hash.h"
#include "ir/visitor.h"
#include "lower/nest/extern_stage.h"
#include "program/canonical.h"
#include <array>
#include <atomic>

namespace tessera::driver {
namespace {

struct Key {
    ir::Expr program;
    std::string target;
    codegen::ExternSymbols externs;

    bool operator==(const Key &o) const {
        return target == o.target && externs == o.externs && ir::equal(program, o.program);
    }
};

// Code that is not used any more is forgotten once so much has been compiled since.
// The limits may be set anew.
constexpr size_t most_kept = 1000, most_bytes_kept = size_t(512) << 20;

struct Cache {
    LeastRecentlyUsed<Key, CompiledRef> kept{
        most_kept, most_bytes_kept, [](const CompiledRef &compiled) { return compiled->bytes(); }};
    std::atomic<uint64_t> compiled{0}, found{0}, found_on_disk{0};
    std::atomic<bool> is_on_disk{false};
};

Cache &cache() {
    static auto *c = new Cache;
    return *c;
}

// The target; where it is undefined the one that `find` returns, with the features that are set
// nevertheless.
template<typename Find> Target or_else(const Target &target, Find find) {
    if (!target.has_unknowns()) return target;
    Target other = find();
    if (target.get_features_bitset().none()) return other;  // as in each run without a target
    for (int f = 0; f < Target::FeatureEnd; f++) {
        if (target.has_feature(Target::Feature(f))) other.set_feature(Target::Feature(f));
    }
    return other;
}

}  // namespace

Target file_target(const Target &target) {
    return or_else(target, get_target_from_environment).without_feature(Target::JIT);
}

Target jit_target(const Target &target) {
    Target t = or_else(target, get_jit_target_from_environment);
    t.set_feature(Target::JIT);
    if (!t.has_feature(Target::Interpret) && !host_supports_target_device(t)) {
        throw RuntimeError(str("the target ", t,
                               " wants a GPU, and this machine has none that pipelines can run on "
                               "(no driver, or no device); leave its feature out, or add the "
                               "feature interpret, which needs no GPU"));
    }
    return t.has_feature(Target::Interpret) ? t : with_host_cuda_capability(t);
}

CompiledPipeline::CompiledPipeline(ir::Module lowered, const PipelineCode &arguments, Externs given)
    : lowered(std::move(lowered)), sources(arguments.sources), wanted(arguments.wanted),
      externs(std::move(given)) {}

CompiledPipeline::CompiledPipeline(const PipelineCode &made, const Target &target, Externs given,
                                   const codegen::Options &options)
    : sources(made.sources), wanted(made.wanted), externs(std::move(given)) {
    code = std::make_shared<codegen::JitModule>(made.objects, target, externs.symbols, options);
    function = made.objects.functions[0];
    entry = code->argv_function(function);
}

namespace {

void find_arguments(const program::ProgramCopy &copy, const ir::LoweredFunction &lowered,
                    PipelineCode &code) {
    std::unordered_map<Symbol, uint64_t> places;
    for (const auto &p : program::find_parameters(copy.program, copy.environment)) {
        places.emplace(p->name, code.wanted++);
    }
    for (const ir::Argument &a : lowered.args) {
        auto found = places.find(a.name);
        code.sources.push_back(found == places.end() ? code.wanted++ : found->second);
    }
}

// Has the code call by their linked names what the program calls by others.
void link_extern_stages(const program::ProgramCopy &copy, const Target &target, Externs &externs,
                        codegen::Options &options) {
    for (const program::FunctionRef &f : copy.environment.order) {
        if (!f->extern_definition) continue;
        std::string name = lower::linked_name(*f, target);
        options.written.emplace(name, f->extern_definition->written);
        auto given_address = externs.symbols.find(f->extern_definition->function);
        if (given_address == externs.symbols.end()) continue;
        externs.symbols.emplace(name, given_address->second);
    }
}

struct Made {
    CompiledRef pipeline;
    bool was_on_disk = false;
};

// `disk_key`: under which the code is kept on disk; empty: it is not. Call it on a large stack.
Made make_pipeline(const program::Program &program, const program::ProgramCopy &copy,
                   const Target &target, Externs externs, const std::string &disk_key) {
    codegen::Options options;
    link_extern_stages(copy, target, externs, options);
    const auto link = [&](const PipelineCode &code) {
        return std::make_shared<const CompiledPipeline>(code, target, std::move(externs), options);
    };
    if (!disk_key.empty()) {
        if (const auto kept = find_kept_code(disk_key)) return {link(*kept), true};
    }
    const uint64_t warnings = count_of_warnings();
    ir::Module lowered = lower_program(program, target);
    PipelineCode code;
    find_arguments(copy, lowered.functions[0], code);
    if (target.has_feature(Target::Interpret))
        return {
            std::make_shared<const CompiledPipeline>(std::move(lowered), code, std::move(externs))};
    // Its code must not take the place of a C function, whatever the user calls a Func.
    lowered.functions[0].name += ".pipeline";
    code.objects = codegen::to_jit_objects(lowered, target, options);
    if (!disk_key.empty() && count_of_warnings() == warnings) keep_code(disk_key, code);
    return {link(code)};
}

}  // namespace

CompiledPipeline::CompiledPipeline(const program::Program &program, const Target &target,
                                   Externs externs)
    : CompiledPipeline(
          *make_pipeline(program, program::copy_reachable(program), target, std::move(externs), "")
               .pipeline) {}

namespace {

std::string key_on_disk(const Key &key, const Target &target) {
    if (!cache().is_on_disk || target.has_feature(Target::Interpret) || kept_folder().empty())
        return "";
    return str(key.target, "\n", codegen::code_environment(target), "\n", permits_failed_unroll(),
               "\n", ir::stable_key(key.program));
}

// The oracle computes with what is on the host.
int bring_to_host(const ir::LoweredFunction &f, std::span<void *const> args,
                  JITUserContext *context) {
    for (size_t i = 0; i < args.size(); i++) {
        auto *buffer = static_cast<tessera_buffer_t *>(f.args[i].is_buffer() ? args[i] : nullptr);
        if (!buffer || !buffer->device_dirty()) continue;
        if (const int code = tessera_copy_to_host(context, buffer)) return code;
    }
    return 0;
}

void mark_outputs(const ir::LoweredFunction &f, std::span<void *const> args) {
    for (size_t i = 0; i < args.size(); i++) {
        if (!f.args[i].is_output()) continue;
        auto *buffer = static_cast<tessera_buffer_t *>(args[i]);
        if (buffer && buffer->device) buffer->set_host_dirty();
    }
}

}  // namespace

void *CompiledPipeline::address() const { return code ? code->address(function) : nullptr; }

int CompiledPipeline::call(JITUserContext *context, std::span<void *const> args) const {
    if (args.size() != wanted) {
        throw InternalError(str("a pipeline takes ", wanted, " arguments, not ", args.size()));
    }
    SmallArray<void *, 32> argv(sources.size() +
                                1);  // a small pipeline may take less time than an allocation
    argv[0] = static_cast<void *>(&context);
    for (size_t i = 0; i < sources.size(); i++) argv[i + 1] = args[sources[i]];
    if (entry) return entry(argv.data());
    const ir::LoweredFunction &f = lowered.functions[0];
    interpret::StatementOptions options;
    options.user_context = context;
    options.externs.insert(externs.symbols.begin(), externs.symbols.end());
    std::span<void *const> without_context(argv.data() + 1, sources.size());
    if (const int code = bring_to_host(f, without_context, context)) return code;
    const int code =
        with_large_stack([&] { return interpret::run_statement(f, without_context, options); });
    mark_outputs(f, without_context);
    return code;
}

size_t CompiledPipeline::bytes() const {
    constexpr size_t bytes_of_node = 100;
    size_t bytes = code ? code->bytes() : 0;
    for (const ir::LoweredFunction &f : lowered.functions)
        bytes += bytes_of_node * ir::count_nodes(f.body);
    return bytes;
}

CompiledRef compile(const program::Program &program, const Target &target, const Externs &externs) {
    const program::ProgramCopy copy =
        with_large_stack([&] { return program::copy_reachable(program); });
    const auto make = [&](const std::string &disk_key) {
        const Made made = with_large_stack(
            [&] { return make_pipeline(program, copy, target, externs, disk_key); });
        made.was_on_disk ? cache().found_on_disk++ : cache().compiled++;
        return made.pipeline;
    };
    // Nobody knows whether two passes of users' are the same.
    if (!program.custom_passes.empty()) return make("");
    Key key;
    key.target = target.to_string();
    key.externs = externs.symbols;
    key.program = with_large_stack([&] { return program::canonical_form(copy); });
    const uint64_t hash = key.program.hash() ^ std::hash<std::string>()(key.target);
    const auto [code, is_new] = cache().kept.find_or_make(hash, key, [&] {
        return make(with_large_stack([&] { return key_on_disk(key, target); }));
    });
    if (!is_new) cache().found++;
    return code;
}

bool keep_on_disk(bool on) { return cache().is_on_disk.exchange(on); }

CacheCounts cache_counts() {
    return {cache().compiled.load(), cache().found.load(), cache().kept.total_weight(),
            cache().kept.size(), cache().found_on_disk.load()};
}

void clear_cache() { cache().kept.clear(); }
void set_cache_limits(size_t programs, size_t bytes) { cache().kept.set_limits(programs, bytes); }

}  // namespace tessera::driver
