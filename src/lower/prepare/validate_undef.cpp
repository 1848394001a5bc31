#include "lower/prepare/validate_undef.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/defined_part.h"
#include "lower/nest/stage.h"

namespace tessera::lower {
namespace {

using ir::Expr;
using program::Definition;
using program::FunctionContents;

class UndefSearch {
public:
    UndefSearch(const FunctionContents &f, const Definition &d) : f(f), d(d) {}

    void run() const {
        for (const Expr &e : d.args) require_defined(e, "a coordinate");
        if (d.predicate.defined()) require_defined(d.predicate, "the condition of its domain");
        for (const Expr &e : d.values) {
            if (!has_undef(e)) continue;
            ir::for_each_node(e, [&](const ir::Call &c) {
                for (const Expr &a : c.args) require_defined(a, "a coordinate");
            });
        }
    }

private:
    void require_defined(const Expr &e, const char *what) const {
        if (!has_undef(e)) return;
        throw CompileError(d.written,
                           str("in the definition of ", f.name, " ", what, ", ", ir::brief(e, 100),
                               ", depends on undef, which is a value that is not there; "
                               "choose between coordinates that are"));
    }

    const FunctionContents &f;
    const Definition &d;
};

void refuse_undefined_arguments(const FunctionContents &f) {
    for (const program::ExternFuncArgument &a : f.extern_definition->args) {
        if (!a.scalar.defined() || !has_undef(a.scalar)) continue;
        throw CompileError(f.extern_definition->written,
                           str("extern stage ", f.name, " is passed ", ir::brief(a.scalar, 100),
                               ", which depends on undef, a value that is not there"));
    }
}

}  // namespace

void validate_undef(const program::Environment &environment) {
    for (const program::FunctionRef &f : environment.order) {
        for (const program::DefinitionRef &stage : f->stages) {
            for (const Definition *version : versions_of(*stage)) UndefSearch(*f, *version).run();
        }
        if (f->has_extern_definition()) refuse_undefined_arguments(*f);
    }
}

}  // namespace tessera::lower
