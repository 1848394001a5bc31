#include "autoscheduler/bundle/log_file.h"
#include "autoscheduler/test/support.h"
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tessera_generator.h>
#include <unistd.h>

using namespace tessera;

namespace {

class BundledGenerator : public Generator<BundledGenerator> {
public:
    Input<Buffer<float, 2>> in{"in"};
    Input<float> factor{"factor"};
    Output<Buffer<float, 2>> out{"out"};

    void generate() override {
        Var x("x"), y("y");
        Func across("across");
        // A buffer of its own is no argument of what is compiled for a file.
        Buffer<float> weights(3);
        for (int i = 0; i < 3; i++) weights(i) = float(i + 1);
        across(x, y) = in(x, y) * weights(0) + in(x + 1, y) * weights(1) + in(x + 2, y);
        out(x, y) = (across(x, y) + across(x, y + 1)) * factor;
        factor.set_estimate(2);
        out.set_estimates({{0, 128}, {0, 64}});
    }
};

struct Folder {
    std::string path =
        str(std::filesystem::temp_directory_path().string(), "/tessera_bundle_", getpid());
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string file(const std::string &name) const { return path + "/" + name; }
    std::string text(const std::string &name) const {
        std::ifstream in(file(name));
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

std::string answer_to(const std::vector<std::string> &arguments) {
    std::ostringstream out;
    const int status = run_generator_command(arguments, out, out);
    return str(status, ": ", out.str());
}

std::string output_of(const std::string &command) {
    std::string text;
    FILE *p = popen((command + " 2>&1").c_str(), "r");
    REQUIRE(p);
    std::array<char, 512> part = {};
    while (std::fgets(part.data(), int(part.size()), p)) text += part.data();
    return str(pclose(p), ": ", text);
}

void export_to(const Folder &folder) {
    const std::string answer =
        answer_to({"--tune", "-g", "bundled", "--export", folder.path, "--trials", "4",
                   "--parallelism", "1", "--linker", C_COMPILER});
    CHECK(answer == str("0: ", folder.file("bundled"), ": 4 candidates\n"));
}

// Puts this C function in the place of a candidate.
void put_c(const Folder &folder, const std::string &library, const std::string &body) {
    std::ofstream(folder.file("c.c")) << "int tessera_candidate_argv(void **a) {" << body << "}\n";
    const std::string command = str(C_COMPILER, " -w -O0 -shared -fPIC -o ",
                                    folder.file("bundled/" + library), " ", folder.file("c.c"));
    REQUIRE(std::system(command.c_str()) == 0);
}

size_t count_of(const std::string &text, const std::string &part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

// Gives the last record of a log a time that no rule or model would expect of it.
void make_last_the_fastest(const std::string &path, const std::string &text) {
    const size_t at = text.rfind("\"ms\":") + 5;
    std::ofstream(path) << text.substr(0, at) << "2e-05" << text.substr(text.find(',', at));
}

// The directives of the first statement.
std::string first_directives(const std::string &schedule) {
    const size_t at = schedule.find(".split(");
    return at == std::string::npos ? "" : schedule.substr(at, schedule.find(';', at) - at);
}

}  // namespace

TESSERA_REGISTER_GENERATOR(BundledGenerator, bundled)

TEST_SUITE("autoscheduler, bundles") {
    TEST_CASE("a bundle is measured without the compiler, and its log is replayed") {
        const Folder folder;
        export_to(folder);
        const std::string log = folder.file("log.jsonl");
        const std::string measure =
            str(TESSERA_MEASURE, " ", folder.file("bundled"), " --log ", log);
        const std::string answer = output_of(measure);
        CAPTURE(answer);
        CHECK(answer.starts_with("0: "));
        CHECK(count_of(answer, " ms\n") == 4);
        CHECK(count_of(folder.text("log.jsonl"), "\"outcome\":\"measured\"") == 4);
        CHECK(count_of(output_of(measure), "is in the log already") == 4);

        make_last_the_fastest(log, folder.text("log.jsonl"));

        // This goes as if they had been measured here.
        const std::string replayed =
            answer_to({"-g", "bundled", "-o", folder.path, "-e", "schedule", "-n", "replayed",
                       "target=host", "autoscheduler=tessera", "autoscheduler.trials=0",
                       "autoscheduler.parallelism=1", "autoscheduler.log=" + log});
        CHECK(replayed == "0: ");
        const std::string tuned =
            answer_to({"--tune", "-g", "bundled", "-o", folder.path, "--log", log, "--no-measure",
                       "--no-reports", "--parallelism", "1"});
        CAPTURE(tuned);
        CHECK(tuned.starts_with("0: "));
        CHECK(tuned.find(" 2e-05 ") != std::string::npos);
        const std::string best = first_directives(folder.text("bundled.schedule.h"));
        CHECK(best.find(".vectorize(") != std::string::npos);
        CHECK(folder.text("replayed.schedule.h").find(best) != std::string::npos);
        // Those of the log are not exported again.
        answer_to({"--tune", "-g", "bundled", "--export", folder.file("again"), "--log", log,
                   "--trials", "2", "--parallelism", "1", "--linker", C_COMPILER});
        CHECK(output_of(str(TESSERA_MEASURE, " ", folder.file("again/bundled"), " --log ", log))
                  .find("already") == std::string::npos);
        CHECK(count_of(folder.text("log.jsonl"), "\"schedule\":") == 6);
    }
    TEST_CASE("candidates that crash, hang or compute something else are told, and do not win") {
        const Folder folder;
        export_to(folder);
        put_c(folder, "candidate_0.so", "*(volatile int *)0 = 1; return 0;");
        put_c(folder, "candidate_1.so", "return 0;");
        put_c(folder, "candidate_2.so", "for (;;) {} return 0;");
        const std::string log = folder.file("log.jsonl");
        const std::string answer = output_of(
            str(TESSERA_MEASURE, " ", folder.file("bundled"), " --seconds 1 --log ", log));
        CAPTURE(answer);
        CHECK(answer.find("candidate_0.so crashed: the process was ended by Segmentation fault") !=
              std::string::npos);
        CHECK(answer.find("candidate_1.so wrong: its results are not those of the reference") !=
              std::string::npos);
        CHECK(answer.find("candidate_2.so timed out: running it took too long") !=
              std::string::npos);
        CHECK(count_of(answer, " ms\n") == 1);
        const std::string records = folder.text("log.jsonl");
        CHECK(count_of(records, "\"outcome\":\"measured\"") == 1);
        CHECK(records.find("\"outcome\":\"measured\"") > records.find("\"outcome\":\"wrong\""));
    }
    TEST_CASE("what cannot be measured is told in a sentence") {
        const Folder folder;
        CHECK(output_of(str(TESSERA_MEASURE, " ", folder.path))
                  .find("error: there is no bundle "
                        "in ") != std::string::npos);
        std::ofstream(folder.file("manifest.json"))
            << str("{\"inputs\": [], \"version\": ", autoscheduler::bundle_version, "}");
        CHECK(output_of(str(TESSERA_MEASURE, " ", folder.path)).find(" is damaged: ") !=
              std::string::npos);
        std::ofstream(folder.file("manifest.json")) << "{";
        CHECK(output_of(str(TESSERA_MEASURE, " ", folder.path))
                  .find("is no manifest that this program can read") != std::string::npos);
        CHECK(answer_to({"--tune", "-g", "bundled", "--export", folder.path, "--linker",
                         "no-such-linker"})
                  .find("no-such-linker cannot be run") != std::string::npos);
    }
    TEST_CASE("a bundle for another machine wants its linker, and is not measured here") {
        const Folder folder;
        const std::string answer = answer_to({"--tune", "-g", "bundled", "--export", folder.path,
                                              "--trials", "2", "target=arm-64-linux"});
        CHECK(answer == "1: error: bundled: the target is AArch64: give --linker, a C compiler for "
                        "that, such as aarch64-linux-gnu-gcc\n");
        CHECK_FALSE(std::filesystem::exists(folder.file("bundled")));
        // A linker that fails leaves nothing behind.
        CHECK(answer_to({"--tune", "-g", "bundled", "--export", folder.path, "--linker", "false"})
                  .find("false cannot link " + folder.file("bundled/reference.so")) !=
              std::string::npos);
        CHECK_FALSE(std::filesystem::exists(folder.file("bundled/reference.o")));
        std::ofstream(folder.file("manifest.json"))
            << str(R"({"target": "arm-64-linux", "inputs": [], "version": )",
                   autoscheduler::bundle_version, "}");
        const std::string measured = output_of(str(TESSERA_MEASURE, " ", folder.path));
        CHECK(measured.find(" is for arm-64-linux, and this machine is ") != std::string::npos);
    }
    TEST_CASE("tessera-measure takes no other file for a log") {
        const Folder folder;
        export_to(folder);
        std::ofstream(folder.file("notes.txt")) << "buy milk\n";
        const std::string answer = output_of(
            str(TESSERA_MEASURE, " ", folder.file("bundled"), " --log ", folder.file("notes.txt")));
        CHECK(answer.find("notes.txt is no log of measurements") != std::string::npos);
        CHECK(folder.text("notes.txt") == "buy milk\n");
    }
    TEST_CASE("tessera-measure has no compiler in it") {
        const std::string names = output_of(str("nm -C ", TESSERA_MEASURE));
        CHECK(names.find("tessera::autoscheduler::run_bundle") != std::string::npos);
        CHECK(names.find("llvm::") == std::string::npos);
        CHECK(names.find("tessera::lower") == std::string::npos);
        CHECK(output_of(str("ldd ", TESSERA_MEASURE)).find("LLVM") == std::string::npos);
    }
}
