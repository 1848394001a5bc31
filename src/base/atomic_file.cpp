#include "base/atomic_file.h"
#include "base/error.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail() { throw RuntimeError(std::strerror(errno)); }

// Returns where a path leads to by links; there need not be a file. Links in /proc are not
// followed: they stand for what a process has opened, such as its standard output, and not for the
// file's name.
fs::path follow_links(fs::path path) {
    constexpr int most_links = 40;
    for (int i = 0; i < most_links; i++) {
        std::error_code failed;
        const fs::path above = path.has_parent_path() ? path.parent_path() : ".";
        const fs::path folder = fs::canonical(above, failed);
        if (failed) break;  // opening it says why
        path = folder / path.filename();
        if (folder.native().starts_with("/proc/")) break;
        const fs::path next = fs::read_symlink(path, failed);
        if (failed) break;
        path = folder / next;
    }
    return path;
}

// Gives a file the owner and the mode of the one that it replaces.
bool take_after(int file, const struct stat &old) {
    struct stat own{};
    if (fstat(file, &own) != 0) return false;
    const bool same_owner = own.st_uid == old.st_uid && own.st_gid == old.st_gid;
    if (!same_owner && fchown(file, old.st_uid, old.st_gid) != 0) return false;
    return fchmod(file, old.st_mode & 07777) == 0;
}

// Opens a new file in the folder of `path`, and writes its name to `temporary`. Returns -1, with
// errno, if that cannot be, or if the file could not have the owner of the `old` one.
int create_beside(const fs::path &path, const struct stat *old, std::string &temporary) {
    static std::atomic<unsigned> made = 0;
    int file = -1;
    do {
        temporary = path.parent_path() / str(".tessera-", getpid(), "-", made++);
        file = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0 || !old || take_after(file, *old)) return file;
    const int error = errno;
    close(file);
    unlink(temporary.c_str());
    errno = error;
    return -1;
}

int open_in_place(const std::string &path, bool is_plain) {
    return open(path.c_str(), (is_plain ? O_RDWR : O_WRONLY) | O_TRUNC | O_CLOEXEC);
}

// Files that cannot be synced, such as pipes, have nothing to lose.
bool sync(int file) { return fsync(file) == 0 || errno == EINVAL || errno == EROFS; }

// So that the name of a new file lasts, too. Not all file systems can do this, or need it.
void sync_folder(const fs::path &folder) {
    const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return;
    fsync(opened);
    close(opened);
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) bytes.remove_prefix(size_t(written));
    }
    return true;
}

bool ends_a_line(int file, off_t size) {
    char last = '\n';
    return size <= 0 || (pread(file, &last, 1, size - 1) == 1 && last == '\n');
}

}  // namespace

AtomicFile::AtomicFile(const std::string &path, Durability durability)
    : path(follow_links(path)), durability(durability) {
    struct stat old{};
    const bool exists = lstat(this->path.c_str(), &old) == 0, is_plain = S_ISREG(old.st_mode);
    if (exists && faccessat(AT_FDCWD, this->path.c_str(), W_OK, AT_EACCESS) != 0) fail();
    int opened = -1;
    if (!exists || is_plain) {
        opened = create_beside(this->path, exists ? &old : nullptr, temporary);
        const bool only_in_place = exists && (errno == EACCES || errno == EPERM);
        if (opened < 0 && !only_in_place) fail();
    }
    if (opened < 0) {
        temporary.clear();
        opened = open_in_place(this->path, is_plain);
    }
    if (opened < 0) fail();
    file.reset(fdopen(opened, "wb"));
    if (file) return;
    const int error = errno;
    close(opened);
    if (!temporary.empty()) unlink(temporary.c_str());
    errno = error;
    fail();
}

AtomicFile::~AtomicFile() {
    file.reset();
    if (!temporary.empty()) unlink(temporary.c_str());
}

void AtomicFile::write(const void *from, size_t bytes) {
    if (bytes > 0 && std::fwrite(from, 1, bytes, file.get()) != bytes) fail();
}

void AtomicFile::commit() {
    if (std::ferror(file.get())) throw RuntimeError("not all of it could be written");
    if (std::fflush(file.get()) != 0) fail();
    const bool syncs = durability == Durability::Synced;
    if (syncs && !sync(fileno(file.get()))) fail();
    if (std::fclose(file.release()) != 0) fail();
    if (temporary.empty()) return;
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail();
    temporary.clear();
    if (syncs) sync_folder(fs::path(path).parent_path());
}

void write_file(const std::string &path, std::string_view bytes, Durability durability) {
    try {
        AtomicFile file(path, durability);
        file.write(bytes.data(), bytes.size());
        file.commit();
    } catch (const RuntimeError &e) {
        throw RuntimeError(str("cannot write the file ", path, ": ", e.what()));
    }
}

void append_line(const std::string &path, const std::string &line) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) fail();
    const bool alone = flock(file, LOCK_EX) == 0;
    const off_t before = lseek(file, 0, SEEK_END);
    // After a line that was cut off, this one is still a line of its own.
    const bool written =
        write_all(file, str(ends_a_line(file, before) ? "" : "\n", line, "\n")) && sync(file);
    const std::string reason = std::strerror(errno);
    // If this fails, too, readers find a line that is cut off.
    [[maybe_unused]] const bool is_cut =
        !written && alone && before >= 0 && ftruncate(file, before) == 0;
    close(file);
    if (!written) throw RuntimeError(reason);
}

}  // namespace tessera
