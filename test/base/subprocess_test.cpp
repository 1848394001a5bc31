#include "base/subprocess.h"
#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE("subprocess") {
    TEST_CASE("a program's output, its errors among it, and its exit code") {
        const ProcessResult r = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
        CHECK(r.code == 3);
        CHECK(r.output == "out\nerr\n");
    }
    TEST_CASE("more output than a pipe holds, and no input") {
        const ProcessResult r = run_process({"sh", "-c", "cat; head -c 300000 /dev/zero"});
        CHECK(r.code == 0);
        CHECK(r.output.size() == 300000);
    }
    TEST_CASE("what cannot be started, or is killed") {
        CHECK(run_process({"/no/such/program"}).code == -1);
        CHECK(run_process({"sh", "-c", "kill -9 $$"}).code == -1);
    }
}
