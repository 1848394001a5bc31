#include "aot/build.h"
#include <tessera_generator.h>

using namespace tessera;

// Libraries that this process compiles, and then loads as if another one had.
namespace {

Var x("x"), y("y");

// A generator whose output is that of `scaled` below.
Func around(const Func &in, const Expr &factor) {
    Func out("around");
    out(x, y) = in(x - 1, y) * factor + in(x + 2, y + 1);
    return out;
}

std::string command(const std::vector<std::string> &words, int wanted = 0) {
    std::ostringstream out, errors;
    CHECK(run_generator_command(words, out, errors) == wanted);
    return errors.str();
}

Callable loaded(const std::string &target) {
    command({"-g", "around", "-o", ".", "-e", "shared_library", "target=" + target});
    std::map<std::string, Callable> all = load_library("around.so");
    REQUIRE(all.size() == 1);
    return all.at("around");
}

// Sets a variable of the environment as long as it lives.
class Variable {
public:
    Variable(const char *name, const char *value) : name(name), before(std::getenv(name)) {
        setenv(name, value, 1);
    }
    ~Variable() { before.empty() ? unsetenv(name) : setenv(name, before.c_str(), 1); }

private:
    struct Text : std::string {
        Text(const char *text) : std::string(text ? text : "") {}
    };
    const char *name;
    Text before;
};

}  // namespace

TESSERA_REGISTER_FUNCTION(around, around, InputArgument("in", Int(32), 2),
                          InputArgument("factor", Int(32)), OutputArgument("out", Int(32), 2))

TEST_SUITE("loaded libraries") {
    TEST_CASE("a shared library is called as a Callable, with the mins of buffers") {
        Folder folder;
        Callable call = loaded("host");
        CHECK(call.name() == "around");
        CHECK(call.target().arch == get_host_target().arch);
        CHECK(call.arguments().size() == 3);
        CHECK(call.arguments()[2].is_output());
        Buffer<int> in(7, 4), out(4, 3);
        in.set_min(9, 20);
        out.set_min(10, 20);
        in.fill([](int i, int j) { return i + 100 * j; });
        CHECK(call(in, 3, out) == 0);
        CHECK(out(13, 22) == 3 * in(12, 22) + in(15, 23));
        out.set_min(11, 20);
        CHECK_THROWS_WITH_AS(call(in, 3, out), doctest::Contains("Buffer in is too small"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(call(in, 3.0f, out),
                             doctest::Contains("factor, has to be of type int32"), RuntimeError);
    }
    TEST_CASE("handlers have what the library's own runtime reports") {
        Folder folder;
        for (const char *target : {"host", "host-user_context"}) {
            Callable call = loaded(target);
            struct Context : JITUserContext {
                std::string said;
            } context;
            context.handlers.custom_error = [](JITUserContext *c, const char *message) {
                static_cast<Context *>(c)->said += message;
            };
            Buffer<int> in(3, 3), out(4, 3);
            CHECK(call(&context, in, 3, out) != 0);
            CHECK(has(context.said, "Buffer in is too small"));
        }
    }
    TEST_CASE("a query sets the regions of inputs without memory, and computes nothing") {
        Folder folder;
        Callable call = loaded("host");
        Buffer<int> in(nullptr, 0, 0), out(4, 3);
        out.fill(7);
        CallableArgument given[] = {in, 3, out};
        CHECK(call.infer_input_bounds(given) == 0);
        CHECK(in.dim(0).min() == -1);
        CHECK(in.dim(0).extent() == 7);
        CHECK(in.dim(1).min() == 0);
        CHECK(in.dim(1).extent() == 4);
        CHECK(out.all_equal(7));
        Buffer<int> whole(9, 9);
        CallableArgument complete[] = {whole, 3, out};
        CHECK(call.infer_input_bounds(complete) == 0);
        CHECK(out.all_equal(7));
        CHECK_THROWS_WITH_AS(loaded("host-no_bounds_query").infer_input_bounds(given),
                             doctest::Contains("compiled with no_bounds_query"), RuntimeError);
    }
    TEST_CASE("a static library is linked first, and several targets are one function") {
        Folder folder;
        command({"-g", "around", "-o", ".", "-f", "several", "-e", "static_library,shared_library",
                 "target=x86-64-linux,x86-64-linux-avx2"});
        if (get_host_target().arch != Target::X86) return;
        Buffer<int> in(7, 4), out(4, 3);
        in.set_min(-1, 0);
        in.fill(2);
        for (const char *file : {"several.a", "several.so"}) {
            std::map<std::string, Callable> all = load_library(file);
            REQUIRE(all.size() == 1);
            out.fill(0);
            CHECK(all.at("several")(in, 5, out) == 0);
            CHECK(out.all_equal(12));
        }
    }
    TEST_CASE("without a compiler, what is missing is said") {
        Folder folder;
        const std::vector<std::string> words = {"-g", "around",         "-o",         ".",
                                                "-e", "shared_library", "target=host"};
        {
            const Variable cc("CC", ""), path("PATH", "");
            CHECK(has(command(words, 1), "that wants a C compiler, and PATH has no cc, no gcc, no "
                                         "clang; install one, or let the environment variable CC"));
        }
        const Variable cc("CC", "no-such-compiler -O2");
        CHECK(has(command(words, 1), "there is no program no-such-compiler, which the environment "
                                     "variable CC names"));
        CHECK_FALSE(fs::exists("around.so"));
        CHECK_THROWS_WITH_AS(link_shared("none.a", "none.so"),
                             doctest::Contains("no-such-compiler"), RuntimeError);
    }
    TEST_CASE("what is no library of ours is refused") {
        Folder folder;
        write("text.so", "hello");
        CHECK_THROWS_WITH_AS(load_library("text.so"), doctest::Contains("text.so is no library"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(load_library("none.so"),
                             doctest::Contains("cannot read the library none.so"), RuntimeError);
        loaded("host");
        const std::string bytes = contents_of("around.so");
        write("half.so", bytes.substr(0, bytes.size() / 2));
        CHECK_THROWS_WITH_AS(load_library("half.so"), doctest::Contains("half.so is damaged"),
                             RuntimeError);
        write("nothing.c", "int f(void) { return 0; }");
        run(c_compiler + "-shared -fPIC nothing.c -o nothing.so");
        CHECK_THROWS_WITH_AS(load_library("nothing.so"),
                             doctest::Contains("nothing.so describes no function"), RuntimeError);
    }
}
