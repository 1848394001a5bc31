// oneDNN 2: each problem in the layouts that it prefers, which weights and activations of a network
// would be kept in; what is reordered into them is not timed, nor is the result.
#include "cpu/libraries.h"

#include <dnnl.hpp>
#include <omp.h>

#include <cmath>
#include <unordered_map>

namespace tessera::bench {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto f32 = memory::data_type::f32;

memory::data_type data_type_of(Type t) {
    if (t == UInt(8)) return memory::data_type::u8;
    if (t == Int(8)) return memory::data_type::s8;
    if (t == Int(32)) return memory::data_type::s32;
    return t == BFloat(16) ? memory::data_type::bf16 : f32;
}

// One after another, as a stream runs them.
class Primitives {
public:
    void add(dnnl::primitive primitive, std::unordered_map<int, memory> arguments) {
        steps.emplace_back(std::move(primitive), std::move(arguments));
    }
    void run() {
        for (auto &[primitive, arguments] : steps) primitive.execute(stream, arguments);
        stream.wait();
    }

    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};

    // Memory of a buffer's, in its own layout or copied into another one.
    memory of(const Buffer<> &b, const memory::dims &dims, Tag tag) {
        return {{dims, data_type_of(b.type()), tag}, engine, b.data()};
    }
    memory in_layout(memory m, const memory::desc &wanted) {
        if (m.get_desc() == wanted) return m;
        memory other(wanted, engine);
        dnnl::reorder(m, other).execute(stream, m, other);
        stream.wait();
        return other;
    }

private:
    std::vector<std::pair<dnnl::primitive, std::unordered_map<int, memory>>> steps;
};

using PrimitivesRef = std::shared_ptr<Primitives>;

// A problem's primitives, where they leave the result, and the output that gets it in its own
// layout.
struct Built {
    PrimitivesRef all;
    Buffer<> output;
    memory computed, plain;
};

// A primitive is made for the number of threads that there are when it is made.
Implementation implementation(const std::string &name, const std::shared_ptr<Data> &data,
                              const std::function<Built(Data &)> &build) {
    auto built = std::make_shared<Built>();
    auto set_threads = [=](int threads) {
        omp_set_num_threads(threads);
        *built = build(*data);
    };
    auto result = [=] {
        memory &from = built->computed, &to = built->plain;
        if (from.get_desc() != to.get_desc() || from.get_data_handle() != to.get_data_handle()) {
            dnnl::reorder(from, to).execute(built->all->stream, from, to);
            built->all->stream.wait();
        }
        return built->output;
    };
    return {name, [=] { built->all->run(); }, set_threads, result};
}

Built matmul(Data &data) {
    auto all = std::make_shared<Primitives>();
    const Buffer<> a = data.input("a"), b = data.input("b"), c = data.new_output();
    const bool transpose_a = is_set(data.problem, "transpose_a"),
               transpose_b = is_set(data.problem, "transpose_b");
    const memory::dim m = c.dim(1).extent(), n = c.dim(0).extent(),
                      k = a.dim(transpose_a ? 1 : 0).extent();
    const memory ma = all->of(a, {m, k}, transpose_a ? Tag::ba : Tag::ab),
                 mb = all->of(b, {k, n}, transpose_b ? Tag::ba : Tag::ab),
                 mc = all->of(c, {m, n}, Tag::ab);
    dnnl::matmul::primitive_desc pd({ma.get_desc(), mb.get_desc(), mc.get_desc()}, all->engine);
    all->add(dnnl::matmul(pd), {{DNNL_ARG_SRC, ma}, {DNNL_ARG_WEIGHTS, mb}, {DNNL_ARG_DST, mc}});
    return {all, c, mc, mc};
}

// Rows of a matrix.
Built softmax(Data &data) {
    auto all = std::make_shared<Primitives>();
    const Buffer<> input = data.input("input"), output = data.new_output();
    const memory::dims dims = {input.dim(1).extent(), input.dim(0).extent()};
    const memory from = all->of(input, dims, Tag::ab), to = all->of(output, dims, Tag::ab);
    const dnnl::softmax_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_inference, from.get_desc(), 1}, all->engine);
    all->add(dnnl::softmax_forward(pd), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    return {all, output, to, to};
}

Built layer_norm(Data &data) {
    auto all = std::make_shared<Primitives>();
    const Buffer<> input = data.input("input"), output = data.new_output();
    const memory::dims dims = {input.dim(1).extent(), input.dim(0).extent()};
    const memory from = all->of(input, dims, Tag::ab), to = all->of(output, dims, Tag::ab),
                 scale = all->of(data.input("scale"), {dims[1]}, Tag::a),
                 shift = all->of(data.input("shift"), {dims[1]}, Tag::a);
    using Flags = dnnl::normalization_flags;
    const dnnl::layer_normalization_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_inference, from.get_desc(), 1e-5f,
         Flags::use_scale | Flags::use_shift},
        all->engine);
    all->add(dnnl::layer_normalization_forward(pd), {{DNNL_ARG_SRC, from},
                                                     {DNNL_ARG_SCALE, scale},
                                                     {DNNL_ARG_SHIFT, shift},
                                                     {DNNL_ARG_DST, to}});
    return {all, output, to, to};
}

// Two products for each head and a softmax between them, which takes the place of the scores.
Built attention(Data &data) {
    auto all = std::make_shared<Primitives>();
    const Buffer<> query = data.input("query"), output = data.new_output();
    const memory::dim size = query.dim(0).extent(), count = query.dim(1).extent(),
                      heads = query.dim(2).extent();
    const memory::dims rows = {heads, count, size}, square = {heads, count, count};
    const memory mquery = all->of(query, rows, Tag::abc), mout = all->of(output, rows, Tag::abc),
                 mkey = all->of(data.input("key"), {heads, size, count}, Tag::acb),
                 mvalue = all->of(data.input("value"), rows, Tag::abc),
                 scores({square, f32, Tag::abc}, all->engine);
    dnnl::primitive_attr scaled;
    scaled.set_output_scales(0, {1 / std::sqrt(float(size))});
    const dnnl::matmul::primitive_desc first(
        {mquery.get_desc(), mkey.get_desc(), scores.get_desc()}, scaled, all->engine);
    const dnnl::softmax_forward::primitive_desc middle(
        {dnnl::prop_kind::forward_inference, scores.get_desc(), 2}, all->engine);
    const dnnl::matmul::primitive_desc second(
        {scores.get_desc(), mvalue.get_desc(), mout.get_desc()}, all->engine);
    all->add(dnnl::matmul(first),
             {{DNNL_ARG_SRC, mquery}, {DNNL_ARG_WEIGHTS, mkey}, {DNNL_ARG_DST, scores}});
    all->add(dnnl::softmax_forward(middle), {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});
    all->add(dnnl::matmul(second),
             {{DNNL_ARG_SRC, scores}, {DNNL_ARG_WEIGHTS, mvalue}, {DNNL_ARG_DST, mout}});
    return {all, output, mout, mout};
}

dnnl::primitive_attr with_relu() {
    dnnl::post_ops relu;
    relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attr;
    attr.set_post_ops(relu);
    return attr;
}

Built convolution(Data &data, Tag tag) {
    auto all = std::make_shared<Primitives>();
    const Buffer<> input = data.input("input"), filter = data.input("filter"),
                   bias = data.input("bias"), output = data.new_output();
    auto extent = [](const Buffer<> &b, int d) -> memory::dim { return b.dim(d).extent(); };
    const memory::dims in = {extent(input, 3), extent(input, 0), extent(input, 2),
                             extent(input, 1)},
                       weights = {extent(filter, 0), extent(filter, 1), extent(filter, 3),
                                  extent(filter, 2)},
                       out = {extent(output, 3), extent(output, 0), extent(output, 2),
                              extent(output, 1)};
    const memory min = all->of(input, in, Tag::nhwc), mfilter = all->of(filter, weights, Tag::hwio),
                 mbias = all->of(bias, {extent(bias, 0)}, Tag::a),
                 mout = all->of(output, out, Tag::nhwc);
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, {in, f32, tag},
        {weights, f32, Tag::any}, mbias.get_desc(), {out, f32, tag}, {1, 1}, {0, 0}, {0, 0});
    const dnnl::convolution_forward::primitive_desc pd(desc, with_relu(), all->engine);
    const memory computed =
        pd.dst_desc() == mout.get_desc() ? mout : memory(pd.dst_desc(), all->engine);
    all->add(dnnl::convolution_forward(pd),
             {{DNNL_ARG_SRC, all->in_layout(min, pd.src_desc())},
              {DNNL_ARG_WEIGHTS, all->in_layout(mfilter, pd.weights_desc())},
              {DNNL_ARG_BIAS, mbias},
              {DNNL_ARG_DST, computed}});
    return {all, output, computed, mout};
}

// Two primitives: the library fuses them for other layouts only.
Built depthwise_separable(Data &data, Tag tag) {
    auto all = std::make_shared<Primitives>();
    const Buffer<> input = data.input("input"), depthwise = data.input("depthwise_filter"),
                   pointwise = data.input("pointwise_filter"), bias = data.input("bias"),
                   output = data.new_output();
    const memory::dim channels = input.dim(0).extent(), width = input.dim(1).extent(),
                      height = input.dim(2).extent(), count = input.dim(3).extent(),
                      out_channels = output.dim(0).extent();
    const memory::dims in = {count, channels, height, width},
                       out = {count, out_channels, height, width};
    const memory min = all->of(input, in, Tag::nhwc), mout = all->of(output, out, Tag::nhwc),
                 mdepthwise = all->of(depthwise, {channels, 1, 1, 3, 3}, Tag::hwigo),
                 mpointwise = all->of(pointwise, {out_channels, channels, 1, 1}, Tag::hwio),
                 mbias = all->of(bias, {out_channels}, Tag::a);
    using Forward = dnnl::convolution_forward;
    const Forward::primitive_desc first(
        Forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                      {in, f32, tag}, {{channels, 1, 1, 3, 3}, f32, Tag::any}, {in, f32, tag},
                      {1, 1}, {1, 1}, {1, 1}),
        all->engine);
    const Forward::primitive_desc second(
        Forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                      first.dst_desc(), {{out_channels, channels, 1, 1}, f32, Tag::any},
                      mbias.get_desc(), {out, f32, tag}, {1, 1}, {0, 0}, {0, 0}),
        with_relu(), all->engine);
    const memory between(first.dst_desc(), all->engine), computed(second.dst_desc(), all->engine);
    all->add(Forward(first), {{DNNL_ARG_SRC, all->in_layout(min, first.src_desc())},
                              {DNNL_ARG_WEIGHTS, all->in_layout(mdepthwise, first.weights_desc())},
                              {DNNL_ARG_DST, between}});
    all->add(Forward(second),
             {{DNNL_ARG_SRC, between},
              {DNNL_ARG_WEIGHTS, all->in_layout(mpointwise, second.weights_desc())},
              {DNNL_ARG_BIAS, mbias},
              {DNNL_ARG_DST, computed}});
    return {all, output, computed, mout};
}

}  // namespace

std::vector<Implementation> onednn_implementations(const std::shared_ptr<Data> &data) {
    const std::string &problem = data->problem.generator;
    auto with_layout = [&](const std::string &name, Tag tag, Built (*build)(Data &, Tag)) {
        return implementation(name, data, [=](Data &d) { return build(d, tag); });
    };
    auto any_layout = [&](Built (*build)(Data &, Tag)) -> std::vector<Implementation> {
        return {with_layout("oneDNN", Tag::any, build),
                with_layout("oneDNN nhwc", Tag::nhwc, build)};
    };
    if (problem == "gemm" || problem == "widening_gemm")
        return {implementation("oneDNN", data, matmul)};
    if (problem == "softmax") return {implementation("oneDNN", data, softmax)};
    if (problem == "layer_norm") return {implementation("oneDNN", data, layer_norm)};
    if (problem == "attention") return {implementation("oneDNN", data, attention)};
    if (problem == "conv_layer") return any_layout(convolution);
    if (problem == "depthwise_separable_conv") return any_layout(depthwise_separable);
    return {};
}

}  // namespace tessera::bench
