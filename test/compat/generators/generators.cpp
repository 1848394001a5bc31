#include "Halide.h"

// Before any `using`: a generator knows the names of the language by itself.
class Bare : public Halide::Generator<Bare> {
public:
    Input<Buffer<float, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};
    void generate() {
        Var i{"i"};
        output(i) = rounded<int32_t>(input(i)) + cast(Int(32), 1);
        if (target.has_feature(Target::NoAsserts)) output.unroll(i, 2);
    }

private:
    template<typename T>
    Expr rounded(Expr e) {
        return cast<T>(e + cast<float>(1) / 2) + cast<T>(type_of<T>() == UInt(8));
    }
};
HALIDE_REGISTER_GENERATOR(Bare, bare)

// Generators as users of Halide write them, many in one executable.
using namespace Halide;

namespace {

Var x("x"), y("y"), c("c");

enum class Blend { Average, Largest };

// Parameters of each kind, with inputs that have defaults and ranges.
class Mix : public Generator<Mix> {
public:
    GeneratorParam<int> vector_size{"vector_size", 16, 1, 64};
    GeneratorParam<float> gain{"gain", 1, 0, 100};
    GeneratorParam<bool> parallel{"parallel", true};
    GeneratorParam<Blend> blend{
        "blend", Blend::Average, {{"average", Blend::Average}, {"largest", Blend::Largest}}};
    GeneratorParam<Type> inner_type{"inner_type", UInt(16)};
    GeneratorParam<std::string> note{"note", ""};

    Input<Buffer<uint8_t, 2>> first{"first"};
    Input<Buffer<uint8_t>> second{"second", 2};
    Input<float> offset{"offset", 0.5, 0.0, 10.0};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        Expr a = cast(inner_type, first(x, y)), b = cast(inner_type, second(x, y));
        Expr both = blend == Blend::Average ? (a + b) / 2 : max(a, b);
        output(x, y) = saturating_cast<uint8_t>(both * gain + offset);
        add_requirement(first.width() == second.width(), "widths differ:", first.width(), "and",
                        second.width());
    }
    void schedule() {
        first.set_estimates({{0, 640}, {0, 480}});
        second.set_estimates({{0, 640}, {0, 480}});
        offset.set_estimate(1.0f);
        output.set_estimates({{0, 640}, {0, 480}});
        if (using_autoscheduler()) return;
        output.vectorize(x, min(int(vector_size), natural_vector_size<uint8_t>()),
                         TailStrategy::GuardWithIf);
        if (parallel) output.parallel(y);
        if (get_target().has_gpu_feature()) output.gpu_blocks(y);
    }
};

// Funcs as inputs, arrays of every kind, and what is open.
class Arrays : public Halide::Generator<Arrays> {
public:
    Input<Func> picture{"picture", UInt(8), 2};
    Input<Func[2]> pair{"pair", Float(32), 1};
    Input<Func[]> many{"many", 1};
    Input<Buffer<int16_t, 1>[2]> buffers{"buffers"};
    Input<Buffer<>[]> open{"open"};
    Input<float[2]> scales{"scales", 2.0f, 0.0f, 10.0f};
    Input<int32_t[]> counts{"counts", 1};
    Output<Func[]> results{"results", Float(32), 1};
    Output<Buffer<int32_t, 1>[2]> doubled{"doubled"};
    Output<Buffer<>> copied{"copied"};
    Output<float> total{"total"};

    void generate() {
        results.resize(many.size());
        for (size_t i = 0; i < many.size(); i++) {
            results[i](x) = cast<float>(many[i](x)) * scales[i % 2] + pair[i % 2](x) + counts[i];
        }
        for (int i = 0; i < 2; i++) doubled[i](x) = cast<int>(buffers[i](x)) * 2;
        copied(_) = open[0](_);
        Expr sum_of = 0.f;
        for (size_t i = 0; i < open.size(); i++) sum_of += cast<float>(open[i](0, 0));
        total() = sum_of + picture(1, 1);
    }
    void schedule() {
        buffers.set_estimates({{0, 16}});
        pair.set_estimates({{0, 16}});
        scales.set_estimate(3.0f);
        counts.set_estimate(0, 4);
        doubled.set_estimates({{0, 16}});
        for (Func f : results) f.compute_root().vectorize(x, 4, TailStrategy::GuardWithIf);
    }
};

// Outputs of several values; Funcs of other names and library calls as outputs.
class Tuples : public Generator<Tuples> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Func> extremes{"extremes", {Float(32), Int(32)}, 1};
    Output<Func> assigned{"assigned"};
    Output<Func[2]> both{"both", Int(32), 1};

    void generate() {
        RDom r(0, input.width());
        Tuple at = argmax(r, input(r, y));
        extremes(y) = Tuple(at[1], at[0]);
        Func inner("inner");
        inner(x, y) = BoundaryConditions::repeat_edge(input)(x - 1, y) + input.top() + input.left();
        assigned = inner;
        for (int i = 0; i < 2; i++) {
            Func f;
            f(x) = x + i;
            both[i] = f;
        }
    }
};

// Inputs and outputs that are added when parameters are known.
class Configured : public Generator<Configured> {
public:
    GeneratorParam<int> number{"number", 2};
    Input<Buffer<uint8_t, 1>> input{"input"};
    Output<Buffer<>> output{"output"};

    void configure() {
        for (int i = 0; i < number; i++) {
            extra.push_back(add_input<Buffer<uint8_t, 1>>("extra_" + std::to_string(i)));
        }
        untyped = add_input<Buffer<>>("untyped", Int(16), 1);
        factor = add_input<Expr>("factor", Int(8));
        bias = add_input<int>("bias");
        func = add_input<Func>("func", Int(16), 1);
        more = add_output<Func>("more", {UInt(8), Float(32)}, 1);
        output.set_type(Int(32));
        output.set_dimensions(1);
    }
    void generate() {
        Expr e = cast<int>(input(x)) + *bias + cast<int>((*untyped)(x)) + cast<int>((*func)(x));
        for (auto *in : extra) e += (*in)(x);
        output(x) = e * cast<int>(*factor);
        (*more)(x) = Tuple(input(x), cast<float>(x));
        if (output.type() != Int(32) || output.dimensions() != 1) output(x) = 0;
    }

private:
    std::vector<Input<Buffer<uint8_t, 1>> *> extra;
    Input<Buffer<>> *untyped;
    Input<Expr> *factor;
    Input<int> *bias;
    Input<Func> *func;
    Output<Func> *more;
};

// For an alias.
class Shift : public Generator<Shift> {
public:
    GeneratorParam<int32_t> offset{"offset", 0};
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};
    void generate() { output(x) = input(x) + offset; }
};

// Of two types, by names that a dependent base class has.
template<typename From, typename To>
class Converted : public Halide::Generator<Converted<From, To>> {
    using Base = Halide::Generator<Converted<From, To>>;
    template<typename T>
    using Input = typename Base::template Input<T>;
    template<typename T>
    using Output = Halide::GeneratorOutput<T>;
    using Base::get_target;
    using Base::natural_vector_size;

public:
    Input<Halide::Buffer<From, 2>> input{"input"};
    Output<Halide::Buffer<To, 2>> output{"output"};
    void generate() {
        output(x, y) = cast<To>(input(x, y));
        output.vectorize(x, natural_vector_size(type_of<To>()), TailStrategy::GuardWithIf);
        if (get_target().has_feature(Target::NoAsserts)) output.unroll(y, 1);
    }
};

// Called by others: an inner stage whose place the caller chooses.
class Sharpen : public Generator<Sharpen> {
public:
    GeneratorParam<LoopLevel> blur_at{"blur_at", LoopLevel::root()};
    GeneratorParam<int> radius{"radius", 1, 1, 8};
    Input<Func> input{"input", 2};
    Input<float> amount{"amount"};
    Output<Func> output{"output", Float(32), 2};

    void generate() {
        RDom r(-radius, 2 * radius + 1);
        blur(x, y) = sum(cast<float>(input(x + r, y))) / (2 * radius + 1);
        output(x, y) = input(x, y) + amount * (input(x, y) - blur(x, y));
    }
    void schedule() { blur.compute_at(blur_at); }

private:
    Func blur{"blur"};
};

class Twice : public Generator<Twice> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Func clamped = BoundaryConditions::repeat_edge(input);
        sharpen = create<Sharpen>();
        sharpen->radius.set(2);
        sharpen->apply(clamped, 0.5f);
        Func second = apply<Sharpen>(sharpen->output, 0.25f)->output;
        output(x, y) = second(x, y);
    }
    void schedule() {
        sharpen->output.compute_root();
        sharpen->blur_at.set({sharpen->output, y});
    }

private:
    std::unique_ptr<Sharpen> sharpen;
};

// What a caller's buffers have to be: interleaved colours of a fixed number.
class Interleaved : public Generator<Interleaved> {
public:
    Input<Buffer<uint8_t, 3>> input{"input"};
    Input<void *> unused{"unused", nullptr};
    Input<bool> invert{"invert", true};
    Output<Buffer<uint8_t, 3>> output{"output"};

    void generate() {
        output(x, y, c) = select(invert, 255 - input(x, y, c), input(x, y, c));
        input.dim(0).set_stride(3);
        input.dim(2).set_stride(1).set_bounds(0, 3);
        output.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        output.reorder(c, x, y).unroll(c).bound(c, 0, 3);
    }
};

// Threads, memory and text: what a program may do by functions of its own.
class Hooks : public Generator<Hooks> {
public:
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};
    void generate() {
        Func stored("stored");
        stored(x) = print_when(input(x) == 77, input(x) * 2, "was doubled");
        output(x) = stored(x) + stored(x + 1);
        stored.compute_root().store_in(MemoryType::Heap);
        output.parallel(x);
    }
};

// Written without `using namespace Halide`.
class Plain : public Halide::Generator<Plain> {
public:
    GeneratorParam<float> power{"power", 2.0f};
    Input<Buffer<float, 1>> input{"input"};
    Output<Buffer<float, 1>> output{"output"};
    void generate() {
        Var i{"i"};
        Func f{"f"};
        Expr e = cast(Float(64), input(i));
        f(i) = e * power.value();
        output(i) = cast<float>(f(i)) + (name() == "plain" ? 1.0f : 0.0f);
        f.compute_at(output, i);
    }
};

// A generator without members that declare: Halide's interface, written out.
class ByHand : public Internal::AbstractGenerator {
    using Direction = Internal::ArgInfoDirection;
    using Kind = Internal::ArgInfoKind;

public:
    explicit ByHand(const GeneratorContext &context) : made_for(context) {}
    std::string name() override { return "by_hand"; }
    GeneratorContext context() const override { return made_for; }
    std::vector<ArgInfo> arginfos() override {
        return {{"input", Direction::Input, Kind::Buffer, {Int(32)}, 1},
                {"offset", Direction::Input, Kind::Scalar, {Int(32)}, 0},
                {"output", Direction::Output, Kind::Buffer, {Int(32)}, 1}};
    }
    void set_generatorparam_value(const std::string &name, const std::string &value) override {
        if (name != "factor") throw std::runtime_error("by_hand has no parameter " + name);
        factor = std::stoi(value);
    }
    void set_generatorparam_value(const std::string &name, const LoopLevel &) override {
        throw std::runtime_error("by_hand has no loop level " + name);
    }
    Pipeline build_pipeline() override {
        output(x) = read(x) * factor + added;
        return Pipeline(output);
    }
    std::vector<Parameter> input_parameter(const std::string &name) override {
        if (name == "input") return {input.parameter()};
        return {offset.parameter()};
    }
    std::vector<Func> output_func(const std::string &) override { return {output}; }
    void bind_input(const std::string &, const std::vector<Parameter> &v) override {
        read = Func("read");
        read(x) = ImageParam(v[0].ref())(x);
    }
    void bind_input(const std::string &, const std::vector<Func> &v) override { read = v[0]; }
    void bind_input(const std::string &, const std::vector<Expr> &v) override { added = v[0]; }
    bool emit_cpp_stub(const std::string &path) override {
        std::ofstream(path) << "// " << context().autoscheduler_params().name;
        return factor != 2;
    }

private:
    GeneratorContext made_for;
    ImageParam input{Int(32), 1, "input"};
    Param<int32_t> offset{"offset"};
    Func read{input}, output{"output"};
    Expr added = offset;
    int factor = 1;
};

const Internal::RegisterGenerator register_by_hand("by_hand", [](const GeneratorContext &context) {
    return std::make_unique<ByHand>(context);
});

}  // namespace

namespace effects {

class Negative : public Halide::Generator<Negative> {
public:
    Input<Func> input{"input", UInt(8), 2};
    Output<Buffer<uint8_t, 2>> output{"output"};
    void generate() { output(x, y) = 255 - input(x, y); }
};

}  // namespace effects

using ConvertedToFloat = Converted<uint8_t, float>;

HALIDE_REGISTER_GENERATOR(Mix, mix)
HALIDE_REGISTER_GENERATOR(Arrays, arrays)
HALIDE_REGISTER_GENERATOR(Tuples, tuples)
HALIDE_REGISTER_GENERATOR(Configured, configured)
HALIDE_REGISTER_GENERATOR(Shift, shift)
HALIDE_REGISTER_GENERATOR_ALIAS(shift_by_42, shift, {{"offset", "42"}})
HALIDE_REGISTER_GENERATOR(ConvertedToFloat, to_float)
HALIDE_REGISTER_GENERATOR((Converted<float, int16_t>), to_short)
HALIDE_REGISTER_GENERATOR(Sharpen, sharpen, photo::stubs::sharpen_stub)
HALIDE_REGISTER_GENERATOR(Twice, twice)
HALIDE_REGISTER_GENERATOR(Interleaved, interleaved)
HALIDE_REGISTER_GENERATOR(Hooks, hooks)
HALIDE_REGISTER_GENERATOR(Plain, plain)
HALIDE_REGISTER_GENERATOR(effects::Negative, negative)
