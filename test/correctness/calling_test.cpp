#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <new>
#include <tessera.h>

// Counts what this thread takes from the heap.
static thread_local size_t news = 0;
void *operator new(size_t bytes) {
    news++;
    if (void *p = std::malloc(bytes)) return p;
    throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, size_t) noexcept { std::free(p); }

using namespace tessera;

extern "C" int length_of(const void *text) { return int(strlen(static_cast<const char *>(text))); }
TesseraExtern_1(int, length_of, void *);

namespace {

Var x("x"), y("y");

struct Counted {
    JITUserContext context;
    static inline int allocations = 0;
    Counted() {
        allocations = 0;
        context.handlers.custom_malloc = [](JITUserContext *, size_t n) {
            allocations++;
            return std::aligned_alloc(128, (n + 127) / 128 * 128);
        };
        context.handlers.custom_free = [](JITUserContext *, void *p) { std::free(p); };
    }
};

// f(x) = im(x) + im(x + 1), through memory.
struct Sum {
    ImageParam im{Int(32), 1, "im"};
    Func copy{"copy"}, f{"f"};
    Sum() {
        copy(x) = im(x);
        f(x) = copy(x) + copy(x + 1);
        copy.compute_root().store_in(MemoryType::Heap);
    }
};

}  // namespace

TEST_SUITE("ways of calling a pipeline") {
    TEST_CASE("the handlers of a context are those of this call alone") {
        Sum s;
        Buffer<int> in(5), out(4);
        in.fill(3);
        s.im.set(in);
        Counted counted;
        s.f.realize(&counted.context, out);
        CHECK(Counted::allocations == 1);
        s.f.pipeline().realize(&counted.context, Realization(out));
        CHECK(Counted::allocations == 2);
        s.f.pipeline().realize(out);
        CHECK(Counted::allocations == 2);
        CHECK(out(3) == 6);
        CHECK(evaluate<int>(&counted.context, Expr(3) + 4) == 7);
    }
    TEST_CASE("inputs are made as large as an output of a given place needs them") {
        Sum s;
        Buffer<int> out(4);
        out.set_min(10);
        s.f.infer_input_bounds(out);
        Buffer<int> in = s.im.get();
        CHECK(in.min(0) == 10);
        CHECK(in.extent(0) == 5);
        s.im.reset();
        Counted counted;
        s.f.pipeline().infer_input_bounds(&counted.context, {7});
        CHECK(s.im.get().extent(0) == 8);
        s.im.reset();
        s.f.infer_input_bounds(&counted.context, out);
        CHECK(s.im.get().min(0) == 10);
        Buffer<int> mine(100);
        s.im.set(mine);
        s.f.infer_input_bounds({7});
        CHECK(s.im.get().same_as(mine));
    }
    TEST_CASE("a Callable takes a context, and becomes a std::function") {
        Sum s;
        Callable c = s.f.compile_to_callable({s.im});
        CHECK(c.defined());
        CHECK_FALSE(Callable().defined());
        Buffer<int> in(5), out(4);
        in.fill(2);
        Counted counted;
        CHECK(c(&counted.context, in, out) == 0);
        CHECK(Counted::allocations == 1);
        CHECK(out(0) == 4);
        auto typed = c.make_std_function<JITUserContext *, Buffer<int>, Buffer<int>>();
        CHECK(typed(&counted.context, in, out) == 0);
        CHECK(Counted::allocations == 2);
        std::function<int(Buffer<int>, Buffer<int>)> plain(c);
        CHECK(plain(in, out) == 0);
        CHECK_THROWS_WITH_AS((c.make_std_function<int, Buffer<int>>()),
                             doctest::Contains("argument 0"), RuntimeError);
    }
    TEST_CASE("a Callable says what it takes, and is called with a list") {
        ImageParam in(Float(32), 2, "in");
        Param<uint8_t> n("n");
        Func f("f");
        f(x, y) = {in(x, y) * n, cast<int>(n)};
        Callable call = f.compile_to_callable({n, in});
        std::vector<std::string> texts;
        for (const Argument &a : call.arguments()) {
            texts.push_back(str(a.name, a.is_output() ? " out " : " in ", a.type, " ",
                                a.is_buffer() ? int(a.dimensions) : -1));
        }
        CHECK(texts == std::vector<std::string>{"n in uint8 -1", "in in float32 2",
                                                "f out float32 2", "f out int32 2"});
        Buffer<float> image(3, 2), a(3, 2);
        Buffer<int> b(3, 2);
        image.fill(2.5f);
        const std::vector<CallableArgument> args = {{UInt(8), 4}, image, a, b};
        const size_t before = news;
        CHECK(call.call(args) == 0);
        CHECK(news == before);
        CHECK(a.all_equal(10.0f));
        CHECK(b.all_equal(4));
        const std::vector<CallableArgument> wrong = {{Int(8), 4}, image, a, b};
        CHECK_THROWS_WITH_AS(call.call(wrong),
                             doctest::Contains("argument 0 of the Callable, n, "
                                               "has to be of type uint8"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(call.call(std::span(args).first(3)),
                             doctest::Contains("takes 4 arguments (n, in, f, f), not 3"),
                             RuntimeError);
        CHECK_THROWS_AS(Callable().arguments(), RuntimeError);
    }
    TEST_CASE("what is written into files can be had as strings") {
        Sum s;
        CHECK(s.f.compile_to_string(OutputFileType::stmt).find("copy") != std::string::npos);
        CHECK(s.f.compile_to_string(OutputFileType::llvm_assembly, {s.im}, "add_up")
                  .find("define i32 @add_up(") != std::string::npos);
        CHECK(s.f.compile_to_string(OutputFileType::assembly).find(".text") != std::string::npos);
        CHECK(s.f.compile_to_string(OutputFileType::object).substr(1, 3) == "ELF");
        CHECK(s.f.loop_nest().find("for f.x:") != std::string::npos);
        CHECK_THROWS_WITH_AS(s.f.compile_to_string(OutputFileType::stmt, {Param<int>("p")}),
                             doctest::Contains("also reads im"), CompileError);
    }
    TEST_CASE("a Func serves another pipeline as an extern stage") {
        Param<int> factor("factor");
        Func scaled("scaled"), stage("stage"), out("out");
        scaled(x) = x * factor;
        stage.define_extern("scaled_from_outside", {Expr(7)}, Int(32), {x});
        stage.compute_root();
        out(x) = stage(x) + 1;
        out.set_jit_externs({{"scaled_from_outside", JITExtern(scaled)}});
        Buffer<int> b = out.realize({4});
        CHECK(b(3) == 22);
    }
    TEST_CASE("pointers are passed through to C") {
        Param<void *> text("text");
        Func f("f");
        f(x) = length_of(text) + x;
        char word[] = "tessera";
        text.set(static_cast<void *>(word));
        Buffer<int> b = f.realize({2});
        CHECK(b(1) == 8);
    }
    TEST_CASE("parameters of a pipeline are found by their names") {
        Sum s;
        Param<int> p("gain");
        Func g("g");
        g(x) = s.f(x) * p;
        Pipeline pipeline(g);
        pipeline.get_param("gain").set(10);
        Buffer<int> in(5);
        in.fill(1);
        pipeline.get_image_param("im").set(in);
        Buffer<int> b = pipeline.realize({4});
        CHECK(b(2) == 20);
        CHECK_THROWS_WITH_AS(pipeline.get_param("im"), doctest::Contains("it has gain"),
                             CompileError);
    }
}
