#include "base/atomic_file.h"
#include "base/error.h"
#include "files/folder.h"
#include "support/full_disk.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace tessera;

namespace {

namespace fs = std::filesystem;

size_t files_in(const std::string &folder) {
    return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_SUITE("files that are replaced") {
    TEST_CASE("the old file is there until the new one is complete") {
        Folder folder;
        const std::string path = folder / "text";
        write_file(path, "old");
        {
            AtomicFile file(path);
            file.write("new", 3);
            std::fflush(file.stream());
            CHECK(contents_of(path) == "old");
            file.commit();
            CHECK(contents_of(path) == "new");
            AtomicFile(path).write("given up", 8);
        }
        CHECK(contents_of(path) == "new");
        CHECK(files_in(folder / "") == 1);
    }
    TEST_CASE("on a full disk the old file stays, and no half of a new one") {
        Folder folder;
        const std::string path = folder / "text", fresh = folder / "fresh", large(100000, 'x');
        write_file(path, "old");
        for (Durability d : {Durability::Ordinary, Durability::Synced}) {
            FullDisk full(5000);
            CHECK_THROWS_WITH_AS(write_file(path, large, d),
                                 ("cannot write the file " + path + ": File too large").c_str(),
                                 RuntimeError);
            CHECK_THROWS_AS(write_file(fresh, large, d), RuntimeError);
        }
        CHECK(contents_of(path) == "old");
        CHECK(files_in(folder / "") == 1);
        CHECK_THROWS_WITH_AS(write_file("/dev/full", "text"),
                             "cannot write the file /dev/full: No space left on device",
                             RuntimeError);
    }
    TEST_CASE("mode and links are kept") {
        Folder folder;
        const std::string path = folder / "text", link = folder / "link",
                          dangling = folder / "dangling";
        write_file(path, "old");
        chmod(path.c_str(), 0640);
        fs::create_symlink("text", link);
        fs::create_symlink("made", dangling);
        write_file(link, "new");
        write_file(dangling, "made");
        CHECK(fs::is_symlink(link));
        CHECK(contents_of(path) == "new");
        CHECK(contents_of(folder / "made") == "made");
        struct stat now{};
        stat(path.c_str(), &now);
        CHECK((now.st_mode & 07777) == 0640);
    }
    TEST_CASE("pipes and open files are written as they are") {
        Folder folder;
        const std::string pipe = folder / "pipe", path = folder / "text";
        mkfifo(pipe.c_str(), 0600);
        std::string read;
        std::thread reader([&] { read = contents_of(pipe); });
        write_file(pipe, "through it");
        reader.join();
        CHECK(read == "through it");
        CHECK(fs::is_fifo(pipe));

        const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
        write_file("/proc/self/fd/" + std::to_string(file), "as stdout is");
        struct stat opened{}, named{};
        fstat(file, &opened);
        stat(path.c_str(), &named);
        close(file);
        CHECK(opened.st_ino == named.st_ino);
        CHECK(contents_of(path) == "as stdout is");
    }
    TEST_CASE("what is no place for a file is refused") {
        Folder folder;
        CHECK_THROWS_WITH_AS(write_file(folder / "no/such", ""),
                             doctest::Contains("no/such: No such file or directory"), RuntimeError);
        CHECK_THROWS_WITH_AS(write_file(folder / "", ""), doctest::Contains("Is a directory"),
                             RuntimeError);
        CHECK(files_in(folder / "") == 0);
    }
    TEST_CASE("a line is appended whole, or not at all") {
        Folder folder;
        const std::string path = folder / "log";
        write(path, "cut o");
        append_line(path, "one");
        {
            FullDisk full(5000);
            CHECK_THROWS_WITH_AS(append_line(path, std::string(10000, 'x')), "File too large",
                                 RuntimeError);
        }
        append_line(path, "two");
        CHECK(contents_of(path) == "cut o\none\ntwo\n");
        CHECK_THROWS_WITH_AS(append_line("/dev/full", "x"), "No space left on device",
                             RuntimeError);
    }
}
