#include "autoscheduler/tune_template.h"
#include "base/error.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace tessera {
namespace {

// A file descriptor that is closed with this, and by no program that is started.
class Descriptor {
public:
    explicit Descriptor(int number = -1) : number(number) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor &&d) noexcept : number(std::exchange(d.number, -1)) {}
    void reset() {
        if (number >= 0) close(std::exchange(number, -1));
    }
    int get() const { return number; }

private:
    int number;
};

struct Pipe {
    Descriptor read_end, write_end;
    static Pipe make() {
        std::array<int, 2> ends = {-1, -1};
        if (pipe2(ends.data(), O_CLOEXEC) != 0)
            throw RuntimeError("there is no pipe to the program that measures");
        return {Descriptor(ends[0]), Descriptor(ends[1])};
    }
};

// tessera-measure at work on a bundle.
class StartedMeasurer {
public:
    StartedMeasurer(const std::string &program, const std::string &folder)
        : program(program), errors(folder + "/errors.txt"), input(Pipe::make()),
          output(Pipe::make()) {
        std::array<std::string, 5> words = {program, folder, "--log", "-", "--end-with-input"};
        std::array<char *, 6> arguments = {};
        std::ranges::transform(words, arguments.begin(), [](std::string &w) { return w.data(); });
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&files);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_adddup2(&files, input.read_end.get(), STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, output.write_end.get(), STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0666);
        // A key that interrupts this program is not for that one.
        posix_spawnattr_setpgroup(&attributes, 0);
        sigset_t all_signals, none;
        sigfillset(&all_signals);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all_signals);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETSIGMASK);
        const int error =
            posix_spawn(&process, program.c_str(), &files, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        if (error != 0) {
            process = -1;
            throw RuntimeError(str(program, " cannot be run: ", std::strerror(error)));
        }
        input.read_end.reset();
        output.write_end.reset();
    }
    StartedMeasurer(const StartedMeasurer &) = delete;
    ~StartedMeasurer() {
        if (process <= 0) return;
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
    }

    // Reads until the program ends, which throws RuntimeError if it has failed, or a stop is
    // requested.
    void read_records(const std::function<void(const std::string &)> &told,
                      const std::stop_token &stop) {
        constexpr int look_around = 20;  // milliseconds
        while (!stop.stop_requested()) {
            pollfd wait = {output.read_end.get(), POLLIN, 0};
            if (poll(&wait, 1, look_around) <= 0) continue;
            std::array<char, 4096> part = {};
            const ssize_t got = read(wait.fd, part.data(), part.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return require_success();
            text.append(part.data(), size_t(got));
            for (size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
                const std::string line = text.substr(0, end);
                text.erase(0, end + 1);
                told(line);
            }
        }
    }

private:
    void require_success() {
        int status = 0;
        waitpid(std::exchange(process, -1), &status, 0);
        if (status == 0) return;
        std::ifstream file(errors);
        std::string why;
        std::getline(file, why);
        const std::string_view prefix = "error: ";
        if (why.starts_with(prefix)) why.erase(0, prefix.size());
        if (why.empty())
            why = WIFSIGNALED(status) ? str("it was ended by ", strsignal(WTERMSIG(status)))
                                      : str("its exit status is ", WEXITSTATUS(status));
        throw RuntimeError(str(program, ": ", why));
    }

    const std::string program, errors;
    Pipe input, output;
    pid_t process = -1;
    std::string text;  // that it has written, but for whole lines
};

}  // namespace

BundleMeasurer measure_by_program(const std::string &program) {
    return
        [program](const std::string &folder, const std::function<void(const std::string &)> &told,
                  const std::stop_token &stop) {
            StartedMeasurer(program, folder).read_records(told, stop);
        };
}

}  // namespace tessera
