#include "autoscheduler/bundle/export_bundle.h"
#include "autoscheduler/bundle/bundle_writer.h"
#include "autoscheduler/bundle/candidates.h"
#include "autoscheduler/plan_json.h"
#include <filesystem>

namespace tessera::autoscheduler {

size_t export_bundle(const Workload &workload, const Machine &machine, const TuningLog &log,
                     const ExportOptions &options) {
    const BundleWriter writer(workload, options.folder, options.linker);
    std::filesystem::create_directories(options.folder);
    const Graph &graph = workload.graph();
    const std::string reference =
        writer.write(to_schedule(graph, plain_plan(graph), 1), "reference");
    std::vector<BundleWriter::Entry> entries;
    for (const PlannedCandidate &c :
         candidates_to_measure(workload, machine, options.candidates, options.seed, log)) {
        const std::string record = log.record_of(c.schedule, {c.sketch, to_json(c.plan), {}});
        try {
            entries.push_back(
                {writer.write(c.schedule, str("candidate_", entries.size())), record});
        } catch (const CompileError &) {
            continue;  // the compiler refuses the schedule
        }
    }
    writer.write_manifest(machine.cores, reference, entries, {});
    return entries.size();
}

}  // namespace tessera::autoscheduler
