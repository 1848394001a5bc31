#pragma once
#include <memory>

namespace tessera::algebra {

class Simplifier;

// While one exists, constant bounds that are asked for in this thread (prove.h) without facts reuse
// what was found before, which is quicker where expressions share parts. It keeps these expressions
// alive.
class BoundsScope {
public:
    BoundsScope();
    ~BoundsScope();
    BoundsScope(const BoundsScope &) = delete;
    BoundsScope &operator=(const BoundsScope &) = delete;

private:
    std::unique_ptr<Simplifier> simplifier;
    Simplifier *around;
};

}  // namespace tessera::algebra
