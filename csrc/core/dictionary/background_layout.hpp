// Columns of forests that are drafted while other forests are still being read.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "dictionary/tree_columns.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

// A thread of its own, which needs nothing of Python, drafts what is added, one after the other.
class Drafts {
public:
    Drafts() = default;
    ~Drafts() { break_off(); }
    Drafts(const Drafts&) = delete;
    Drafts& operator=(const Drafts&) = delete;

    void add(std::shared_ptr<ForestColumns> columns);
    // Waits for the one that is being drafted; those that are not begun are left as they are.
    void finish();

private:
    void work();
    void break_off();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<ForestColumns>> waiting_;
    bool done_ = false, is_drafting_ = false;
    std::exception_ptr failure_;
    Interruptible call_{nullptr};
    std::thread thread_;
};

}  // namespace fasthdmr
