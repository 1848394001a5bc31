#pragma once
#include "ir/nodes.h"
#include "ir/written_expr.h"
#include "lang/location.h"
#include "lang/var.h"
#include "program/reduction_domain.h"
#include <optional>
#include <utility>

namespace tessera {

using ir::Range;
using ir::Region;
class OutputImageParam;
class RDom;
template<typename T, int Dims>
class Buffer;

// A variable of a reduction domain, or the name of a loop made from such variables.
class RVar {
public:
    // Errors of conversions, which can take no Location, name the line of this constructor.
    RVar(Here at = Here::current());
    explicit RVar(const std::string &name, Here at = Here::current());
    explicit RVar(const char *name, Here at = Here::current()) : RVar(std::string(name), at) {}
    RVar(program::ReductionDomainRef domain, int index);
    explicit RVar(Symbol symbol) : name_symbol(std::move(symbol)) {}

    // The range of a variable of a domain.
    Expr min() const;
    Expr extent() const;

    const std::string &name() const { return name_symbol.text(); }
    Symbol symbol() const { return name_symbol; }
    const program::ReductionDomainRef &domain() const { return home; }
    operator Expr() const;

private:
    friend class RDom;
    Symbol name_symbol;
    program::ReductionDomainRef home;
    int index = 0;
    Location written;
    // For a variable that an RDom does not have, the number of those that it has; 0 if the RDom is
    // undefined.
    std::optional<int> number_of_others;
};

// A box over which updates run, first variable fastest, in order:
//     RDom r(0, width, 0, height);   f(x) += g(r.x, r.y);
class RDom {
public:
    RDom(Here at = Here::current());
    RDom(const Region &region, const std::string &name = "", Location at = Here::current());
    // min, extent, min, extent, ..., and the name if there is one.
    template<typename... Args>
    RDom(const WrittenExpr &min, const Expr &extent, const Args &...rest)
        : RDom(std::vector<Expr>{min, extent, Expr(rest)...}, min.at) {}
    // All of a buffer's region.
    template<typename T, int Dims>
    RDom(const Buffer<T, Dims> &buffer, const std::string &name = "", Location at = Here::current())
        : RDom(region_of(buffer, at), name, at) {}
    RDom(const OutputImageParam &image, const std::string &name = "",
         Location at = Here::current());
    explicit RDom(program::ReductionDomainRef domain);

    bool defined() const { return bool(dom); }
    bool same_as(const RDom &other) const { return dom == other.dom; }
    int dimensions() const { return dom ? int(dom->variables.size()) : 0; }
    RVar operator[](WrittenIndex i) const;  // CompileError if there is none
    const program::ReductionDomainRef &domain() const { return dom; }

    // Only points for which the condition holds. Several conditions all have to hold. Call it
    // before the domain is used.
    void where(Expr predicate, Location at = Here::current());

    // For a domain of one dimension.
    operator RVar() const;
    operator Expr() const;

    // The first four variables.
    RVar x, y, z, w;

private:
    RDom(std::vector<Expr> bounds_and_name, Location at);
    template<typename B>
    static Region region_of(const B &buffer, const Location &at) {
        if (!buffer.defined()) throw CompileError(at, "RDom: the Buffer is undefined");
        Region region;
        for (int i = 0; i < buffer.dimensions(); i++) {
            region.emplace_back(Expr(int32_t(buffer.dim(i).min())),
                                Expr(int32_t(buffer.dim(i).extent())));
        }
        return region;
    }
    void set_variables();
    program::ReductionDomainRef dom;
    Location written;
};

// Either, where a directive takes both.
struct VarOrRVar {
    VarOrRVar(const Var &v) : symbol(v.symbol()) {}
    VarOrRVar(const RVar &v) : symbol(v.symbol()), is_rvar(true) {}
    VarOrRVar(const RDom &r) : VarOrRVar(RVar(r)) {}
    VarOrRVar(const std::string &name, bool is_rvar)
        : symbol(is_rvar ? RVar(name).symbol() : Var(name).symbol()), is_rvar(is_rvar) {}
    const std::string &name() const { return symbol.text(); }

    Symbol symbol;
    bool is_rvar = false;
};

}  // namespace tessera
