#include "dictionary/background_layout.hpp"

#include <system_error>

namespace fasthdmr {

namespace {

// Nobody waits for the draft any more. It has no words: they would take memory.
struct Abandoned : std::exception {};

}  // namespace

void Drafts::add(std::shared_ptr<ForestColumns> columns) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        waiting_.push_back(std::move(columns));
    }
    changed_.notify_all();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
        // A machine that refuses another thread, or the memory for it, is no reason to fail: they are drafted later.
    } catch (const std::bad_alloc&) {}
}

void Drafts::work() {
    const Interruptible::Joined joined(&call_);
    for (;;) {
        std::shared_ptr<ForestColumns> next;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return done_ || !waiting_.empty(); });
            if (done_) return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
            is_drafting_ = true;
        }
        try {
            next->draft(1);
        } catch (...) {
            failure_ = std::current_exception();
        }
        std::lock_guard<std::mutex> lock(mutex_);
        is_drafting_ = false;
        changed_.notify_all();
        if (failure_) return;
    }
}

void Drafts::finish() {
    try {
        std::unique_lock<std::mutex> lock(mutex_);
        done_ = true;
        changed_.notify_all();
        while (!changed_.wait_for(lock, Interruptible::kInterval, [this] { return !is_drafting_; })) poll();
    } catch (...) {
        break_off();
        throw;
    }
    break_off();
    if (failure_) std::rethrow_exception(failure_);
}

void Drafts::break_off() {
    call_.stop(std::make_exception_ptr(Abandoned()));
    {
        std::lock_guard<std::mutex> lock(mutex_);
        done_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

}  // namespace fasthdmr
