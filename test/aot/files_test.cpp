#include "aot/build.h"
#include "base/large_stack.h"
#include "driver/files.h"
#include <tessera.h>

using namespace tessera;

// Pipelines as files.
namespace {

Var x("x"), y("y");

}  // namespace

TEST_SUITE("files") {
    TEST_CASE("a static library is all that a C program needs") {
        Folder folder;
        ImageParam in(UInt(8), 2, "in");
        Param<float> strength("strength", 2.0f, 0.0f, 8.0f);
        Param<bool> negate("int");
        Func f("brighter");
        f(x, y) = select(negate, cast<uint8_t>(255), cast<uint8_t>(0)) ^
                  cast<uint8_t>(in(x, y) * strength);
        f.vectorize(x, 16).parallel(y);
        f.compile_to_static_library("brighter", {in, strength, negate});
        std::string header = contents_of("brighter.h");
        CHECK(has(header, "int brighter(struct tessera_buffer_t *in, float strength, bool int_1, "
                          "struct tessera_buffer_t *brighter);"));
        CHECK(has(header, "strength: float32, by default 2, at least 0, at most 8"));
        CHECK(has(header, "in: input, 2 dimensions of uint8"));
        CHECK(has(header, "dim[0].stride == 1"));
        std::string output = build_and_run(R"(
#include "brighter.h"
#include "tessera_runtime.h"
#include <stdio.h>
int main(void) {
    uint8_t in[3][20], out[3][20];
    tessera_dimension_t dims[2] = {{0, 20, 1, 0}, {0, 3, 20, 0}};
    tessera_buffer_t a = {0}, b = {0};
    for (int i = 0; i < 60; i++) in[i / 20][i % 20] = (uint8_t)i;
    a.host = &in[0][0];
    b.host = &out[0][0];
    a.type.code = b.type.code = tessera_type_uint;
    a.type.bits = b.type.bits = 8;
    a.type.lanes = b.type.lanes = 1;
    a.dimensions = b.dimensions = 2;
    a.dim = b.dim = dims;
    if (brighter(&a, 2.0f, false, &b) != 0) return 1;
    printf("%d %d ", out[0][0], out[2][19]);
    float strength = 3.0f;
    bool negate = true;
    void *args[] = {&a, &strength, &negate, &b};
    if (brighter_argv(args) != 0) return 2;
    printf("%d %d ", out[0][0], out[2][19]);
    const tessera_filter_metadata_t *m = brighter_metadata();
    for (int i = 0; i < m->num_arguments; i++) {
        const tessera_filter_argument_t *arg = m->arguments + i;
        printf("%s:%d/%d/%d.%d ", arg->name, arg->kind, arg->dimensions, arg->type.code,
               arg->type.bits);
        if (arg->scalar_def) printf("= %g ", arg->scalar_def->f32);
        if (arg->scalar_max) printf("<= %g ", arg->scalar_max->f32);
    }
    printf("%s %d ", m->name, m->version);
    printf("%d", brighter(&a, 9.0f, false, &b) == tessera_error_code_param_too_large);
    return 0;
})",
                                           "brighter.a");
        CHECK(has(output, "0 118 255 78 in:1/2/1.8 strength:0/0/2.32 = 2 <= 8 int:0/0/1.1 "
                          "brighter:2/2/1.8 brighter 1 "));
        CHECK(has(output, "strength is 9"));  // the message of the error
        CHECK(output.back() == '1');
    }
    TEST_CASE("the program's own buffers are in the file") {
        Folder folder;
        Buffer<float> big(10, 4);
        big.fill([](int i, int j) { return float(i + 100 * j); });
        Buffer<float> table = big.cropped(0, 2, 5).cropped(1, 1, 2);
        Func f("table_of");
        f(x, y) = table(x, y) * 2;
        f.compile_to_file("table_of", {});
        CHECK(has(contents_of("table_of.h"), "int table_of(struct tessera_buffer_t *"));
        std::string output = build_and_run(R"(
#include "table_of.h"
#include "tessera_runtime.h"
#include <stdio.h>
int main(void) {
    float out[2][5];
    tessera_dimension_t dims[2] = {{2, 5, 1, 0}, {1, 2, 5, 0}};
    tessera_buffer_t b = {0};
    b.host = (uint8_t *)&out[0][0];
    b.type.code = tessera_type_float;
    b.type.bits = 32;
    b.type.lanes = 1;
    b.dimensions = 2;
    b.dim = dims;
    int result = table_of(&b);
    printf("%d %g %g", result, out[0][0], out[1][4]);
    return 0;
})",
                                           "table_of.o '" RUNTIME_LIBRARY "'");
        CHECK(output == "0 204 412");
    }
    TEST_CASE("the user context is an argument only where the target says so") {
        Folder folder;
        Param<int> n("n");
        Func f("fails");
        f(x) = x / n;
        f.parallel(x);
        Pipeline p(f);
        p.add_requirement(n > 0, "n is", n);
        Target target = get_host_target();
        p.compile_to_static_library("plain", {n}, "plain", target);
        p.compile_to_static_library(
            "with", {n}, "with",
            target.with_feature(Target::UserContext).with_feature(Target::NoRuntime));
        CHECK(has(contents_of("plain.h"), "int plain(int32_t n, "));
        CHECK(has(contents_of("with.h"), "int with(void *__user_context, int32_t n, "));
        std::string output = build_and_run(R"(
#include "plain.h"
#include "with.h"
#include "tessera_runtime.h"
#include <stdio.h>
static void on_error(void *user_context, const char *message) {
    printf("%d: %s; ", user_context ? *(int *)user_context : -1, message);
}
int main(void) {
    int32_t out[4];
    int mine = 7;
    tessera_dimension_t dims[1] = {{0, 4, 1, 0}};
    tessera_buffer_t b = {0};
    b.host = (uint8_t *)out;
    b.type.code = tessera_type_int;
    b.type.bits = 32;
    b.type.lanes = 1;
    b.dimensions = 1;
    b.dim = dims;
    tessera_set_error_handler(on_error);
    int first = plain(0, &b), second = with(&mine, 0, &b);
    int32_t n = 2;
    void *context = &mine;
    void *args[] = {&context, &n, &b};
    int third = with_argv(args);
    printf("%d %d %d %d", first, second, third, with_metadata()->num_arguments);
    return 0;
})",
                                           "plain.a with.a");
        INFO(output);
        CHECK(has(output, "-1: "));
        CHECK(has(output, "7: "));
        CHECK(has(output, "n is 0"));
        CHECK(has(output, "-27 -27 0 3"));
    }
    TEST_CASE("each value of several outputs is an argument, with its estimates in the metadata") {
        Folder folder;
        ImageParam in(Float(32), 2, "in");
        Param<int> n("n", 3);
        Func both("both"), sum("sum");
        both(x, y) = Tuple(in(x, y), cast<uint8_t>(x + n));
        sum(x) = in(x, 0) + in(x, 1);
        in.set_estimates({{1, 640}, {2, 480}});
        n.set_estimate(7);
        both.set_estimates({{0, 100}, {5, 50}});
        sum.set_estimate(x, -4, 200);
        Pipeline({both, sum}).compile_to_static_library("several", {in, n}, "several");
        CHECK(has(contents_of("several.h"),
                  "int several(struct tessera_buffer_t *in, int32_t n, struct tessera_buffer_t "
                  "*both_0, struct tessera_buffer_t *both_1, struct tessera_buffer_t *sum);"));
        Pipeline({both, sum}).compile_to_c("several.c", {in, n}, "several");
        std::string main = R"(
#include "several.h"
#include "tessera_runtime.h"
#include <stdio.h>
static void print_estimates(const tessera_filter_argument_t *a) {
    int i;
    if (a->scalar_estimate) printf(" ~%d", a->scalar_estimate->i32);
    if (!a->buffer_estimates) return;
    for (i = 0; i < 2 * a->dimensions; i++) {
        if (a->buffer_estimates[i]) printf(" %d", (int)*a->buffer_estimates[i]);
        else printf(" none");
    }
}
int main(void) {
    float in[2][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}}, first[2][4], sum[4];
    uint8_t second[2][4];
    int i;
    const tessera_filter_metadata_t *m = several_metadata();
    tessera_dimension_t dims[2] = {{0, 4, 1, 0}, {0, 2, 4, 0}};
    tessera_buffer_t a = {0}, b, c, d;
    a.host = (uint8_t *)in;
    a.type.code = tessera_type_float;
    a.type.bits = 32;
    a.type.lanes = 1;
    a.dimensions = 2;
    a.dim = dims;
    b = c = d = a;
    b.host = (uint8_t *)first;
    c.host = (uint8_t *)second;
    c.type.code = tessera_type_uint;
    c.type.bits = 8;
    d.host = (uint8_t *)sum;
    d.dimensions = 1;
    i = several(&a, 5, &b, &c, &d);
    printf("%d %g %d %g;", i, first[1][3], second[1][3], sum[3]);
    for (i = 0; i < m->num_arguments; i++) {
        printf(" %s/%d", m->arguments[i].name, m->arguments[i].kind);
        print_estimates(m->arguments + i);
    }
    return 0;
})";
        std::string expected = "0 40 8 44; in/1 1 640 2 480 n/0 ~7 both.0/2 0 100 5 50 "
                               "both.1/2 0 100 5 50 sum/2 -4 200";
        CHECK(build_and_run(main, "several.a") == expected);
        run(c_compiler + "-std=c11 -c several.c -o several.o" + include_runtime);
        CHECK(build_and_run(main, "several.o '" RUNTIME_LIBRARY "'") == expected);
    }
    TEST_CASE("what several files are made of is lowered and compiled once") {
        Folder folder;
        struct Count {
            explicit Count(int &count) : count(count) {}
            ir::Stmt operator()(const ir::Stmt &s) const { return count++, s; }
            int &count;
        };
        int lowered = 0;
        Func f("f");
        f(x) = x;
        Pipeline p(f);
        p.add_custom_lowering_pass(new Count(lowered));
        p.compile_to({{OutputFileType::object, "f.o"},
                      {OutputFileType::static_library, "f.a"},
                      {OutputFileType::c_header, "f.h"}},
                     {}, "f");
        CHECK(lowered == 1);
        lowered = 0;
        std::vector<Target> targets = {Target("x86-64-linux"), Target("x86-64-linux-avx2")};
        p.compile_to_multitarget_static_library("f", {}, targets);
        CHECK(lowered == 2);
        driver::FileWriter writer(p.program(), get_host_target(), {});
        run_on_large_stack([&] {
            writer.write(OutputFileType::static_library, "g.a");
            const char *object = writer.object().data();
            writer.write(OutputFileType::object, "g.o");
            CHECK(writer.object().data() == object);
        });
        std::string object = contents_of("g.o");
        CHECK(has(contents_of("g.a"), object));
    }
    TEST_CASE("scalars of every type are arguments of C") {
        Folder folder;
        Param<int8_t> a("a");
        Param<uint16_t> b("b");
        Param<int64_t> c("c");
        Param<double> d("d");
        Param<float16_t> h("h");
        Param<bfloat16_t> s("s");
        Param<void *> p("p");
        Func f("scalars");
        f() = cast<double>(a) + cast<double>(b) + cast<double>(c) + d + cast<double>(h) +
              cast<double>(s) +
              select(reinterpret<uint64_t>(p) == cast<uint64_t>(0), Expr(0.5), Expr(0.0));
        f.compile_to_static_library("scalars", {a, b, c, d, h, s, p});
        std::string output = build_and_run(R"(
#include "scalars.h"
#include "tessera_runtime.h"
#include <stdio.h>
int main(void) {
    double out = 0;
    tessera_buffer_t b = {0};
    b.host = (uint8_t *)&out;
    b.type.code = tessera_type_float;
    b.type.bits = 64;
    b.type.lanes = 1;
    int result = scalars(-100, 60000, -5000000000, 0.25, tessera_f32_to_f16(1.5f),
                         tessera_f32_to_bf16(4.0f), NULL, &b);
    printf("%d %.2f", result, out);
    return 0;
})",
                                           "scalars.a");
        CHECK(output == "0 -4999940093.75");
    }
    TEST_CASE("files of every type") {
        Folder folder;
        ImageParam in(Float(32), 1, "in");
        Func f("all");
        f(x) = in(x) + 1;
        f.vectorize(x, 4);
        f.compile_to({{OutputFileType::assembly, "f.s"},
                      {OutputFileType::bitcode, "f.bc"},
                      {OutputFileType::c_header, "f.h"},
                      {OutputFileType::conceptual_stmt, "f.conceptual"},
                      {OutputFileType::function_info_header, "info.h"},
                      {OutputFileType::llvm_assembly, "f.ll"},
                      {OutputFileType::object, "f.o"},
                      {OutputFileType::schedule, "f.schedule"},
                      {OutputFileType::static_library, "f.a"},
                      {OutputFileType::stmt, "f.stmt"},
                      {OutputFileType::stmt_html, "f.html"},
                      {OutputFileType::conceptual_stmt_html, "f.conceptual.html"}},
                     {in});
        CHECK(has(contents_of("f.s"), "all_argv:"));
        CHECK(contents_of("f.bc").substr(0, 2) == "BC");
        CHECK(has(contents_of("f.conceptual"), "produce all"));
        CHECK(has(contents_of("f.ll"), "define i32 @all("));
        CHECK(contents_of("f.o").substr(1, 3) == "ELF");
        CHECK(has(contents_of("f.schedule"), ".vectorize("));
        CHECK(contents_of("f.a").substr(0, 7) == "!<arch>");
        CHECK(has(contents_of("f.stmt"), "func \"all\""));
        CHECK(has(contents_of("f.html"), "<title>all</title>"));
        CHECK(has(contents_of("f.html"), "<details"));
        CHECK(has(contents_of("f.conceptual.html"), "<b>produce</b> all"));
        f.compile_to_lowered_stmt("of_format.html", {in}, HTML);
        CHECK(contents_of("of_format.html") == contents_of("f.html"));
        CHECK(f.compile_to_string(OutputFileType::stmt_html, {in}) == contents_of("f.html"));
        write("header.cpp", "#include \"f.h\"\n#include \"f.h\"\n"
                            "int (*all_of)(tessera_buffer_t *, tessera_buffer_t *) = all;\n");
        run(cxx_compiler + "-Wall -Werror -c header.cpp -o header.o");
        CHECK(has(run("nm header.o"), " all\n"));  // its name in C
        write("info.cpp",
              "#include \"info.h\"\n#include \"info.h\"\n"
              "static_assert(all_argument_info().size() == 2);\n"
              "static_assert(all_argument_info()[0].name == \"in\");\n"
              "static_assert(all_argument_info()[1].type_bits == 32);\n"
              "using tessera::function_info::ArgumentKind;\n"
              "static_assert(all_argument_info()[1].kind == ArgumentKind::OutputBuffer);\n");
        run(cxx_compiler + "-std=c++17 -c info.cpp -o info.o");
        CHECK_THROWS_WITH_AS(f.compile_to({{OutputFileType::object, "no/such/folder.o"}}, {in}),
                             doctest::Contains("no/such/folder.o"), RuntimeError);
        CHECK_THROWS_WITH_AS(
            f.compile_to({{OutputFileType::static_library, "no/such/folder.a"}}, {in}),
            doctest::Contains("no/such/folder.a"), RuntimeError);
    }
    TEST_CASE("buffers of the program with strides of all kinds, of part of a picture, or empty") {
        Folder folder;
        Buffer<uint8_t> picture(100, 100);
        picture.fill(uint8_t(199));
        Buffer<uint8_t> column = picture.cropped(0, 40, 1).cropped(1, 10, 3);
        for (int i = 10; i < 13; i++) column(40, i) = uint8_t(i);
        tessera_dimension_t backwards{0, 4, -1, 0}, same{0, 4, 0, 0};
        uint8_t values[] = {1, 2, 3, 4};
        Buffer<uint8_t> reversed(values + 3, 1, &backwards), repeated(values + 2, 1, &same);
        Buffer<uint8_t> none(0);
        Func f("strides");
        Expr at = clamp(x, 0, 2);
        f(x) = cast<int>(column(40, 10 + at)) +
               100 * cast<int>(reversed(unsafe_promise_clamped(x, 0, 3))) +
               1000 * cast<int>(repeated(unsafe_promise_clamped(x, 0, 3)));
        f.compile_to_file("strides", {});
        CHECK_FALSE(has(contents_of("strides.o"), std::string(8, char(199))));
        std::string output = build_and_run(R"(
#include "strides.h"
#include "tessera_runtime.h"
#include <stdio.h>
int main(void) {
    int32_t out[4];
    tessera_dimension_t dims[1] = {{0, 4, 1, 0}};
    tessera_buffer_t b = {0};
    b.host = (uint8_t *)out;
    b.type.code = tessera_type_int;
    b.type.bits = 32;
    b.type.lanes = 1;
    b.dimensions = 1;
    b.dim = dims;
    int result = strides(&b);
    printf("%d %d %d %d %d", result, out[0], out[1], out[2], out[3]);
    return 0;
})",
                                           "strides.o '" RUNTIME_LIBRARY "'");
        CHECK(output == "0 3410 3311 3212 3112");
        Func g("of_nothing");
        g(x) = select(x < 0, cast<int>(none(unsafe_promise_clamped(x, 0, -1))), x);
        CHECK_NOTHROW(g.compile_to_file("of_nothing", {}));
        Buffer<float> bare(nullptr, {10}, "bare");
        Func h("h");
        h(x) = bare(x);
        CHECK_THROWS_WITH_AS(h.compile_to_file("h", {}), doctest::Contains("bare cannot be put"),
                             CompileError);
    }
    TEST_CASE("what is asked for this process is compiled for a file all the same") {
        Folder folder;
        Func f("plain");
        f(x) = x;
        f.compile_to_file("plain", {}, "", get_jit_target_from_environment());
        CHECK(has(contents_of("plain.h"), "int plain(struct tessera_buffer_t *"));
        CHECK(has(run("nm plain.o"), "plain_metadata"));
    }
    TEST_CASE("names that no C function can have, and lists with an argument twice") {
        Folder folder;
        Param<int> k("k");
        Func f("my func"), g("exp");
        f(x) = x + k;
        g(x) = sin(cast<double>(x));
        for (const char *name : {"", "a::b", "7up", "while", "f-1"}) {
            CHECK_THROWS_WITH_AS(f.compile_to_header("f.h", {k}, name),
                                 doctest::Contains("no name in C"), CompileError);
        }
        CHECK_NOTHROW(f.compile_to_header("f.h", {k}, "my_func"));
        CHECK_NOTHROW(f.compile_to_lowered_stmt("f.stmt", {k}));
        CHECK_THROWS_WITH_AS(f.compile_to_header("f.h", {k, k}, "my_func"),
                             doctest::Contains("k is in the list of arguments twice"),
                             CompileError);
        CHECK_THROWS_WITH_AS(g.compile_to_object("g.o", {}, "sin"),
                             doctest::Contains("would take the place of the C function"),
                             CompileError);
    }
}
