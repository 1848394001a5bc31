#include "base/str.h"
#include "check.h"
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::fuzz {
namespace {

struct Child {
    pid_t pid = 0;
    int pipe = -1;
    std::string text;
};

// A child writes this before its report if it is about to run for long.
constexpr std::string_view long_run = "long run\n";

void write_all(int to, const std::string &text) {
    for (size_t at = 0; at < text.size();) {
        ssize_t n = ::write(to, text.data() + at, text.size() - at);
        if (n <= 0) return;
        at += size_t(n);
    }
}

[[noreturn]] void run_child(const Plan &plan, int to, int seconds) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    // Time of its own, since others may use the machine; and a limit for one that only waits.
    struct rlimit cpu = {rlim_t(seconds), rlim_t(seconds) + 5};
    setrlimit(RLIMIT_CPU, &cpu);
    alarm(unsigned(20 * seconds));
    Report r = check_here(plan, [&] { write_all(to, std::string(long_run)); });
    write_all(to, str(int(r.outcome), "\n", r.kind, "\n", r.message));
    _exit(0);  // no destructors: threads of the pool are still there
}

Child start(const Plan &plan, int seconds) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    Child child;
    child.pid = fork();
    if (child.pid == 0) {
        close(ends[0]);
        run_child(plan, ends[1], seconds);
    }
    close(ends[1]);
    child.pipe = ends[0];
    return child;
}

// Reads what there is; false at the end.
bool read_some(Child &child) {
    char part[4096];
    ssize_t n = ::read(child.pipe, part, sizeof(part));
    if (n <= 0) return false;
    child.text.append(part, size_t(n));
    return true;
}

Report finish(Child &child, int seconds) {
    close(child.pipe);
    int status = 0;
    waitpid(child.pid, &status, 0);
    bool is_long = child.text.starts_with(long_run);
    if (is_long) child.text.erase(0, long_run.size());
    if (is_long && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        return {Outcome::Refused, "computes too much to be run", ""};
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        return {Outcome::Fails, "timeout", str("not done after ", seconds, " seconds of work")};
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        return {Outcome::Fails, "hangs", str("not done after ", 20 * seconds, " seconds")};
    }
    if (WIFSIGNALED(status)) {
        std::string name = strsignal(WTERMSIG(status));
        return {Outcome::Fails, "crash: " + name, name};
    }
    size_t first = child.text.find('\n'), second = child.text.find('\n', first + 1);
    if (second == std::string::npos) return {Outcome::Fails, "the process ended", child.text};
    return {Outcome(child.text[0] - '0'), child.text.substr(first + 1, second - first - 1),
            child.text.substr(second + 1)};
}

}  // namespace

Report check(const Plan &plan, int seconds) {
    Child child = start(plan, seconds);
    while (read_some(child)) {
    }
    return finish(child, seconds);
}

void check_many(int jobs, int seconds, const std::function<bool(uint64_t &)> &next,
                const std::function<void(uint64_t, const Report &)> &done, int grace_seconds) {
    using Clock = std::chrono::steady_clock;
    std::map<uint64_t, Child> running;
    bool more = true;
    Clock::time_point last_start = Clock::now();
    while (more || !running.empty()) {
        uint64_t seed = 0;
        while (more && int(running.size()) < jobs && (more = next(seed))) {
            running[seed] = start(draw_plan(seed), seconds);
            last_start = Clock::now();
        }
        if (!more && Clock::now() > last_start + std::chrono::seconds(grace_seconds)) {
            for (auto &[s, child] : running) {
                kill(child.pid, SIGKILL);
                finish(child, seconds);
                done(s, {Outcome::Unfinished, "still runs at the end", ""});
            }
            return;
        }
        std::vector<pollfd> pipes;
        std::vector<uint64_t> seeds;
        for (auto &[s, child] : running) {
            pipes.push_back({child.pipe, POLLIN, 0});
            seeds.push_back(s);
        }
        poll(pipes.data(), pipes.size(), 1000);
        for (size_t i = 0; i < pipes.size(); i++) {
            Child &child = running[seeds[i]];
            if (!pipes[i].revents || read_some(child)) continue;
            Report report = finish(child, seconds);
            running.erase(seeds[i]);
            done(seeds[i], report);
        }
    }
}

}  // namespace tessera::fuzz
