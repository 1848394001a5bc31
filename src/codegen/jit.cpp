#include "base/large_stack.h"
#include "base/thread_context.h"
#include "codegen/compile.h"
#include "codegen/llvm/architecture.h"
#include "codegen/llvm_errors.h"
#include "codegen/machine.h"
#include "codegen/nvptx/device_image.h"
#include "codegen/nvptx/libdevice.h"
#include "codegen/nvptx/ptxas.h"
#include "codegen/split.h"
#include "runtime/symbols.h"
#include "runtime/tessera_runtime_cuda.h"
#include <future>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace tessera::codegen {
namespace {

namespace orc = llvm::orc;
using Object = std::string;

template<typename T> T must(llvm::Expected<T> result) {
    if (result) return std::move(*result);
    throw InternalError(str("LLVM's JIT failed: ", llvm::toString(result.takeError())));
}

void must(llvm::Error error) {
    if (error) throw InternalError(str("LLVM's JIT failed: ", llvm::toString(std::move(error))));
}

Object make_object(llvm::Module &module, llvm::TargetMachine &machine, const Target &target,
                   const Options &options) {
    if (options.optimize) optimize(module, machine, target);
    const auto code = object_code(module, machine);
    return {code.begin(), code.end()};
}

Object make_object(const std::string &bitcode, const Target &target, const Options &options) {
    Object object;
    run_on_large_stack([&] {
        llvm::LLVMContext context;
        keep_errors(context);
        context.setDiscardValueNames(true);
        auto machine = make_target_machine(target, true);
        llvm::MemoryBufferRef bytes(bitcode, "part");
        auto module = must(llvm::parseBitcodeFile(bytes, context));
        object = make_object(*module, *machine, target, options);
    });
    return object;
}

// Optimised machine code, made on several threads if there is much of it.
JitObjects make_objects(const ir::Module &module, const Target &target, const Options &options) {
    PhaseTimer timer(options);
    llvm::LLVMContext context;
    keep_errors(context);
    context.setDiscardValueNames(true);
    auto machine = make_target_machine(target, true);
    std::unique_ptr<llvm::Module> whole;
    timer.run("emit LLVM IR", [&] { whole = emit_llvm(context, module, target, *machine); });
    if (options.verify) timer.run("verify", [&] { verify(*whole); });
    JitObjects objects;
    for (const ir::LoweredFunction &f : module.functions) objects.functions.push_back(f.name);
    objects.have_kernels = whole->getNamedGlobal(kernels_symbol) != nullptr;
    timer.run("make machine code", [&] {
        std::vector<std::string> parts;
        if (options.threads > 1) parts = split_into_bitcode(*whole, options.threads);
        if (parts.empty()) {
            objects.files.push_back(make_object(*whole, *machine, target, options));
            return;
        }
        std::vector<std::future<Object>> running;
        for (const std::string &part : parts) {
            running.push_back(std::async(std::launch::async, [&, here = ThreadContext()] {
                here.take_over();
                return make_object(part, target, options);
            }));
        }
        for (auto &r : running) objects.files.push_back(r.get());
    });
    return objects;
}

// Returns how many bytes of the object stay in memory when it is linked.
size_t bytes_of(const Object &object) {
    size_t bytes = 0;
    const auto file = must(llvm::object::ObjectFile::createObjectFile({object, "part"}));
    for (const llvm::object::SectionRef &section : file->sections()) {
        if (section.isText() || section.isData() || section.isBSS()) bytes += section.getSize();
    }
    return bytes;
}

orc::ExecutorSymbolDef exported(void *address) {
    return {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
}

// Defines functions of the runtime where code calls them: all of them would take more memory than
// most programs do.
class RuntimeSymbols final : public orc::DefinitionGenerator {
public:
    explicit RuntimeSymbols(char prefix) : prefix(prefix) {}

    llvm::Error tryToGenerate(orc::LookupState &, orc::LookupKind, orc::JITDylib &library,
                              orc::JITDylibLookupFlags,
                              const orc::SymbolLookupSet &wanted) override {
        orc::SymbolMap found;
        for (const auto &[name, flags] : wanted) {
            if (void *address = address_of(*name)) found[name] = exported(address);
        }
        if (found.empty()) return llvm::Error::success();
        return library.define(orc::absoluteSymbols(std::move(found)));
    }

private:
    void *address_of(std::string_view name) const {
        static const std::unordered_map<std::string_view, void *> all = [] {
            std::unordered_map<std::string_view, void *> addresses;
            for (const RuntimeSymbol &s : tessera_runtime_symbols()) addresses[s.name] = s.address;
            return addresses;
        }();
        if (prefix && name.starts_with(prefix)) name.remove_prefix(1);
        const auto found = all.find(name);
        return found == all.end() ? nullptr : found->second;
    }
    const char prefix;
};

// Stands where LLVM's JIT would compile: it is only given objects, and a machine to compile for
// takes a multiple of their memory.
class NoCompiler final : public orc::IRCompileLayer::IRCompiler {
public:
    NoCompiler() : IRCompiler(orc::IRSymbolMapper::ManglingOptions()) {}

    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module &) override {
        return llvm::createStringError("a JIT that links objects is given IR");
    }
};

std::unique_ptr<orc::LLJIT> make_linker() {
    orc::LLJITBuilder builder;
    builder.setCompileFunctionCreator(
        [](const orc::JITTargetMachineBuilder &)
            -> llvm::Expected<std::unique_ptr<orc::IRCompileLayer::IRCompiler>> {
            return std::make_unique<NoCompiler>();
        });
    return must(builder.create());
}

void define_symbols(orc::LLJIT &jit, const ExternSymbols &symbols) {
    orc::SymbolMap map;
    for (const auto &[name, address] : symbols) map[jit.mangleAndIntern(name)] = exported(address);
    if (!map.empty()) must(jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(map))));
    char prefix = jit.getDataLayout().getGlobalPrefix();
    jit.getMainJITDylib().addGenerator(std::make_unique<RuntimeSymbols>(prefix));
    jit.getMainJITDylib().addGenerator(
        must(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix)));
}

void require_host(const Target &target) {
    Target host = get_host_target();
    auto refuse = [&](const std::string &why) {
        throw CompileError(str("cannot run code for the target ", target.to_string(),
                               " on this machine, which ", why));
    };
    bool same = target.arch == host.arch && target.bits == host.bits && target.os == host.os;
    if (!same) refuse("is " + host.to_string());
    std::vector<std::string> beyond = architecture_of(target).features_beyond(
        target.with_implied_features(), host.with_implied_features());
    if (!beyond.empty()) refuse(str("has no ", join(beyond), "; it is ", host.to_string()));
}

}  // namespace

struct JitModule::Code {
    Code() = default;
    Code(const Code &) = delete;
    ~Code();
    std::unique_ptr<orc::LLJIT> jit;
    std::map<std::string, void *> functions;
    size_t bytes = 0;
    // The JIT reports these besides what its functions return.
    std::vector<std::string> missing;  // functions that it cannot find
    std::string reports;
    const tessera_cuda_kernels_t *kernels = nullptr;  // null: there are none

    void report(llvm::Error error);
    void *look_up(const std::string &name, const Options &options);
    void link(const JitObjects &objects, const ExternSymbols &symbols, const Options &options);
};

JitModule::Code::~Code() {
    if (kernels) tessera_cuda_unload(kernels);
}

void JitModule::Code::report(llvm::Error error) {
    llvm::handleAllErrors(
        std::move(error),
        [&](const orc::SymbolsNotFound &e) {
            for (const orc::SymbolStringPtr &symbol : e.getSymbols())
                missing.push_back((*symbol).str());
        },
        [&](const llvm::ErrorInfoBase &e) { reports += e.message() + "\n"; });
}

void *JitModule::Code::look_up(const std::string &name, const Options &options) {
    auto found = jit->lookup(name);
    if (found) return found->toPtr<void *>();
    std::string what = llvm::toString(found.takeError());
    if (missing.empty()) throw InternalError(str("LLVM's JIT failed: ", reports, what));
    Location at;
    for (const std::string &function : missing) {
        auto place = options.written.find(function);
        if (!at.known() && place != options.written.end()) at = place->second;
    }
    throw CompileError(
        at, str("the pipeline calls ", join(missing), ", which ",
                missing.size() == 1 ? "is no function" : "are no functions",
                " that this program exports; link the program with -rdynamic (ENABLE_EXPORTS of "
                "CMake), or give the address with set_jit_externs()"));
}

void JitModule::Code::link(const JitObjects &objects, const ExternSymbols &symbols,
                           const Options &options) {
    jit = make_linker();
    jit->getExecutionSession().setErrorReporter(
        [this](llvm::Error error) { report(std::move(error)); });
    define_symbols(*jit, symbols);
    for (const Object &object : objects.files) {
        bytes += bytes_of(object);
        must(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "part")));
    }
    for (const std::string &function : objects.functions) {
        for (const std::string &name : {function, function + "_argv"}) {
            functions[name] = look_up(name, options);
        }
    }
    if (objects.have_kernels)
        kernels = static_cast<tessera_cuda_kernels_t *>(look_up(kernels_symbol, options));
}

JitObjects to_jit_objects(const ir::Module &module, const Target &target, const Options &options) {
    require_host(target);
    JitObjects objects;
    run_on_large_stack(
        [&] { objects = make_objects(module, target.with_feature(Target::JIT), options); });
    return objects;
}

std::string code_environment(const Target &target) {
    if (!target.has_feature(Target::CUDA)) return "";
    return str(assembler_on_disk(), "\n", libdevice_on_disk());
}

JitModule::JitModule(const ir::Module &module, const Target &target, const ExternSymbols &symbols,
                     const Options &options)
    : JitModule(to_jit_objects(module, target, options), target, symbols, options) {}

JitModule::JitModule(const JitObjects &objects, const Target &target, const ExternSymbols &symbols,
                     const Options &options) {
    require_host(target);
    initialize_llvm();
    auto made = std::make_shared<Code>();
    run_on_large_stack(
        [&] { PhaseTimer(options).run("link", [&] { made->link(objects, symbols, options); }); });
    code = made;
}

void *JitModule::address(const std::string &name) const {
    auto found = code->functions.find(name);
    if (found == code->functions.end()) {
        throw InternalError(str("the module has no function ", name));
    }
    return found->second;
}

size_t JitModule::bytes() const { return code->bytes; }

JitModule::ArgvFunction JitModule::argv_function(const std::string &name) const {
    return reinterpret_cast<ArgvFunction>(address(name + "_argv"));
}

}  // namespace tessera::codegen
