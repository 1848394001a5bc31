#include "attention/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class AttentionGenerator : public Generator<AttentionGenerator> {
public:
    GeneratorParam<int> size{"size", 64, 1, 1024};  // of a query, a key and a value
    Input<Buffer<float, 3>> query{"query"};
    Input<Buffer<float, 3>> key{"key"};
    Input<Buffer<float, 3>> value{"value"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() override {
        Attention attention(query, key, value, size, key.dim(1).extent());
        output = attention.output;
        if (!using_autoscheduler()) attention.schedule(get_target());
        for (auto *input : {&query, &key, &value}) {
            input->set_estimates({{0, size}, {0, 512}, {0, 8}});
        }
        output.set_estimates({{0, size}, {0, 512}, {0, 8}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::AttentionGenerator, attention)
