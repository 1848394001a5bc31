#pragma once
#include "ir/nodes.h"
#include <vector>

namespace tessera::program {

using ir::Expr;

struct ReductionVariable {
    Symbol var;
    Expr min, extent;
};

// The points an update definition runs over, in order, the first variable fastest: a box, of which
// `predicate` (undefined: true) leaves out some. Variables of it have it as their referent.
class ReductionDomain final : public ir::Referent {
public:
    std::vector<ReductionVariable> variables;
    Expr predicate;
    bool frozen = false;  // used in a definition: where() may no longer be called
};

using ReductionDomainRef = Ref<ReductionDomain>;

}  // namespace tessera::program
