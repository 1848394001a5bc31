// A program with the compiler in it.
#include <cstdio>
#include <tessera.h>
using namespace tessera;

int main() {
    Var x;
    Func squares;
    squares(x) = x * x;
    squares.vectorize(x, 8);
    Buffer<int> result = squares.realize({10});
    std::printf("%d\n", result(9));
}
