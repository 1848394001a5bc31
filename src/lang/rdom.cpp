#include "lang/rdom.h"
#include "ir/nodes.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor_inl.h"
#include "lang/image_param.h"
#include "program/apply_checks.h"

namespace tessera {
namespace {

using program::ReductionDomain;

void require_no_variables(const Expr &e, const Location &at) {
    if (!e.defined()) throw CompileError(at, "RDom: a bound is an undefined Expr");
    ir::for_each_node(e, [&](const ir::Variable &v) {
        bool of_domain = dynamic_cast<const ReductionDomain *>(v.referent.get()) != nullptr;
        if (v.referent && !of_domain) return;
        throw CompileError(at, str("RDom: a bound depends on the variable ", v.name,
                                   "; bounds are the same for all points, so make the box large "
                                   "enough and use where() to leave points out"));
    });
    auto refuse = [&](const std::string &what) {
        throw CompileError(at, str("RDom: the bound ", ir::brief(e, 100), " depends on ", what,
                                   "; bounds are known before anything is computed, so make the "
                                   "box large enough and use where() to leave points out"));
    };
    ir::for_each_node(e, [&](const ir::Call &c) {
        if (c.call_kind == CallKind::Func) refuse(str("values of ", c.callee));
    });
    ir::for_each_node(e, [&](const ir::IntrinsicCall &c) {
        if (c.op == ir::Intrinsic::undef) refuse("an undefined value");
        if (c.op == ir::Intrinsic::random) refuse("a random number");
    });
}

void require_extent(const Expr &extent, const Location &at) {
    auto constant = ir::as_const_int(extent);
    if (!constant || *constant >= 0) return;
    throw CompileError(at, str("RDom: the extent ", *constant,
                               " is negative; for every dimension there is a minimum and an "
                               "extent, and not a maximum"));
}

void require_int32(const Expr &min, const Expr &extent, const Location &at) {
    auto first = ir::as_const_int(min), count = ir::as_const_int(extent);
    if (!first || !count || *first + *count - 1 <= INT32_MAX) return;
    throw CompileError(at, str("RDom: the last point, ", *first + *count - 1,
                               ", lies beyond the largest coordinate, ", INT32_MAX));
}

Expr bound(const Expr &e, const Location &at) {
    require_no_variables(e, at);
    if (!e.type().is_int_or_uint() || e.type().is_vector()) {
        throw CompileError(at, str("RDom: a bound is an integer, not a ", e.type()));
    }
    return program::to_int32(e, "RDom: a bound", at);
}

std::string variable_name(const std::string &domain, size_t i, size_t dimensions) {
    static const char *const letters[] = {"x", "y", "z", "w"};
    if (dimensions > 4) return str(domain, "$", i);
    return str(domain, "$", letters[i]);
}

}  // namespace

RVar::RVar(Here at) : RVar(std::string(), at) {}
RVar::RVar(const std::string &name, Here at)
    : name_symbol(name.empty() ? Symbol::fresh(detail::unique_name("r")) : Symbol::interned(name)),
      written(at) {}
RVar::RVar(program::ReductionDomainRef domain, int index)
    : name_symbol(domain->variables[size_t(index)].var), home(std::move(domain)), index(index) {}

Expr RVar::min() const { return home ? home->variables[size_t(index)].min : Expr(); }
Expr RVar::extent() const { return home ? home->variables[size_t(index)].extent : Expr(); }

RVar::operator Expr() const {
    if (number_of_others == 0) {
        throw CompileError(written, "RDom: it is undefined; give it bounds before its variables "
                                    "are used");
    }
    if (number_of_others) {
        throw CompileError(written, str("RDom: it has ", *number_of_others, " dimension",
                                        *number_of_others == 1 ? "" : "s", ", but its variable ",
                                        name_symbol, " is used"));
    }
    if (!home) {
        throw CompileError(written, str("an RVar that belongs to no RDom with bounds (",
                                        name_symbol, ") has no value; it can only name a loop"));
    }
    return ir::Variable::make(Int(32), name_symbol, home);
}

RDom::RDom(Here at) : written(at) {
    for (RVar *v : {&x, &y, &z, &w}) {
        v->written = written;
        v->number_of_others = 0;
    }
}

RDom::RDom(const Region &region, const std::string &name, Location at) : written(at) {
    if (region.empty()) throw CompileError(at, "RDom: it has no dimensions");
    std::string domain = name.empty() ? detail::unique_name("r") : name;
    dom = make_ref<ReductionDomain>();
    for (size_t i = 0; i < region.size(); i++) {
        if (region[i].extent.defined()) require_extent(region[i].extent, at);
        Expr min = bound(region[i].min, at), extent = bound(region[i].extent, at);
        require_int32(min, extent, at);
        dom->variables.push_back(
            {Symbol::fresh(variable_name(domain, i, region.size())), min, extent});
    }
    set_variables();
}

namespace {

Region pairs(std::vector<Expr> &bounds, std::string &name, Location at) {
    if (!bounds.empty() && bounds.back().as<ir::StringImm>()) {
        name = bounds.back().as<ir::StringImm>()->value;
        bounds.pop_back();
    }
    if (bounds.size() % 2) {
        throw CompileError(at, str("RDom: ", bounds.size(),
                                   " bounds; for every dimension there is "
                                   "a minimum and an extent"));
    }
    Region region;
    for (size_t i = 0; i < bounds.size(); i += 2) region.emplace_back(bounds[i], bounds[i + 1]);
    return region;
}

}  // namespace

RDom::RDom(std::vector<Expr> bounds_and_name, Location at) {
    std::string name;
    auto region = pairs(bounds_and_name, name, at);
    *this = RDom(region, name, at);
}

RDom::RDom(const OutputImageParam &image, const std::string &name, Location at) {
    Region region;
    for (int i = 0; i < image.dimensions(at); i++) {
        region.emplace_back(image.dim(i).min(), image.dim(i).extent());
    }
    *this = RDom(region, name, at);
}

RDom::RDom(program::ReductionDomainRef domain) : dom(std::move(domain)) {
    if (dom) set_variables();
}

void RDom::set_variables() {
    RVar *const first[] = {&x, &y, &z, &w};
    const char *const letters[] = {"x", "y", "z", "w"};
    for (size_t i = 0; i < 4; i++) {
        if (i < dom->variables.size()) {
            *first[i] = RVar(dom, int(i));
            continue;
        }
        first[i]->name_symbol = Symbol::fresh(letters[i]);
        first[i]->written = written;
        first[i]->number_of_others = dimensions();
    }
}

RVar RDom::operator[](WrittenIndex i) const {
    if (!dom) throw CompileError(i.at, "RDom: it is undefined; give it bounds first");
    if (!i.is_below(size_t(dimensions()))) {
        throw CompileError(
            i.at, str("RDom: there is no dimension ", i.value, "; the domain has ", dimensions()));
    }
    return RVar(dom, int(i.value));
}

void RDom::where(Expr predicate, Location at) {
    if (!dom) throw CompileError(at, "RDom::where: the domain is undefined; give it bounds first");
    if (!predicate.defined()) throw CompileError(at, "RDom::where: an undefined Expr");
    if (!predicate.type().is_bool()) {
        throw CompileError(at, str("RDom::where: the condition is a ", predicate.type(),
                                   ", not a bool; compare it with something"));
    }
    if (dom->frozen) {
        throw CompileError(at, "RDom::where: the domain has been used in a definition; say where() "
                               "before that");
    }
    ir::for_each_node(predicate, [&](const ir::Variable &v) {
        const auto *d = dynamic_cast<const ReductionDomain *>(v.referent.get());
        if (d && d != dom.get()) {
            throw CompileError(at, str("RDom::where: ", v.name, " is of another domain"));
        }
    });
    // Without referents: a domain must not keep itself alive.
    ir::Substitution own;
    for (const auto &v : dom->variables) own[v.var] = ir::Variable::make(Int(32), v.var);
    predicate = ir::substitute(own, predicate);
    dom->predicate = dom->predicate.defined() ? dom->predicate && predicate : predicate;
}

RDom::operator RVar() const {
    if (dimensions() == 1) return x;
    if (!dom) throw CompileError(written, "RDom: it is undefined; give it bounds first");
    throw CompileError(written,
                       str("RDom: a domain of ", dimensions(),
                           " dimensions stands for no single variable; say r.x, r.y, ..."));
}

RDom::operator Expr() const { return RVar(*this); }

}  // namespace tessera
