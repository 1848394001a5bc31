#include "lower/finish/do_nothing.h"
#include "lower/pass_test.h"

using namespace tessera;
using namespace tessera::lower;

TEST_SUITE("do_nothing") {
    TEST_CASE("a statement is left as it is") {
        const ir::Stmt s = ir::parse_stmt("for x in [0, +4): f[x] = 1");
        CHECK(do_nothing(s, {}).same_as(s));
    }
}
