#pragma once
#include "ir/module.h"
#include <map>
#include <unordered_map>

namespace tessera::codegen {

// A call of the host's that a kernel asks for: the error of an assertion that does not hold, or a
// line that is printed. The kernel writes the values of the operands down
// (tessera_cuda_reports_t), and the host makes the call with them:
//
//     tessera_error_requirement_failed(user_context(), "f.cpp:7", "", stringify("x is ", x + 1))
//     ->  v0 = x + 1;  ... stringify("x is ", v0))
struct KernelReport {
    struct Operand {
        Symbol name;
        ir::Expr value;
    };

    // CompileError if it has more operands than a record.
    explicit KernelReport(const ir::Expr &asked);

    // Returns how many words its record has.
    int64_t words() const;

    ir::Expr call;  // with the operands' names for their values
    std::vector<Operand> operands;
};

// Collects what the kernels of a module may report. Code for several capabilities shares it.
class KernelReports {
public:
    // Says that the kernel may report something.
    void add(const std::string &kernel) { reports.try_emplace(kernel); }
    // Adds a report and returns its number in the kernel, from 0. Copies of one place of the IR are
    // one report.
    size_t add(const std::string &kernel, const ir::Expr &place, const ir::Expr &call);
    // Null if the kernel reports nothing.
    const std::vector<KernelReport> *of(const std::string &kernel) const;

private:
    struct Place {
        ir::Expr place;  // keeps the node alive
        size_t number;
    };
    std::map<std::string, std::vector<KernelReport>> reports;
    std::map<std::string, std::unordered_map<const ir::ExprNode *, Place>> known;
};

// Returns true if the kernel may report something.
bool may_report(const ir::LoweredFunction &kernel);

}  // namespace tessera::codegen
