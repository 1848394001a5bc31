#include "c_source_harness.h"
#include "ir/float_bits.h"
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path &path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

double number(Type t, const uint8_t *at) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, size_t(t.bytes()));
    return ir::float_of_bits(t, bits);
}

bool is_same(Type t, const uint8_t *a, const uint8_t *b, double tolerance) {
    if (std::memcmp(a, b, size_t(t.bytes())) == 0) return true;
    if (!t.is_float()) return false;
    double x = number(t, a), y = number(t, b);
    if (std::isnan(x) && std::isnan(y)) return true;
    return x == y || std::abs(x - y) <= tolerance * std::max(std::abs(x), 1.0);
}

}  // namespace

CLibrary::CLibrary(Pipeline pipeline, const Options &o) : options(o) {
    std::string path = (fs::temp_directory_path() / "tessera_c_XXXXXX").string();
    REQUIRE(mkdtemp(path.data()));
    fs::path folder = path;
    args = pipeline.infer_arguments();
    pipeline.compile_to_c((folder / "f.c").string(), args, options.name, options.target);
    source = contents_of(folder / "f.c");
    std::ofstream(folder / "more.c") << "#include \"tessera_runtime.h\"\n" << options.more;
    std::string compiler = options.compiler.empty() ? "'" C_COMPILER "'" : options.compiler;
    std::string compile = compiler + " " + options.flags +
                          " -Wall -Wextra -Werror -pedantic -fPIC -I'" RUNTIME_SOURCES "' -c ";
    std::string command = "cd " + path + " && (" + compile + "f.c && " + compile + "more.c && '" +
                          CXX_COMPILER "' -shared -Wl,-Bsymbolic f.o more.o '" RUNTIME_LIBRARY
                                       "' -o f.so -lm -lpthread -ldl) > log.txt 2>&1";
    int status = std::system(command.c_str());
    INFO(contents_of(folder / "log.txt"));
    INFO(source);
    REQUIRE(status == 0);
    library = dlopen((folder / "f.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO(dlerror());
    REQUIRE(library);
    fs::remove_all(folder);
}

void *CLibrary::address(const std::string &name) const {
    void *found = dlsym(library, name.c_str());
    REQUIRE(found);
    return found;
}

int CLibrary::call(const std::vector<Buffer<>> &outputs, void *user_context) const {
    std::vector<void *> pointers;
    if (options.target.has_feature(Target::UserContext)) pointers.push_back(&user_context);
    for (const Argument &a : args) {
        auto &p = const_cast<program::Parameter &>(*a.parameter);
        pointers.push_back(p.is_buffer ? static_cast<void *>(p.buffer) : &p.scalar_bits);
    }
    for (const Buffer<> &b : outputs) pointers.push_back(b.raw_buffer());
    return function<int(void *const *)>(options.name + "_argv")(pointers.data());
}

std::string compare_with_c(const std::vector<Func> &funcs, const std::vector<int> &sizes,
                           const CLibrary::Options &options, double tolerance) {
    Pipeline pipeline(funcs);
    std::vector<Buffer<>> expected, got;
    for (const Func &f : funcs) {
        for (Type t : f.types()) {
            expected.emplace_back(t, sizes);
            got.emplace_back(t, sizes);
        }
    }
    pipeline.realize(RealizationArg(expected), options.target.with_feature(Target::Interpret));
    CLibrary library(pipeline, options);
    CHECK(library.call(got) == 0);
    for (size_t k = 0; k < got.size(); k++) {
        Type t = expected[k].type();
        const auto *a = static_cast<const uint8_t *>(expected[k].data()),
                   *b = static_cast<const uint8_t *>(got[k].data());
        size_t wrong = 0, first = 0, n = expected[k].number_of_elements();
        for (size_t i = n; i-- > 0;) {
            if (is_same(t, a + i * size_t(t.bytes()), b + i * size_t(t.bytes()), tolerance))
                continue;
            wrong++;
            first = i;
        }
        uint64_t x = 0, y = 0;
        std::memcpy(&x, a + first * size_t(t.bytes()), size_t(t.bytes()));
        std::memcpy(&y, b + first * size_t(t.bytes()), size_t(t.bytes()));
        CHECK_MESSAGE(wrong == 0, wrong, " wrong elements of value ", k, ", ",
                      funcs[std::min(k, funcs.size() - 1)].name(), "; the first is ", first,
                      ": bits ", y, " instead of ", x);
    }
    return library.text();
}

}  // namespace tessera::test
