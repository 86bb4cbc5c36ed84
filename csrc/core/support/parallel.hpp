// Parallel loops. The result of a task does not depend on the thread that runs it, nor on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "support/arrays.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

// Runs `work` on this thread and on up to `extra` further ones, fewer if the system cannot start them, and returns when
// all are done. If `work` throws on a thread, that thread calls `cancel`. The first exception is rethrown here.
void run_on_threads(index extra, const std::function<void()>& work, const std::function<void()>& cancel);

// Runs task(i) for i in [0, n_tasks), and polls in between. After an exception no further task is started, and the
// exception is rethrown here.
template <class Task>
void parallel_for(index n_tasks, int n_threads, const Task& task) {
    std::atomic<index> next{0};
    const auto work = [&] {
        for (index i; (i = next.fetch_add(1)) < n_tasks;) {
            poll();
            task(i);
        }
    };
    const auto cancel = [&] { next.store(n_tasks); };
    run_on_threads(std::min<index>(n_threads, n_tasks) - 1, std::ref(work), std::ref(cancel));
}

}  // namespace fasthdmr
