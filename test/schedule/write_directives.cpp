#include "program/directive_words.h"
#include "schedule/directives.h"
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

// Writes docs/directives.md: write_directives SOURCE_OF_EXAMPLES OUT. With --check it compares
// instead, and fails where the page is not what it would write.
namespace {

using directives::Example;

const char *const introduction = R"(# Directives

The page is written by the compiler: `tools/write_directives.sh` writes it anew, and a test compares. Each
program is shown with the loops that it has before and after the directive; where they are the
same, the directive changes what the loops do not show. `print_loop_nest()` prints them of any pipeline.
What tensor cores take (`tensorize`, `gpu_warps`, `gpu_warpgroups`) is in [gpu.md](gpu.md).
)";

const char *const others = R"(
## Directives that change no loops

- `set_estimate(v, min, extent)`, `set_estimates(...)`: the size that an autoscheduler works for.
- `copy_input(buffer)`: a Func that copies an input, so that it can be laid out and stored otherwise.
- `copy_to_device()`, `copy_to_host()`: the Func is a copy between the memories of both.
- `allow_race_conditions()`: iterations of a parallel update may overwrite what others have written.
- `unscheduled()`: says that a Func without directives is meant to have none.
- `trace_loads()`, `trace_stores()`, `trace_realizations()`: a run reports these.
- `no_profiling()`: a profile counts this Func as a part of its consumer.
)";

std::string text_of(const char *path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error(std::string("cannot read ") + path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string nest_of(tessera::Func f) {
    std::ostringstream nest;
    std::streambuf *old = std::cerr.rdbuf(nest.rdbuf());
    f.print_loop_nest();
    std::cerr.rdbuf(old);
    return nest.str();
}

// Holds what the source says of one example.
struct Section {
    std::string words, algorithm, schedule;
};

Section section_of(const std::vector<std::string> &source, const Example &example) {
    const std::string head = std::string("Func ") + example.name + "(bool scheduled) {";
    const auto start = std::find(source.begin(), source.end(), head);
    if (start == source.end()) throw std::runtime_error("no function " + head);
    Section section;
    auto first_word = start;
    while ((first_word - 1)->starts_with("// ")) first_word--;
    for (auto line = first_word; line != start; line++) section.words += line->substr(3) + "\n";
    std::string *part = &section.algorithm;
    for (auto line = start + 1; *line != "}"; line++) {
        if (line->find("if (!scheduled)") != std::string::npos) {
            part = &section.schedule;
        } else if (*line != "    return f;") {
            *part += line->substr(4) + "\n";
        }
    }
    return section;
}

void write(std::ostream &out, const Example &example, const Section &section) {
    const std::string before = nest_of(example.build(false)), after = nest_of(example.build(true));
    out << "\n### " << example.name << "\n\n"
        << section.words << "\n```cpp\n"
        << section.algorithm << "\n"
        << section.schedule << "```\n\n```\n"
        << before;
    if (after != before) out << "```\n\nbecomes\n\n```\n" << after;
    out << "```\n";
}

std::string page(const std::vector<std::string> &source) {
    std::ostringstream out;
    out << introduction;
    for (const Example &example : directives::examples()) {
        if (example.build) {
            write(out, example, section_of(source, example));
        } else {
            out << "\n## " << example.name << "\n";
        }
    }
    out << others;
    return out.str();
}

// Throws if the page leaves out a directive that a schedule can hold.
void check_complete(const std::string &page) {
    for (const auto &names : {tessera::program::names_of_all(tessera::program::StageDirective()),
                              tessera::program::names_of_all(tessera::program::FuncDirective())}) {
        for (const std::string &name : names) {
            // Two have another name in JSON than in C++.
            const std::string word = name == "loop"       ? "parallel"
                                     : name == "estimate" ? "set_estimate"
                                                          : name;
            if (page.find("`" + word) == std::string::npos) {
                throw std::runtime_error("the page says nothing of the directive " + word);
            }
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    const bool checks = argc == 4 && std::string(argv[3]) == "--check";
    if (argc != 3 && !checks) {
        std::cerr << "usage: write_directives SOURCE_OF_EXAMPLES OUT [--check]\n";
        return 2;
    }
    try {
        const std::string text = page(lines_of(text_of(argv[1])));
        check_complete(text);
        if (checks) {
            if (text == text_of(argv[2])) return 0;
            std::cerr << argv[2] << " is out of date: tools/write_directives.sh writes it\n";
            return 1;
        }
        std::ofstream(argv[2]) << text;
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
}
