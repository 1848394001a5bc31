#pragma once
#include "aot/generator_param.h"
#include "aot/input.h"
#include "aot/output.h"
#include "lang/image_param.h"
#include "lang/rdom.h"
#include "lang/tuple.h"

namespace tessera {

// The language's names within a generator's class, for those who do not write `using namespace
// tessera`.
struct GeneratorNames {
    template<typename T>
    using Input = tessera::Input<T>;
    template<typename T>
    using Output = tessera::Output<T>;
    template<typename T>
    using GeneratorParam = tessera::GeneratorParam<T>;
    template<typename T = void, int D = AnyDims>
    using Buffer = tessera::Buffer<T, D>;
    using Expr = tessera::Expr;
    using Func = tessera::Func;
    using ImageParam = tessera::ImageParam;
    using LoopLevel = tessera::LoopLevel;
    using MemoryType = tessera::MemoryType;
    using Pipeline = tessera::Pipeline;
    using RDom = tessera::RDom;
    using RVar = tessera::RVar;
    using Stage = tessera::Stage;
    using TailStrategy = tessera::TailStrategy;
    using Target = tessera::Target;
    using Tuple = tessera::Tuple;
    using Type = tessera::Type;
    using Var = tessera::Var;
};

}  // namespace tessera
