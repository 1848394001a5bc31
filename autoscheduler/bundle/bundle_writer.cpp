#include "autoscheduler/bundle/bundle_writer.h"
#include "autoscheduler/bundle/log_file.h"
#include "autoscheduler/bundle/object_file.h"
#include "base/large_stack.h"
#include "base/silence.h"
#include "driver/files.h"
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

json inputs_of(const Workload &workload) {
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
json outputs_of(const Workload &workload) {
    json all = json::array();
    for (const ArrayLayout &a : workload.layouts_of_outputs()) all.push_back(described(a));
    return all;
}

bool is_of_this_machine(const Target &target) {
    const Target here = get_host_target();
    return target.arch == here.arch && target.bits == here.bits;
}

// The linker of this machine makes no libraries for others.
void require_linker(const Target &target, const std::string &linker) {
    if (!linker.empty() || is_of_this_machine(target)) return;
    const bool is_aarch64 = target.arch == Target::ARM && target.bits == 64;
    const std::string machine = is_aarch64 ? "AArch64" : target.to_string(),
                      such = is_aarch64 ? ", such as aarch64-linux-gnu-gcc" : "";
    throw RuntimeError(
        str("the target is ", machine, ": give --linker, a C compiler for that", such));
}

}  // namespace

BundleWriter::BundleWriter(const Workload &workload, const std::string &folder,
                           const std::string &linker)
    : workload(workload), folder(folder), linker(linker),
      target(driver::file_target(workload.target()).with_feature(Target::NoRuntime)),
      inputs(inputs_of(workload).dump()), outputs(outputs_of(workload).dump()) {
    // The program that loads the libraries has the runtime.
    require_linker(target, linker);
    if (target.has_feature(Target::UserContext)) {
        throw CompileError("candidates of a bundle have no user context; leave user_context "
                           "out of the target");
    }
}

std::string BundleWriter::write(const program::Schedule &schedule, const std::string &name) const {
    const std::string base = folder + "/" + name;
    run_on_large_stack([&] {
        const Silence silence;
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
    if (linker.empty() && is_of_this_machine(target) && loads_objects) return name + ".o";
    try {
        run_program(
            {linker.empty() ? "cc" : linker, "-shared", "-o", base + ".so", base + ".o", "-lm"},
            base + ".so");
    } catch (const RuntimeError &) {
        std::filesystem::remove(base + ".o");
        throw;
    }
    std::filesystem::remove(base + ".o");
    return name + ".so";
}

void BundleWriter::write_manifest(int cores, const std::string &reference,
                                  const std::vector<Entry> &entries, const How &how) const {
    json candidates = json::array();
    for (const Entry &e : entries)
        candidates.push_back({{"library", e.library}, {"record", json::parse(e.record)}});
    json manifest = {{"version", bundle_version},
                     {"target", workload.target().to_string()},
                     {"cores", cores},
                     {"seconds", how.seconds},
                     {"run_seconds", how.run_seconds},
                     {"reference", reference},
                     {"inputs", json::parse(inputs)},
                     {"outputs", json::parse(outputs)},
                     {"candidates", candidates}};
    if (how.hopeless < 1e300) manifest["hopeless"] = how.hopeless;
    if (how.in_turns) manifest["in_turns"] = true;
    if (how.keeps_reference) manifest["keeps_reference"] = true;
    driver::write_text(folder + "/manifest.json", manifest.dump(1) + "\n");
}

}  // namespace tessera::autoscheduler
