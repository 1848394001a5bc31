#include "HalideRuntime.h"
#include "HalideRuntimeCuda.h"
#include "HalideRuntimeD3D12Compute.h"
#include "HalideRuntimeHexagonDma.h"
#include "HalideRuntimeHexagonHost.h"
#include "HalideRuntimeMetal.h"
#include "HalideRuntimeOpenCL.h"
#include "HalideRuntimeVulkan.h"
#include "HalideRuntimeWebGPU.h"
#include <stdio.h>
#include <string.h>

static int printed;
static void count_prints(void *context, const char *message) {
    (void)context;
    printed += strcmp(message, "hello\n") == 0;
}

int main(void) {
    int32_t data[12];
    struct halide_dimension_t dims[2];
    struct halide_buffer_t b;
    memset(dims, 0, sizeof(dims));
    memset(&b, 0, sizeof(b));
    dims[0].extent = 4;
    dims[0].stride = 1;
    dims[1].extent = 3;
    dims[1].stride = 4;
    b.host = (uint8_t *)data;
    b.type.code = halide_type_int;
    b.type.bits = 32;
    b.type.lanes = 1;
    b.dimensions = 2;
    b.dim = dims;

    halide_set_custom_print(&count_prints);
    halide_print(NULL, "hello\n");
    halide_set_custom_print(NULL);
    const uint64_t no_features[2] = {0, 0};
    if (printed != 1 || halide_set_num_threads(2) < 0 || halide_device_free(NULL, &b) != 0 ||
        halide_can_use_target_features(2, no_features) != 1 ||
        halide_cuda_device_interface() == NULL || (int)halide_target_feature_end < 100 ||
        halide_error_code_success != 0) {
        return 1;
    }
    return 0;
}
