#include "lang/extern.h"
#include <mutex>

namespace tessera {
namespace detail {
namespace {

struct Registry {
    std::mutex mutex;
    std::map<std::string, void *> functions;
    program::Version version;
};

Registry &registry() {
    static auto *r = new Registry;
    return *r;
}

}  // namespace

std::map<std::string, void *> registered_externs() {
    std::lock_guard lock(registry().mutex);
    return registry().functions;
}

const program::Version &version_of_externs() { return registry().version; }

bool register_extern(const char *name, void *address) {
    std::lock_guard lock(registry().mutex);
    registry().functions[name] = address;
    registry().version.note_change();
    return true;
}

Expr extern_call(const char *name, Type type, std::vector<Expr> args,
                 const std::vector<Type> &types, bool pure, Location at) {
    if (args.size() != types.size()) {
        throw CompileError(
            at, str(name, ": ", args.size(), " arguments, but the C function has ", types.size()));
    }
    for (size_t i = 0; i < args.size(); i++) {
        if (!args[i].defined()) {
            throw CompileError(at, str(name, ": argument ", i, " is an undefined Expr"));
        }
        if (args[i].type() == types[i]) continue;
        if (args[i].type().is_handle() != types[i].is_handle()) {
            throw CompileError(
                at, str(name, ": argument ", i, " is a ", args[i].type(), ", not a ", types[i]));
        }
        args[i] = cast(types[i], args[i], at);
    }
    return ir::ExternCall::make(type, name, std::move(args), pure);
}

}  // namespace detail

JITExtern::JITExtern(const Func &f, Location at) : function(f.function()) {
    if (!f.defined()) throw CompileError(at, str("JITExtern: ", f.name(), " has no definition"));
}
JITExtern::JITExtern(const Pipeline &p, Location at) {
    std::vector<Func> outputs = p.outputs(at);
    if (outputs.size() != 1) {
        throw CompileError(at, str("JITExtern: the pipeline has ", outputs.size(),
                                   " outputs; give it the Func that computes the values"));
    }
    *this = JITExtern(outputs[0], at);
}

}  // namespace tessera
