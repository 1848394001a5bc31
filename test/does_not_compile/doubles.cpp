// A double beside an expression does not compile, and the compiler's message says what to write.
#include <tessera.h>

using namespace tessera;

Expr by_case(Func f, Var x) {
#if CASE == 0
    return f(x) * 0.5f + cast<float>(x) * Expr(0.5);  // is fine
#elif CASE == 1
    return f(x) * 0.5;
#elif CASE == 2
    return 0.5 * f(x);
#elif CASE == 3
    return max(f(x), 0.5);
#elif CASE == 4
    return select(x < 0.5, f(x), 1.0f);
#elif CASE == 5
    f(x) = 0.5;
    return 0;
#elif CASE == 6
    return 0.5;
#endif
}
