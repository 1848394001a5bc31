#include "aot/build.h"
#include "box.stub.h"
#include <tessera_generator.h>

using namespace tessera;

// The generators are in generators.cpp.
namespace {

Var x("x");

GeneratorContext host() { return GeneratorContext(get_host_target()); }

struct Outcome {
    int status;
    std::string out, errors;
};

// The command line, in this process.
Outcome command(const std::string &line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    std::ostringstream out, errors;
    int status = run_generator_command(words, out, errors);
    return {status, out.str(), errors.str()};
}

// That it is refused, with this message.
void check_refused(const std::string &line, const std::string &message) {
    Outcome o = command(line);
    CAPTURE(line);
    CHECK(o.status == 1);
    CHECK_MESSAGE(has(o.errors, message), o.errors);
}

void check_written(const std::string &line) {
    Outcome o = command(line);
    CHECK_MESSAGE(o.status == 0, o.errors);
}

GeneratorStub everything() { return {"everything", host()}; }

double result_of(GeneratorStub stub) {
    stub.input("scalar", 4);
    Buffer<double> result = stub.output("result").realize();
    return result();
}

constexpr const char *describe_buffer = R"(
#include <stdio.h>
#include <string.h>
#include "tessera_runtime.h"
static tessera_buffer_t buffer(void *host, int code, int bits, tessera_dimension_t *dim) {
    tessera_buffer_t b;
    memset(&b, 0, sizeof b);
    b.host = (uint8_t *)host;
    b.type.code = (uint8_t)code;
    b.type.bits = (uint8_t)bits;
    b.type.lanes = 1;
    b.dimensions = 1;
    b.dim = dim;
    return b;
}
)";

}  // namespace

TEST_SUITE("generator parameters") {
    TEST_CASE("of each type have their defaults, and values from text") {
        CHECK(result_of(everything()) == doctest::Approx(4 + 7 - 3 + 1 + 0.5 + 0.1 + 4));
        auto with = [](const std::string &name, const std::string &value) {
            return result_of(everything().set(name, value));
        };
        double before = result_of(everything());
        CHECK(with("flag", "true") == doctest::Approx(before + 4));
        CHECK(with("small", "-10") == doctest::Approx(before - 7));
        CHECK(with("number", "2147483000") == doctest::Approx(before + 2147483000 - 7));
        CHECK(with("large", "100") == doctest::Approx(before + 99));
        CHECK(with("ratio", "0.25") == doctest::Approx(before - 0.25));
        CHECK(with("exact", "1e3") == doctest::Approx(before + 999.9));
        CHECK(with("mode", "multiply") == doctest::Approx(before + 28 - 11));
        CHECK(with("word", "a=b c") == doctest::Approx(before + 1));
        CHECK(with("colour", "blue") == doctest::Approx(before + 1000));
        CHECK(with("other", "x86-64-linux-avx2") == doctest::Approx(before + 10000));
        CHECK(everything().set("type", "float32").output("table").type() == Float(32));
        CHECK(everything().output("table").type() == UInt(16));
    }
    TEST_CASE("may be given as values of C++") {
        double before = result_of(everything());
        CHECK(result_of(everything().set("flag", true)) == doctest::Approx(before + 4));
        CHECK(result_of(everything().set("ratio", 0.125f)) == doctest::Approx(before - 0.375));
        CHECK(result_of(everything().set("other", Target("x86-64-linux-avx2"))) ==
              doctest::Approx(before + 10000));
        CHECK(everything().set("type", Int(64)).output("table").type() == Int(64));
    }
    TEST_CASE("refuse what is no value of theirs") {
        auto refuses = [](const std::string &name, const std::string &value,
                          const std::string &message) {
            CHECK_THROWS_WITH_AS(everything().set(name, value).pipeline(),
                                 doctest::Contains(message.c_str()), CompileError);
        };
        refuses("flag", "maybe", "the parameter flag of everything cannot be maybe: it is bool");
        refuses("small", "11", "it is int8 from -10 to 10");
        refuses("small", "300", "it is int8 from -10 to 10");
        refuses("number", "3.5", "it is int32");
        refuses("number", "", "cannot be empty");
        refuses("large", "-1", "it is uint64");
        refuses("ratio", "1.5", "it is float32 from 0 to 1");
        refuses("exact", "1x", "it is float64");
        refuses("mode", "divide", "it is one of add, multiply");
        refuses("colour", "green", "it is one of blue, red");
        refuses("type", "uint9", "a type, such as uint8");
        refuses("other", "x86-64-lunix", "did you mean \"linux\"");
        refuses("level", "somewhere", "root, inlined or func.loop");
        refuses("level", "stage.z", "stage has no loop z; it has x");
        refuses("level", "nothing.x",
                "the pipeline has no Func nothing; it has result, stage, table");
    }
    TEST_CASE("LoopLevels are places of the pipeline by their names") {
        auto schedule = [](const std::string &level) {
            return everything().set("level", level).pipeline().schedule_as_cpp();
        };
        CHECK(has(schedule("root"), ".compute_root()"));
        CHECK(has(schedule("inlined"), ".compute_inline()"));
        CHECK(has(schedule("table.x"), ".compute_at(table, x)"));
        Buffer<uint16_t> result =
            everything().set("level", "table.x").output("table").realize({10});
        CHECK(result(9) == 64);
    }
    TEST_CASE("compute like their values") {
        class Arithmetic final : public Generator<Arithmetic> {
        public:
            GeneratorParam<int> n{"n", 6};
            GeneratorParam<float> f{"f", 0.5f};
            GeneratorParam<bool> b{"b", true};
            Output<Func> out{"out"};
            void generate() override {
                static_assert(std::is_same_v<decltype(n + 1), int>);
                static_assert(std::is_same_v<decltype(n * f), float>);
                CHECK((n - 1) * 2 / n == 1);
                CHECK((n % 4 == 2 && b && !(n < 6) && n >= 6 && -n == -6));
                std::vector<int> several(n, 1);
                CHECK(several.size() == 6);
                out(x, _) =
                    select(b, x * n, n) + cast<int>(f * 4.0f) + (b ? 1 : 0) + clamp(x, 0, n);
                CHECK(n.type() == Int(32));
            }
        };
        auto g = Arithmetic::make("arithmetic", host());
        g->get_pipeline();
        Buffer<int> result = Func(g->out).realize({10});
        CHECK(result(9) == 9 * 6 + 2 + 1 + 6);
        CHECK_THROWS_WITH_AS(g->n.set(3), doctest::Contains("set too late"), CompileError);
    }
}

TEST_SUITE("generator inputs and outputs") {
    TEST_CASE("that are open are said by whoever runs the generator") {
        Folder folder;
        check_written("-g open -o . -e c_header,stmt target=host picture.type=uint8 picture.dim=3 "
                      "func.type=float32 funcs.size=3");
        std::string header = contents_of("open.h");
        for (const char *line :
             {"picture: input, 3 dimensions of uint8", "func: input, 2 dimensions of float32",
              "funcs_2: input, 1 dimension of int32", "pair_1: input, 1 dimension of float32",
              "offsets_1: int32", "copy: output, 3 dimensions of uint8",
              "sum: output, 1 dimension of int32", "scaled_2: output, 1 dimension of int32",
              "doubled_1: output, 1 dimension of float32"}) {
            CHECK_MESSAGE(has(header, line), line);
        }
        check_refused("-g open -o . target=host picture.dim=3 func.type=float32 funcs.size=3",
                      "the input picture of open has no type yet; give one by picture.type=");
        check_refused("-g open -o . target=host picture.type=uint8 func.type=float32 funcs.size=3",
                      "give one by picture.dim=2");
        check_refused("-g open -o . target=host picture.type=uint8 picture.dim=3 func.type=float32",
                      "the input funcs of open has no number of elements yet");
        check_refused("-g open -o . target=host pair.type=int8",
                      "the input pair of open is of float32 and cannot be of int8");
        check_refused("-g open -o . target=host pair.dim=x", "wants a number for dim, not x");
        check_refused("-g open -o . target=host func.dim=3", "has 2 dimensions and cannot have 3");
        check_refused("-g open -o . target=host pair.size=3", "has 2 elements and cannot have 3");
        check_refused("-g open -o . target=host picture.type=pixel", "cannot be of pixel");
        check_refused("-g open -o . target=host picture.typo=uint8",
                      "has no parameter picture.typo; did you mean picture.type?");
    }
    TEST_CASE("of each kind may be bound to what the caller has") {
        Func f("f"), g("g");
        Var y("y");
        f(x, y) = cast<float>(x + 10 * y);
        g(x) = x * 3;
        Buffer<uint8_t> picture(4);
        picture.fill(uint8_t(7));
        Buffer<float> floats(4);
        floats.fill([](int i) { return float(i) / 2; });
        GeneratorStub stub("open", host());
        stub.input("picture", picture)
            .input("func", f)
            .input("funcs", std::vector<Func>{g, f.defined() ? g : f})
            .input("pair", std::vector<Buffer<float>>{floats, floats})
            .input("offsets", std::vector<InputValue>{100, Expr(1000)});
        Buffer<int> sum = stub.output("sum").realize({4});
        CHECK(sum(3) == 3 + 1100 + 2 * 9);
        Buffer<uint8_t> copy = stub.output("copy").realize({4});
        CHECK(copy(2) == 7);
        CHECK(stub.outputs("scaled").size() == 2);
        Buffer<int> scaled = stub.outputs("scaled")[1].realize({4});
        CHECK(scaled(3) == 18);
        Buffer<float> doubled = stub.outputs("doubled")[0].realize({4});
        CHECK(doubled(3) == 3.0f);
    }
    TEST_CASE("refuse what does not fit them") {
        auto refuses = [](const std::string &input, const InputValues &values,
                          const char *message) {
            GeneratorStub stub("open", host());
            CHECK_THROWS_WITH_AS(stub.input(input, values), doctest::Contains(message),
                                 CompileError);
        };
        Func f("f"), undefined("undefined");
        f(x) = x;
        refuses("func", f, "the input func of open has 2 dimensions, but f has 1");
        refuses("func", undefined, "a Func without a definition");
        refuses("func", 3, "is a Func, but a number is given");
        refuses("picture", f, "is a Buffer, whose size may be read");
        refuses("offsets", 3, "has 2 elements and cannot have 1");
        refuses("offsets", std::vector<InputValue>{1, f}, "is a number, but something else");
        refuses("funcs", std::vector<Buffer<float>>{Buffer<float>(3)}, "is of int32, but");
        refuses("fumc", f, "has no input fumc; did you mean func?");
        GeneratorStub several("several", host());
        CHECK_THROWS_WITH_AS(several.output("none"), doctest::Contains("no output none"),
                             CompileError);
    }
    TEST_CASE("of several values and of Funcs with other names keep their own names") {
        Folder folder;
        check_written(
            "-g several -o . -e static_library,c_header,function_info_header target=host");
        std::string header = contents_of("several.h");
        CHECK(has(header, "struct tessera_buffer_t *both_0, struct tessera_buffer_t *both_1, "
                          "struct tessera_buffer_t *renamed);"));
        CHECK(has(header, "dim[0].min == 0"));
        std::string info = contents_of("several.function_info.h");
        CHECK(has(info, "{\"both.1\", ArgumentKind::OutputBuffer, 1, 2, 32}"));
        CHECK(has(info, "{\"renamed\", ArgumentKind::OutputBuffer"));
        std::string output = build_and_run(std::string(describe_buffer) + R"(
#include "several.h"
int main(void) {
    uint8_t in[16], first[16], third[16];
    float second[16];
    int i;
    tessera_dimension_t dim = {0, 16, 1, 0};
    tessera_buffer_t a = buffer(in, 1, 8, &dim), b = buffer(first, 1, 8, &dim),
                     c = buffer(second, 2, 32, &dim), d = buffer(third, 1, 8, &dim);
    const tessera_filter_metadata_t *m = several_metadata();
    for (i = 0; i < 16; i++) in[i] = (uint8_t)(i * 10);
    if (several(&a, &b, &c, &d) != 0) return 1;
    printf("%d %g %d %s %s", first[3], second[3], third[3], m->arguments[2].name,
           m->arguments[3].name);
    dim.min = 1;
    several(&a, &b, &c, &d);
    return 0;
})",
                                           "several.a");
        CHECK(has(output, "30 15 60 both.1 renamed"));
        CHECK(has(output, "both"));
    }
    TEST_CASE("that are not what was declared are refused") {
        auto outcome = [](const std::string &params) {
            return "-g undefined -o . target=host -e stmt " + params;
        };
        Folder folder;
        check_refused(outcome(""), "the output out of undefined has no definition");
        check_refused(outcome("wrong=true"), "is of int32, but the Func f is of uint8");
        check_written(outcome("define=true"));
    }
    TEST_CASE("may be added by configure()") {
        GeneratorStub stub("configured", host());
        Buffer<int> data(10);
        data.fill(5);
        stub.set("inputs", 3).set("extra.type", "uint8").set("extra.dim", 1);
        stub.input("in0", data).input("in1", data).input("in2", data);
        Buffer<uint8_t> bytes(10);
        bytes.fill(uint8_t(1));
        stub.input("extra", bytes);
        Buffer<int> result = stub.pipeline().realize({10});
        CHECK(result(9) == 16);
        Folder folder;
        check_refused("-g configured -o . target=host in2.type=uint8",
                      "the generator configured has no parameter in2.type");
        check_refused("-g configured -o . target=host inputs=9", "it is int32 from 1 to 8");
        check_written("-g configured -o . target=host inputs=1 extra.type=int8 extra.dim=1");
        CHECK(has(contents_of("configured.h"), "*in0, struct tessera_buffer_t *extra, "));
    }
    TEST_CASE("belong to a generator, and have names of their own") {
        CHECK_THROWS_WITH_AS(GeneratorParam<int>("lost", 1),
                             doctest::Contains("lost has to be a member of a Generator"),
                             CompileError);
        CHECK_THROWS_WITH_AS(Input<Func>("lost"), doctest::Contains("input lost"), CompileError);
        class Twice final : public Generator<Twice> {
        public:
            Input<Func> in{"same", Int(32), 1};
            Output<Func> out{"same", Int(32), 1};
            void generate() override { out(x) = in(x); }
        };
        CHECK_THROWS_WITH_AS(Twice::make("twice", host()),
                             doctest::Contains("two parameters, inputs or outputs named same"),
                             CompileError);
        class Target final : public Generator<Target> {
        public:
            GeneratorParam<int> p{"target", 1};
            void generate() override {}
        };
        CHECK_THROWS_WITH_AS(Target::make("t", host()),
                             doctest::Contains("\"target\" cannot be the name"), CompileError);
        class Alone final : public Generator<Alone> {
        public:
            Alone() = default;
            void generate() override {}
        };
        CHECK_THROWS_WITH_AS(Alone(), doctest::Contains("a generator is made by"), CompileError);
    }
}

TEST_SUITE("generators that call others") {
    TEST_CASE("by their class") {
        auto caller = create_callable_from_generator(host(), "caller");
        Buffer<uint8_t> in(100);
        in.fill([](int i) { return uint8_t(i); });
        in.translate({-20});
        Buffer<int> out(4);
        CHECK(caller(in, out) == 0);
        CHECK(out(2) == 22);
    }
    TEST_CASE("by the header of a stub") {
        Func f("f"), g("g");
        f(x) = x * x;
        filters::BoxFilter::GeneratorParams params;
        CHECK(params.radius == 1);
        params.radius = 3;
        params.where = LoopLevel::root();
        auto outputs = filters::BoxFilter::generate(host(), {f, 7}, params);
        g(x) = outputs.out(x);
        Buffer<int> result = g.realize({5});
        CHECK(result(4) == 4 * 4 + 4);
        CHECK(outputs.target == get_host_target());
        CHECK(has(g.schedule_as_cpp(), "compute_root"));
        Buffer<int> other = filters::BoxFilter::generate(host(), {f, 3}).out.realize({5});
        CHECK(other(4) == (9 + 16 + 25) / 3);
        CHECK_THROWS_WITH_AS(filters::BoxFilter::generate(host(), {f, Expr()}),
                             doctest::Contains("given an undefined Expr"), CompileError);
    }
    TEST_CASE("by name, where a level of the caller is given") {
        Func f("f"), g("g");
        f(x) = x;
        GeneratorStub stub("box", host());
        LoopLevel later;
        stub.set("where", later).input("in", f).input("divisor", 3);
        g(x) = stub.output("out")(x);
        later.set(LoopLevel(g, x));
        CHECK(has(g.schedule_as_cpp(), "compute_at"));
        Buffer<int> result = g.realize({5});
        CHECK(result(4) == 4);
        CHECK_THROWS_WITH_AS(GeneratorStub("bax", host()),
                             doctest::Contains("there is no generator bax; did you mean box?"),
                             CompileError);
        CHECK_THROWS_WITH_AS(GeneratorStub("box", host()).set("radios", 1).pipeline(),
                             doctest::Contains("did you mean radius?"), CompileError);
    }
    TEST_CASE("of two generators of one name neither is taken") {
        auto factory = [](const GeneratorContext &c) {
            return GeneratorRegistry::create("box", c);
        };
        RegisterGenerator first("double_name", "", factory), second("double_name", "", factory);
        CHECK_THROWS_WITH_AS(GeneratorRegistry::create("double_name", host()),
                             doctest::Contains("two generators are registered as double_name"),
                             CompileError);
        GeneratorRegistry::remove("double_name");
    }
    TEST_CASE("functions with described arguments are generators") {
        GeneratorStub stub("scale", host());
        Buffer<uint8_t> in(8);
        in.fill(uint8_t(10));
        stub.input("in", in).input("factor", 6).set("shift", 2);
        Buffer<uint8_t> out = stub.output("out").realize({8});
        CHECK(out(7) == 15);
        auto two = create_callable_from_generator(host(), "min_and_max",
                                                  {{"in.type", "uint8"}, {"swap", "true"}});
        Buffer<uint8_t> first = Buffer<uint8_t>::make_scalar(), second = first.copy();
        in(3) = 200;
        CHECK(two(in, first, second) == 0);
        CHECK(first() == 200);
        CHECK(second() == 10);
    }
}

TEST_SUITE("generator command line") {
    TEST_CASE("help lists generators, their parameters, and what can be written") {
        Outcome help = command("--help");
        CHECK(help.status == 0);
        for (const char *line :
             {"usage: ", "static_library (.a)", "cpp_stub (.stub.h)",
              "everything\n  parameter flag=false: bool\n",
              "parameter small=-3: int8 from -10 to 10", "parameter ratio=0.5: float32 from 0 to 1",
              "parameter mode=add: one of add, multiply", "parameter type=uint16: a type",
              "parameter level=root: a loop level", "input scalar: number of int32",
              "input picture: Buffer of the type that picture.type= says, dimensions as "
              "picture.dim= says",
              "input pair: Buffer of float32, 1 dimension, 2 of them",
              "input funcs: Func of int32, 1 dimension, as many as funcs.size= says",
              "output both: Buffer of uint8, float32, 1 dimension", "parameter shift=1: int32"}) {
            CHECK_MESSAGE(has(help.out, line), line);
        }
        CHECK(command("-h").out == help.out);
        CHECK(command("").status == 1);
    }
    TEST_CASE("mistakes are told in a sentence") {
        Folder folder;
        check_refused("-g bux -o . target=host", "there is no generator bux; did you mean box?");
        check_refused("-o . target=host", "-g name is missing; there are around, box, caller");
        check_refused("-g box target=host", "-o folder is missing");
        check_refused("-g box -o .", "target= is missing");
        check_refused("-g box -o . target=x86-64-linux-avx3", "did you mean \"avx");
        check_refused("-g box -o . target=host -e objekt",
                      "nothing is called objekt; did you mean object?");
        check_refused("-g box -o . target=host -e object,,assembly", "no type of file is named");
        check_refused("-g box -o . target=host radius=1 radius=2", "radius is given twice");
        check_refused("-g box -g caller -o . target=host", "-g is given twice");
        check_refused("-g box -o . target=host -s Best autoscheduler=Best",
                      "autoscheduler is given twice");
        check_refused("-g box -o . target=host radius", "\"radius\" is no option");
        check_refused("-g box -o . target=host -q 3", "\"-q\" is no option");
        check_refused("-g box -o . target=host -f", "-f wants a value after it");
        check_refused("-g box -o . target=host in.type=int32 autoscheduler=Best",
                      "there is no autoscheduler \"Best\"");
        check_refused("-g of_target -o . target=host autoscheduler.threads=2",
                      "autoscheduler.threads is given, but no autoscheduler");
        check_refused("-g box -o . target=host -p no_such_plugin",
                      "the plugin no_such_plugin cannot be loaded: libno_such_plugin.so");
        check_refused("-g box -o . target=host -t soon", "-t wants a whole number from 0 to");
        check_refused("-g box -o . target=host -v 2", "-v wants a whole number from 0 to 1, not 2");
        check_refused("-g of_target -o . target=x86-64-linux,x86-64-linux-avx2 -e c_source",
                      "c_source is written for one target, not for several");
        check_refused("-g box -o . target=host -d 1", "derivatives of Funcs are not there yet");
        check_refused("-g box -o . target=host in.type=int32 -f 7up", "no name in C");
        check_refused("-g box -o no/folder target=host in.type=int32", "no/folder/box");
        std::ostringstream out, errors;
        const std::vector<std::string> no_types{"-g", "box", "-o", ".", "target=host", "-e", ""};
        CHECK(run_generator_command(no_types, out, errors) == 1);
        CHECK(has(errors.str(), "-e: no type of file is named; there are "));
        CHECK(fs::is_empty("."));
    }
    TEST_CASE("an autoscheduler makes the schedule, for each target") {
        std::vector<std::string> asked;
        Pipeline::add_autoscheduler("unroller", [&](const Pipeline &p, const Target &target,
                                                    const AutoschedulerParams &params,
                                                    AutoSchedulerResults *) {
            bool avx2 = target.has_feature(Target::AVX2);
            asked.push_back(str(params.name, " ", params.extra.at("factor"), avx2));
            Func out = p.outputs()[0];
            out.unroll(out.args()[0], std::stoi(params.extra.at("factor")));
        });
        Folder folder;
        check_written("-g of_target -o . target=x86-64-linux,x86-64-linux-avx2 -e schedule,object "
                      "autoscheduler=unroller autoscheduler.factor=3");
        // Once for each target, richest first, and for the file with the schedule.
        CHECK(asked == std::vector<std::string>{"unroller 31", "unroller 30", "unroller 31"});
        CHECK(has(contents_of("of_target.schedule.h"), ".split(x, x, x_i, 3,"));
        CHECK(!has(contents_of("of_target.schedule.h"), "vectorize"));
        // -s is another way to name it.
        check_written("-g of_target -o . target=host -e schedule -s unroller "
                      "autoscheduler.factor=5");
        CHECK(has(contents_of("of_target.schedule.h"), ".split(x, x, x_i, 5,"));
        Buffer<int32_t> in(15), out(15);
        in.fill(1);
        create_callable_from_generator(
            host(), "of_target",
            {{"autoscheduler", "unroller"}, {"autoscheduler.factor", "4"}})(in, out);
        CHECK(out(14) / 10 == 1);
        CHECK(has(asked.back(), "unroller 4"));
    }
    TEST_CASE("the names of the files are printed where they are asked for") {
        Folder folder;
        CHECK(command("-g of_target -o . target=host -e stmt").out.empty());
        CHECK(command("-g of_target -o . target=host -e stmt,cpp_stub -v 1 -t 600").out ==
              "./of_target.stub.h\n./of_target.stmt\n");
        CHECK(command("-g of_target -o . target=x86-64-linux,x86-64-linux-avx2 -v 1 -e "
                      "static_library,stmt")
                  .out == "./of_target-x86-64-linux-avx2.stmt\n./of_target-x86-64-linux.stmt\n"
                          "./of_target.a\n");
    }
    TEST_CASE("what takes too long is given up") {
        Folder folder;
        std::string refused = run("'" GENERATORS "' -g slow -o . target=host -t 1", false);
        CHECK(has(refused, "error: it takes longer than 1 seconds (-t)"));
        CHECK(!fs::exists("slow.a"));
    }
    TEST_CASE("files of every type have the names that are asked for") {
        Folder folder;
        std::string types;
        for (const driver::OutputFile &f : driver::output_files()) {
            types += (types.empty() ? "" : ",") + std::string(f.name);
        }
        check_written("-g box -f my_box -n base -o . target=host in.type=int32 -e " + types);
        size_t files = 0;
        for (const driver::OutputFile &f : driver::output_files()) {
            CHECK_MESSAGE(!contents_of(std::string("base") + f.extension).empty(), f.name);
            files++;
        }
        CHECK(size_t(std::distance(fs::directory_iterator("."), fs::directory_iterator())) ==
              files);
        CHECK(has(contents_of("base.h"), "int my_box("));
        CHECK(has(contents_of("base.stub.h"), "stub.set(\"in.type\", \"int32\");"));
    }
    TEST_CASE("an executable of generators writes libraries that work") {
        Folder folder;
        run("'" GENERATORS "' --help");
        std::string refused = run("'" GENERATORS "' -g nothing -o . target=host", false);
        CHECK(has(refused, "error: there is no generator nothing"));
        run("'" GENERATORS "' -g caller -o . target=host-no_runtime");
        run("'" GENERATORS "' -r my_runtime -o . target=host");
        std::string output = build_and_run(std::string(describe_buffer) + R"(
#include "caller.h"
int main(void) {
    uint8_t in[50];
    int32_t out[20];
    int i;
    tessera_dimension_t of_in = {-10, 50, 1, 0}, of_out = {0, 20, 1, 0};
    tessera_buffer_t a = buffer(in, 1, 8, &of_in), b = buffer(out, 0, 32, &of_out);
    for (i = 0; i < 50; i++) in[i] = (uint8_t)i;
    if (caller(&a, &b) != 0) return 1;
    printf("%d %d", out[0], out[19]);
    return 0;
})",
                                           "caller.a my_runtime.a");
        CHECK(output == "10 29");
        check_refused("-r rt -o . target=arm-32-linux", "built without a runtime for arm-32-linux");
        check_refused("-r rt -o . target=host,x86-64-linux", "-r wants one target");
    }
}

TEST_SUITE("libraries for several targets") {
    constexpr const char *asks = R"(
static uint64_t allowed = 0;
static int can_use(int count, const uint64_t *features) {
    int i;
    for (i = 0; i < count; i++) if (features[i] & ~(i == 0 ? allowed : 0)) return 0;
    return 1;
}
int main(void) {
    int32_t in[40], out[40];
    int i, level;
    tessera_dimension_t dim = {0, 40, 1, 0};
    tessera_buffer_t a = buffer(in, 0, 32, &dim), b = buffer(out, 0, 32, &dim);
    uint64_t real = 0;
    for (i = 0; i < 64; i++) {
        uint64_t bit = (uint64_t)1 << i;
        if (tessera_can_use_target_features(1, &bit)) real |= bit;
    }
    tessera_set_custom_can_use_target_features(can_use);
    for (i = 0; i < 40; i++) in[i] = i;
    for (level = 0; level < 3; level++) {
        if (level == 1) allowed = real & 63;          /* up to avx2 */
        if (level == 2) allowed = real;
        if (chosen(&a, &b) != 0) return 1;
        printf("%d ", out[39]);
    }
    printf("%s", chosen_metadata()->name);
    return 0;
})";
    std::string expected() {
        Target host = get_host_target();
        std::string best = host.has_feature(Target::AVX512_Skylake) ? "3"
                           : host.has_feature(Target::AVX2)         ? "2"
                                                                    : "1";
        return str("391 39", host.has_feature(Target::AVX2) ? "2" : "1", " 39", best, " chosen");
    }

    TEST_CASE("choose the best that the machine has, when they run") {
        Folder folder;
        check_written("-g of_target -f chosen -o . -e static_library,c_header,assembly "
                      "target=x86-64-linux,x86-64-linux-avx512_skylake,x86-64-linux-avx2");
        CHECK(build_and_run(std::string(describe_buffer) + "#include \"chosen.h\"\n" + asks,
                            "chosen.a") == expected());
        CHECK(has(contents_of("chosen.h"), " or x86-64-linux-avx2 or x86-64-linux."));
        CHECK(has(contents_of("chosen-x86-64-linux-avx512_skylake.s"), "%zmm"));
        CHECK_FALSE(has(contents_of("chosen-x86-64-linux.s"), "%ymm"));
    }
    TEST_CASE("are called without the namespaces of their function") {
        Folder folder;
        check_written("-g of_target -f mine::chosen -o . -e static_library,c_header "
                      "target=host-c_plus_plus_name_mangling");
        CHECK(has(contents_of("chosen.h"), "namespace mine {\n"));
        CHECK(has(run("ar t chosen.a"), "chosen.o\n"));
        check_refused("-g of_target -f mine::chosen -o . target=host",
                      "it wants Target::CPlusPlusMangling");
    }
    TEST_CASE("fail where the machine has none of them") {
        Folder folder;
        check_written("-g of_target -f chosen -o . target=x86-64-linux-avx2,x86-64-linux-avx");
        std::string output = build_and_run(std::string(describe_buffer) + R"(
#include "chosen.h"
static int can_use(int count, const uint64_t *features) { return count == 0 && features; }
int main(void) {
    int32_t in[40];
    tessera_dimension_t dim = {0, 40, 1, 0};
    tessera_buffer_t a = buffer(in, 0, 32, &dim);
    int code;
    tessera_set_custom_can_use_target_features(can_use);
    code = chosen(&a, &a);
    printf("%d", code == tessera_error_code_unsupported_target);
    return 0;
})",
                                           "chosen.a");
        CHECK(has(output, "compiled for instructions that this CPU does not have"));
        CHECK(output.back() == '1');
    }
    TEST_CASE("are made of Pipelines, too, as a library or as objects") {
        Folder folder;
        ImageParam in(Int(32), 1, "in");
        Param<int8_t> k("k");
        Param<float16_t> h("h");
        Func f("pick");
        f(x) = in(x)*k + cast<int>(h);
        std::vector<Target> targets = {Target("x86-64-linux-user_context"),
                                       Target("x86-64-linux-avx2-user_context")};
        f.compile_to_multitarget_static_library("pick", {in, k, h}, targets);
        f.compile_to_multitarget_object_files("objects", {in, k, h}, targets, {"-a", "-b"}, "pick");
        std::string main = std::string(describe_buffer) + R"(
#include "pick.h"
int main(void) {
    int32_t in[40];
    tessera_dimension_t dim = {0, 40, 1, 0};
    tessera_buffer_t a = buffer(in, 0, 32, &dim);
    int i;
    for (i = 0; i < 40; i++) in[i] = i;
    i = pick(NULL, &a, -2, tessera_f32_to_f16(100), &a);
    printf("%d %d", i, in[39]);
    return 0;
})";
        CHECK(build_and_run(main, "pick.a") == "0 22");
        CHECK(build_and_run(main, "objects-a.o objects-b.o objects_wrapper.o '" RUNTIME_LIBRARY
                                  "'") == "0 22");
        CHECK(contents_of("objects.h") == contents_of("pick.h"));
    }
    TEST_CASE("refuse targets that do not go together") {
        Folder folder;
        Func f("f");
        f(x) = x;
        auto refuses = [&](const std::vector<const char *> &texts, const char *message) {
            std::vector<Target> targets(texts.begin(), texts.end());
            CHECK_THROWS_WITH_AS(f.compile_to_multitarget_static_library("f", {}, targets),
                                 doctest::Contains(message), CompileError);
        };
        refuses({}, "a list of targets is empty");
        refuses({"x86-64-linux", "x86-64-linux"}, "is in the list twice");
        refuses({"x86-64-linux", "arm-64-linux"}, "are different machines");
        refuses({"x86-64-linux", "x86-64-linux-user_context"}, "the arguments would differ");
        refuses({"x86-64-linux", "x86-64-linux-x86apx"}, "whether a machine has x86apx");
        CHECK_THROWS_WITH_AS(
            f.compile_to_multitarget_object_files("f", {}, {Target("x86-64-linux")}, {"a", "b"}),
            doctest::Contains("there are 2 suffixes for 1 targets"), CompileError);
        CHECK_THROWS_WITH_AS(
            f.compile_to_multitarget_static_library("f", {}, {Target("x86-64-linux")}, "a b"),
            doctest::Contains("no name in C"), CompileError);
    }
}
