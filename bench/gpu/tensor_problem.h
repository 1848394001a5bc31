// A product of matrices or a convolution on tensor cores: its operands on the device, several sets
// of them, since a set that the L2 cache holds says little; ours and the libraries' ways to compute
// it; and the error of a result.
#pragma once

#include "conv_layer/tensor_conv.h"
#include "gemm/tensor_gemm.h"
#include "gpu/cublas_lt.h"
#include "gpu/cudnn.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::bench {

// A row of the table.
struct TensorProblem {
    std::string name;
    MatrixProduct product = {};
    std::optional<ConvolutionShape> convolution = {};
    std::string group = {};  // rows of the same name have one geometric mean
    int capability = 90;     // whose instructions are used
    double operations() const;
    std::string sizes() const;
};

// Returns all rows.
std::vector<TensorProblem> tensor_problems();

// One way to compute it with our compiler.
struct TensorVariant {
    std::string name;
    std::function<Callable(const Target &)> compile;
    std::function<std::string()> ptx;  // for capability 9.0
    bool is_dependent = false;         // begins while the kernel before it ends
};
// The first is what the apps' functions choose; then `more` others that the model of tiles puts
// next.
std::vector<TensorVariant> variants_of(const TensorProblem &problem, int more);

// The operands of some calls.
class TensorOperands {
public:
    explicit TensorOperands(const TensorProblem &problem);
    int count() const { return int(sets.size()); }
    void call(const Callable &ours, int set) const;
    void call(const CublasLt::Call &theirs, int set, void *stream) const;
    void call(const Cudnn::Call &theirs, int set) const;
    // Returns the largest error of some elements of the first set's result, relative to the square
    // root of the length of a sum; and fills the result with something else.
    double error();

private:
    struct Set {
        Buffer<> a, b, bias, out;
    };
    double expected(const std::vector<int> &at) const;
    const TensorProblem &problem;
    std::vector<Set> sets;
    std::vector<double> right;  // of the elements that are compared, as far as they are known
};

}  // namespace tessera::bench
