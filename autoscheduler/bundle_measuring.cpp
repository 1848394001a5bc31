#include "autoscheduler/background.h"
#include "autoscheduler/bundle/bundle_writer.h"
#include "autoscheduler/measuring.h"
#include "autoscheduler/tuning_log.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

namespace tessera::autoscheduler {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;
using program::Schedule;

// A new folder, which is gone with this, and all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "tessera_search_XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw RuntimeError(str("there is no folder for what a search compiles: ", pattern));
        path = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    std::string path;
};

// Some schedules that several threads compile. Those that nobody waits for any more end by
// themselves.
class Compilation {
public:
    // Says what became of a schedule: its library, or why there is none.
    struct Compiled {
        std::string library;
        Measurement failure;
        bool is_done = false, is_begun = false;
        Clock::time_point begin;
    };

    Compilation(std::shared_ptr<const BundleWriter> writer, std::vector<Schedule> schedules,
                std::vector<std::string> names, const MeasureOptions &options)
        : writer(std::move(writer)), schedules(std::move(schedules)), names(std::move(names)),
          all(this->schedules.size()), options(options) {}

    // Throws Stopped, and leaves what is being compiled to itself, when a stop is requested.
    static std::vector<Compiled> run(const std::shared_ptr<Compilation> &c) {
        const size_t threads = std::min(size_t(std::max(1, c->options.compilers)), c->all.size());
        for (size_t i = 0; i < threads; i++) start(c);
        std::unique_lock lock(c->mutex);
        while (!std::ranges::all_of(c->all, &Compiled::is_done)) {
            c->changed.wait_for(lock, std::chrono::milliseconds(20));
            if (c->options.stop.stop_requested()) {
                c->is_given_up = true;
                throw Stopped();
            }
            c->give_up_slow_ones(c);
        }
        return c->all;
    }

private:
    static void start(const std::shared_ptr<Compilation> &c) {
        run_in_background([c] { c->work(); });
    }
    void work() {
        while (const std::optional<size_t> next = begin_next()) {
            Compiled result;
            try {
                result.library = writer->write(schedules[*next], names[*next]);
            } catch (const CompileError &e) {
                result.failure = {Outcome::Refused, 0, e.what()};
            } catch (const std::exception &e) {
                result.failure = {Outcome::Failed, 0, e.what()};
            }
            const std::lock_guard lock(mutex);
            if (all[*next].is_done) return;  // too late: another thread works in place of this one
            result.is_done = result.is_begun = true;
            all[*next] = std::move(result);
            changed.notify_all();
        }
    }
    std::optional<size_t> begin_next() {
        const std::lock_guard lock(mutex);
        const auto next = std::ranges::find(all, false, &Compiled::is_begun);
        if (next == all.end() || is_given_up) return std::nullopt;
        next->is_begun = true;
        next->begin = Clock::now();
        return size_t(next - all.begin());
    }
    void give_up_slow_ones(const std::shared_ptr<Compilation> &self) {
        for (Compiled &c : all) {
            const std::chrono::duration<double> passed = Clock::now() - c.begin;
            if (!c.is_begun || c.is_done || passed.count() < options.seconds) continue;
            c.is_done = true;
            c.failure = {Outcome::TimedOut, 0, "compiling it took too long"};
            start(self);
        }
    }

    const std::shared_ptr<const BundleWriter> writer;
    const std::vector<Schedule> schedules;
    const std::vector<std::string> names;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Compiled> all;
    bool is_given_up = false;
    const MeasureOptions options;
};

class BundleMeasuring final : public Measuring {
public:
    BundleMeasuring(const Workload &workload, const MeasureOptions &options,
                    BundleMeasurer measurer)
        : options(options), measurer(std::move(measurer)), cores(cores_of(options)),
          records("", workload, cores),
          writer(std::make_shared<BundleWriter>(workload, folder.path, "")) {}

    Measurement run_reference(const Schedule &reference) override {
        const Compiled compiled = compile({reference}, {"reference"})[0];
        if (compiled.library.empty()) return compiled.failure;
        library_of_reference = compiled.library;
        Measurement result = {Outcome::Failed, 0, "nothing was told of it"};
        try {
            measure_bundle({}, {}, [&](const json &record) {
                if (record.contains("reference"))
                    result = {Outcome::Measured, record["reference"], ""};
            });
        } catch (const RuntimeError &e) {
            result.message = e.what();
        }
        return result;
    }

    std::vector<Measurement> measure(const std::vector<Schedule> &schedules, double hopeless,
                                     const Told &told) override {
        BundleWriter::How how;
        how.hopeless = hopeless;
        return measured(schedules, how, told);
    }
    std::vector<Measurement> in_turns(const std::vector<Schedule> &schedules) override {
        BundleWriter::How how;
        how.in_turns = true;
        return measured(schedules, how, {});
    }

private:
    using Compiled = Compilation::Compiled;
    using Take = std::function<void(const json &record)>;

    static int cores_of(const MeasureOptions &options) {
        return options.threads > 0 ? options.threads : int(std::thread::hardware_concurrency());
    }

    std::vector<Compiled> compile(const std::vector<Schedule> &schedules,
                                  const std::vector<std::string> &names) const {
        return Compilation::run(std::make_shared<Compilation>(writer, schedules, names, options));
    }

    std::vector<Measurement> measured(const std::vector<Schedule> &schedules,
                                      const BundleWriter::How &how, const Told &told) {
        std::vector<std::string> names;
        for (size_t i = 0; i < schedules.size(); i++) names.push_back(str("candidate_", count++));
        std::vector<Measurement> all(schedules.size());
        std::vector<BundleWriter::Entry> entries;
        std::map<std::string, size_t> places;  // by the schedules of the records
        std::vector<bool> is_told(schedules.size());
        const auto tell = [&](size_t i, const Measurement &m) {
            if (is_told[i]) return;
            is_told[i] = true;
            all[i] = m;
            if (told) told(i, m);
        };
        const std::vector<Compiled> compiled = compile(schedules, names);
        for (size_t i = 0; i < schedules.size(); i++) {
            if (compiled[i].library.empty()) {
                tell(i, compiled[i].failure);
                continue;
            }
            const std::string record = records.record_of(schedules[i], {});
            places[json::parse(record).at("schedule").get<std::string>()] = i;
            entries.push_back({compiled[i].library, record});
        }
        const auto take = [&](const json &record) {
            const auto place = places.find(record.value("schedule", ""));
            if (place == places.end()) return;
            const auto outcome = outcome_of(record.at("outcome").get<std::string>());
            if (outcome)
                tell(place->second, {*outcome, record.at("ms"), record.value("message", "")});
        };
        if (!entries.empty()) measure_bundle(entries, how, take);
        for (size_t i = 0; i < schedules.size(); i++)
            tell(i, {Outcome::Failed, 0, "nothing was told of it"});
        for (const Compiled &c : compiled) {
            if (!c.library.empty()) std::filesystem::remove(folder.path + "/" + c.library);
        }
        return all;
    }

    void measure_bundle(const std::vector<BundleWriter::Entry> &entries, BundleWriter::How how,
                        const Take &take) const {
        how.seconds = options.seconds;
        how.run_seconds = options.run_seconds;
        how.keeps_reference = true;
        writer->write_manifest(cores, library_of_reference, entries, how);
        const auto told = [&](const std::string &line) {
            const json record = json::parse(line, nullptr, false);
            if (record.is_object()) take(record);
        };
        measurer(folder.path, told, options.stop);
        if (options.stop.stop_requested()) throw Stopped();
    }

    const MeasureOptions options;
    const BundleMeasurer measurer;
    const int cores;
    const TuningLog records;
    const TemporaryFolder folder;
    const std::shared_ptr<const BundleWriter> writer;
    std::string library_of_reference;
    size_t count = 0;  // of candidates so far
};

}  // namespace

std::unique_ptr<Measuring> measured_in_bundles(const Workload &workload,
                                               const MeasureOptions &options,
                                               BundleMeasurer measurer) {
    return std::make_unique<BundleMeasuring>(workload, options, std::move(measurer));
}

}  // namespace tessera::autoscheduler
