#include <chrono>
#include <tessera_generator.h>
#include <thread>

using namespace tessera;

// Generators of the tests: in the test's own program, and in an executable of their own.
namespace {

Var x("x"), y("y"), c("c");

enum class Mode { Add, Multiply };

// A parameter of each type, and each kind of number.
class Everything : public Generator<Everything> {
public:
    GeneratorParam<bool> flag{"flag", false};
    GeneratorParam<int8_t> small{"small", -3, -10, 10};
    GeneratorParam<int> number{"number", 7};
    GeneratorParam<uint64_t> large{"large", 1};
    GeneratorParam<float> ratio{"ratio", 0.5f, 0.0f, 1.0f};
    GeneratorParam<double> exact{"exact", 0.1};
    GeneratorParam<Mode> mode{
        "mode", Mode::Add, {{"add", Mode::Add}, {"multiply", Mode::Multiply}}};
    GeneratorParam<std::string> word{"word", "none"};
    GeneratorParam<std::string> colour{"colour", "red", {{"red", "red"}, {"blue", "blue"}}};
    GeneratorParam<Type> type{"type", UInt(16)};
    GeneratorParam<Target> other{"other", Target("x86-64-linux")};
    GeneratorParam<LoopLevel> level{"level", LoopLevel::root()};

    Input<int32_t> scalar{"scalar", 4, 0, 100};
    Output<double> result{"result"};
    Output<Func> table{"table"};

    void generate() override {
        Expr e = flag ? scalar * 2 : Expr(scalar);
        e = mode == Mode::Add ? e + number : e * number;
        e = e + small + cast<int>(large);
        result() = cast<double>(e) + ratio + exact + int(word.value().size()) +
                   (colour == "blue" ? 1000 : 0) +
                   (other.value().has_feature(Target::AVX2) ? 10000 : 0);
        stage(x) = cast(type, x * number);
        table(x) = stage(x) + cast(type, 1);
    }
    void schedule() override { stage.compute_at(level); }

private:
    Func stage{"stage"};
};

// Inputs and outputs whose types, dimensions and number are left open, and arrays of each kind.
class Open : public Generator<Open> {
public:
    Input<Buffer<>> picture{"picture"};
    Input<Func> func{"func", 2};
    Input<Func[]> funcs{"funcs", Int(32), 1};
    Input<Buffer<float, 1>[2]> pair{"pair"};
    Input<int32_t[2]> offsets{"offsets"};
    Output<Buffer<>> copy{"copy"};
    Output<Func> sum{"sum", Int(32), 1};
    Output<Func[]> scaled{"scaled"};
    Output<Buffer<float>[2]> doubled{"doubled", 1};

    void generate() override {
        copy(_) = picture(_);
        Expr total = cast<int>(func(x, 0)) + offsets[0] + offsets[1];
        for (const Func &f : funcs) total += f(x);
        sum(x) = total;
        scaled.resize(funcs.size());
        for (size_t i = 0; i < funcs.size(); i++) scaled[i](x) = funcs[i](x) * int(i + 1);
        for (size_t i = 0; i < 2; i++) doubled[i](x) = pair[i](x) * 2;
    }
};

// Outputs of several values, and of Funcs that have other names.
class Several : public Generator<Several> {
public:
    Input<Buffer<uint8_t, 1>> in{"in"};
    Output<Buffer<>> both{"both", {UInt(8), Float(32)}, 1};
    Output<Func> renamed{"renamed"};

    void generate() override {
        both(x) = Tuple(in(x), cast<float>(in(x)) / 2);
        Func inner("inner");
        inner(x) = in(x) + in(x);
        inner.vectorize(x, 8);
        renamed = inner;
        in.dim(0).set_min(0);
        for (OutputImageParam b : both.output_buffers()) b.dim(0).set_min(0);
        in.set_estimates({{0, 100}});
        both.set_estimates({{0, 100}});
    }
};

// Adds what it takes and gives when it is configured.
class Configured : public Generator<Configured> {
public:
    GeneratorParam<int> inputs{"inputs", 2, 1, 8};

    void configure() override {
        for (int i = 0; i < inputs; i++) {
            added.push_back(add_input<Buffer<>>(str("in", i), Int(32), 1));
        }
        result = add_output<Func>("out", Int(32), 1);
        extra = add_input<Buffer<>>("extra");
    }
    void generate() override {
        Expr total = cast<int>((*extra)(x));
        for (auto *in : added) total += (*in)(x);
        (*result)(x) = total;
        add_requirement(added[0]->dim(0).extent() > 2, "in0 is too short");
    }

private:
    std::vector<Input<Buffer<>> *> added;
    Input<Buffer<>> *extra = nullptr;
    Output<Func> *result = nullptr;
};

// What is called by others.
class Box : public Generator<Box> {
public:
    GeneratorParam<int> radius{"radius", 1, 0, 10};
    GeneratorParam<LoopLevel> where{"where", LoopLevel::inlined()};
    Input<Func> in{"in", 1};
    Input<int> divisor{"divisor"};
    Output<Func> out{"out", 1};

    void generate() override {
        RDom r(-radius, 2 * radius + 1);
        out(x) = sum(cast<int>(in(x + r))) / divisor;
    }
    void schedule() override { out.compute_at(where); }
};

class Caller : public Generator<Caller> {
public:
    Input<Buffer<uint8_t, 1>> in{"in"};
    Output<Func> out{"out", Int(32), 1};

    void generate() override {
        auto first = create<Box>();
        first->radius.set(2);
        first->where.set(LoopLevel::root());
        first->apply(Func(in), 5);
        Func second = apply<Box>(first->out, 3)->out;
        out(x) = second(x);
    }
};

// Its vectors and its result tell for which target it was made.
class OfTarget : public Generator<OfTarget> {
public:
    Input<Buffer<int32_t, 1>> in{"in"};
    Output<Func> out{"out", Int(32), 1};

    void generate() override {
        int which = get_target().has_feature(Target::AVX512_Skylake) ? 3
                    : get_target().has_feature(Target::AVX2)         ? 2
                    : get_target().has_feature(Target::ARMDotProd)   ? 4
                                                                     : 1;
        out(x) = in(x) * 10 + which;
        if (!using_autoscheduler()) out.vectorize(x, natural_vector_size<int32_t>());
    }
};

// On the GPU, where the target has one; what it looks up is a Buffer within the library.
class Scaled : public Generator<Scaled> {
public:
    Input<Buffer<int32_t, 1>> in{"in"};
    Output<Func> out{"out", Int(32), 1};

    void generate() override {
        Buffer<int> lut(4, "lut");
        for (int i = 0; i < 4; i++) lut(i) = 10 * i;
        out(x) = in(x) * 2 + lut(x % 4) + 1;
        Var xi("xi");
        if (get_target().has_gpu_feature()) {
            out.gpu_tile(x, xi, 8, TailStrategy::RoundUp);
        } else {
            out.vectorize(x, 4);
        }
    }
};

// A kernel that requires something of its input, and prints.
class Checked : public Generator<Checked> {
public:
    Input<Buffer<int32_t, 1>> in{"in"};
    Output<Func> out{"out", Int(32), 1};

    void generate() override {
        Var xi("xi");
        const Expr value = print_when(in(x) > 40, in(x) * 2, "twice that at", x);
        out(x) = require(in(x) < 50, value, "in", x, "is", in(x));
        out.gpu_tile(x, xi, 8, TailStrategy::RoundUp);
    }
};

class Slow : public Generator<Slow> {
public:
    Output<Func> out{"out", Int(32), 1};
    void generate() override {
        std::this_thread::sleep_for(std::chrono::minutes(1));
        out(x) = x;
    }
};

class Undefined : public Generator<Undefined> {
public:
    GeneratorParam<bool> define{"define", false};
    GeneratorParam<bool> wrong{"wrong", false};
    Output<Func> out{"out", Int(32), 1};
    void generate() override {
        Func f("f");
        if (wrong)
            f(x, y) = cast<uint8_t>(x + y);
        else if (define)
            f(x) = x;
        out = f;
    }
};

Func scale(const Func &in, const Expr &factor, int shift) {
    Func out("scaled");
    out(x) = cast<uint8_t>((cast<int>(in(x)) * factor) >> shift);
    return out;
}

std::vector<Func> min_and_max(const GeneratorContext &context, ImageParam in, bool swap) {
    RDom r(in);
    Func lowest("lowest"), highest("highest");
    lowest() = minimum(in(r.x));
    highest() = maximum(in(r.x));
    lowest() += context.target().bits == 64 ? 0 : 1;
    return swap ? std::vector{highest, lowest} : std::vector{lowest, highest};
}

}  // namespace

TESSERA_REGISTER_GENERATOR(Everything, everything)
TESSERA_REGISTER_GENERATOR(Open, open)
TESSERA_REGISTER_GENERATOR(Several, several)
TESSERA_REGISTER_GENERATOR(Configured, configured)
TESSERA_REGISTER_GENERATOR(Scaled, scaled)
TESSERA_REGISTER_GENERATOR(Checked, checked)
TESSERA_REGISTER_GENERATOR(Box, box, filters::BoxFilter)
TESSERA_REGISTER_GENERATOR(Caller, caller)
TESSERA_REGISTER_GENERATOR(OfTarget, of_target)
TESSERA_REGISTER_GENERATOR(Slow, slow)
TESSERA_REGISTER_GENERATOR(Undefined, undefined)
TESSERA_REGISTER_FUNCTION(scale, scale, InputArgument("in", UInt(8), 1),
                          InputArgument("factor", Int(32)), ParamArgument("shift", 1),
                          OutputArgument("out", UInt(8), 1))
TESSERA_REGISTER_FUNCTION(min_and_max, min_and_max, InputArgument("in", {}, 1),
                          ParamArgument("swap", false), OutputArgument("first"),
                          OutputArgument("second"))
