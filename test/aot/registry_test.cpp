#include "aot/build.h"
#include <tessera_generator.h>

using namespace tessera;

// The generators named are in generators.cpp.
namespace {

Var x("x");

GeneratorContext host() { return GeneratorContext(get_host_target()); }

class Numbers : public Generator<Numbers> {
public:
    Input<int[2]> n{"n", 3, 0, 10};
    Input<float[]> f{"f", 0.5f};
    Input<Buffer<uint8_t, 1>[2]> images{"images"};
    Output<Func[2]> out{"out", Int(32), 1};
    size_t estimated = 1;
    void generate() override {
        n.set_estimate(5);
        n.set_estimate(estimated, 7);
        images.set_estimates({{0, 100}});
        std::vector<Func> made(2);
        for (int i = 0; i < 2; i++) made[i](x) = n[i] + cast<int>(f[i]) + images[i](x);
        out = made;
        out.set_estimates({{0, 100}});
    }
};

// Of one generator, by any name.
class OneSource final : public GeneratorSource {
public:
    std::vector<std::string> names() const override { return {"numbers"}; }
    std::unique_ptr<GeneratorBase> create(const std::string &name,
                                          const GeneratorContext &context) const override {
        if (name == "nothing") return nullptr;
        return Numbers::make(name, context);
    }
};

}  // namespace

TEST_SUITE("registry of generators") {
    TEST_CASE("an alias is a generator with parameters set, that may be set again") {
        auto make = [](const GeneratorContext &context) {
            return GeneratorRegistry::create_alias("tripled", "everything", context,
                                                   {{"number", "21"}});
        };
        GeneratorRegistry::add("tripled", "", make);
        auto number = [](GeneratorStub stub) {
            stub.input("scalar", 0);
            Buffer<double> result = stub.output("result").realize();
            return result();
        };
        double of_original = number({"everything", host()});
        CHECK(number({"tripled", host()}) == doctest::Approx(of_original + 14));
        CHECK(number(GeneratorStub("tripled", host()).set("number", 7)) ==
              doctest::Approx(of_original));
        GeneratorRegistry::remove("tripled");
        CHECK_THROWS_WITH_AS(GeneratorRegistry::create_alias("a", "a", host(), {}),
                             doctest::Contains("the generator a is its own alias"), CompileError);
    }
    TEST_CASE("the command line takes generators from another source") {
        auto run = [](const std::vector<std::string> &words) {
            std::ostringstream out, errors;
            int status = run_generator_command(words, out, errors, OneSource());
            return std::pair(status, out.str() + errors.str());
        };
        CHECK(has(run({"--help"}).second, "numbers\n  input n: number of int32, 2 of them"));
        CHECK(has(run({"-g", "nothing", "-o", ".", "target=host"}).second,
                  "there is no generator nothing"));
        CHECK(has(run({"-g", "any", "-o", ".", "target=host"}).second,
                  "the input f of any has no number of elements yet"));
    }
}

TEST_SUITE("arrays of a generator") {
    TEST_CASE("of numbers have a default, a range and estimates") {
        auto g = Numbers::make("numbers", host());
        g->set_generator_param("f.size", "2");
        g->get_pipeline();
        auto args = g->pipeline_arguments();
        REQUIRE(args.size() == 6);
        CHECK(str(args[0].parameter->min_value) == "0");
        CHECK(str(args[1].parameter->max_value) == "10");
        CHECK(str(args[0].parameter->estimate) == "5");
        CHECK(str(args[1].parameter->estimate) == "7");
        CHECK(Param<int>(args[1].parameter).get() == 3);
        CHECK(Param<float>(args[2].parameter).get() == 0.5f);
        CHECK(str(args[5].parameter->constraints[0].extent_estimate) == "100");
    }
    TEST_CASE("refuse elements that are not there, and more Funcs than there are") {
        auto g = Numbers::make("numbers", host());
        g->set_generator_param("f.size", "2");
        g->estimated = 2;
        CHECK_THROWS_WITH_AS(g->get_pipeline(),
                             doctest::Contains("the input n of numbers has no element 2"),
                             CompileError);
        auto other = Numbers::make("numbers", host());
        CHECK_THROWS_WITH_AS(other->out = std::vector<Func>(3),
                             doctest::Contains("has 2 elements and cannot have 3"), CompileError);
    }
}

TEST_SUITE("headers of stubs") {
    TEST_CASE("have enums, and fields for what inputs and outputs leave open") {
        std::string all = to_stub_header("everything", host());
        CHECK(has(all, "    enum class Enum_mode { add, multiply };\n"));
        CHECK(has(all, "        Enum_mode mode = Enum_mode::add;\n"));
        CHECK(has(all, "stub.set(\"mode\", text_of(params.mode));"));
        CHECK(has(all, "std::string colour = \"red\";"));
        std::string open = to_stub_header("open", host(), {{"funcs.size", "2"}});
        CHECK(has(open, "        tessera::Type picture_type;"));
        CHECK(has(open, "        int picture_dim = -1;"));
        CHECK(has(open, "if (params.picture_dim >= 0) stub.set(\"picture.dim\", "
                        "params.picture_dim);"));
        CHECK(has(open, "stub.set(\"funcs.size\", \"2\");"));
        CHECK_FALSE(has(open, "funcs_size"));
    }
    TEST_CASE("let the outputs be used as a pipeline, and a single one as a Func") {
        std::string box = to_stub_header("box", host());
        CHECK(has(box, "operator tessera::Func() const { return out; }"));
        std::string several = to_stub_header("several", host());
        CHECK(has(several, "tessera::Pipeline get_pipeline() const {"));
        CHECK_FALSE(has(several, "operator tessera::Func"));
    }
}
