#pragma once
#include <string>

namespace tessera::autoscheduler {

constexpr int bundle_version = 1;
// The function of each library of a bundle, and how it is called with an array of arguments.
constexpr const char *candidate_function = "tessera_candidate";
constexpr const char *candidate_argv = "tessera_candidate_argv";

// Appends a record to a log of measurements by one write. RuntimeError if that fails.
void append_record(const std::string &path, const std::string &record);

}  // namespace tessera::autoscheduler
