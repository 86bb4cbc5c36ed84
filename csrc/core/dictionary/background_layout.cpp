#include "dictionary/background_layout.hpp"

#include <system_error>

namespace fasthdmr {

namespace {

// Ends work whose result is not needed any more. It has no message, which would take memory.
struct Abandoned : std::exception {};

}  // namespace

void BackgroundLayout::add(std::shared_ptr<ForestColumns> columns) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        waiting_.push_back(std::move(columns));
    }
    changed_.notify_all();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
        // Without another thread, or memory for it, the columns are prepared later.
    } catch (const std::bad_alloc&) {}
}

void BackgroundLayout::work() {
    const Interruptible::Joined joined(&call_);
    for (;;) {
        std::shared_ptr<ForestColumns> next;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return done_ || !waiting_.empty(); });
            if (done_) return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
            is_preparing_ = true;
        }
        try {
            next->prepare(1);
        } catch (...) {
            failure_ = std::current_exception();
        }
        std::lock_guard<std::mutex> lock(mutex_);
        is_preparing_ = false;
        changed_.notify_all();
        if (failure_) return;
    }
}

void BackgroundLayout::finish() {
    try {
        std::unique_lock<std::mutex> lock(mutex_);
        done_ = true;
        changed_.notify_all();
        while (!changed_.wait_for(lock, Interruptible::kInterval, [this] { return !is_preparing_; })) poll();
    } catch (...) {
        break_off();
        throw;
    }
    break_off();
    if (failure_) std::rethrow_exception(failure_);
}

void BackgroundLayout::break_off() {
    call_.stop(std::make_exception_ptr(Abandoned()));
    {
        std::lock_guard<std::mutex> lock(mutex_);
        done_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

}  // namespace fasthdmr
