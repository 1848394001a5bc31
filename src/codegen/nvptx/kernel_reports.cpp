#include "codegen/nvptx/kernel_reports.h"
#include "base/error.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "runtime/tessera_runtime_cuda.h"

namespace tessera::codegen {

using namespace ir;

namespace {

class WithoutLets final : public Mutator {
    Expr visit(const Let &let) override {
        return substitute(let.name, (*this)(let.value), (*this)(let.body));
    }
};

// Texts, and calls of the runtime.
bool needs_host(const Expr &e) {
    bool any = false;
    for_each_node(e, [&](const StringImm &) { any = true; });
    for_each_node(e, [&](const ExternCall &c) { any |= !c.pure; });
    for_each_node(e, [&](const IntrinsicCall &c) {
        any |= c.op == Intrinsic::user_context || c.op == Intrinsic::stringify;
    });
    return any;
}

// Names what the kernel computes.
class NameOperands final : public Mutator {
public:
    explicit NameOperands(std::vector<KernelReport::Operand> &operands) : operands(operands) {}

private:
#define VISIT(T)                                                                                   \
    Expr visit(const T &node) override {                                                           \
        const Expr e(&node);                                                                       \
        return is_const(e) || needs_host(e) ? Mutator::visit(node) : operand(e);                   \
    }
    TESSERA_EXPR_NODES(VISIT)
#undef VISIT
    Expr operand(const Expr &e) {
        operands.push_back({Symbol::fresh("value"), e});
        return Variable::make(e.type(), operands.back().name);
    }

    std::vector<KernelReport::Operand> &operands;
};

}  // namespace

KernelReport::KernelReport(const Expr &asked) {
    call = NameOperands(operands)(WithoutLets()(asked));
    if (words() <= TESSERA_CUDA_RECORD_WORDS) return;
    throw CompileError(str("a message within a kernel, on a GPU, has ", words() - 1,
                           " values, counting the lanes of vectors; ",
                           TESSERA_CUDA_RECORD_WORDS - 1, " are the most"));
}

int64_t KernelReport::words() const {
    int64_t words = 1;
    for (const Operand &o : operands) words += o.value.type().lanes();
    return words;
}

size_t KernelReports::add(const std::string &kernel, const Expr &place, const Expr &call) {
    std::vector<KernelReport> &all = reports[kernel];
    const auto [found, is_new] = known[kernel].try_emplace(place.get(), place, all.size());
    if (is_new) all.emplace_back(call);
    return found->second.number;
}

const std::vector<KernelReport> *KernelReports::of(const std::string &kernel) const {
    const auto found = reports.find(kernel);
    return found == reports.end() ? nullptr : &found->second;
}

bool may_report(const LoweredFunction &kernel) {
    bool any = false;
    for_each_node(kernel.body, [&](const AssertStmt &) { any = true; });
    for_each_node(kernel.body, [&](const IntrinsicCall &c) { any |= c.op == Intrinsic::require; });
    for_each_node(kernel.body, [&](const ExternCall &c) { any |= lower::is_print(c); });
    return any;
}

}  // namespace tessera::codegen
