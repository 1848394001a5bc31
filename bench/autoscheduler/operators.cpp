#include "autoscheduler/operators.h"

namespace tessera::bench {
namespace {

struct Convolution {
    int height, width, in, out, taps, stride, pad;
};

std::string text(std::initializer_list<int> numbers, int batch) {
    std::string all;
    for (int n : numbers) all += std::to_string(n) + " ";
    return all + "x" + std::to_string(batch);
}

const Var x("x"), y("y"), z("z"), c("c"), n("n");

Expr padded(const ImageParam &image, const std::vector<Expr> &at, const std::vector<int> &sizes) {
    Region bounds = {{Expr(), Expr()}};
    for (int s : sizes) bounds.emplace_back(0, s);
    while (bounds.size() < at.size()) bounds.emplace_back(Expr(), Expr());
    return BoundaryConditions::constant_exterior(image, 0.0f, bounds)(at);
}
int extent_of(int size, int taps, int stride, int pad, int dilation = 1) {
    return (size + 2 * pad - dilation * (taps - 1) - 1) / stride + 1;
}
// Promises that the output has this size, whatever is asked for, as tensors of TVM do.
Pipeline promised(Func f, const std::vector<int> &sizes) {
    for (size_t d = 0; d < sizes.size(); d++) f.bound(f.args()[d], 0, sizes[d]);
    return Pipeline(f);
}

Operator conv_1d(int length, int in, int out, int taps, int stride, int pad, int batch) {
    const int size = extent_of(length, taps, stride, pad);
    return {"C1D", text({length, in, out, taps, stride, pad}, batch),
            2.0 * batch * size * out * in * taps, [=] {
                ImageParam image(Float(32), 3, "image"), weights(Float(32), 3, "weights");
                Func f("c1d");
                RDom r(0, in, 0, taps);
                f(c, x, n) += weights(c, r.x, r.y) *
                              padded(image, {r.x, x * stride + r.y - pad, n}, {length});
                return promised(f, {out, size, batch});
            }};
}

// Also with groups or a dilation.
Operator conv_2d(const char *name, const Convolution &s, int groups, int dilation, int batch,
                 bool is_layer = false) {
    const int h = extent_of(s.height, s.taps, s.stride, s.pad, dilation),
              w = extent_of(s.width, s.taps, s.stride, s.pad, dilation);
    return {name, text({s.height, s.width, s.in, s.out, s.taps, s.stride, s.pad}, batch),
            2.0 * batch * h * w * s.out * s.in / groups * s.taps * s.taps, [=] {
                ImageParam image(Float(32), 4, "image"), weights(Float(32), 4, "weights");
                Func f("conv");
                const int of_group = s.in / groups, per_group = s.out / groups;
                RDom r(0, of_group, 0, s.taps, 0, s.taps);
                const Expr channel = groups == 1 ? Expr(r.x) : r.x + c / per_group * of_group;
                f(c, x, y, n) += weights(c, r.x, r.y, r.z) *
                                 padded(image,
                                        {channel, x * s.stride + r.y * dilation - s.pad,
                                         y * s.stride + r.z * dilation - s.pad, n},
                                        {s.width, s.height});
                if (!is_layer) return promised(f, {s.out, w, h, batch});
                // This adds what batch normalisation comes to, and a limit.
                ImageParam scale(Float(32), 1, "scale"), bias(Float(32), 1, "bias");
                Func layer("layer");
                layer(c, x, y, n) = max(f(c, x, y, n) * scale(c) + bias(c), 0.0f);
                return promised(layer, {s.out, w, h, batch});
            }};
}

Operator conv_3d(const Convolution &s, int batch) {
    const int depth = 16, d = extent_of(depth, s.taps, s.stride, s.pad),
              h = extent_of(s.height, s.taps, s.stride, s.pad),
              w = extent_of(s.width, s.taps, s.stride, s.pad);
    return {"C3D", text({depth, s.height, s.width, s.in, s.out, s.taps, s.stride, s.pad}, batch),
            2.0 * batch * d * h * w * s.out * s.in * s.taps * s.taps * s.taps, [=] {
                ImageParam image(Float(32), 5, "image"), weights(Float(32), 5, "weights");
                Func f("c3d");
                RDom r(0, s.in, 0, s.taps, 0, s.taps, 0, s.taps);
                f(c, x, y, z, n) +=
                    weights(c, r.x, r.y, r.z, r.w) *
                    padded(image,
                           {r.x, x * s.stride + r.y - s.pad, y * s.stride + r.z - s.pad,
                            z * s.stride + r.w - s.pad, n},
                           {s.width, s.height, depth});
                return promised(f, {s.out, w, h, d, batch});
            }};
}

Operator product(int rows, int columns, int depth, int batch) {
    return {"GMM", text({rows, columns, depth}, batch), 2.0 * batch * rows * columns * depth, [=] {
                ImageParam a(Float(32), 3, "a"), b(Float(32), 3, "b");
                Func f("gmm");
                RDom r(0, depth);
                f(x, y, n) += a(r, y, n) * b(x, r, n);
                return promised(f, {columns, rows, batch});
            }};
}

Operator depthwise(int size, int channels, int taps, int stride, int pad, int batch) {
    const int w = extent_of(size, taps, stride, pad);
    return {"DEP", text({size, size, channels, taps, stride, pad}, batch),
            2.0 * batch * w * w * channels * taps * taps, [=] {
                ImageParam image(Float(32), 4, "image"), weights(Float(32), 3, "weights");
                Func f("dep");
                RDom r(0, taps, 0, taps);
                f(c, x, y, n) +=
                    weights(c, r.x, r.y) *
                    padded(image, {c, x * stride + r.x - pad, y * stride + r.y - pad, n},
                           {size, size});
                return promised(f, {channels, w, w, batch});
            }};
}

// A convolution that makes its image larger: only every second tap of the kernel meets a value.
Operator transposed(int size, int in, int out, int taps, int stride, int pad, int batch) {
    const int w = (size - 1) * stride - 2 * pad + taps;
    return {"T2D", text({size, size, in, out, taps, stride, pad}, batch),
            2.0 * batch * w * w * out * in * taps * taps / (stride * stride), [=] {
                ImageParam image(Float(32), 4, "image"), weights(Float(32), 4, "weights");
                Func f("t2d");
                const int each = taps / stride;
                RDom r(0, in, 0, each, 0, each);
                auto first = [&](const Var &v) { return (v + pad) % stride; };
                auto from = [&](const Var &v, const Expr &tap) { return (v + pad) / stride - tap; };
                f(c, x, y, n) += weights(c, r.x, first(x) + r.y * stride, first(y) + r.z * stride) *
                                 padded(image, {r.x, from(x, r.y), from(y, r.z), n}, {size, size});
                return promised(f, {out, w, w, batch});
            }};
}

Operator capsules(int size, int in, int out, int taps, int stride, int pad, int capsule,
                  int batch) {
    const int w = extent_of(size, taps, stride, pad);
    return {"CAP", text({size, size, in, out, taps, stride, pad, capsule}, batch),
            2.0 * batch * w * w * out * in * taps * taps * capsule * capsule * capsule, [=] {
                ImageParam image(Float(32), 6, "image"), weights(Float(32), 6, "weights");
                Func f("cap");
                Var i("i"), j("j");
                RDom r(0, in, 0, capsule, 0, taps, 0, taps);
                Region bounds = {{Expr(), Expr()}, {Expr(), Expr()}, {Expr(), Expr()},
                                 {0, size},        {0, size},        {Expr(), Expr()}};
                Func zeros = BoundaryConditions::constant_exterior(image, 0.0f, bounds);
                f(c, i, j, x, y, n) +=
                    weights(c, i, r.y, r.x, r.z, r.w) *
                    zeros(r.x, r.y, j, x * stride + r.z - pad, y * stride + r.w - pad, n);
                return promised(f, {out, capsule, capsule, w, w, batch});
            }};
}

Operator norm(int size, int batch) {
    return {"NRM", text({size, size}, batch), 2.0 * batch * size * size, [=] {
                ImageParam image(Float(32), 3, "image");
                Func sum("sum"), f("nrm");
                RDom r(0, size, 0, size);
                sum(n) += image(r.x, r.y, n) * image(r.x, r.y, n);
                f(n) = sqrt(sum(n));
                return promised(f, {batch});
            }};
}

// Returns what attention begins with: a transpose, products of a batch, a softmax.
Operator attention(int length, int heads, int depth, int batch) {
    return {"TBS", text({length, heads, depth}, batch),
            2.0 * batch * heads * length * length * depth, [=] {
                ImageParam q(Float(32), 4, "q"), k(Float(32), 4, "k");
                Func turned("turned"), scores("scores"), most("most"), raised("raised"), sum("sum"),
                    f("tbs");
                turned(x, y, z, n) = k(y, z, x, n);
                RDom r(0, depth), all(0, length);
                scores(x, y, z, n) += q(r, z, y, n) * turned(x, r, z, n);
                most(y, z, n) = maximum(scores(all, y, z, n));
                raised(x, y, z, n) = exp(scores(x, y, z, n) - most(y, z, n));
                sum(y, z, n) += raised(all, y, z, n);
                f(x, y, z, n) = raised(x, y, z, n) / sum(y, z, n);
                return promised(f, {length, length, heads, batch});
            }};
}

Buffer<float> constant(const std::vector<int> &sizes) {
    Buffer<float> weights(sizes, "weights");
    weights.fill(0.5f);
    return weights;
}

Operator dense(int rows, int columns, int depth) {
    return {"dense", text({rows, columns, depth}, 1), 2.0 * rows * columns * depth, [=] {
                ImageParam a(Float(32), 2, "a");
                const Buffer<float> weights = constant({depth, columns});
                Func f("dense");
                RDom r(0, depth);
                f(x, y) += a(r, y) * weights(r, x);
                return promised(f, {columns, rows});
            }};
}

Operator constant_conv(int size, int in, int out, int taps) {
    return {"conv", text({size, size, in, out, taps}, 1),
            2.0 * size * size * out * in * taps * taps, [=] {
                ImageParam image(Float(32), 3, "image");
                const Buffer<float> weights = constant({in, taps, taps, out});
                Func f("conv");
                RDom r(0, in, 0, taps, 0, taps);
                f(c, x, y) += weights(r.x, r.y, r.z, c) * image(r.x, x + r.y, y + r.z);
                return promised(f, {out, size, size});
            }};
}

constexpr Convolution convolutions[] = {{224, 224, 3, 64, 7, 2, 3},
                                        {56, 56, 64, 64, 1, 1, 0},
                                        {14, 14, 256, 256, 3, 1, 1},
                                        {7, 7, 512, 512, 3, 1, 1}};
constexpr Convolution layers[] = {{224, 224, 3, 64, 7, 2, 3},
                                  {56, 56, 64, 64, 3, 2, 1},
                                  {28, 28, 128, 256, 1, 2, 0},
                                  {7, 7, 512, 512, 3, 1, 1}};

void add_for(int b, std::vector<Operator> &all) {
    all.insert(all.end(), {conv_1d(256, 64, 128, 3, 2, 1, b), conv_1d(128, 128, 256, 1, 2, 0, b),
                           conv_1d(64, 256, 256, 5, 1, 2, b), conv_1d(32, 512, 512, 3, 1, 1, b)});
    for (const Convolution &s : convolutions) all.push_back(conv_2d("C2D", s, 1, 1, b));
    for (const Convolution &s : convolutions) all.push_back(conv_3d(s, b));
    all.insert(all.end(), {product(128, 128, 128, b), product(512, 32, 512, b),
                           product(512, 512, 512, b), product(1024, 1024, 1024, b)});
    for (const Convolution &s : convolutions) {
        if (s.in % 4 == 0) all.push_back(conv_2d("GRP", s, 4, 1, b));
    }
    for (const Convolution &s : convolutions) all.push_back(conv_2d("DIL", s, 1, 2, b));
    all.insert(all.end(), {depthwise(112, 32, 3, 1, 1, b), depthwise(112, 64, 3, 2, 1, b),
                           depthwise(14, 512, 3, 2, 1, b), depthwise(7, 1024, 3, 1, 1, b),
                           transposed(4, 512, 256, 4, 2, 1, b), transposed(8, 256, 128, 4, 2, 1, b),
                           transposed(16, 128, 64, 4, 2, 1, b), transposed(32, 64, 3, 4, 2, 1, b),
                           capsules(16, 32, 32, 3, 2, 1, 4, b), capsules(8, 32, 32, 3, 1, 1, 4, b),
                           capsules(16, 8, 16, 3, 2, 1, 4, b), capsules(8, 16, 16, 3, 1, 1, 4, b),
                           norm(256, b), norm(512, b), norm(1024, b), norm(4096, b)});
    for (const Convolution &s : layers) all.push_back(conv_2d("ConvLayer", s, 1, 1, b, true));
    all.insert(all.end(), {attention(128, 12, 64, b), attention(128, 16, 64, b),
                           attention(64, 12, 128, b), attention(128, 12, 128, b)});
}

}  // namespace

std::vector<Operator> operators() {
    std::vector<Operator> all;
    for (int batch : {1, 16}) add_for(batch, all);
    return all;
}

std::vector<Operator> operators_of_constants() {
    return {dense(512, 512, 512), dense(1024, 1024, 1024), dense(64, 1024, 1024),
            constant_conv(56, 64, 64, 3), constant_conv(14, 256, 256, 3)};
}

}  // namespace tessera::bench
