// Times rows of calls on the GPU as CUDA graphs, so that what the host does for a call counts
// nothing: by events around a launch of the graph.
#pragma once

#include <functional>

namespace tessera::bench {

class GraphClock {
public:
    // Makes the device's primary context current, and a stream of its own that pipelines and
    // libraries use from now on. Throws std::runtime_error if there is no GPU.
    GraphClock();
    void *stream() const { return of_calls; }
    // Waits for all that was begun. Throws std::runtime_error if something has failed.
    void wait();

    // Returns a graph of what `calls` begins on the stream.
    void *capture(const std::function<void()> &calls);
    void release(void *graph);
    double microseconds(void *graph);

private:
    void *of_calls = nullptr, *begin = nullptr, *end = nullptr;
};

}  // namespace tessera::bench
