#include "lower/nest/prefetch.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

Stmt wrap_prefetch(const Stmt &body, RegionInference &regions,
                   const program::PrefetchDirective &prefetch, const StageNestRef &nest,
                   const StageNest::Loop &from, const ProgramContext &context) {
    const program::FunctionContents *f = context.function(prefetch.what);
    const ir::Argument *image = context.argument(prefetch.what);
    std::vector<Type> types = f ? f->types : std::vector<Type>{image->type};
    Box box = prefetch.what == nest->func.name
                  ? regions.written(nest)
                  : regions.required(prefetch.what, f ? f->dimensions() : image->dimensions);

    Expr ahead = Variable::make(Int(32), from.symbol) + cast(Int(32), prefetch.offset);
    Expr last = from.min + from.extent - 1, condition = const_true();
    if (prefetch.strategy == PrefetchBoundStrategy::GuardWithIf) condition = ahead <= last;
    if (prefetch.strategy == PrefetchBoundStrategy::Clamp) ahead = min(ahead, last);
    ir::Region bounds;
    for (const algebra::Interval &i : box) {
        Expr first = substitute(from.symbol, ahead, i.min);
        Expr end = substitute(from.symbol, ahead, i.max);
        bounds.push_back({simplify(first), simplify(end - first + 1)});
    }
    Stmt s = f ? Prefetch::make(prefetch.what, types, bounds, condition, body)
               : Prefetch::make(prefetch.what, types, bounds, condition, body, CallKind::Image,
                                image->referent);
    for (auto let = regions.lets.rbegin(); let != regions.lets.rend(); ++let) {
        s = LetStmt::make(let->symbol, substitute(from.symbol, ahead, let->value), s);
    }
    return s;
}

}  // namespace tessera::lower
