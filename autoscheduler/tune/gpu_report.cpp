#include "autoscheduler/tune/gpu_report.h"
#include <cstdio>

namespace tessera::autoscheduler {

namespace {

template<typename... Values> std::string formatted(const char *format, Values... values) {
    char line[256];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}

}  // namespace

std::string report_of_kernels(const std::string &pipeline, const GpuRulesResult &found,
                              const GpuMachine &machine) {
    std::string text = str(pipeline, ": ", found.rule);
    if (found.is_on_cpu) return str(text, ", since no kernels are legal: ", found.refusal, "\n");
    text += formatted(", %.1f us expected on %.*s\n", found.microseconds,
                      int(machine.card.name.size()), machine.card.name.data());
    if (!found.kernels.empty()) {
        text += "  kernel                       blocks threads registers  shared occupancy"
                "       us  bound by\n";
    }
    for (const GpuKernel &k : found.kernels) {
        const GpuKernel::Times times = k.times(machine);
        const std::string_view bound = times.bound();
        text += formatted("  %-24s %10.0f %7d %9d %7.0f %8.0f %% %8.1f  %.*s\n", k.name.c_str(),
                          k.blocks, k.threads, k.registers(), k.shared_bytes,
                          100 * k.occupancy(machine), times.all(), int(bound.size()), bound.data());
    }
    return text;
}

}  // namespace tessera::autoscheduler
