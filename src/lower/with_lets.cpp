#include "lower/with_lets.h"

namespace tessera::lower {

ir::Stmt with_lets(const Lets &lets, ir::Stmt body) {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
        body = ir::LetStmt::make(let->first, let->second, std::move(body));
    }
    return body;
}

}  // namespace tessera::lower
