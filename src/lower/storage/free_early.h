#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Frees buffers after the last statement that uses them, where others follow: on the heap, and
// large ones on the stack, whose place another one may take then.
//
//     allocate f: ...                        allocate f: ...
//         g[0] = f[0]                            g[0] = f[0]
//         allocate h: ...             ->         free(address_of(f[0]))
//             ...                                allocate h: ...
//                                                    ...
ir::Stmt free_early(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
