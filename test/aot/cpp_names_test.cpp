#include "aot/build.h"
#include "driver/files.h"
#include "ir/cpp_name.h"
#include <tessera.h>

using namespace tessera;

// Functions of C++ in files, and such that pipelines call.
namespace {

Var x("x");

Target cpp_target() { return get_host_target().with_feature(Target::CPlusPlusMangling); }

// Compiles main.cpp with each C++ compiler that there is, links it, and runs it.
void check_cpp_program(const std::string &main, const std::string &libraries,
                       const std::string &output) {
    write("main.cpp", main);
    for (const std::string &compiler : {cxx_compiler, std::string("clang++ ")}) {
        if (std::system(("command -v " + compiler + "> /dev/null").c_str()) != 0) continue;
        CAPTURE(compiler);
        run(compiler + "-std=c++17 -Wall -Wextra -Werror -c main.cpp -o main.o" + include_runtime);
        run(compiler + "main.o " + libraries + " -o main -lpthread -ldl");
        CHECK(run("./main") == output);
    }
}

// A buffer of one dimension over an array.
constexpr const char *one_dimension = R"(
#include "tessera_runtime.h"
#include <cstdio>
#include <cstring>
struct Array {
    tessera_dimension_t dim{0, 4, 1};
    tessera_buffer_t buffer{};
    template<typename T> Array(T (&data)[4], int code) {
        buffer.host = reinterpret_cast<uint8_t *>(data);
        buffer.type = {code, int(8 * sizeof(T))};
        buffer.dimensions = 1;
        buffer.dim = &dim;
    }
    operator tessera_buffer_t *() { return &buffer; }
};
)";

struct Scaled {
    ImageParam in{Int(32), 1, "in"}, more{Int(32), 1, "more"};
    Param<float> factor{"factor"};
    Func f{"f"};
    Scaled() { f(x) = cast<int>((in(x) + more(x)) * factor); }
    std::vector<Argument> args() { return {in, factor, more}; }
};

constexpr const char *calls_scaled = R"(
int main() {
    int32_t a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40}, out[4];
    Array in(a, tessera_type_int), more(b, tessera_type_int), to(out, tessera_type_int);
    int code = mine::inner::scaled(in, 2.0f, more, to);
    std::printf("%d %d ", code, out[3]);
    float factor = 3;
    void *args[] = {&in.buffer, &factor, &more.buffer, &to.buffer};
    code = mine::inner::scaled_argv(args);
    std::printf("%d %d %s", code, out[3], mine::inner::scaled_metadata()->name);
})";

}  // namespace

// What a pipeline calls in this process.
namespace tools {
inline int fill(int value, tessera_buffer_t *out) {
    Buffer<int> to(*out);
    for (int i : to.dim(0)) to(i) = value + i;
    return 0;
}
}  // namespace tools

TEST_SUITE("functions of C++") {
    TEST_CASE("have the names that the ABI gives them") {
        using ir::mangled_name;
        CHECK(mangled_name("f", {}) == "_Z1fv");
        CHECK(mangled_name("f", {"f", "P16tessera_buffer_t"}) == "_Z1ffP16tessera_buffer_t");
        CHECK(mangled_name("ns::f", {"P16tessera_buffer_t", "i", "P16tessera_buffer_t"}) ==
              "_ZN2ns1fEP16tessera_buffer_tiS1_");
        CHECK(mangled_name("a::b::long_name", {"PKPv", "Pv"}) == "_ZN1a1b9long_nameEPKPvS1_");
        CHECK(ir::parts_of_name("a::b::f") == std::vector<std::string>{"a", "b", "f"});
    }
    TEST_CASE("stand in their namespaces") {
        Folder folder;
        Scaled s;
        s.f.compile_to({{OutputFileType::static_library, "scaled.a"},
                        {OutputFileType::c_header, "scaled.h"},
                        {OutputFileType::object, "scaled.o"},
                        {OutputFileType::function_info_header, "info.h"}},
                       s.args(), "mine::inner::scaled", cpp_target());
        std::string header = contents_of("scaled.h");
        CHECK(has(header, "namespace mine {\nnamespace inner {\n"));
        CHECK(has(header, "int scaled(struct tessera_buffer_t *in, float factor, struct "
                          "tessera_buffer_t *more, struct tessera_buffer_t *f);"));
        std::string main = std::string(one_dimension) + "#include \"scaled.h\"\n" + calls_scaled;
        check_cpp_program(main, "scaled.a", "0 88 0 132 mine::inner::scaled");
        check_cpp_program(main, "scaled.o '" RUNTIME_LIBRARY "'", "0 88 0 132 mine::inner::scaled");
        CHECK(has(run("ar t scaled.a"), "scaled.o\n"));
        write("info.cpp", "#include \"info.h\"\n"
                          "static_assert(mine::inner::scaled_argument_info().size() == 4);\n");
        run(cxx_compiler + "-std=c++17 -c info.cpp -o info.o");
        write("c.c", "#include \"scaled.h\"\n");
        CHECK(has(run(c_compiler + "-c c.c -o c.o", false), "these are functions of C++"));
    }
    TEST_CASE("take scalars of every type") {
        Folder folder;
        Param<bool> a("a");
        Param<int8_t> b("b");
        Param<uint8_t> c("c");
        Param<int16_t> d("d");
        Param<uint16_t> e("e");
        Param<int32_t> i("i");
        Param<uint32_t> j("j");
        Param<int64_t> l("l");
        Param<uint64_t> m("m");
        Param<double> w("w");
        Param<float16_t> h("h");
        Param<void *> p("p");
        Func f("sum");
        f(x) = cast<double>(a) + cast<double>(b) + cast<double>(c) + cast<double>(d) +
               cast<double>(e) + cast<double>(i) + cast<double>(j) + cast<double>(l) +
               cast<double>(m) + w + cast<double>(h) +
               select(reinterpret<uint64_t>(p) == cast<uint64_t>(0), Expr(0.5), Expr(0.0));
        f.compile_to_static_library("sum", {a, b, c, d, e, i, j, l, m, w, h, p}, "sum",
                                    cpp_target().with_feature(Target::UserContext));
        check_cpp_program(std::string(one_dimension) + R"(
#include "sum.h"
int main() {
    double out[4];
    Array to(out, tessera_type_float);
    int code = sum(nullptr, true, -2, 3, -4, 5, -6, 7, -8, 9, 0.25, tessera_f32_to_f16(1), nullptr, to);
    std::printf("%d %g", code, out[3]);
})",
                          "sum.a", "0 6.75");
    }
    TEST_CASE("are chosen among those of several targets") {
        Folder folder;
        Scaled s;
        std::vector<Target> targets = {Target("x86-64-linux-c_plus_plus_name_mangling"),
                                       Target("x86-64-linux-avx2-c_plus_plus_name_mangling")};
        s.f.compile_to_multitarget_static_library("scaled", s.args(), targets,
                                                  "mine::inner::scaled");
        check_cpp_program(std::string(one_dimension) + "#include \"scaled.h\"\n" + calls_scaled,
                          "scaled.a", "0 88 0 132 mine::inner::scaled");
        CHECK_THROWS_WITH_AS(s.f.compile_to_multitarget_static_library(
                                 "scaled", s.args(), {targets[0], Target("x86-64-linux-avx2")}),
                             doctest::Contains("one has c_plus_plus_name_mangling: the names would "
                                               "differ"),
                             CompileError);
    }
    TEST_CASE("are written as C source under the names that linkers know") {
        Folder folder;
        Scaled s;
        s.f.compile_to(
            {{OutputFileType::c_source, "scaled.c"}, {OutputFileType::c_header, "scaled.h"}},
            s.args(), "mine::inner::scaled", cpp_target());
        run(c_compiler + "-std=c11 -Wall -Wextra -Werror -c scaled.c -o scaled.o" +
            include_runtime);
        check_cpp_program(std::string(one_dimension) + "#include \"scaled.h\"\n" + calls_scaled,
                          "scaled.o '" RUNTIME_LIBRARY "'", "0 88 0 132 mine::inner::scaled");
    }
    TEST_CASE("are called by pipelines") {
        Folder folder;
        Param<int> n("n");
        Func f("f"), plain("plain"), same("same");
        f.define_extern("tools::fill", {Expr(n)}, Int(32), {x}, NameMangling::CPlusPlus);
        plain.define_extern("fill_in_c", {Expr(n)}, Int(32), {x}, NameMangling::C);
        same.define_extern("tools::fill", {Expr(n)}, Int(32), {x});
        f.compute_root();
        plain.compute_root();
        same.compute_root();
        Func g("g");
        g(x) = f(x) + plain(x) * 100 + same(x);
        g.compile_to_static_library("g", {n}, "g", cpp_target());
        check_cpp_program(std::string(one_dimension) + R"(
#include "g.h"
static int fill_with(int value, tessera_buffer_t *out) {
    if (!out->host) return 0;
    for (int i = 0; i < out->dim[0].extent; i++) reinterpret_cast<int *>(out->host)[i] = value;
    return 0;
}
namespace tools {
int fill(int value, tessera_buffer_t *out) { return fill_with(value, out); }
}
extern "C" int fill_in_c(int value, tessera_buffer_t *out) { return fill_with(value + 1, out); }
int main() {
    int32_t out[4];
    Array to(out, tessera_type_int);
    int code = g(5, to);
    std::printf("%d %d", code, out[3]);
})",
                          "g.a", "0 610");
        n.set(7);
        f.set_jit_externs({{"tools::fill", JITExtern(&tools::fill)}});
        Buffer<int> filled = f.realize({3});
        CHECK(filled(2) == 9);
    }
    TEST_CASE("have names that C++ has") {
        Folder folder;
        Func f("f");
        f(x) = x;
        auto refuses = [&](const char *name, const Target &target, const char *message) {
            CAPTURE(name);
            CHECK_THROWS_WITH_AS(f.compile_to_header("f.h", {}, name, target),
                                 doctest::Contains(message), CompileError);
        };
        refuses(
            "ns::f", get_host_target(),
            "\"ns::f\": that is no name in C, but one in C++: it wants Target::CPlusPlusMangling");
        refuses("std::f", cpp_target(), "the namespace std is the standard library's");
        for (const char *name : {"::f", "ns::", "ns::7up", "ns:::f", "a b::f", "class::f"}) {
            refuses(name, cpp_target(), "that is no name in C; give it another one");
        }
        Func e("e");
        e.define_extern("ns::g", {}, Int(32), {x});
        CHECK_THROWS_WITH_AS(
            e.realize({3}),
            doctest::Contains("ns::g is in a namespace, as no function of C is; say "
                              "NameMangling::CPlusPlus"),
            CompileError);
    }
    TEST_CASE("of one name are told apart by what they take in the cache of compiled pipelines") {
        Func c("f"), cpp("f");
        c.define_extern("fill_somewhere", {}, Int(32), {x}, NameMangling::C);
        cpp.define_extern("fill_somewhere", {}, Int(32), {x}, NameMangling::CPlusPlus);
        CHECK_THROWS_WITH_AS(c.realize({3}), doctest::Contains("calls fill_somewhere, which"),
                             CompileError);
        CHECK_THROWS_WITH_AS(
            cpp.realize({3}),
            doctest::Contains("calls _Z14fill_somewhereP16tessera_buffer_t, which"), CompileError);
    }
}
