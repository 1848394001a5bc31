#include "autoscheduler/bundle/log_file.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/warning.h"
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tessera::autoscheduler {

using nlohmann::json;

namespace {

bool is_record(const json &line) {
    constexpr std::array texts = {"compiler", "algorithm", "family", "shape",
                                  "target",   "schedule",  "outcome"};
    if (!line.is_object() || line.value("version", json()) != log_version) return false;
    const auto is_text = [&](const char *name) {
        return line.contains(name) && line[name].is_string();
    };
    return std::ranges::all_of(texts, is_text) && line.value("cores", json()).is_number() &&
           line.value("ms", json()).is_number();
}

}  // namespace

void append_record(const std::string &path, const std::string &record) {
    try {
        append_line(path, record);
    } catch (const RuntimeError &e) {
        throw RuntimeError(str("the log of measurements ", path, " cannot be written: ", e.what()));
    }
}

LogLines read_records(const std::string &path, const std::function<void(const json &)> &take) {
    LogLines lines;
    lines.is_there = std::filesystem::exists(path);
    if (!lines.is_there) return lines;
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path))
        throw RuntimeError(str("the log of measurements ", path, " cannot be read"));
    bool may_begin_a_record = false;
    for (std::string line; std::getline(file, line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        const json record = json::parse(line, nullptr, false);
        if (is_record(record)) {
            lines.records++;
            take(record);
            continue;
        }
        lines.damaged++;
        lines.is_cut_off = file.eof();
        may_begin_a_record = line.starts_with("{\"");
    }
    const bool is_cut_off_alone = lines.is_cut_off && lines.damaged == 1 && may_begin_a_record;
    if (lines.records == 0 && lines.damaged > 0 && !is_cut_off_alone) {
        throw RuntimeError(str(path, " is no log of measurements: none of its lines is a record; "
                                     "name another file"));
    }
    return lines;
}

void LogLines::warn_of_damage(const std::string &path) const {
    const size_t unusual = damaged - (is_cut_off ? 1 : 0);
    if (unusual == 0) return;
    warn(Location(), str(unusual, unusual == 1 ? " line of " : " lines of ", path,
                         unusual == 1 ? " is no measurement" : " are no measurements"));
}

}  // namespace tessera::autoscheduler
