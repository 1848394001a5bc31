#pragma once
#include "halide_names.h"
#include <map>
#include <string>
#include <vector>

// Halide has these and Tessera has not yet: each throws CompileError that says so.
namespace Halide {

// Derivatives of Funcs.
class Derivative {
public:
    explicit Derivative(const std::map<std::string, Func> &) { refuse({}); }
    Func operator()(const Func &, int = -1, tessera::Location at = tessera::Here::current()) const {
        refuse(at);
    }
    template<typename T, int D>
    Func operator()(const Buffer<T, D> &, tessera::Location at = tessera::Here::current()) const {
        refuse(at);
    }
    template<typename T>
    Func operator()(const Param<T> &, tessera::Location at = tessera::Here::current()) const {
        refuse(at);
    }

private:
    [[noreturn]] static void refuse(const tessera::Location &at) {
        tessera::detail::refuse_later("Derivative", "derivatives of Funcs are", at);
    }
};
inline Derivative propagate_adjoints(const Func &, const Func &,
                                     const std::vector<std::pair<Expr, Expr>> &,
                                     tessera::Location at = tessera::Here::current()) {
    tessera::detail::refuse_later("propagate_adjoints", "derivatives of Funcs are", at);
}
template<typename T, int D>
Derivative propagate_adjoints(const Func &, const Buffer<T, D> &,
                              tessera::Location at = tessera::Here::current()) {
    tessera::detail::refuse_later("propagate_adjoints", "derivatives of Funcs are", at);
}
inline Derivative propagate_adjoints(const Func &,
                                     tessera::Location at = tessera::Here::current()) {
    tessera::detail::refuse_later("propagate_adjoints", "derivatives of Funcs are", at);
}

// Pipelines in files.
template<typename Parameters = std::map<std::string, int>>
void serialize_pipeline(const Pipeline &, const std::string &, const Parameters & = {},
                        tessera::Location at = tessera::Here::current()) {
    tessera::detail::refuse_later("serialize_pipeline", "saving a pipeline is", at);
}
template<typename Parameters = std::map<std::string, int>>
Pipeline deserialize_pipeline(const std::string &, const Parameters & = {},
                              tessera::Location at = tessera::Here::current()) {
    tessera::detail::refuse_later("deserialize_pipeline", "loading a pipeline is", at);
}

}  // namespace Halide
