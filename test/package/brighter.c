#include "brighten.h"
#include "brighten_many.h"
#include <stdio.h>
#include <tessera_runtime.h>

/* Calls both libraries, which share a runtime. */
int main(void) {
    uint8_t in[40][64], out[40][64];
    tessera_dimension_t dims[2] = {{0, 64, 1, 0}, {0, 40, 64, 0}};
    tessera_buffer_t a = {0}, b = {0};
    for (int i = 0; i < 40 * 64; i++) in[i / 64][i % 64] = (uint8_t)(i % 200);
    a.host = &in[0][0];
    b.host = &out[0][0];
    a.type.code = b.type.code = tessera_type_uint;
    a.type.bits = b.type.bits = 8;
    a.type.lanes = b.type.lanes = 1;
    a.dimensions = b.dimensions = 2;
    a.dim = b.dim = dims;
    if (brighten(&a, 1.5f, &b) != 0) return 1;
    printf("%d %d ", out[0][10], out[39][63]);
    if (brighten_many(&a, 2.0f, &b) != 0) return 2;
    printf("%d %d\n", out[0][10], out[39][63]);
    return 0;
}
