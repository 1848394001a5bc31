#include "autoscheduler/training/operators.h"

namespace tessera::autoscheduler::training {
namespace {

class OperatorBuilder {
public:
    explicit OperatorBuilder(Random &random) : random(random) {}

    Sample operator()() {
        switch (random.below(8)) {
        case 0:
        case 1: return matrix_product();
        case 2: return convolution_1d();
        case 3:
        case 4: return convolution_2d();
        case 5: return depthwise();
        case 6: return norm();
        default: return random.one_in(2) ? softmax() : transposed_product();
        }
    }

private:
    // Adds what follows an operator in networks: a bias and a limit.
    Func finished(const Func &f, const std::vector<Var> &args, const Var &channel) {
        if (random.one_in(2)) return f;
        ImageParam bias(Float(32), 1, "bias");
        Func out("finished");
        out(args) = max(f(args) + bias(channel), 0.0f);
        return out;
    }
    static Sample sample(const char *kind, Func f, const std::vector<Range> &estimates) {
        f.set_estimates(estimates);
        return {kind, Pipeline(f)};
    }

    Sample matrix_product() {
        const int m = 16 * random.between(1, 32), n = 16 * random.between(1, 32),
                  k = 16 * random.between(1, 32);
        ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
        Func product("product");
        RDom r(0, k);
        const Expr left = random.one_in(3) ? a(y, r) : a(r, y);
        const Expr right = random.one_in(3) ? b(r, x) : b(x, r);
        product(x, y) += left * right;
        return sample("matrix_product", finished(product, {x, y}, x), {{0, n}, {0, m}});
    }

    // Batches of products whose left sides are transposed, as in attention.
    Sample transposed_product() {
        const int length = 16 * random.between(2, 10), heads = random.between(2, 12),
                  depth = 16 * random.between(1, 6);
        ImageParam q(Float(32), 3, "q"), k(Float(32), 3, "k");
        Func turned("turned"), scores("scores");
        turned(x, y, z) = k(y, x, z);
        RDom r(0, depth);
        scores(x, y, z) += q(r, y, z) * turned(x, r, z);
        return sample("transposed_product", scores, {{0, length}, {0, length}, {0, heads}});
    }

    Sample convolution_1d() {
        const int width = 16 * random.between(2, 32), in = 16 * random.between(1, 16),
                  out = 16 * random.between(1, 16), taps = random.any_of({1, 3, 5}),
                  stride = random.any_of({1, 1, 2});
        ImageParam image(Float(32), 2, "image"), weights(Float(32), 3, "weights");
        Func convolved("convolved");
        RDom r(0, in, 0, taps);
        convolved(c, x) += weights(c, r.x, r.y) * image(r.x, x * stride + r.y);
        return sample("convolution_1d", finished(convolved, {c, x}, c), {{0, out}, {0, width}});
    }

    Sample convolution_2d() {
        const int size = random.any_of({7, 14, 28, 56}), in = random.any_of({3, 16, 32, 64, 128}),
                  taps = random.any_of({1, 3, 3, 5}), stride = random.any_of({1, 1, 2}),
                  dilation = random.any_of({1, 1, 1, 2}), batch = random.any_of({1, 1, 4});
        const int most = std::max(1, 200'000'000 / (size * size * in * taps * taps * batch * 16));
        const int out = 16 * std::min(random.between(1, 16), most);
        ImageParam image(Float(32), 4, "image"), weights(Float(32), 4, "weights");
        Func padded("padded"), convolved("convolved");
        const int full = size * stride;
        Func bounded = BoundaryConditions::constant_exterior(
            image, 0.0f, {{0, in}, {0, full}, {0, full}, {0, batch}});
        padded(c, x, y, z) = bounded(c, x, y, z);
        RDom r(0, in, 0, taps, 0, taps);
        const int edge = taps / 2;
        convolved(c, x, y, z) +=
            weights(c, r.x, r.y, r.z) *
            padded(r.x, x * stride + r.y * dilation - edge, y * stride + r.z * dilation - edge, z);
        return sample("convolution_2d", finished(convolved, {c, x, y, z}, c),
                      {{0, out}, {0, size}, {0, size}, {0, batch}});
    }

    Sample depthwise() {
        const int size = random.any_of({14, 28, 56, 112}), channels = 16 * random.between(1, 24),
                  stride = random.any_of({1, 2});
        ImageParam image(Float(32), 3, "image"), weights(Float(32), 3, "weights");
        Func convolved("convolved");
        RDom r(0, 3, 0, 3);
        convolved(c, x, y) += weights(c, r.x, r.y) * image(c, x * stride + r.x, y * stride + r.y);
        return sample("depthwise", finished(convolved, {c, x, y}, c),
                      {{0, channels}, {0, size}, {0, size}});
    }

    Sample norm() {
        const int n = 1 << random.between(8, 11), batch = random.any_of({1, 1, 2, 8});
        ImageParam image(Float(32), 2, "image");
        Func sum("sum"), out("norm");
        RDom r(0, n, 0, n / 8);
        sum(z) += image(r.x, r.y + z * (n / 8)) * image(r.x, r.y + z * (n / 8));
        out(z) = sqrt(sum(z));
        return sample("norm", out, {{0, batch}});
    }

    Sample softmax() {
        const int n = 16 * random.between(2, 64), rows = 16 * random.between(2, 64);
        ImageParam image(Float(32), 2, "image");
        Func most("most"), raised("raised"), sum("sum"), out("softmax");
        RDom r(0, n);
        most(y) = maximum(image(r, y));
        raised(x, y) = exp(image(x, y) - most(y));
        sum(y) += raised(r, y);
        out(x, y) = raised(x, y) / sum(y);
        return sample("softmax", out, {{0, n}, {0, rows}});
    }

    Random &random;
    Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
};

}  // namespace

Sample random_operator(Random &random) { return OperatorBuilder(random)(); }

}  // namespace tessera::autoscheduler::training
