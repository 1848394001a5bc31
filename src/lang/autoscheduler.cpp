#include "lang/autoscheduler.h"
#include "lang/pipeline.h"
#include <dlfcn.h>
#include <mutex>

namespace tessera {
namespace {

struct Autoschedulers {
    std::mutex mutex;
    std::map<std::string, AutoSchedulerFn> functions;
    std::string name_of_default;
};

Autoschedulers &autoschedulers() {
    static auto *s = new Autoschedulers;
    return *s;
}

// CompileError if there is none of this name; empty: the default.
AutoSchedulerFn find_autoscheduler(std::string name, Location at) {
    Autoschedulers &all = autoschedulers();
    std::lock_guard lock(all.mutex);
    if (name.empty()) name = all.name_of_default;
    if (auto found = all.functions.find(name); found != all.functions.end()) return found->second;
    std::vector<std::string> names;
    for (const auto &[known, function] : all.functions) names.push_back(known);
    throw CompileError(
        at,
        str("there is no autoscheduler \"", name, "\"",
            names.empty() ? "; this program has been linked without Tessera's own: link it with "
                            "the target Tessera::Tessera of CMake, add one by "
                            "Pipeline::add_autoscheduler(), or load a plugin that does"
                          : choices_text(name, names)));
}

}  // namespace

std::string AutoschedulerParams::to_string() const {
    std::string text;
    if (!name.empty()) text = "autoscheduler=" + name;
    for (const auto &[option, value] : extra) {
        text += str(text.empty() ? "" : " ", "autoscheduler.", option, "=", value);
    }
    return text;
}

void Pipeline::add_autoscheduler(const std::string &name, const AutoSchedulerFn &scheduler) {
    std::lock_guard lock(autoschedulers().mutex);
    autoschedulers().functions[name] = scheduler;
}

void Pipeline::set_default_autoscheduler_name(const std::string &name) {
    std::lock_guard lock(autoschedulers().mutex);
    autoschedulers().name_of_default = name;
}

AutoSchedulerResults Pipeline::apply_autoscheduler(const Target &target,
                                                   const AutoschedulerParams &params,
                                                   Location at) const {
    AutoSchedulerFn scheduler = find_autoscheduler(params.name, at);
    get(at);
    AutoSchedulerResults results;
    results.target = target;
    results.autoscheduler_params = params;
    results.autoscheduler_params.control = {};
    called_at(at, [&] { scheduler(*this, target, params, &results); });
    return results;
}

void load_plugin(const std::string &name, Location at) {
    std::string file = name.find('.') == std::string::npos ? str("lib", name, ".so") : name;
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) return;
    const char *why = dlerror();
    throw CompileError(at, str("the plugin ", name, " cannot be loaded: ", why ? why : file));
}

}  // namespace tessera
