#include "base/kept_files.h"
#include "files/folder.h"
#include <atomic>
#include <cstdlib>
#include <sys/stat.h>
#include <thread>
#include <vector>

using namespace tessera;

namespace {

namespace fs = std::filesystem;

// A folder for what is kept while this lives.
class KeptHere {
public:
    explicit KeptHere(const std::string &path) {
        if (const char *was = std::getenv("TESSERA_CACHE_DIR")) before = was;
        setenv("TESSERA_CACHE_DIR", path.c_str(), 1);
    }
    ~KeptHere() {
        if (before)
            setenv("TESSERA_CACHE_DIR", before->c_str(), 1);
        else
            unsetenv("TESSERA_CACHE_DIR");
    }

private:
    std::optional<std::string> before;
};

}  // namespace

TEST_SUITE("files that are kept") {
    TEST_CASE("are found again by their names, in a folder for this user alone") {
        Folder folder;
        const KeptHere here(folder / "new");
        CHECK(kept_folder() == folder / "new");
        CHECK(!find_kept("a.pipeline"));
        keep("a.pipeline", "code");
        CHECK(find_kept("a.pipeline") == "code");
        CHECK(!find_kept("b.pipeline"));
        struct stat made{};
        REQUIRE(stat((folder / "new").c_str(), &made) == 0);
        CHECK((made.st_mode & 0777) == 0700);
    }
    TEST_CASE("nothing is kept without a folder, and no error is reported") {
        {
            const KeptHere nowhere("");
            CHECK(kept_folder().empty());
            keep("a.pipeline", "code");
            CHECK(!find_kept("a.pipeline"));
        }
        Folder folder;
        write(folder / "file", "");
        const KeptHere in_a_file(folder / "file");
        keep("a.pipeline", "code");
        CHECK(!find_kept("a.pipeline"));
    }
    TEST_CASE("what was used last stays when there is too much, and what is somebody else's") {
        Folder folder;
        const KeptHere here(folder / "kept");
        const std::string kilobyte(1000, 'x');
        for (const char *name : {"first.pipeline", "second.cubin", "third.pipeline"})
            keep(name, kilobyte);
        write(folder / "kept/notes.txt", kilobyte);
        const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
        for (const char *name :
             {"kept/first.pipeline", "kept/second.cubin", "kept/third.pipeline", "kept/notes.txt"})
            fs::last_write_time(folder / name, an_hour_ago);
        CHECK(find_kept("first.pipeline").has_value());
        limit_kept(1500);
        CHECK(find_kept("first.pipeline").has_value());
        CHECK(!find_kept("second.cubin"));
        CHECK(!find_kept("third.pipeline"));
        CHECK(fs::exists(folder / "kept/notes.txt"));
        limit_kept(0);
        CHECK(!find_kept("first.pipeline"));
    }
    TEST_CASE("what a killed process has left goes, but not what is being written") {
        Folder folder;
        const KeptHere here(folder / "kept");
        keep("a.pipeline", "code");
        write(folder / "kept/.tessera-1-1", "half");
        write(folder / "kept/.tessera-2-1", "half");
        fs::last_write_time(folder / "kept/.tessera-1-1",
                            fs::file_time_type::clock::now() - std::chrono::hours(2));
        limit_kept(1000);
        CHECK(!fs::exists(folder / "kept/.tessera-1-1"));
        CHECK(fs::exists(folder / "kept/.tessera-2-1"));
        CHECK(find_kept("a.pipeline") == "code");
    }
    TEST_CASE("several may keep and find one name: each finds all of one") {
        Folder folder;
        const KeptHere here(folder / "kept");
        const std::string a(100'000, 'a'), b(50'000, 'b');
        std::atomic<int> torn{0}, found{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; t++) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 50; i++) {
                    keep("same.pipeline", t % 2 ? a : b);
                    const auto bytes = find_kept("same.pipeline");
                    if (!bytes) continue;
                    found++;
                    torn += *bytes != a && *bytes != b;
                }
            });
        }
        for (std::thread &t : threads) t.join();
        CHECK(torn == 0);
        CHECK(found > 0);
    }
}
