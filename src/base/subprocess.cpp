#include "base/subprocess.h"
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera {
namespace {

std::string read_all(int file) {
    std::string text;
    std::array<char, 4096> piece;
    while (true) {
        const ssize_t n = read(file, piece.data(), piece.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return text;
        text.append(piece.data(), size_t(n));
    }
}

int wait_for(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string> &arguments) {
    std::vector<char *> argv;
    for (const std::string &a : arguments) argv.push_back(const_cast<char *>(a.c_str()));
    argv.push_back(nullptr);
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t process = 0;
    const int failed = posix_spawnp(&process, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    ProcessResult result;
    if (!failed) {
        result.output = read_all(ends[0]);
        result.code = wait_for(process);
    }
    close(ends[0]);
    return result;
}

}  // namespace tessera
