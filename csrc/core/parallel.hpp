// Tasks on threads: a task's work never depends on which thread runs it, so results do not depend on the threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "types.hpp"

namespace fasthdmr {

// Runs task(i) for i in [0, n_tasks). The first exception stops the hand-out and is rethrown in the caller.
template <class Task>
void parallel_for(index n_tasks, int n_threads, const Task& task) {
    std::atomic<index> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;

    auto work = [&] {
        try {
            for (index i; (i = next.fetch_add(1)) < n_tasks;) task(i);
        } catch (...) {
            std::lock_guard<std::mutex> lock(failure_mutex);
            if (!failure) failure = std::current_exception();
            next.store(n_tasks);
        }
    };

    std::vector<std::thread> threads;
    const index extra = std::max<index>(0, std::min<index>(n_threads, n_tasks) - 1);
    threads.reserve(extra);
    for (index t = 0; t < extra; ++t) {
        // A machine that refuses another thread is no reason to fail: the ones that run do the work.
        try {
            threads.emplace_back(work);
        } catch (const std::system_error&) {
            break;
        }
    }
    work();
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace fasthdmr
