#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Frees buffers on the heap after the last statement that uses them, where others follow.
//
//     allocate f: ...                        allocate f: ...
//         g[0] = f[0]                            g[0] = f[0]
//         allocate h: ...             ->         free(address_of(f[0]))
//             ...                                allocate h: ...
//                                                    ...
ir::Stmt free_early(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
