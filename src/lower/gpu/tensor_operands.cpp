#include "lower/gpu/tensor_operands.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/loop_name.h"

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

constexpr int panel_elements = 64;  // of 16 bits: the 128 bytes that are swizzled together

// A or B: what is read of it, for a row (or column) and a k.
class Matrix {
public:
    Matrix(const Call &element, const For &along, const For &sum, const Substitution &lets)
        : element(element), along(along), sum(sum) {
        for (size_t d = 0; d < element.args.size(); d++) {
            args.push_back(substitute(lets, element.args[d]));
            if (uses(args[d], sum.name)) k_dimension = d;
            if (uses(args[d], along.name)) own_dimension = d;
        }
    }
    bool is_along_k() const { return k_dimension == 0; }
    bool is_dense() const { return k_dimension + own_dimension == 1; }
    Expr place(const Expr &own, const Expr &k) const {
        const Substitution values{{along.name, own + along.min}, {sum.name, k + sum.min}};
        std::vector<Expr> at;
        for (const Expr &arg : args) at.push_back(simplify(substitute(values, arg)));
        return call(Handle(), Intrinsic::address_of, {element.with<&Call::args>(at)});
    }
    static bool uses(const Expr &e, Symbol name) { return symbols_in(e).contains(name); }

private:
    const Call &element;
    const For &along, &sum;
    std::vector<Expr> args;
    size_t k_dimension = 0, own_dimension = 0;
};

// The parts of the update.
class Product {
public:
    explicit Product(const TensorizedStage &stage) : stage(stage) {
        const auto *sum =
            stage.update.values.size() == 1 ? stage.update.values[0].as<Add>() : nullptr;
        if (!sum) refuse();
        const bool is_first = is_itself(sum->a);
        if (!is_first && !is_itself(sum->b)) refuse();
        factors(is_first ? sum->b : sum->a);
    }
    const Call *a = nullptr, *b = nullptr;

private:
    bool is_itself(const Expr &e) const {
        const auto *c = e.as<Call>();
        if (!c || c->callee != stage.update.func) return false;
        for (size_t d = 0; d < c->args.size(); d++) {
            if (!equal(c->args[d], stage.update.args[d])) return false;
        }
        return true;
    }
    void factors(const Expr &product) {
        const auto *mul = product.as<Mul>();
        if (!mul) refuse();
        a = operand(mul->a);
        b = operand(mul->b);
    }
    const Call *operand(const Expr &e) const {
        const auto *cast = e.as<Cast>();
        const auto *c = cast ? cast->value.as<Call>() : nullptr;
        const bool fits = c && (c->type == Float(16) || c->type == BFloat(16));
        if (!fits) refuse();
        return c;
    }
    [[noreturn]] void refuse() const {
        throw CompileError(stage.columns.origin.kind_written,
                           str("tensorize: the update of ", stage.update.func,
                               " has to have the form f(x, y) += cast<float>(a) * cast<float>(b), "
                               "with a and b of float16 or bfloat16"));
    }
    const TensorizedStage &stage;
};

// The lets between the loops over warps and the update.
Substitution lets_within(const Stmt &body) {
    Substitution lets;
    for_each_node(body, [&](const LetStmt &let) { lets[let.name] = substitute(lets, let.value); });
    return lets;
}

int32_t count(const For &loop) { return int32_t(as_const_int(simplify(loop.extent)).value_or(0)); }

// Where each thread reads for ldmatrix.x4: a row of one of four matrices of 8 x 8 elements.
void add_fragments(std::vector<Expr> &operands, const TensorizedStage &stage, const Matrix &a,
                   const Matrix &b) {
    const Expr matrix = stage.lane / 8, row = stage.lane % 8;
    const int32_t steps = count(stage.sum) / 16;
    for (int32_t k = 0; k < steps; k++) {
        for (int32_t m = 0; m < count(stage.rows) / 16; m++) {
            const Expr second = matrix % 2 * 8, third = matrix / 2 * 8;
            operands.push_back(a.is_along_k() ? a.place(second + row + m * 16, third + k * 16)
                                              : a.place(second + m * 16, third + row + k * 16));
        }
    }
    for (int32_t k = 0; k < steps; k++) {
        for (int32_t n = 0; n < count(stage.columns) / 16; n++) {
            const Expr second = matrix % 2 * 8, third = matrix / 2 * 8;
            operands.push_back(b.is_along_k() ? b.place(third + row + n * 16, second + k * 16)
                                              : b.place(third + n * 16, second + row + k * 16));
        }
    }
}

// The machine reads rows of 128 bytes.
void check_panels(const TensorizedStage &stage, const Matrix &a, const Matrix &b) {
    const auto check = [&](const For &loop, const char *what) {
        if (count(loop) % panel_elements == 0) return;
        throw CompileError(loop.origin.kind_written,
                           str("tensorize: an operand of ", stage.instruction.name,
                               " that is stored "
                               "along ",
                               what, " has a multiple of ", panel_elements,
                               " of them for each instruction; the ", loop_name(loop), " has ",
                               count(loop)));
    };
    if (a.is_along_k() || b.is_along_k()) check(stage.sum, "what is summed");
    if (!b.is_along_k()) check(stage.columns, "its columns");
}

void add_tiles(std::vector<Expr> &operands, const TensorizedStage &stage, const Matrix &a,
               const Matrix &b) {
    const int32_t steps = count(stage.sum) / 16;
    for (int32_t k = 0; k < steps; k++) {
        for (int32_t m = 0; m < count(stage.rows) / 64; m++)
            operands.push_back(a.place(m * 64, k * 16));
    }
    for (int32_t k = 0; k < steps; k++) operands.push_back(b.place(0, k * 16));
}

}  // namespace

std::vector<Expr> tensor_operands(const TensorizedStage &stage, const Stmt &body) {
    const Product product(stage);
    const Substitution lets = lets_within(body);
    const auto uses_row = [&](const Call &c) {
        for (const Expr &arg : c.args) {
            if (Matrix::uses(substitute(lets, arg), stage.rows.name)) return true;
        }
        return false;
    };
    const bool swapped = !uses_row(*product.a);
    const Matrix a(swapped ? *product.b : *product.a, stage.rows, stage.sum, lets),
        b(swapped ? *product.a : *product.b, stage.columns, stage.sum, lets);
    const bool fits = a.is_dense() && b.is_dense() && count(stage.sum) > 0 &&
                      count(stage.sum) % stage.instruction.k == 0 &&
                      product.a->type == product.b->type;
    if (!fits) {
        throw CompileError(
            stage.sum.origin.kind_written,
            str("tensorize: ", stage.instruction.name, " sums a multiple of ", stage.instruction.k,
                " products of one type, of operands a(k, y) or a(y, k), and b(x, k) or b(k, x)"));
    }
    if (stage.instruction.loops == LoopKind::WGMMA) check_panels(stage, a, b);
    const int32_t k_of_tile = count(stage.sum);
    const Expr accumulators =
        call(Handle(), Intrinsic::address_of,
             {Call::make(Float(32), stage.update.func, CallKind::Func, 0, {0})});
    std::vector<Expr> operands = {
        count(stage.rows),          count(stage.columns), k_of_tile,
        int(a.is_along_k()),        int(b.is_along_k()),  int(product.a->type.is_bfloat()),
        panel_elements * k_of_tile, accumulators};
    if (stage.instruction.loops == LoopKind::MMA)
        add_fragments(operands, stage, a, b);
    else
        add_tiles(operands, stage, a, b);
    return operands;
}

}  // namespace tessera::lower
