#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace tessera {

// Says whether a file has reached the disk when it is committed. That takes milliseconds: it is for
// what somebody waited for, and for what others are made of.
enum class Durability { Ordinary, Synced };

// A file that is written beside the one whose place it takes, and only takes it when all of it has
// been written. Until then, and whenever something fails, what was there stays as it was, and
// nothing else is left behind.
//
// Links are followed, and the mode and the owner of a file that is replaced are kept; other hard
// links to it keep the old contents. A path that is no plain file (a pipe, a terminal, /dev/stdout)
// is written in place, and so is a file in a folder where this process may make no others.
class AtomicFile {
public:
    // Throws RuntimeError with the reason alone, as all of these do: the caller knows the path.
    explicit AtomicFile(const std::string &path, Durability durability = Durability::Ordinary);
    AtomicFile(const AtomicFile &) = delete;
    AtomicFile &operator=(const AtomicFile &) = delete;
    ~AtomicFile();

    std::FILE *stream() const { return file.get(); }
    void write(const void *from, size_t bytes);
    void commit();

private:
    struct Close {
        void operator()(std::FILE *f) const { std::fclose(f); }
    };

    std::string path;       // where links have led to
    std::string temporary;  // empty: it is written in its place
    Durability durability;
    std::unique_ptr<std::FILE, Close> file;
};

// Writes a whole file. Throws RuntimeError that names it.
void write_file(const std::string &path, std::string_view bytes,
                Durability durability = Durability::Ordinary);

// Appends a line to a file of lines, which others may append to at the same time, and sees that it
// reaches the disk. A file that ends within a line gets an end of line first; of a line that cannot
// be written, nothing is left. Throws RuntimeError with the reason alone.
void append_line(const std::string &path, const std::string &line);

}  // namespace tessera
