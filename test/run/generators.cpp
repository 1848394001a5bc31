#include <tessera_generator.h>

using namespace tessera;

// Pipelines that tessera-run runs in its tests.
namespace {

Var x("x"), y("y"), c("c");

// Reads beyond each side: the output is smaller than the input.
class SmallBlur : public Generator<SmallBlur> {
public:
    Input<Buffer<uint8_t, 2>> in{"in"};
    Output<Buffer<uint16_t, 2>> out{"out"};
    void generate() override {
        out(x, y) = cast<uint16_t>(in(x - 1, y)) + in(x, y) + in(x + 1, y) + in(x, y + 1);
    }
    void schedule() override { out.vectorize(x, 8, TailStrategy::GuardWithIf).parallel(y); }
};

// Of pictures whose channels lie side by side in memory, and are three.
class Interleaved : public Generator<Interleaved> {
public:
    Input<Buffer<float, 3>> in{"in"};
    Input<float> gain{"gain", 1.0f};
    Output<Buffer<float, 3>> out{"out"};
    void generate() override {
        out(x, y, c) = clamp(in(x, y, c) * gain, 0.0f, 1.0f);
        in.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        out.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
    }
};

// Sizes of inputs and outputs that differ.
class Product : public Generator<Product> {
public:
    Input<Buffer<float, 2>> a{"a"}, b{"b"};
    Input<bool> twice{"twice", false};
    Output<Buffer<float, 2>> out{"out"};
    Output<Buffer<float, 2>> larger{"larger"};
    void generate() override {
        RDom k(0, a.dim(0).extent());
        out(x, y) = 0.0f;
        out(x, y) += a(k, y) * b(x, k) * select(twice, 2.0f, 1.0f);
        larger(x, y) = a(x / 2, y / 2);
        a.set_estimates({{0, 4}, {0, 3}});
        b.set_estimates({{0, 5}, {0, 4}});
        out.set_estimates({{0, 5}, {0, 3}});
        larger.set_estimates({{0, 8}, {0, 6}});
    }
};

// A scalar of every type; each element of the output is one of them.
class Scalars : public Generator<Scalars> {
public:
    Input<bool> flag{"flag", true};
    Input<int8_t> i8{"i8", -8, -100, 100};
    Input<int16_t> i16{"i16"};
    Input<int32_t> i32{"i32"};
    Input<int64_t> i64{"i64"};
    Input<uint8_t> u8_in{"u8"};
    Input<uint16_t> u16_in{"u16"};
    Input<uint32_t> u32_in{"u32"};
    Input<uint64_t> u64_in{"u64"};
    Input<float16_t> f16{"f16"};
    Input<bfloat16_t> bf16{"bf16"};
    Input<float> f32{"f32"};
    Input<double> f64{"f64"};
    Input<void *> pointer{"pointer"};
    Output<Buffer<double, 1>> out{"out"};
    Output<Buffer<uint64_t, 0>> exact{"exact"};

    void generate() override {
        i32.set_estimate(32);
        Expr zero = reinterpret<uint64_t>(pointer) == cast<uint64_t>(0);
        std::vector<Expr> values = {flag,   i8,  i16,  i32, i64, u8_in, u16_in,
                                    u32_in, f16, bf16, f32, f64, zero};
        Expr chosen = cast<double>(0);
        for (size_t i = 0; i < values.size(); i++) {
            chosen = select(x == int(i), cast<double>(values[i]), chosen);
        }
        out(x) = chosen;
        exact() = u64_in;
        out.set_estimates({{0, int(values.size())}});
        add_requirement(f64 < cast<double>(1000), "f64 is too large:", f64);
    }
};

// Copies of each type, with memory of its own.
class Copies : public Generator<Copies> {
public:
    Input<Buffer<>> in{"in", 3};
    Output<Buffer<>> out{"out", 3};
    void generate() override {
        copy(x, y, c) = in(x, y, c);
        out(x, y, c) = copy(x, y, c);
    }
    void schedule() override { copy.compute_root(); }

private:
    Func copy{"copy"};
};

}  // namespace

TESSERA_REGISTER_GENERATOR(SmallBlur, small_blur)
TESSERA_REGISTER_GENERATOR(Interleaved, interleaved)
TESSERA_REGISTER_GENERATOR(Product, product)
TESSERA_REGISTER_GENERATOR(Scalars, scalars)
TESSERA_REGISTER_GENERATOR(Copies, copies)
