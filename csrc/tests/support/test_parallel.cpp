#include "support/parallel.hpp"

#include <chrono>
#include <stdexcept>

#include "harness.hpp"

namespace fasthdmr {

TEST(parallel_runs_every_task_once) {
    for (const int n_threads : {-1, 0, 1, 2, 5, 16})
        for (const index n_tasks : {0, 1, 2, 3, 1000}) {
            std::vector<std::atomic<int>> runs(n_tasks);
            parallel_for(n_tasks, n_threads, [&](index i) { ++runs[i]; });
            for (const auto& count : runs) CHECK(count == 1);
        }
}

TEST(parallel_results_are_visible_to_the_caller) {
    std::vector<index> squares(500, 0);  // not atomic: joining the threads makes writes visible
    parallel_for(500, 4, [&](index i) { squares[i] = i * i; });
    for (index i = 0; i < 500; ++i) CHECK(squares[i] == i * i);
}

TEST(parallel_rethrows_in_the_caller) {
    for (const int n_threads : {1, 2, 5})
        for (const index bad : {0, 7, 99}) {
            std::atomic<index> runs{0};
            CHECK_THROWS(Error, "task " + std::to_string(bad), parallel_for(100, n_threads, [&](index i) {
                             ++runs;
                             if (i == bad) throw Error("task " + std::to_string(i));
                         }));
            CHECK(runs >= bad + 1);
            if (n_threads == 1) CHECK(runs == bad + 1);
        }
}

TEST(parallel_starts_no_task_after_an_exception) {
    std::atomic<bool> thrown{false};
    std::atomic<index> runs{0};
    CHECK_THROWS(Error, "first", parallel_for(1000, 2, [&](index i) {
                     ++runs;
                     if (i == 0) {
                         thrown = true;
                         throw Error("first");
                     }
                     while (!thrown) std::this_thread::yield();
                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                 }));
    CHECK(runs < 1000);
}

TEST(parallel_keeps_one_exception_of_many) {
    std::atomic<int> thrown{0};
    CHECK_THROWS(std::runtime_error, "broken", parallel_for(1000, 5, [&](index) {
                     ++thrown;
                     throw std::runtime_error("broken");
                 }));
    CHECK(thrown >= 1 && thrown <= 5);  // at most once per thread
    int after = 0;
    parallel_for(3, 1, [&](index) { ++after; });
    CHECK(after == 3);
}

TEST(parallel_rethrows_other_exceptions) {
    bool caught = false;
    try {
        parallel_for(10, 3, [](index i) {
            if (i == 4) throw 42;
        });
    } catch (int value) {
        caught = value == 42;
    }
    CHECK(caught);
}

TEST(parallel_tasks_on_other_threads_end_if_the_call_is_interrupted) {
    using Clock = std::chrono::steady_clock;
    Interruptible call([] { throw Error("interrupted"); });
    const Interruptible::Scope scope(&call);
    std::atomic<int> patient{0};  // tasks that were not interrupted
    CHECK_THROWS(Error, "interrupted", parallel_for(2, 2, [&](index) {
                     for (const auto end = Clock::now() + std::chrono::seconds(5); Clock::now() < end;) poll();
                     ++patient;
                 }));
    CHECK(patient == 0);
}

}  // namespace fasthdmr
