#include "base/warning.h"
#include "driver/compile.h"
#include "files/folder.h"
#include <cstdlib>
#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;

namespace {

namespace fs = std::filesystem;

// Compiled code is kept in a folder of the test's.
class KeptInFolder {
public:
    KeptInFolder() : was_kept(JITSharedRuntime::keep_on_disk(true)) {
        if (const char *was = std::getenv("TESSERA_CACHE_DIR")) before = was;
        setenv("TESSERA_CACHE_DIR", (folder / "kept").c_str(), 1);
        forget();
    }
    ~KeptInFolder() {
        JITSharedRuntime::keep_on_disk(was_kept);
        if (before)
            setenv("TESSERA_CACHE_DIR", before->c_str(), 1);
        else
            unsetenv("TESSERA_CACHE_DIR");
        JITSharedRuntime::release_all();
    }
    // As if this were another process.
    static void forget() { JITSharedRuntime::release_all(); }
    std::vector<fs::path> files() const {
        std::error_code none;
        std::vector<fs::path> all;
        for (const auto &entry : fs::directory_iterator(folder / "kept", none))
            all.push_back(entry.path());
        return all;
    }

private:
    Folder folder;
    bool was_kept;
    std::optional<std::string> before;
};

struct Change {
    uint64_t compiled = 0, found_on_disk = 0;
    bool operator==(const Change &) const = default;
};
constexpr Change compiled_once{1, 0}, found_once{0, 1}, none{0, 0};

// What `run` has compiled, and found on disk.
template<typename F>
Change change_of(F run) {
    const auto before = driver::cache_counts();
    run();
    const auto after = driver::cache_counts();
    return {after.compiled - before.compiled, after.found_on_disk - before.found_on_disk};
}

Func blur_of(const ImageParam &in, int lanes) {
    Var x("x"), y("y");
    Func wide("wide"), blur("blur");
    wide(x, y) = cast<uint16_t>(in(x, y)) + in(x + 1, y) + in(x + 2, y);
    blur(x, y) = cast<uint8_t>((wide(x, y) + wide(x, y + 1) + wide(x, y + 2)) / 9);
    blur.vectorize(x, lanes).parallel(y);
    wide.compute_at(blur, y).vectorize(x, lanes);
    return blur;
}

int twice(int n) { return 2 * n; }

}  // namespace

TEST_SUITE("compiled code on disk") {
    TEST_CASE("is found by what compiles the same, and computes the same") {
        const KeptInFolder kept;
        Buffer<uint8_t> picture(34, 12), first, second;
        picture.for_each_element(
            [&](const int *at) { picture(at) = uint8_t(7 * at[0] + 31 * at[1]); });
        const auto run = [&](Buffer<uint8_t> &result) {
            ImageParam in(UInt(8), 2, "in");
            in.set(picture);
            result = blur_of(in, 8).realize({32, 10});
        };
        CHECK(change_of([&] { run(first); }) == compiled_once);
        CHECK(change_of([&] { run(first); }) == none);
        CHECK(kept.files().size() == 1);
        KeptInFolder::forget();
        CHECK(change_of([&] { run(second); }) == found_once);
        second.for_each_element([&](const int *at) { CHECK(second(at) == first(at)); });
    }
    TEST_CASE("is not that of another schedule, constant, name or target") {
        const KeptInFolder kept;
        const auto with = [](int lanes, int summand, const std::string &name,
                             const Target &target) {
            Var x("x");
            Func f(name);
            f(x) = x + summand;
            f.vectorize(x, lanes);
            KeptInFolder::forget();
            return change_of([&] { f.compile_jit(target); });
        };
        const Target host = get_jit_target_from_environment(),
                     unchecked = host.with_feature(Target::NoAsserts);
        CHECK(with(4, 1, "f", host) == compiled_once);
        CHECK(with(4, 1, "f", host) == found_once);
        CHECK(with(8, 1, "f", host) == compiled_once);
        CHECK(with(4, 2, "f", host) == compiled_once);
        CHECK(with(4, 1, "g", host) == compiled_once);
        CHECK(with(4, 1, "f", unchecked) == compiled_once);
        CHECK(with(4, 1, "f", host) == found_once);
    }
    TEST_CASE("calls functions of this process, wherever they are now") {
        const KeptInFolder kept;
        const auto run = [] {
            Var x("x");
            Func f("f");
            f(x) = ir::ExternCall::make(Int(32), "twice_elsewhere", {Expr(x)}, true);
            Pipeline p(f);
            p.set_jit_externs({{"twice_elsewhere", JITExtern(twice)}});
            Buffer<int> result = p.realize({4});
            CHECK(result(3) == 6);
        };
        CHECK(change_of(run) == compiled_once);
        KeptInFolder::forget();
        CHECK(change_of(run) == found_once);
    }
    TEST_CASE("that is damaged is made again") {
        const KeptInFolder kept;
        const auto compile = [] {
            Var x("x");
            Func f("f");
            f(x) = x * 3;
            KeptInFolder::forget();
            Buffer<int> result = f.realize({4});
            CHECK(result(3) == 9);
        };
        CHECK(change_of(compile) == compiled_once);
        REQUIRE(kept.files().size() == 1);
        const std::string path = kept.files()[0].string(), whole = contents_of(path);
        SUBCASE("a byte has changed") {
            std::string changed = whole;
            changed[changed.size() * 3 / 4] ^= 1;
            write(path, changed);
        }
        SUBCASE("the end is missing") { write(path, whole.substr(0, whole.size() - 9)); }
        SUBCASE("there is more of it") { write(path, whole + "x"); }
        SUBCASE("nothing is in it") { write(path, ""); }
        CHECK(change_of(compile) == compiled_once);
        CHECK(contents_of(path) == whole);
        CHECK(change_of(compile) == found_once);
    }
    TEST_CASE("is not kept where there was a warning: the next process warns, too") {
        const KeptInFolder kept;
        int warnings = 0;
        auto before = set_warning_handler([&](const std::string &) { warnings++; });
        const auto compile = [] {
            Var x("x"), y("y");
            Func f("f");
            f(x, y) = x;
            f(x, 0) += 1;
            f.vectorize(x, 4);  // and the update is left as it is
            KeptInFolder::forget();
            f.compile_jit();
        };
        CHECK(change_of(compile) == compiled_once);
        CHECK(warnings == 1);
        CHECK(change_of(compile) == compiled_once);
        CHECK(warnings == 2);
        set_warning_handler(before);
        CHECK(kept.files().empty());
    }
    TEST_CASE("is only for those who ask for it") {
        const KeptInFolder kept;
        CHECK(JITSharedRuntime::keep_on_disk(false));
        Var x("x");
        Func f("f");
        f(x) = x;
        f.compile_jit();
        CHECK(kept.files().empty());
        CHECK(!JITSharedRuntime::keep_on_disk(true));
    }
}
