#include "autoscheduler/bundle/export_bundle.h"
#include "autoscheduler/bundle/candidates.h"
#include "autoscheduler/bundle/log_file.h"
#include "autoscheduler/plan_json.h"
#include "base/large_stack.h"
#include "driver/files.h"
#include "program/environment.h"
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

namespace tessera::autoscheduler {
namespace {

using nlohmann::json;

// Links `library`.
void run_program(std::vector<std::string> words, const std::string &library) {
    std::vector<char *> arguments;
    for (std::string &w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    pid_t process = -1;
    int status = -1;
    const int error =
        posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
    if (error != 0)
        throw RuntimeError(str(words[0], " cannot be run: ", std::strerror(error),
                               "; name the linker by --linker"));
    waitpid(process, &status, 0);
    if (status != 0) throw RuntimeError(str(words[0], " cannot link ", library));
}

json described(const ArrayLayout &a) {
    json dims = json::array();
    for (const tessera_dimension_t &d : a.dims) dims.push_back({d.min, d.extent, d.stride});
    return {{"type", {a.type.code, a.type.bits}}, {"dims", dims}, {"alignment", a.alignment}};
}

class Exporter {
public:
    Exporter(const Workload &workload, const ExportOptions &options)
        : workload(workload), options(options), target(driver::file_target(workload.target())) {
        // The program that loads the libraries has the runtime.
        target = target.with_feature(Target::NoRuntime);
        require_linker();
        if (target.has_feature(Target::UserContext)) {
            throw CompileError("candidates of a bundle have no user context; leave user_context "
                               "out of the target");
        }
    }

    std::string write(const program::Schedule &schedule, const std::string &name) const {
        const std::string base = options.folder + "/" + name;
        run_on_large_stack([&] {
            const auto scheduled = program::apply(workload.algorithm(), schedule);
            driver::Signature signature;
            signature.name = candidate_function;
            signature.any_args = false;
            for (const auto &p : workload.parameters()) {
                if (!p->embedded) signature.args.push_back(p);
            }
            driver::write_files(workload.with(scheduled), target, signature,
                                {{OutputFileType::object, base + ".o"}});
        });
        const std::string linker = options.linker.empty() ? "cc" : options.linker;
        try {
            run_program({linker, "-shared", "-o", base + ".so", base + ".o", "-lm"}, base + ".so");
        } catch (const RuntimeError &) {
            std::filesystem::remove(base + ".o");
            throw;
        }
        std::filesystem::remove(base + ".o");
        return name + ".so";
    }

    json inputs() const {
        json all = json::array();
        uint32_t buffers = 0;
        for (const auto &p : workload.parameters()) {
            if (p->embedded) continue;
            json input = {{"name", p->name.text()}};
            if (p->is_buffer) {
                input.update(described(workload.layout_of(*p)));
                input["seed"] = ++buffers;
            } else {
                input["bits"] = workload.scalar_bits(*p);
            }
            all.push_back(input);
        }
        return all;
    }
    json outputs() const {
        json all = json::array();
        for (const ArrayLayout &a : workload.layouts_of_outputs()) all.push_back(described(a));
        return all;
    }

private:
    // The linker of this machine makes no libraries for others.
    void require_linker() const {
        const Target here = get_host_target();
        if (!options.linker.empty() || (target.arch == here.arch && target.bits == here.bits))
            return;
        const bool is_aarch64 = target.arch == Target::ARM && target.bits == 64;
        const std::string machine = is_aarch64 ? "AArch64" : target.to_string(),
                          such = is_aarch64 ? ", such as aarch64-linux-gnu-gcc" : "";
        throw RuntimeError(
            str("the target is ", machine, ": give --linker, a C compiler for that", such));
    }
    const Workload &workload;
    const ExportOptions &options;
    Target target;
};

}  // namespace

size_t export_bundle(const Workload &workload, const Machine &machine, const TuningLog &log,
                     const ExportOptions &options) {
    const Exporter exporter(workload, options);
    std::filesystem::create_directories(options.folder);
    const Graph &graph = workload.graph();
    json manifest = {{"version", bundle_version},     {"target", workload.target().to_string()},
                     {"cores", machine.cores},        {"inputs", exporter.inputs()},
                     {"outputs", exporter.outputs()}, {"candidates", json::array()}};
    manifest["reference"] = exporter.write(to_schedule(graph, plain_plan(graph), 1), "reference");
    json &written = manifest["candidates"];
    for (const PlannedCandidate &c :
         candidates_to_measure(workload, machine, options.candidates, options.seed, log)) {
        const std::string record = log.record_of(c.schedule, {c.sketch, to_json(c.plan), {}});
        try {
            const std::string library =
                exporter.write(c.schedule, str("candidate_", written.size()));
            written.push_back({{"library", library}, {"record", json::parse(record)}});
        } catch (const CompileError &) {
            continue;  // the compiler refuses the schedule
        }
    }
    driver::write_text(options.folder + "/manifest.json", manifest.dump(1) + "\n");
    return written.size();
}

}  // namespace tessera::autoscheduler
