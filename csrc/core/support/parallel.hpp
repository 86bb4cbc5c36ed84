// Tasks on threads: a task's work never depends on which thread runs it, so results do not depend on the threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "support/arrays.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

// Runs `work` here and on up to `extra` threads more, and returns when all are done. Where no more threads can be had,
// the ones that run do the work. An exception is rethrown here, the first of several; `give_up` is called when it is
// thrown, on the thread that threw it.
void run_on_threads(index extra, const std::function<void()>& work, const std::function<void()>& give_up);

// Runs task(i) for i in [0, n_tasks), polling in between. The first exception stops the hand-out and is rethrown in the
// caller.
template <class Task>
void parallel_for(index n_tasks, int n_threads, const Task& task) {
    std::atomic<index> next{0};
    const auto work = [&] {
        for (index i; (i = next.fetch_add(1)) < n_tasks;) {
            poll();
            task(i);
        }
    };
    const auto give_up = [&] { next.store(n_tasks); };
    run_on_threads(std::min<index>(n_threads, n_tasks) - 1, std::ref(work), std::ref(give_up));
}

}  // namespace fasthdmr
