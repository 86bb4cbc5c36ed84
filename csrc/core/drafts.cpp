#include "drafts.hpp"

#include <system_error>

namespace fasthdmr {

void Drafts::add(std::shared_ptr<ForestColumns> columns) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        waiting_.push_back(std::move(columns));
    }
    changed_.notify_one();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
        // A machine that refuses another thread is no reason to fail: they are drafted later.
    }
}

void Drafts::work() {
    for (;;) {
        std::shared_ptr<ForestColumns> next;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return done_ || !waiting_.empty(); });
            if (done_) return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
        }
        try {
            next->draft(1);
        } catch (...) {
            failure_ = std::current_exception();
            return;
        }
    }
}

void Drafts::finish() {
    stop();
    if (failure_) std::rethrow_exception(failure_);
}

void Drafts::stop() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        done_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

}  // namespace fasthdmr
