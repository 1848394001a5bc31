#pragma once
#include "lang/func.h"

// Reductions inside of an expression: sum(r, in(x + r)). The expression is computed for every
// point of the domain that it uses (or that is given); its free variables stay free. It becomes a
// Func of its own; give one to schedule it.
namespace tessera {

Expr sum(const Expr &e, const std::string &name = "sum", Location at = Here::current());
Expr saturating_sum(const Expr &e, const std::string &name = "saturating_sum",
                    Location at = Here::current());
Expr product(const Expr &e, const std::string &name = "product", Location at = Here::current());
Expr maximum(const Expr &e, const std::string &name = "maximum", Location at = Here::current());
Expr minimum(const Expr &e, const std::string &name = "minimum", Location at = Here::current());
// Returns the place of the largest (smallest) value, a coordinate per dimension, and then the
// value. The first of equal ones counts. Coordinates are 0 if no value is above (below) the lowest
// (highest) of its type.
Tuple argmax(const Expr &e, const std::string &name = "argmax", Location at = Here::current());
Tuple argmin(const Expr &e, const std::string &name = "argmin", Location at = Here::current());

Expr sum(const RDom &r, const Expr &e, const std::string &name = "sum",
         Location at = Here::current());
Expr saturating_sum(const RDom &r, const Expr &e, const std::string &name = "saturating_sum",
                    Location at = Here::current());
Expr product(const RDom &r, const Expr &e, const std::string &name = "product",
             Location at = Here::current());
Expr maximum(const RDom &r, const Expr &e, const std::string &name = "maximum",
             Location at = Here::current());
Expr minimum(const RDom &r, const Expr &e, const std::string &name = "minimum",
             Location at = Here::current());
Tuple argmax(const RDom &r, const Expr &e, const std::string &name = "argmax",
             Location at = Here::current());
Tuple argmin(const RDom &r, const Expr &e, const std::string &name = "argmin",
             Location at = Here::current());

Expr sum(const Expr &e, const Func &f, Location at = Here::current());
Expr saturating_sum(const Expr &e, const Func &f, Location at = Here::current());
Expr product(const Expr &e, const Func &f, Location at = Here::current());
Expr maximum(const Expr &e, const Func &f, Location at = Here::current());
Expr minimum(const Expr &e, const Func &f, Location at = Here::current());
Tuple argmax(const Expr &e, const Func &f, Location at = Here::current());
Tuple argmin(const Expr &e, const Func &f, Location at = Here::current());
Expr sum(const RDom &r, const Expr &e, const Func &f, Location at = Here::current());
Expr saturating_sum(const RDom &r, const Expr &e, const Func &f, Location at = Here::current());
Expr product(const RDom &r, const Expr &e, const Func &f, Location at = Here::current());
Expr maximum(const RDom &r, const Expr &e, const Func &f, Location at = Here::current());
Expr minimum(const RDom &r, const Expr &e, const Func &f, Location at = Here::current());
Tuple argmax(const RDom &r, const Expr &e, const Func &f, Location at = Here::current());
Tuple argmin(const RDom &r, const Expr &e, const Func &f, Location at = Here::current());

}  // namespace tessera

namespace tessera::ir {  // as in lang/operators.h

using tessera::argmax;
using tessera::argmin;
using tessera::maximum;
using tessera::minimum;
using tessera::product;
using tessera::saturating_sum;
using tessera::sum;

}  // namespace tessera::ir
