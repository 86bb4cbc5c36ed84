// Background layout of tree columns, while Python reads the next model.
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

// Background worker without the GIL: prepares queued ForestColumns first-in first-out. On two threads, reading models
// and laying out their columns overlap.
class BackgroundLayout {
public:
    BackgroundLayout() = default;
    ~BackgroundLayout() { break_off(); }
    BackgroundLayout(const BackgroundLayout&) = delete;
    BackgroundLayout& operator=(const BackgroundLayout&) = delete;

    void add(std::shared_ptr<ForestColumns> columns);
    // Waits for the columns in preparation; queued ones are left unprepared.
    void finish();

private:
    void work();
    void break_off();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<ForestColumns>> waiting_;
    bool done_ = false, is_preparing_ = false;
    std::exception_ptr failure_;
    Interruptible call_{nullptr};
    std::thread thread_;
};

}  // namespace fasthdmr
