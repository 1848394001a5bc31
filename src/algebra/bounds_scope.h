#pragma once
#include <memory>

namespace tessera::algebra {

class Simplifier;

// While it lives, constant bounds that are asked for in this thread (prove.h), without facts, are
// found with what was found before: quicker where expressions share parts. Keeps these alive as
// long.
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
