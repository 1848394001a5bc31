#include "base/handlers.h"
#include "base/large_stack.h"
#include "base/silence.h"
#include "base/thread_context.h"
#include <doctest/doctest.h>
#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;

namespace {

using Texts = std::vector<std::string>;

Handlers into(Texts &warnings, Texts &errors) {
    return {[&](const std::string &m) { warnings.push_back(m); },
            [&](const std::string &m) { errors.push_back(m); }};
}

// The handlers of the process, for a while.
struct OfProcess {
    OfProcess()
        : warning(set_warning_handler([this](const std::string &m) { warnings.push_back(m); })),
          error(set_error_observer([this](const std::string &m) { errors.push_back(m); })) {}
    ~OfProcess() {
        set_warning_handler(warning);
        set_error_observer(error);
    }
    Texts warnings, errors;
    const WarningHandler warning;
    const ErrorObserver error;
};

void say(const std::string &what) {
    warn({}, what);
    CompileError(Location(), what);
}

}  // namespace

TEST_SUITE("handlers") {
    TEST_CASE("a thread's own handlers come before those of the process, which others have") {
        OfProcess process;
        Texts warnings, errors;
        {
            const ThreadHandlers here(into(warnings, errors));
            say("here");
            std::thread([] { say("elsewhere"); }).join();
        }
        say("after");
        CHECK(warnings == Texts{"here"});
        CHECK(errors == Texts{"here"});
        CHECK(process.warnings == Texts{"elsewhere", "after"});
        CHECK(process.errors == Texts{"elsewhere", "after"});
    }
    TEST_CASE("two threads with handlers of their own do not hear each other") {
        OfProcess process;
        std::vector<Texts> warnings(2), errors(2);
        const auto work = [&](size_t i) {
            const ThreadHandlers own(into(warnings[i], errors[i]));
            for (int k = 0; k < 100; k++) run_on_large_stack([&] { say(str(i)); });
        };
        std::thread other(work, 1);
        work(0);
        other.join();
        for (size_t i = 0; i < 2; i++) {
            CHECK(warnings[i] == Texts(100, str(i)));
            CHECK(errors[i] == Texts(100, str(i)));
        }
        CHECK(process.warnings.empty());
        CHECK(process.errors.empty());
    }
    TEST_CASE("inner handlers take the place of outer ones; where one is empty, the process's is") {
        OfProcess process;
        Texts outer, inner, errors;
        const ThreadHandlers around(into(outer, errors));
        {
            const ThreadHandlers within({[&](const std::string &m) { inner.push_back(m); }, {}});
            say("within");
        }
        say("around");
        CHECK(inner == Texts{"within"});
        CHECK(outer == Texts{"around"});
        CHECK(errors == Texts{"around"});
        CHECK(process.errors == Texts{"within"});
    }
    TEST_CASE("they are called on the thread that waits for a large stack") {
        const std::thread::id waiting = std::this_thread::get_id();
        std::vector<std::thread::id> told;
        const auto note = [&](const std::string &) { told.push_back(std::this_thread::get_id()); };
        const ThreadHandlers here({note, note});
        std::thread::id working;
        run_on_large_stack([&] {
            working = std::this_thread::get_id();
            run_on_large_stack([] { say("deep down"); });
        });
        CHECK(working != waiting);
        CHECK(told == std::vector(2, waiting));
    }
    TEST_CASE("what a handler throws leaves the call, and the thread goes on after it") {
        int calls = 0;
        const ThreadHandlers here({[&](const std::string &m) {
                                       // It may need a large stack itself.
                                       run_on_large_stack([&] { calls++; });
                                       throw RuntimeError(m);
                                   },
                                   {}});
        bool caught_within = false;
        const auto work = [&] {
            try {
                warn({}, "first");
            } catch (const RuntimeError &) {
                caught_within = true;
            }
            warn({}, "second");
        };
        CHECK_THROWS_WITH_AS(run_on_large_stack(work), "second", RuntimeError);
        CHECK(caught_within);
        CHECK(calls == 2);
    }
    TEST_CASE("a thread takes over what holds for another, silence included") {
        OfProcess process;
        Texts warnings, errors;
        const ThreadHandlers here(into(warnings, errors));
        const auto elsewhere = [] {
            std::async(std::launch::async, [context = ThreadContext()] {
                context.take_over();
                say("elsewhere");
            }).get();
        };
        elsewhere();
        {
            const Silence silence;
            elsewhere();
            run_on_large_stack([] { say("on a large stack"); });
        }
        CHECK(warnings == Texts{"elsewhere"});
        CHECK(errors == Texts{"elsewhere"});
        CHECK(process.warnings.empty());
    }
}
