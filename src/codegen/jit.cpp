#include "base/large_stack.h"
#include "codegen/compile.h"
#include "codegen/machine.h"
#include "runtime/symbols.h"
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

namespace tessera::codegen {
namespace {

namespace orc = llvm::orc;

template<typename T> T must(llvm::Expected<T> result) {
    if (result) return std::move(*result);
    throw InternalError(str("LLVM's JIT failed: ", llvm::toString(result.takeError())));
}

void must(llvm::Error error) {
    if (error) throw InternalError(str("LLVM's JIT failed: ", llvm::toString(std::move(error))));
}

void define_symbols(orc::LLJIT &jit, const ExternSymbols &symbols) {
    orc::SymbolMap map;
    auto define = [&](const std::string &name, void *address) {
        map[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported};
    };
    for (const RuntimeSymbol &s : tessera_runtime_symbols())
        define(s.name, s.address);
    for (const auto &[name, address] : symbols)
        define(name, address);
    must(jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(map))));
    char prefix = jit.getDataLayout().getGlobalPrefix();
    jit.getMainJITDylib().addGenerator(
        must(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix)));
}

void require_host(const Target &target) {
    Target host = get_host_target();
    if (target.arch == host.arch && target.bits == host.bits && target.os == host.os) return;
    throw CompileError(str("cannot run code for the target ", target.to_string(),
                           " on this machine, which is ", host.to_string()));
}

}  // namespace

struct JitModule::Code {
    std::unique_ptr<orc::LLJIT> jit;
    std::map<std::string, void *> functions;

    std::string reports;  // what the JIT says of symbols that it cannot find

    void *look_up(const std::string &name);
    void compile(const ir::Module &module, const Target &target, const ExternSymbols &symbols,
                 const Options &options);
};

void *JitModule::Code::look_up(const std::string &name) {
    auto found = jit->lookup(name);
    if (found) return found->toPtr<void *>();
    std::string what = reports + llvm::toString(found.takeError());
    if (what.find("Symbols not found") == std::string::npos) {
        throw InternalError(str("LLVM's JIT failed: ", what));
    }
    throw CompileError(str("the pipeline calls functions that were given no address, and that are "
                           "not part of this program: ",
                           what));
}

void JitModule::Code::compile(const ir::Module &module, const Target &target,
                              const ExternSymbols &symbols, const Options &options) {
    PhaseTimer timer(options);
    auto machine = make_target_machine(target, true);
    orc::ThreadSafeContext context(std::make_unique<llvm::LLVMContext>());
    std::unique_ptr<llvm::Module> llvm_module;
    context.withContextDo([&](llvm::LLVMContext *c) {
        c->setDiscardValueNames(true);
        timer.run("emit LLVM IR", [&] { llvm_module = emit_llvm(*c, module, target, *machine); });
        if (options.verify) timer.run("verify", [&] { verify(*llvm_module); });
        if (options.optimize) {
            timer.run("optimize", [&] { optimize(*llvm_module, *machine, target); });
        }
    });
    timer.run("make machine code", [&] {
        auto make_compiler = [&](orc::JITTargetMachineBuilder)
            -> llvm::Expected<std::unique_ptr<orc::IRCompileLayer::IRCompiler>> {
            return std::make_unique<orc::TMOwningSimpleCompiler>(std::move(machine));
        };
        jit = must(orc::LLJITBuilder().setCompileFunctionCreator(make_compiler).create());
        jit->getExecutionSession().setErrorReporter(
            [this](llvm::Error e) { reports += llvm::toString(std::move(e)) + "\n"; });
        define_symbols(*jit, symbols);
        must(jit->addIRModule(orc::ThreadSafeModule(std::move(llvm_module), context)));
        for (const ir::LoweredFunction &f : module.functions) {
            for (const std::string &name : {f.name, f.name + "_argv"}) {
                functions[name] = look_up(name);
            }
        }
    });
}

JitModule::JitModule(const ir::Module &module, const Target &target, const ExternSymbols &symbols,
                     const Options &options) {
    require_host(target);
    auto made = std::make_shared<Code>();
    run_on_large_stack([&] { made->compile(module, target, symbols, options); });
    code = made;
}

void *JitModule::address(const std::string &name) const {
    auto found = code->functions.find(name);
    if (found == code->functions.end()) {
        throw InternalError(str("the module has no function ", name));
    }
    return found->second;
}

JitModule::ArgvFunction JitModule::argv_function(const std::string &name) const {
    return reinterpret_cast<ArgvFunction>(address(name + "_argv"));
}

}  // namespace tessera::codegen
