#pragma once
#include "ir/node_map.h"
#include "ir/nodes.h"

namespace tessera::ir {

// Rebuilds IR bottom-up. Override `visit` for the nodes a pass cares about and call the base
// version to go on into the children. Nodes whose children did not change are shared, not copied.
//
// An expression that several others share is rebuilt once, so that a graph of shared nodes takes
// linear time. A pass whose result for an expression depends on where it stands (on the lets or
// loops around it) says so with Visits::PerUse, and works on expressions without much sharing.
class Mutator {
public:
    enum class Visits { Once, PerUse };
    explicit Mutator(Visits visits = Visits::Once) : visits(visits) {}
    virtual ~Mutator() = default;

    Expr operator()(const Expr &e);
    Stmt operator()(const Stmt &s);
    Range operator()(const Range &r) { return {(*this)(r.min), (*this)(r.extent)}; }

protected:
#define VISIT(T) virtual Expr visit(const T &node);
    TESSERA_EXPR_NODES(VISIT)
#undef VISIT
#define VISIT(T) virtual Stmt visit(const T &node);
    TESSERA_STMT_NODES(VISIT)
#undef VISIT

private:
    template<typename T>
    auto rebuild(const T &node);
    Expr dispatch(const Expr &e);

    Visits visits;
    struct Done {
        Expr before, after;  // `before` keeps its node alive, so that the key stays its own
    };
    NodeMap<Done> done;
};

}  // namespace tessera::ir
