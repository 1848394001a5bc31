#pragma once
#include "ir/layout.h"
#include <functional>

namespace tessera::ir {

// Calls `visit` for each element of a layout, the last coordinate fastest.
void for_each_element(const Layout &layout,
                      const std::function<void(std::span<const int64_t>)> &visit);

}  // namespace tessera::ir
