#include "autoscheduler/measure.h"

namespace tessera::autoscheduler {

using program::Schedule;

Measurer::Measurer(const Workload &workload, const Schedule &reference,
                   const MeasureOptions &options, const BundleMeasurer &measurer)
    : who(measurer ? measured_in_bundles(workload, options, measurer)
                   : measured_by_fork(workload, reference, options)),
      of_reference(who->run_reference(reference)) {}

Measurer::~Measurer() = default;

std::vector<Measurement> Measurer::operator()(const std::vector<Schedule> &schedules,
                                              double hopeless, const Told &told) {
    if (schedules.empty()) return {};
    return who->measure(schedules, hopeless, told);
}

std::vector<Measurement> Measurer::in_turns(const std::vector<Schedule> &schedules) {
    return who->in_turns(schedules);
}

}  // namespace tessera::autoscheduler
