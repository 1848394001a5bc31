#include "support/program.h"
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

struct Extent {
    uint64_t bytes = 0, first = 0;  // of all elements; where the one at the minima is
};

Extent extent_of(const tessera_buffer_t &b) {
    if (!b.host) return {};
    int64_t first = 0, last = 0;
    for (int i = 0; i < b.dimensions; i++) {
        int64_t reach = int64_t(b.dim[i].stride) * (b.dim[i].extent - 1);
        (reach < 0 ? first : last) += reach;
    }
    int bytes = (b.type.bits + 7) / 8;
    return {uint64_t((last - first + 1) * bytes), uint64_t(-first * bytes)};
}

template<typename T> void put(std::ostream &out, T value) {
    out.write(reinterpret_cast<const char *>(&value), sizeof value);
}

template<typename T> T get(std::istream &in) {
    T value{};
    in.read(reinterpret_cast<char *>(&value), sizeof value);
    REQUIRE(in);
    return value;
}

void write_buffer(std::ostream &out, const tessera_buffer_t &b) {
    put(out, b.type.code);
    put(out, b.type.bits);
    put(out, b.dimensions);
    for (int i = 0; i < b.dimensions; i++) put(out, b.dim[i]);
    Extent all = extent_of(b);
    put(out, all.bytes);
    put(out, all.first);
    if (!all.bytes) return;
    out.write(reinterpret_cast<const char *>(b.host - all.first), std::streamsize(all.bytes));
}

void read_buffer(std::istream &in, tessera_buffer_t &b) {
    Extent all = extent_of(b);
    for (int i = 0; i < b.dimensions; i++) b.dim[i] = get<tessera_dimension_t>(in);
    if (!all.bytes) return;
    in.read(reinterpret_cast<char *>(b.host - all.first), std::streamsize(all.bytes));
    REQUIRE(in);
}

std::string contents_of(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void require_command(const std::string &name) {
    INFO(name, " is not installed; tools/install_dependencies.sh installs it");
    REQUIRE(std::system(("command -v " + name + " > /dev/null").c_str()) == 0);
}

}  // namespace

Machine aarch64_machine(const std::string &cpu) {
    return {"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++",
            "qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu " + cpu};
}

Machine this_machine() { return {C_COMPILER, CXX_COMPILER, ""}; }

Program::Program(const Machine &machine) : machine(machine) {
    folder = (fs::temp_directory_path() / "tessera_program_XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    require_command(machine.cxx_compiler);
    const std::string &runner = machine.runner;
    if (!runner.empty()) require_command(runner.substr(0, runner.find(' ')));
}

Program::~Program() { fs::remove_all(folder); }

size_t Program::call(const std::string &function, std::vector<Passed> arguments) {
    auto found = std::ranges::find(functions, function);
    auto index = size_t(found - functions.begin());
    if (found == functions.end()) functions.push_back(function);
    calls.push_back({index, std::move(arguments)});
    return calls.size() - 1;
}

void Program::write_calls() const {
    std::ofstream out(path("calls"), std::ios::binary);
    put(out, uint32_t(calls.size()));
    for (const Call &call : calls) {
        put(out, uint32_t(call.function));
        put(out, uint32_t(call.arguments.size()));
        for (const Passed &a : call.arguments) {
            put(out, uint32_t(a.buffer != nullptr));
            put(out, a.bits);
            if (a.buffer) write_buffer(out, *a.buffer);
        }
    }
}

void Program::write_functions() const {
    std::ofstream out(path("functions.cpp"));
    out << "extern \"C\" {\n";
    for (const std::string &f : functions) out << "int " << f << "_argv(void *const *);\n";
    out << "extern int (*const called_functions[])(void *const *);\n"
           "int (*const called_functions[])(void *const *) = {\n";
    for (const std::string &f : functions) out << "    " << f << "_argv,\n";
    out << "};\n}\n";
}

void Program::read_results() {
    std::ifstream in(path("results"), std::ios::binary);
    for (const Call &call : calls) {
        CallResult result;
        result.code = get<int32_t>(in);
        result.message.resize(get<uint32_t>(in));
        in.read(result.message.data(), std::streamsize(result.message.size()));
        results.push_back(result);
        for (const Passed &a : call.arguments) {
            if (a.buffer) read_buffer(in, *a.buffer);
        }
    }
}

bool Program::execute(const std::string &command) const {
    std::string all = "cd '" + folder + "' && " + command + " > output.txt 2>&1";
    return std::system(all.c_str()) == 0;
}

void Program::must_execute(const std::string &command) const {
    bool worked = execute(command);
    INFO(command, "\n", contents_of(path("output.txt")), contents_of(path("at")));
    REQUIRE(worked);
}

std::string Program::files(const char *extension) const {
    std::string names;
    for (const auto &entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == extension) names += " " + entry.path().filename().string();
    }
    return names;
}

bool Program::assemble(const std::string &instructions) {
    return execute("'" + machine.cxx_compiler + "' -c -Wa,-march=" + instructions + files(".s"));
}

void Program::run() {
    write_calls();
    write_functions();
    if (std::string sources = files(".c"); !sources.empty()) {
        must_execute("'" + machine.c_compiler +
                     "' -std=c11 -O1 -Wall -Wextra -Werror -pedantic -c -I '" SOURCE_FOLDER
                     "/runtime'" +
                     sources);
    }
    must_execute("'" + machine.cxx_compiler + "' -std=c++20 -static -I '" SOURCE_FOLDER "' '" +
                 PROGRAM_MAIN + "' functions.cpp" + files(".o") + files(".a") +
                 " -o program -lpthread -ldl");
    must_execute(machine.runner + " ./program");
    read_results();
}

}  // namespace tessera::test
