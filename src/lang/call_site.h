#pragma once
#include "ir/operators.h"

namespace tessera {

// A function of the language that somebody calls, and where: for errors of its operands.
struct CallSite {
    const char *function;
    Location at;

    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(at, str(function, ": ", why));
    }
    void require_defined(const ir::Expr &operand) const {
        if (!operand.defined()) refuse("an operand is an undefined Expr");
    }
    void match_types(ir::Expr &a, ir::Expr &b) const {
        require_defined(a);
        require_defined(b);
        try {
            ir::match_types(a, b, at);
        } catch (const CompileError &e) {
            refuse(e.what());
        }
    }
};

}  // namespace tessera
