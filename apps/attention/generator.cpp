#include "attention/online.h"
#include "attention/pipeline.h"
#include "attention/tensor.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class AttentionGenerator : public Generator<AttentionGenerator> {
public:
    GeneratorParam<int> size{"size", 64, 1, 1024};  // of a query, a key and a value
    GeneratorParam<bool> online{"online", false};   // no row of scores is ever stored
    GeneratorParam<bool> causal{"causal", false};   // a query sees no later keys; only if online
    GeneratorParam<int> group{"group", 1, 1, 64};   // heads of queries for one of keys; the same
    Input<Buffer<float, 3>> query{"query"};
    Input<Buffer<float, 3>> key{"key"};
    Input<Buffer<float, 3>> value{"value"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() override {
        const Expr count = key.dim(1).extent();
        if (online) {
            define(OnlineAttention(query, key, value, {size, group, causal}, count));
        } else {
            define(Attention(query, key, value, size, count));
        }
        for (auto *input : {&query, &key, &value}) {
            input->set_estimates({{0, size}, {0, 512}, {0, 8}});
        }
        output.set_estimates({{0, size}, {0, 512}, {0, 8}});
    }

private:
    template<typename Pipeline>
    void define(Pipeline attention) {
        output = attention.output;
        if (!using_autoscheduler()) attention.schedule(get_target());
    }
};

// On tensor cores of a GPU, with float16 as what is multiplied; queries and keys are multiples of
// 128.
class TensorAttentionGenerator : public Generator<TensorAttentionGenerator> {
public:
    GeneratorParam<int> size{"size", 64, 64, 128};  // of a query, a key and a value
    GeneratorParam<bool> causal{"causal", false};   // a query sees no later keys
    GeneratorParam<int> group{"group", 1, 1, 64};   // heads of queries for one of keys and values
    Input<Buffer<float16_t, 3>> query{"query"};
    Input<Buffer<float16_t, 3>> key{"key"};
    Input<Buffer<float16_t, 3>> value{"value"};
    Output<Buffer<float16_t, 3>> output{"output"};

    void generate() override {
        const TensorAttention::Shape shape = TensorAttention::shape_for(
            get_target(), {.size = size, .group = group, .causal = causal});
        TensorAttention attention(query, key, value, shape, key.dim(1).extent());
        output = attention.output;
        if (!using_autoscheduler()) attention.schedule(get_target());
        for (auto *input : {&query, &key, &value}) {
            input->set_estimates({{0, size}, {0, 4096}, {0, 16}});
        }
        output.set_estimates({{0, size}, {0, 4096}, {0, 16}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::AttentionGenerator, attention)
TESSERA_REGISTER_GENERATOR(tessera::apps::TensorAttentionGenerator, tensor_attention)
