#include "../program.h"
#include "halide_test_dirs.h"
#include "mix.stub.h"
#include "sharpen.stub.h"

// The generators of generators.cpp and stub_user.cpp, called while the program runs.

namespace {

GeneratorContext host() { return GeneratorContext(get_jit_target_from_environment()); }

Buffer<uint8_t> ramp(int width, int height, int factor) {
    Buffer<uint8_t> b(width, height);
    b.for_each_element([&](int x, int y) { b(x, y) = uint8_t(x * factor + y); });
    return b;
}

// A generator whose class this program knows.
class Scale : public Generator<Scale> {
public:
    GeneratorParam<int> factor{"factor", 2};
    Input<Func> input{"input", 1};
    Input<int[]> offsets{"offsets"};
    Output<Func> output{"output", Int(32), 1};
    void generate() {
        Var x;
        output(x) = cast<int>(input(x)) * factor + offsets[0] + offsets[1];
    }
};

}  // namespace

PROGRAM(callable_of_a_registered_generator) {
    Callable mix = create_callable_from_generator(host(), "mix");
    Buffer<uint8_t> a = ramp(50, 3, 1), b = ramp(50, 3, 3), out(50, 3);
    EXPECT(mix(a, b, 0.5f, out) == 0);
    EXPECT(out(20, 1) == 41);
    Callable largest = create_callable_from_generator(
        get_jit_target_from_environment(), "mix",
        {{"blend", "largest"}, {"gain", "2"}, {"parallel", "false"}});
    EXPECT(largest(a, b, 1.0f, out) == 0);
    EXPECT(out(20, 1) == 123);
    EXPECT(out(49, 2) == 255);
    return 0;
}

PROGRAM(callable_of_an_alias) {
    Buffer<int32_t> in(4), out(4);
    in.fill(8);
    EXPECT(create_callable_from_generator(host(), "shift_by_42")(in, out) == 0 && out(3) == 50);
    EXPECT(create_callable_from_generator(host(), "shift")(in, out) == 0 && out(3) == 8);
    GeneratorParamsMap other = {{"offset", "1"}};
    EXPECT(create_callable_from_generator(host(), "shift_by_42", other)(in, out) == 0);
    EXPECT(out(3) == 9);
    return 0;
}

PROGRAM(generator_without_using_the_namespace) {
    Buffer<float> in(4);
    Buffer<int32_t> out(4);
    in.fill(2.75f);
    EXPECT(create_callable_from_generator(host(), "bare")(in, out) == 0 && out(3) == 4);
    return 0;
}

PROGRAM(callable_of_tuples_and_arrays) {
    Buffer<float> in(8, 3), largest(3), assigned(8, 3);
    Buffer<int> where(3), first(5), second(5);
    in.for_each_element([&](int x, int y) { in(x, y) = float((x * 5 + y * 3) % 8); });
    Callable tuples = create_callable_from_generator(host(), "tuples");
    EXPECT(tuples(in, largest, where, assigned, first, second) == 0);
    for (int y = 0; y < 3; y++) EXPECT(largest(y) == 7.f && in(where(y), y) == 7.f);
    EXPECT(assigned(3, 1) == in(2, 1) && assigned(0, 1) == in(0, 1));
    EXPECT(first(4) == 4 && second(4) == 5);
    return 0;
}

PROGRAM(callable_of_what_configure_adds) {
    Buffer<uint8_t> in(4), e0(4), bytes(4);
    Buffer<int16_t> untyped(4), func(4);
    Buffer<int32_t> out(4);
    Buffer<float> floats(4);
    in.fill(1), e0.fill(2), untyped.fill(3), func.fill(4);
    Callable c = create_callable_from_generator(host(), "configured", {{"number", "1"}});
    EXPECT(c(in, e0, untyped, int8_t(10), 100, func, out, bytes, floats) == 0);
    EXPECT(out(2) == 1100 && bytes(2) == 1 && floats(2) == 2.f);
    return 0;
}

PROGRAM(generators_by_their_class) {
    Var x;
    Func in;
    in(x) = x;
    auto scale = host().create<Scale>();
    scale->factor.set(5);
    scale->apply(in, std::vector<Expr>{1, 2});
    Buffer<int> out = scale->output.realize({10});
    EXPECT(out(9) == 48);
    auto direct = Scale::create(host());
    direct->set_generatorparam_value("factor", "3");
    direct->apply(in, std::vector<Expr>{0, 0});
    EXPECT(evaluate<int>(Func(direct->output)(7)) == 21);
    auto applied = host().apply<Scale>(in, std::vector<Expr>{1, 1});
    Buffer<int> again = applied->build_pipeline().realize({3});
    EXPECT(again(2) == 6);
    EXPECT(applied->context().target() == host().target());
    return 0;
}

namespace {

// slope * i to a power.
class Ramp : public Generator<Ramp> {
public:
    GeneratorParam<int> power{"power", 1};
    Input<int> slope{"slope"};
    Output<Buffer<int, 1>> out{"out"};
    Output<Buffer<float, 1>> half{"half"};
    void generate() {
        Var i;
        Expr e = slope * i;
        for (int k = 1; k < power; k++) e *= i;
        out(i) = e;
        half(i) = cast<float>(e) / 2;
    }
};

}  // namespace

PROGRAM(generators_that_are_realized) {
    auto line = host().apply<Ramp>(7);
    Realization r = line->realize({10});
    EXPECT(Buffer<int>(r[0])(9) == 63 && Buffer<float>(r[1])(9) == 31.5f);
    auto square = host().create<Ramp>();
    square->power.set(2);
    square->set_inputs(3);
    Buffer<int> curve(6);
    Buffer<float> half(6);
    square->realize({curve, half});
    EXPECT(curve(5) == 75 && half(5) == 37.5f);
    JITUserContext context;
    Realization again = square->realize(&context, {4});
    EXPECT(Buffer<int>(again[0])(3) == 27);
    Realization into({curve, half});
    square->realize(into);
    EXPECT(curve(4) == 48);
    return 0;
}

PROGRAM(stubs) {
    Var x, y;
    Func in("in");
    in(x, y) = cast<float>(x * x + y);
    photo::stubs::sharpen_stub::GeneratorParams params;
    params.radius = 1;
    LoopLevel later;
    params.blur_at = later;
    auto sharp = photo::stubs::sharpen_stub::generate(host(), {in, 3.0f}, params);
    later.set(LoopLevel(sharp.output, sharp.output.args()[1]));
    Buffer<float> out = sharp.realize({8, 4});
    EXPECT(std::abs(out(3, 1) - (10.f + 3.f * (10.f - 32.f / 3.f))) < 1e-4f);
    Func as_func = sharp;
    EXPECT(as_func.name() == sharp.output.name());
    EXPECT(Expr(sharp(3, 1)).type() == Float(32));

    mix::GeneratorParams of_mix;
    of_mix.blend = mix::Enum_blend::largest;
    of_mix.gain = 1.0f;
    of_mix.inner_type = Int(32);
    Buffer<uint8_t> a = ramp(20, 2, 1), b = ramp(20, 2, 2);
    Buffer<uint8_t> blended = mix::generate(host(), {a, b, 1.0f}, of_mix).realize({20, 2});
    EXPECT(blended(7, 1) == 16);
    return 0;
}

PROGRAM(generator_that_calls_stubs) {
    Buffer<float> in(16, 4), sharpened(16, 4);
    Buffer<uint8_t> out(16, 4);
    in.for_each_element([&](int x, int y) { in(x, y) = float(x * 3 + y); });
    EXPECT(create_callable_from_generator(host(), "stub_user")(in, out, sharpened) == 0);
    EXPECT(std::abs(sharpened(8, 2) - in(8, 2)) < 1e-4f);
    EXPECT(out(8, 2) == 255 - 26);
    return 0;
}

PROGRAM(generator_that_calls_others_by_class) {
    Buffer<float> in(16, 4), out(16, 4);
    in.for_each_element([&](int x, int y) { in(x, y) = float(x * 3 + y); });
    EXPECT(create_callable_from_generator(host(), "twice")(in, out) == 0);
    EXPECT(std::abs(out(8, 2) - in(8, 2)) < 1e-4f);
    return 0;
}

PROGRAM(files_of_a_generator_of_this_program) {
    ExecuteGeneratorArgs args;
    args.output_dir = Internal::get_test_tmp_dir();
    args.output_types = {OutputFileType::c_header, OutputFileType::stmt};
    args.targets = {get_host_target()};
    args.generator_name = "any name";
    args.function_name = "scaled_by_four";
    args.generator_params = {{"factor", "4"}, {"input.type", "uint8"}, {"offsets.size", "2"}};
    args.create_generator = [](const std::string &name, const GeneratorContext &context) {
        return Scale::create(context, name);
    };
    execute_generator(args);
    std::ifstream header(args.output_dir + "scaled_by_four.h");
    std::stringstream text;
    text << header.rdbuf();
    EXPECT(text.str().find("int scaled_by_four(struct tessera_buffer_t *input, int32_t offsets_0, "
                           "int32_t offsets_1, struct tessera_buffer_t *output);") !=
           std::string::npos);
    EXPECT(std::ifstream(args.output_dir + "scaled_by_four.stmt").good());
    return 0;
}

PROGRAM(command_line_over_generators_of_this_program) {
    struct Provider final : GeneratorFactoryProvider {
        std::vector<std::string> enumerate() const override { return {"scale"}; }
        Internal::AbstractGeneratorPtr create(const std::string &name,
                                              const GeneratorContext &context) const override {
            if (name != "scale") return nullptr;
            return Scale::create(context, name);
        }
    } provider;
    std::string dir = Internal::get_test_tmp_dir();
    std::vector<std::string> words = {
        "gen",           "-g", "scale",    "-o",          dir,        "-f",
        "scaled",        "-e", "c_header", "target=host", "factor=1", "input.type=int8",
        "offsets.size=2"};
    std::vector<char *> argv;
    for (std::string &w : words) argv.push_back(w.data());
    EXPECT(Internal::generate_filter_main(int(argv.size()), argv.data(), provider) == 0);
    EXPECT(std::ifstream(dir + "scaled.h").good());
    return 0;
}

PROGRAM(interface_of_generators) {
    using namespace Internal;
    std::vector<std::string> names = GeneratorRegistry::enumerate();
    EXPECT(std::find(names.begin(), names.end(), "by_hand") != names.end());
    // One of Halide's kind, by the interface that all have.
    AbstractGeneratorPtr shift = GeneratorRegistry::create("shift", host());
    EXPECT(shift->name() == "shift" && shift->context().target() == host().target());
    std::vector<AbstractGenerator::ArgInfo> infos = shift->arginfos();
    EXPECT(infos.size() == 2 && infos[0].name == "input" && infos[1].name == "output");
    EXPECT(infos[0].dir == ArgInfoDirection::Input && infos[1].dir == ArgInfoDirection::Output);
    EXPECT(infos[0].kind == ArgInfoKind::Buffer && infos[0].types[0] == Int(32));
    EXPECT(infos[0].dimensions == 1);
    shift->set_generatorparam_values({{"offset", "7"}});
    Buffer<int32_t> in(4), out(4);
    in.fill(1);
    EXPECT(shift->compile_to_callable()(in, out) == 0 && out(3) == 8);
    EXPECT(shift->input_parameter("input")[0].name() == "input");
    EXPECT(shift->output_func("output")[0].dimensions() == 1);
    EXPECT(shift->build_module("shifted").name() == "shifted");
    // Inputs are bound, here with a Func and with a parameter.
    Var x;
    Func twice("twice");
    twice(x) = 2 * x;
    AbstractGeneratorPtr mixed = GeneratorRegistry::create("negative", host());
    Func bytes("bytes");
    Var y;
    bytes(x, y) = cast<uint8_t>(x + y);
    mixed->bind_input("input", std::vector<Func>{bytes});
    mixed->build_pipeline();
    Buffer<uint8_t> negative = mixed->output_func("output")[0].realize({8, 8});
    EXPECT(negative(3, 4) == 248);
    AbstractGeneratorPtr shifts = GeneratorRegistry::create("shift", host());
    ImageParam image(Int(32), 1, "image");
    shifts->bind_input("input", std::vector<Parameter>{image.parameter()});
    Pipeline shifted = shifts->build_pipeline();
    image.set(in);
    Buffer<int32_t> copy = shifted.realize({4});
    EXPECT(copy(2) == 1);
    // One of a program's own class.
    AbstractGeneratorPtr by_hand = GeneratorRegistry::create("by_hand", host());
    EXPECT(by_hand->name() == "by_hand" && by_hand->context().target() == host().target());
    by_hand->set_generatorparam_value("factor", "10");
    EXPECT(by_hand->compile_to_callable()(in, 3, out) == 0 && out(0) == 13);
    by_hand = GeneratorRegistry::create("by_hand", host());
    by_hand->bind_input("input", std::vector<Func>{twice});
    by_hand->bind_input("offset", std::vector<Expr>{Expr(5)});
    Buffer<int32_t> bound = by_hand->build_pipeline().realize({4});
    EXPECT(bound(3) == 11);
    EXPECT(create_callable_from_generator(host(), "by_hand", {{"factor", "3"}})(in, 1, out) == 0);
    EXPECT(out(1) == 4);
    GeneratorRegistry::register_factory(
        "again", [](const GeneratorContext &context) { return Scale::create(context, "again"); });
    EXPECT(GeneratorRegistry::create("again", host())->arginfos().size() == 3);
    GeneratorRegistry::unregister_factory("again");
    return 0;
}

PROGRAM(scheduled_by_a_function_of_this_program) {
    static std::string asked;
    Pipeline::add_autoscheduler("by_four",
                                [](const Pipeline &p, const Target &,
                                   const AutoschedulerParams &params, AutoSchedulerResults *) {
                                    asked += params.name + params.extra.at("parts");
                                    Func f = p.outputs()[0];
                                    f.vectorize(f.args()[0], 4);
                                });
    AutoschedulerParams params("by_four", {{"parts", "9"}});
    GeneratorContext context(get_host_target(), params);
    EXPECT(context.autoscheduler_params().name == "by_four");
    Buffer<int32_t> in(8), out(8);
    in.fill(1);
    EXPECT(create_callable_from_generator(context, "shift_by_42")(in, out) == 0 && out(7) == 43);
    EXPECT(asked == "by_four9");
    // Once, however often it is compiled.
    Internal::AbstractGeneratorPtr shift = Internal::GeneratorRegistry::create("shift", context);
    EXPECT(shift->compile_to_callable()(in, out) == 0 && shift->build_module("m").name() == "m");
    EXPECT(asked == "by_four9by_four9");
    // The parameters of a call name one as well, before the generator is made.
    std::string seen;
    auto look = [&](const GeneratorContext &c) {
        seen = c.autoscheduler_params().to_string();
        return Internal::GeneratorRegistry::create("shift", c);
    };
    Internal::GeneratorRegistry::register_factory("looking", look);
    GeneratorParamsMap by_name = {{"autoscheduler", "by_four"}, {"autoscheduler.parts", "1"}};
    EXPECT(create_callable_from_generator(host(), "looking", by_name)(in, out) == 0);
    EXPECT(seen == params.to_string().substr(0, params.to_string().size() - 1) + "1");
    EXPECT(asked == "by_four9by_four9by_four1");
    Internal::GeneratorRegistry::unregister_factory("looking");
    // A class of one's own is told which one, and writes its own stub, if it can.
    ExecuteGeneratorArgs args;
    args.output_dir = Internal::get_test_tmp_dir();
    args.output_types = {OutputFileType::cpp_stub};
    args.targets = {get_host_target()};
    args.generator_name = "by_hand";
    args.generator_params = {{"autoscheduler", "by_four"}};
    execute_generator(args);
    std::ifstream written(args.output_dir + "by_hand.stub.h");
    std::string text;
    std::getline(written, text);
    EXPECT(text == "// by_four");
    args.generator_params = {{"factor", "2"}};
    try {
        execute_generator(args);
        return 1;
    } catch (const CompileError &e) {
        EXPECT(std::string(e.what()).find("by_hand has no stub") != std::string::npos);
    }
    EXPECT(Scale::create(context, "scale")->using_autoscheduler());
    EXPECT(!Scale::create(host(), "scale")->using_autoscheduler());
    return 0;
}
