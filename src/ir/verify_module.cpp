#include "base/str.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "ir/visitor.h"
#include <map>

namespace tessera::ir {
namespace {

class Invocations final : public Visitor {
public:
    Invocations(const Module &m, std::string_view pass) : pass(pass) {
        for (const LoweredFunction &f : m.functions) {
            require(functions.emplace(f.name, &f).second, "two functions of the name ", f.name);
        }
    }

private:
    template<typename... Args>
    void require(bool condition, const Args &...what) const {
        if (!condition) throw BrokenRule(pass, str(what...));
    }

    void visit(const For &loop) override {
        expect(loop.body,
               loop.loop_kind == LoopKind::Parallel ? FunctionKind::LoopBody : FunctionKind::Part);
    }
    void visit(const Fork &fork) override {
        for (const Stmt &s : fork.stmts) expect(s, FunctionKind::Task);
    }
    // A statement that, if it is an Invoke, is one of such a function.
    void expect(const Stmt &s, FunctionKind kind) {
        const FunctionKind outer = std::exchange(wanted, kind);
        const Invoke *invoke = s.as<Invoke>();
        if (invoke) {
            check(*invoke);
        } else {
            wanted = FunctionKind::Part;
            (*this)(s);
        }
        wanted = outer;
    }
    void visit(const Invoke &node) override { check(node); }

    void check(const Invoke &node) const {
        const std::string where = str(", in: ", brief(Stmt(&node)));
        auto found = functions.find(node.function);
        require(found != functions.end(), "a function that the module does not have", where);
        const LoweredFunction &f = *found->second;
        const bool is_launch = f.kind == FunctionKind::Kernel && wanted == FunctionKind::Part;
        require(f.kind == wanted || is_launch, "a function of the kind ", name_of(f.kind), ", not ",
                name_of(wanted), where);
        require(f.args.size() == node.args.size(), f.args.size(), " arguments are wanted", where);
        for (size_t i = 0; i < f.args.size(); i++) {
            if (f.kind != FunctionKind::Kernel || f.args[i].is_scalar())
                check(f.args[i], node.args[i], where);
            else
                require(node.args[i].type().is_handle(), "an address is wanted for ",
                        f.args[i].name, where);
        }
    }
    void check(const Argument &a, const Expr &given, const std::string &where) const {
        const auto *call = given.as<IntrinsicCall>();
        const bool is_address = call && call->op == Intrinsic::address_of;
        if (a.kind == ArgumentKind::Storage) {
            require(is_address && address_taken(given).type == a.type, "storage of ", a.type,
                    " is wanted for ", a.name, where);
            return;
        }
        require(a.is_scalar(), "a function that is invoked takes a buffer", where);
        require(given.type() == a.type, "a value of type ", a.type, " is wanted for ", a.name,
                where);
    }

    std::string_view pass;
    std::map<std::string, const LoweredFunction *> functions;
    FunctionKind wanted = FunctionKind::Part;
};

}  // namespace

void verify(const Module &m, std::string_view pass, const VerifyOptions &options) {
    Invocations invocations(m, pass);
    for (const LoweredFunction &f : m.functions) {
        verify(f, pass, options);
        invocations(f.body);
    }
}

}  // namespace tessera::ir
