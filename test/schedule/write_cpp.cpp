#include "schedule/cases.h"
#include <fstream>
#include <iostream>

// Writes the schedules of all cases as C++, to be compiled into the test: write_cpp out.cpp
int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: write_cpp out.cpp\n";
        return 2;
    }
    std::ofstream out(argv[1]);
    out << "#include \"schedule/cases.h\"\n#include <cmath>\n\nnamespace schedule_cases {\n\n"
           "using namespace tessera;\n\n";
    try {
        for (const auto &c : schedule_cases::all()) {
            out << "static void " << c.name << "(Pipeline pipeline) {\n"
                << c.build(true).schedule_as_cpp() << "}\n\n";
        }
    } catch (const tessera::Error &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
    out << "const std::vector<Pasted> &pasted() {\n    static const std::vector<Pasted> list = {";
    for (const auto &c : schedule_cases::all()) out << "\n        " << c.name << ",";
    out << "\n    };\n    return list;\n}\n\n}  // namespace schedule_cases\n";
}
