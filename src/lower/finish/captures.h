#pragma once
#include "ir/module.h"
#include "ir/visitor.h"
#include <map>
#include <set>
#include <vector>

namespace tessera::lower {

// Collects what a statement uses of the scope around it: scalars, the structs of buffers among
// them, and storage.
class Captures final : public ir::Visitor {
public:
    explicit Captures(const ir::Stmt &body);

    // Returns them as arguments of a function that has the statement as its body: scalars, then
    // storage.
    std::vector<ir::Argument> arguments() const;

    std::map<Symbol, Type> scalars, storage;

private:
    void use_struct(Symbol buffer) { scalars.emplace(buffer, Handle()); }
    void visit(const ir::Variable &v) override { scalars.emplace(v.name, v.type); }
    void visit(const ir::BufferProperty &p) override { use_struct(p.buffer); }
    void visit(const ir::Load &load) override;
    void visit(const ir::Store &store) override;
    void visit(const ir::Atomic &atomic) override;
    void visit(const ir::Let &let) override;
    void visit(const ir::LetStmt &let) override;
    void visit(const ir::For &loop) override;
    void visit(const ir::Allocate &a) override;

    std::set<Symbol> bound_variables, bound_buffers;
};

// Returns what is passed for such arguments where they have the names that they have within.
std::vector<ir::Expr> passed_for(const std::vector<ir::Argument> &args);

}  // namespace tessera::lower
