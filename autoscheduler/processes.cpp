#include "autoscheduler/processes.h"
#include "autoscheduler/arrays.h"
#include "base/error.h"
#include "base/float16.h"
#include "base/silence.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <poll.h>
#include <random>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tessera::autoscheduler {

using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

template<typename T>
bool is_near(const uint8_t *a, const uint8_t *b, size_t elements, double tolerance) {
    double largest = 0, difference = 0;
    for (size_t i = 0; i < elements; i++) {
        T x, y;
        std::memcpy(&x, a + i * sizeof(T), sizeof(T));
        std::memcpy(&y, b + i * sizeof(T), sizeof(T));
        if (!std::isfinite(double(x)) || !std::isfinite(double(y))) {
            const bool is_no_number = std::isnan(double(x)) && std::isnan(double(y));
            if (!is_no_number && x != y) return false;
            continue;
        }
        largest = std::max(largest, std::abs(double(y)));
        difference = std::max(difference, std::abs(double(x) - double(y)));
    }
    return difference <= tolerance * std::max(largest, 1e-30);
}

// Sums may be taken in another order, and a float that is rounded the other way may become the next
// integer.
bool is_same(const Runnable::Output &output, const uint8_t *expected) {
    const tessera_type_t t = output.type;
    const size_t bytes = output.bytes;
    if (t.code == tessera_type_float && t.bits == 32) {
        return is_near<float>(output.data, expected, bytes / 4, 1e-3);
    }
    if (t.code == tessera_type_float && t.bits == 64) {
        return is_near<double>(output.data, expected, bytes / 8, 1e-6);
    }
    // Each sum in between is rounded to so few digits, in whatever order it is taken.
    if (t.code == tessera_type_float) {
        return is_near<float16_t>(output.data, expected, bytes / 2, 1.0 / 64);
    }
    if (t.code == tessera_type_bfloat) {
        return is_near<bfloat16_t>(output.data, expected, bytes / 2, 1.0 / 16);
    }
    if (t.code != tessera_type_int && t.code != tessera_type_uint) return true;
    if (t.bits == 8 && t.code == tessera_type_uint) {
        for (size_t i = 0; i < bytes; i++) {
            if (std::abs(int(output.data[i]) - int(expected[i])) > 1) return false;
        }
        return true;
    }
    if (t.bits == 16 && t.code == tessera_type_uint) {
        return is_near<uint16_t>(output.data, expected, bytes / 2, 1e-3);
    }
    return std::memcmp(output.data, expected, bytes) == 0;
}

double median(std::array<double, placements> all) {
    std::ranges::sort(all);
    return all[placements / 2];
}

bool write_all(int file, const void *data, size_t bytes) {
    return write(file, data, bytes) == ssize_t(bytes);
}

// A worker writes this once it has compiled and once it is done.
struct Report {
    Outcome outcome = Outcome::Crashed;
    bool is_compiled = false;  // and wants to run
    double milliseconds = 0;
    char message[480] = {};
};

Report report_of(const Measurement &m) {
    Report r;
    r.outcome = m.outcome;
    r.milliseconds = m.milliseconds;
    std::strncpy(r.message, m.message.c_str(), sizeof(r.message) - 1);
    return r;
}

}  // namespace

std::string_view name_of(Outcome o) {
    switch (o) {
    case Outcome::Measured: return "measured";
    case Outcome::Refused: return "refused";
    case Outcome::Failed: return "failed";
    case Outcome::Wrong: return "wrong";
    case Outcome::Crashed: return "crashed";
    case Outcome::TimedOut: return "timed out";
    }
    return "?";
}

std::optional<Outcome> outcome_of(std::string_view name) {
    for (Outcome o : {Outcome::Measured, Outcome::Refused, Outcome::Failed, Outcome::Wrong,
                      Outcome::Crashed, Outcome::TimedOut}) {
        if (name == name_of(o)) return o;
    }
    return std::nullopt;
}

// Memory that the processes have together: the values of all outputs, one after the other.
struct MeasuringProcesses::Shared {
    uint8_t *memory = nullptr;
    size_t bytes = 0;
    explicit Shared(size_t wanted) : bytes(std::max<size_t>(wanted, 1)) {
        void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw RuntimeError("there is no memory for the outputs of a pipeline");
        memory = static_cast<uint8_t *>(p);
    }
    ~Shared() { munmap(memory, bytes); }
    Shared(const Shared &) = delete;
};

struct MeasuringProcesses::Worker {
    pid_t process = -1;
    int results = -1, permission = -1;
    Clock::time_point begin = Clock::now();
    bool is_compiled = false, is_running = false, is_done = false;
    bool is_stopped = false;
    Clock::time_point stopped;
    Measurement measurement;

    ~Worker() {
        if (process > 0) {
            kill(process, SIGKILL);
            waitpid(process, nullptr, 0);
        }
        if (results >= 0) close(results);
        if (permission >= 0) close(permission);
    }
    // While another one is timed, which would share its cores with it.
    void stop() {
        if (is_stopped || is_compiled || is_done) return;
        is_stopped = kill(process, SIGSTOP) == 0;
        stopped = Clock::now();
    }
    void go_on() {
        if (!is_stopped) return;
        kill(process, SIGCONT);
        begin += Clock::now() - stopped;
        is_stopped = false;
    }
    // Reads what the process says next; false: it has said its last word.
    bool read_report() {
        Report r;
        const ssize_t got = read(results, &r, sizeof(r));
        if (got == ssize_t(sizeof(r)) && r.is_compiled) {
            is_compiled = true;
            return true;
        }
        is_done = true;
        if (got == ssize_t(sizeof(r))) {
            measurement = {r.outcome, r.milliseconds, r.message};
        } else {
            int status = 0;
            waitpid(process, &status, 0);
            process = -1;
            const char *by = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "its own exit";
            measurement = {Outcome::Crashed, 0, str("the process was ended by ", by)};
        }
        return false;
    }
    void time_out(const char *what) {
        is_done = true;
        measurement = {Outcome::TimedOut, 0, str(what, " took too long")};
    }
};

MeasuringProcesses::MeasuringProcesses(size_t output_bytes, const MeasureOptions &options)
    : options(options), shared(std::make_unique<Shared>(output_bytes)) {}

Measurement MeasuringProcesses::run_reference(const Prepare &reference) {
    auto worker = start(reference, true, 1e300);
    const char go = 1;
    while (wait_for_report(*worker, 6 * options.seconds, "the reference"))
        write_all(worker->permission, &go, 1);
    return worker->measurement;
}

std::span<uint8_t> MeasuringProcesses::expected() { return {shared->memory, shared->bytes}; }

// Waits for what the process says next; false: it has said its last word, or the time is up.
bool MeasuringProcesses::wait_for_report(Worker &w, double seconds, const char *what) const {
    constexpr int look_around = 50;  // milliseconds
    for (const auto begin = Clock::now(); seconds_since(begin) < seconds;) {
        pollfd wait = {w.results, POLLIN, 0};
        if (poll(&wait, 1, look_around) > 0) return w.read_report();
        if (options.stop.stop_requested()) throw Stopped();
    }
    w.time_out(what);
    return false;
}

MeasuringProcesses::~MeasuringProcesses() = default;

std::unique_ptr<MeasuringProcesses::Worker>
MeasuringProcesses::start(const Prepare &prepare, bool is_reference, double hopeless) {
    int results[2], permission[2];
    if (pipe(results) != 0 || pipe(permission) != 0) {
        throw RuntimeError("there is no pipe to a process that measures");
    }
    // Its threads would not be there in the other process.
    tessera_shutdown_thread_pool();
    auto worker = std::make_unique<Worker>();
    const pid_t parent = getpid();  // 1, where a container has no other process
    worker->process = fork();
    if (worker->process < 0) throw RuntimeError("there is no process to measure in");
    if (worker->process == 0) {
        // Whoever ends the search ends this.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);  // too late for that
        close(results[0]);
        close(permission[1]);
        work(prepare, is_reference, hopeless, results[1], permission[0]);
    }
    close(results[1]);
    close(permission[0]);
    worker->results = results[0];
    worker->permission = permission[1];
    return worker;
}

// Runs a candidate in its process.
class MeasuringProcesses::Timer {
public:
    Timer(Runnable candidate, const MeasureOptions &options)
        : candidate(std::move(candidate)), options(options) {
        tessera_set_num_threads(options.threads > 0 ? options.threads
                                                    : int(std::thread::hardware_concurrency()));
    }

    // Compares its results with those of the reference, or leaves them there; and times it.
    Measurement check(uint8_t *expected, bool is_reference, double hopeless) {
        least = run(1);
        for (const Runnable::Output &o : candidate.outputs) {
            if (is_reference) std::memcpy(expected, o.data, o.bytes);
            if (!is_same(o, expected)) {
                return {Outcome::Wrong, 0, "its results are not those of the reference"};
            }
            expected += o.bytes;
        }
        if (least > hopeless || is_reference) return {Outcome::Measured, least, ""};
        const auto begin = Clock::now();
        double best = least = std::min(least, run(1));  // warm now
        for (int i = 0; i < 2 || (i < 200 && seconds_since(begin) < options.run_seconds); i++) {
            const int runs = runs_of_sample();
            const double each = run(runs);
            best = i == 0 && runs > 1 ? each : std::min(best, each);
        }
        return {Outcome::Measured, best, ""};
    }

    // Milliseconds of a run in the fastest of several samples, after others that warm it up.
    double sample(int placement) {
        constexpr double warm_up = 0.005, enough = 0.04;
        double best = 1e300;
        if (candidate.place) candidate.place(placement);
        for (const auto begin = Clock::now(); seconds_since(begin) < warm_up;) run(1);
        const auto begin = Clock::now();
        do {
            best = std::min(best, run(runs_of_sample()));
        } while (seconds_since(begin) < enough);
        return best;
    }

private:
    // One run alone may be lucky: of those that are short, several are a sample.
    int runs_of_sample() const {
        constexpr double long_enough = 1, most = 1000;
        return int(std::clamp(std::ceil(long_enough / std::max(least, 1e-6)), 1.0, most));
    }
    double milliseconds_now() const {
        timespec t = {};
        clock_gettime(options.processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
        return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
    }
    double run(int times) {
        const double begin = milliseconds_now();
        for (int i = 0; i < times; i++) candidate.run();
        const double each = (milliseconds_now() - begin) / times;
        least = least > 0 ? std::min(least, each) : each;
        return each;
    }

    const Runnable candidate;
    const MeasureOptions options;
    double least = 0;  // milliseconds that a run has taken
};

void MeasuringProcesses::work(const Prepare &prepare, bool is_reference, double hopeless,
                              int results, int permission) const {
    // The program's handlers are not for this process: another thread may hold what they wait for.
    silence_process();
    for (int s : {SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT, SIGTERM}) signal(s, SIG_DFL);
    // A key that interrupts the search does not count as a crash of this candidate.
    signal(SIGINT, SIG_IGN);
    rlimit limit = {};
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, options.memory);
    setrlimit(RLIMIT_DATA, &limit);
    const auto guarded = [](const std::function<Measurement()> &f) -> Measurement {
        try {
            return f();
        } catch (const CompileError &e) {
            return {Outcome::Refused, 0, e.what()};
        } catch (const std::exception &e) {
            return {Outcome::Failed, 0, e.what()};
        }
    };
    std::optional<Timer> timer;
    Measurement m = guarded([&] {
        const Runnable candidate = prepare();
        Report ready;
        ready.is_compiled = true;
        char go = 0;
        if (!write_all(results, &ready, sizeof(ready)) || read(permission, &go, 1) != 1) _exit(1);
        return timer.emplace(candidate, options).check(shared->memory, is_reference, hopeless);
    });
    Report r = report_of(m);
    write_all(results, &r, sizeof(r));
    // Whoever wants more says so, and in which placement.
    char go = 0;
    while (m.is_valid() && read(permission, &go, 1) == 1) {
        m = guarded([&]() -> Measurement { return {Outcome::Measured, timer->sample(go), ""}; });
        r = report_of(m);
        write_all(results, &r, sizeof(r));
    }
    _exit(0);
}

std::vector<Measurement> MeasuringProcesses::operator()(const std::vector<Prepare> &candidates,
                                                        double hopeless, const Told &told) {
    const int cores = int(std::thread::hardware_concurrency());
    const int threads = options.threads > 0 ? options.threads : cores;
    // A run that waits for a core that another one compiles on takes many times as long.
    const bool cores_are_scarce = threads + options.compilers - 1 > cores;
    std::vector<Measurement> all(candidates.size());
    std::vector<std::pair<size_t, std::unique_ptr<Worker>>> workers;
    size_t next = 0;
    while (next < candidates.size() || !workers.empty()) {
        const bool one_runs =
            std::ranges::any_of(workers, [](const auto &w) { return w.second->is_running; });
        while (next < candidates.size() && workers.size() < size_t(options.compilers)) {
            if (one_runs && cores_are_scarce) break;
            workers.emplace_back(next, start(candidates[next], false, hopeless));
            next++;
        }
        for (auto &[which, worker] : workers) {
            if (one_runs || !worker->is_compiled) continue;
            if (cores_are_scarce) {
                for (auto &[other, w] : workers) w->stop();
            }
            const char go = 1;
            worker->is_running = write_all(worker->permission, &go, 1);
            worker->begin = Clock::now();
            break;
        }
        if (options.stop.stop_requested()) throw Stopped();
        std::vector<pollfd> waits;
        for (auto &[which, worker] : workers) waits.push_back({worker->results, POLLIN, 0});
        poll(waits.data(), nfds_t(waits.size()), 50);
        for (size_t i = 0; i < workers.size(); i++) {
            Worker &w = *workers[i].second;
            const bool is_waiting = w.is_stopped || (w.is_compiled && !w.is_running);
            if (waits[i].revents != 0) {
                w.read_report();
            } else if (!is_waiting && seconds_since(w.begin) > options.seconds) {
                w.time_out(w.is_running ? "running it" : "compiling it");
            }
            if (!w.is_done) continue;
            all[workers[i].first] = w.measurement;
            if (told) told(workers[i].first, w.measurement);
            if (!w.is_running) continue;
            for (auto &[other, stopped] : workers) stopped->go_on();
        }
        std::erase_if(workers, [](const auto &w) { return w.second->is_done; });
    }
    return all;
}

std::vector<Measurement> MeasuringProcesses::in_turns(const std::vector<Prepare> &candidates) {
    constexpr int least_rounds = placements, most_rounds = 5 * placements;
    constexpr double enough_seconds = 4;
    const char go = 1;
    std::vector<std::unique_ptr<Worker>> workers;
    for (const Prepare &p : candidates) {
        workers.push_back(start(p, false, 1e300));
        if (!wait_for_report(*workers.back(), options.seconds, "compiling it")) continue;
        write_all(workers.back()->permission, &go, 1);
        wait_for_report(*workers.back(), options.seconds, "running it");
    }
    std::vector<std::array<double, placements>> least(workers.size());
    for (auto &of_worker : least) of_worker.fill(1e300);
    const auto begin = Clock::now();
    for (int round = 0; round < most_rounds; round++) {
        if (round >= least_rounds && seconds_since(begin) > enough_seconds) break;
        const char placement = char(round % placements);
        for (size_t i = 0; i < workers.size(); i++) {
            const size_t which = (i + size_t(round)) % workers.size();
            Worker &w = *workers[which];
            if (!w.measurement.is_valid()) continue;
            write_all(w.permission, &placement, 1);
            wait_for_report(w, options.seconds, "running it");
            double &ms = least[which][size_t(placement)];
            ms = std::min(ms, w.measurement.milliseconds);
        }
    }
    std::vector<Measurement> all;
    for (size_t i = 0; i < workers.size(); i++) {
        all.push_back(workers[i]->measurement);
        if (all.back().is_valid()) all.back().milliseconds = median(least[i]);
    }
    return all;
}

void fill_with_random_values(uint8_t *data, size_t bytes, tessera_type_t type, uint32_t seed) {
    std::mt19937 random(seed);
    constexpr size_t some = 1 << 16, many = 4 << 20;
    const size_t each = (type.bits + 7u) / 8, elements = bytes / each;
    const uint32_t steps = elements > some ? 4 : 256;
    const bool is_float = type.code == tessera_type_float || type.code == tessera_type_bfloat;
    for (uint8_t *at = data; at + each <= data + bytes; at += each) {
        const uint32_t r = random();
        const bool is_zero = elements > many && (r >> 16) % 16 != 0;
        const double number = is_zero ? 0 : double(r % steps) / double(steps);
        if (is_float && type.bits == 32) {
            const auto v = float(number);
            std::memcpy(at, &v, sizeof(v));
        } else if (is_float && type.bits == 64) {
            std::memcpy(at, &number, sizeof(number));
        } else if (is_float) {
            // Few, and 0.5 or 1: sums of them and of their products have few digits, too.
            const bool is_few = (r >> 16) % 8 == 0, is_one = r % 2 != 0;
            const float few = is_few ? (is_one ? 1.0f : 0.5f) : 0.0f;
            const uint16_t v = type.code == tessera_type_bfloat ? bfloat16_t(few).to_bits()
                                                                : float16_t(few).to_bits();
            std::memcpy(at, &v, sizeof(v));
        } else {
            const uint64_t v = type.bits == 1 ? r % 2 : r % 128;
            std::memcpy(at, &v, each);
        }
    }
}

}  // namespace tessera::autoscheduler
