#pragma once
#include "autoscheduler/bundle/log_lines.h"
#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace tessera::autoscheduler {

constexpr int bundle_version = 2, log_version = 1;
// The function of each library of a bundle, and how it is called with an array of arguments.
constexpr const char *candidate_function = "tessera_candidate";
constexpr const char *candidate_argv = "tessera_candidate_argv";

// Appends a record to a log of measurements by one write. RuntimeError if that fails.
void append_record(const std::string &path, const std::string &record);

// Calls `take` with each record of a log; lines that are none are passed over. A file that is not
// there has none. RuntimeError if it cannot be read, or if it has lines and none is a record: it is
// no log then.
LogLines read_records(const std::string &path,
                      const std::function<void(const nlohmann::json &)> &take);

}  // namespace tessera::autoscheduler
