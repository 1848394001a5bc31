#include "../program.h"
#include "sharpen.stub.h"
#include <sstream>

// What is refused of generators, each with its message.

namespace {

GeneratorContext host() { return GeneratorContext(get_host_target()); }

class Simple : public Generator<Simple> {
public:
    GeneratorParam<int> factor{"factor", 2, 0, 10};
    Input<Func> input{"input", Int(32), 1};
    Input<Buffer<uint8_t, 1>> image{"image"};
    Input<int> scalar{"scalar"};
    Output<Func> output{"output", Int(32), 1};
    void generate() {
        // An input is no output.
        static_assert(!std::is_assignable_v<decltype(input(x)), Expr>);
        static_assert(!std::is_assignable_v<decltype(scalar), Expr>);
        if (factor == 8) factor.set(1);
        output(x) = input(x) * factor + image(x);
    }
    Var x;
};

class Undefined : public Generator<Undefined> {
public:
    Output<Func> output{"output", Int(32), 1};
    void generate() {}
};

class OfAnotherType : public Generator<OfAnotherType> {
public:
    Output<Func> output{"output", Int(32), 1};
    void generate() { output(Var()) = 1.5f; }
};

class TwoOfAName : public Generator<TwoOfAName> {
public:
    Input<int> same{"same"};
    Output<Func> output{"same"};
    void generate() {}
};

class BadName : public Generator<BadName> {
public:
    GeneratorParam<int> flag{" flag", 1};
    void generate() {}
};

class OutOfRange : public Generator<OutOfRange> {
public:
    GeneratorParam<int> n{"n", 11, 0, 10};
    void generate() {}
};

// 0 if `run` ends in an error whose message has `part` in it.
template<typename Run>
int refused(const char *part, Run run) {
    try {
        run();
    } catch (const InternalError &e) {
        std::printf("an internal error: %s\n", e.what());
        return 1;
    } catch (const Error &e) {
        if (std::string(e.what()).find(part) != std::string::npos) return 0;
        std::printf("expected \"%s\", got \"%s\"\n", part, e.what());
        return 1;
    }
    std::printf("not refused: %s\n", part);
    return 1;
}

// The same of a command line.
int command_refused(const char *part, const std::string &line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    std::ostringstream out, errors;
    int status = tessera::run_generator_command(words, out, errors);
    if (status == 1 && errors.str().find(part) != std::string::npos) return 0;
    std::printf("%s: status %d, expected \"%s\", got \"%s\"\n", line.c_str(), status, part,
                errors.str().c_str());
    return 1;
}

Func any_func() {
    Var x;
    Func f("f");
    f(x) = x;
    return f;
}

Buffer<uint8_t> any_image() { return Buffer<uint8_t>(16); }

}  // namespace

PROGRAM(command_lines_that_are_refused) {
    int wrong = 0;
    wrong += command_refused("-o folder is missing", "-g shift target=host");
    wrong += command_refused("target= is missing", "-g shift -o /tmp");
    wrong += command_refused("there is no generator shit; did you mean shift?",
                             "-g shit -o /tmp target=host");
    wrong += command_refused("-g name is missing; there are arrays", "-o /tmp target=host");
    wrong += command_refused("the generator shift has no parameter ofset; did you mean offset?",
                             "-g shift -o /tmp target=host ofset=3");
    wrong += command_refused("the parameter offset of shift cannot be much: it is int32",
                             "-g shift -o /tmp target=host offset=much");
    wrong += command_refused("the parameter blend of mix cannot be lowest: it is one of average, "
                             "largest",
                             "-g mix -o /tmp target=host blend=lowest");
    wrong += command_refused("cannot be 65: it is int32 from 1 to 64",
                             "-g mix -o /tmp target=host vector_size=65");
    wrong +=
        command_refused("offset is given twice", "-g shift -o /tmp target=host offset=1 offset=2");
    wrong += command_refused("the input many of arrays has no number of elements yet",
                             "-g arrays -o /tmp target=host many.type=int8");
    wrong += command_refused("the input first of mix is of uint8 and cannot be of int8",
                             "-g mix -o /tmp target=host first.type=int8");
    wrong += command_refused("there is no autoscheduler \"Anderson2021\"",
                             "-g mix -o /tmp target=host autoscheduler=Anderson2021");
    wrong += command_refused("the plugin plugin.so cannot be loaded",
                             "-p plugin.so -g mix -o /tmp target=host");
    wrong += command_refused("derivatives of Funcs are not there yet",
                             "-d 1 -g mix -o /tmp target=host");
    wrong += command_refused("-e: nothing is called hader", "-g mix -o /tmp -e hader target=host");
    return wrong;
}

PROGRAM(generators_that_are_refused) {
    int wrong = 0;
    wrong += refused("output of undefined has no definition: generate() has to give it one",
                     [] { Undefined::create(host(), "undefined")->get_pipeline(); });
    wrong += refused("output was declared with the type int32, but is defined with float32",
                     [] { OfAnotherType::create(host())->get_pipeline(); });
    wrong += refused("has two parameters, inputs or outputs named same",
                     [] { TwoOfAName::create(host()); });
    wrong +=
        refused("\" flag\" cannot be the name of a parameter", [] { BadName::create(host()); });
    wrong += refused("cannot be 11: it is int32 from 0 to 10", [] { OutOfRange::create(host()); });
    wrong += refused("a generator is made by create<...>()", [] { Simple simple; });
    wrong += refused("the GeneratorParam lost has to be a member of a Generator",
                     [] { GeneratorParam<int> lost("lost", 1); });
    return wrong;
}

PROGRAM(inputs_that_are_refused) {
    int wrong = 0;
    auto apply = [](const auto &...args) { Simple::create(host(), "simple")->apply(args...); };
    wrong += refused("has 3 inputs, but 1 are given", [&] { apply(any_func()); });
    wrong += refused("the input input of simple is a Func, but a number is given",
                     [&] { apply(Expr(3), any_image(), 1); });
    wrong += refused("the input image of simple is a Buffer, whose size may be read",
                     [&] { apply(any_func(), any_func(), 1); });
    wrong += refused("is of uint8, but what is given is of int16",
                     [&] { apply(any_func(), Buffer<int16_t>(16), 1); });
    wrong += refused("has 1 dimensions, but what is given has 2",
                     [&] { apply(any_func(), Buffer<uint8_t>(16, 16), 1); });
    wrong += refused("the input scalar of simple is a number, but something else is given",
                     [&] { apply(any_func(), any_image(), any_func()); });
    wrong +=
        refused("is given a Func without a definition", [&] { apply(Func(), any_image(), 1); });
    wrong += refused("an input of a generator is an undefined Buffer",
                     [&] { apply(any_func(), Buffer<uint8_t>(), 1); });
    return wrong;
}

PROGRAM(what_comes_too_late_or_in_the_wrong_place) {
    int wrong = 0;
    auto made = [](int factor) {
        auto simple = Simple::create(host(), "simple");
        simple->factor.set(factor);
        simple->apply(any_func(), any_image(), 1);
        return simple;
    };
    wrong += refused("the parameter factor of simple is set too late: the pipeline has been made",
                     [&] { made(2)->factor.set(3); });
    wrong += refused("the parameter factor of simple is set too late", [&] { made(8); });
    wrong += refused("there is no generator none",
                     [] { create_callable_from_generator(host(), "none"); });
    wrong += refused("the generator shift has no parameter x",
                     [] { create_callable_from_generator(host(), "shift", {{"x", "1"}}); });
    GeneratorContext scheduled(get_host_target(), AutoschedulerParams("Anderson2021"));
    wrong += refused("there is no autoscheduler \"Anderson2021\"",
                     [&] { create_callable_from_generator(scheduled, "shift"); });
    wrong += refused("autoscheduler= of simple comes too late", [&] {
        auto simple = made(2);
        simple->set_generatorparam_value("autoscheduler", "Anderson2021");
    });
    return wrong;
}

PROGRAM(stubs_that_are_refused) {
    using Stub = photo::stubs::sharpen_stub;
    int wrong = 0;
    wrong += refused("has 2 dimensions, but f has 1",
                     [] { Stub::generate(host(), {any_func(), 1.0f}); });
    wrong += refused("the input amount of sharpen is given an undefined Expr",
                     [] { Stub::generate(host(), {Buffer<uint8_t>(4, 4), Expr()}); });
    wrong +=
        refused("the input amount of sharpen is of float32, but an expression of int32 is given",
                [] { Stub::generate(host(), {Buffer<uint8_t>(4, 4), Var("x") + 1}); });
    wrong += refused("the input input of sharpen is a Func, but a number is given",
                     [] { Stub::generate(host(), {1.0f, 1.0f}); });
    wrong += refused("cannot be 9: it is int32 from 1 to 8", [] {
        Stub::GeneratorParams params;
        params.radius = 9;
        Stub::generate(host(), {any_func(), 1.0f}, params);
    });
    return wrong;
}

PROGRAM(generators_of_one_name) {
    auto make = [](const tessera::GeneratorContext &c) { return Simple::create(c); };
    tessera::RegisterGenerator first("of_one_name", "", make), second("of_one_name", "", make);
    int wrong = refused("two generators are registered as of_one_name",
                        [] { create_callable_from_generator(host(), "of_one_name"); });
    tessera::GeneratorRegistry::remove("of_one_name");
    return wrong;
}

PROGRAM(execute_generator_without_what_it_needs) {
    int wrong = 0;
    ExecuteGeneratorArgs args;
    wrong += refused("output_dir is missing", [&] { execute_generator(args); });
    args.output_dir = "/tmp";
    wrong += refused("targets are missing", [&] { execute_generator(args); });
    args.targets = {get_host_target()};
    wrong += refused("generator_name and runtime_name are both missing",
                     [&] { execute_generator(args); });
    args.generator_name = "nothing";
    args.output_types = {OutputFileType::stmt};
    wrong += refused("there is no generator nothing", [&] { execute_generator(args); });
    args.create_generator = [](const std::string &, const GeneratorContext &) { return nullptr; };
    wrong += refused("create_generator made none for the name nothing",
                     [&] { execute_generator(args); });
    args.build_mode = ExecuteGeneratorArgs::Gradient;
    wrong += refused("derivatives of Funcs are not there yet", [&] { execute_generator(args); });
    return wrong;
}
