// Convolutions by cuDNN 9, through the backend interface of its graphs: libcudnn.so.9 is loaded
// where it is found. Images are NHWC, filters KRSC, dense; addresses are the device's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::bench {

struct ConvolutionShape {
    int n, c, h, w, k, r, s;
    int stride = 1, padding = 0;
    bool relu = false;
    int p() const { return (h + 2 * padding - r) / stride + 1; }
    int q() const { return (w + 2 * padding - s) / stride + 1; }
};

class Cudnn {
public:
    // A context has to be current.
    Cudnn();
    bool is_there() const { return handle; }

    using Call = std::function<void(uint64_t in, uint64_t filter, uint64_t out)>;
    // Calls of float16 with sums in float32, on the stream of set_stream: the plans that the
    // library's heuristic proposes, the best one first, `most` of them. Throws std::runtime_error
    // if there is none.
    std::vector<Call> prepare(const ConvolutionShape &shape, int most);
    void set_stream(void *stream);

private:
    struct Functions;
    void *handle = nullptr;
    const Functions *functions = nullptr;
};

}  // namespace tessera::bench
