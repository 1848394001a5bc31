#include "autoscheduler/options.h"
#include "base/warning.h"
#include <algorithm>
#include <cstdlib>
#include <thread>

namespace tessera::autoscheduler {

Options::Options(const AutoschedulerParams &params, const std::vector<std::string> &known,
                 const std::vector<std::string> &without_meaning)
    : params(params) {
    std::vector<std::string> ignored;
    for (const auto &[name, value] : params.extra) {
        if (std::ranges::count(known, name)) continue;
        if (std::ranges::count(without_meaning, name)) {
            ignored.push_back(name);
            continue;
        }
        throw CompileError(str("the autoscheduler ", params.name, " has no option ", name,
                               choices_text(name, known, "its options are")));
    }
    if (!ignored.empty()) {
        warn(Location(), str("the autoscheduler ", params.name, " has no use for ", join(ignored)));
    }
}

std::string Options::text(const std::string &name) const {
    const auto found = params.extra.find(name);
    return found == params.extra.end() ? "" : found->second;
}

void Options::refuse_number(const std::string &name, const std::string &least) const {
    throw CompileError(str("autoscheduler.", name, " is a number of at least ", least, ", not '",
                           text(name), "'"));
}

bool runs_here(const Target &target) {
    const Target host = get_host_target();
    if (target.arch != host.arch || target.os != host.os || target.bits != host.bits) return false;
    return !target.has_feature(Target::Interpret) && host_supports_target_device(target);
}

void warn_of(const std::string &text) {
    if (!text.empty()) warn(Location(), text);
}

void warn_of_cores(const std::string &option, int cores) {
    const int here = int(std::thread::hardware_concurrency());
    if (here == 0 || cores <= here) return;
    warn_of(str(option, " asks for ", cores, " cores, and this machine has ", here,
                ": the schedule is made for another machine, and what is measured here is no guide "
                "to how fast it is there"));
}

std::string usual_log() {
    const char *path = std::getenv("TESSERA_TUNING_LOG");
    return path ? path : "";
}

}  // namespace tessera::autoscheduler
