#include "program/copy_input.h"
#include "ir/mutator.h"
#include "ir/visitor.h"
#include "program/define.h"
#include "program/environment.h"
#include <set>

namespace tessera::program {
namespace {

[[noreturn]] void refuse(const Location &at, const std::string &why) {
    throw CompileError(at, str("copy_input: ", why));
}

// A read of the image in the stage; an error if there is none.
Expr read_of(const StageRef &stage, Symbol image, const Location &at) {
    Expr found;
    std::set<std::string> others;
    for_each_expr(stage.definition(), [&](const Expr &e) {
        ir::for_each_node(e, [&](const ir::Call &c) {
            if (c.call_kind != CallKind::Image) return;
            others.insert(c.callee.text());
            if (c.callee == image) found = Expr(&c);
        });
    });
    if (found.defined()) return found;
    refuse(at, str(stage.name, " does not read the image ", image, " itself; it reads ",
                   others.empty() ? std::string("none") : join(others),
                   ". What reads an ImageParam is its Func, of which in() makes copies"));
}

void define_copy(const FunctionRef &made, const ir::Call &read, const FunctionContents &reader,
                 const Location &at) {
    std::vector<Symbol> args;
    std::vector<Expr> coordinates;
    for (size_t d = 0; d < read.args.size(); d++) {
        args.push_back(Symbol::interned(str("_", d)));
        coordinates.push_back(ir::Variable::make(Int(32), args.back()));
    }
    define_pure(made, args, {read.with<&ir::Call::args>(coordinates)}, at);
    made->dialect = reader.dialect;
    made->frozen = true;
}

class ReadTheCopy final : public ir::Mutator {
public:
    ReadTheCopy(Symbol image, const FunctionRef &copy) : image(image), copy(copy) {}

private:
    Expr visit(const ir::Call &c) override {
        Expr e = Mutator::visit(c);
        if (c.call_kind != CallKind::Image || c.callee != image) return e;
        return call_of_relative(*copy, e.as<ir::Call>()->args);
    }
    Symbol image;
    FunctionRef copy;
};

}  // namespace

FunctionRef copy_input(const StageRef &stage, Symbol image, const Location &at,
                       const FunctionRef &into) {
    Definition &d = stage.definition();
    if (!d.specializations.empty())
        refuse(at, str(stage.name, " has specializations; say copy_input before specialize"));
    const Expr read = read_of(stage, image, at);
    FunctionContents &f = *stage.function;
    const FunctionRef made =
        into ? into : stage.function.make_relative(Symbol::fresh(str(image, "_for_", f.name)));
    define_copy(made, *read.as<ir::Call>(), f, at);
    ReadTheCopy mutate(image, made);
    for (Expr &e : d.args) e = mutate(e);
    for (Expr &e : d.values) e = mutate(e);
    d.predicate = mutate(d.predicate);
    d.schedule.directives.push_back({CopyInput{image, made->name}, at, next_order()});
    d.schedule.touched = true;
    f.version.note_change();
    return made;
}

}  // namespace tessera::program
