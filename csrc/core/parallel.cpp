#include "parallel.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace fasthdmr {

namespace {

// Threads that are joined whatever happens.
class Threads {
public:
    explicit Threads(const std::function<void()>& work) : work_(work) {}
    ~Threads() {
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
    }

    // Whether there is one more; a machine that refuses it, or the memory for it, is no reason to fail.
    bool start() {
        try {
            threads_.emplace_back();  // first: a thread that runs must have its place
            threads_.back() = std::thread([this, call = Interruptible::current()] { run(call); });
        } catch (const std::system_error&) {
            return false;
        } catch (const std::bad_alloc&) {
            return false;
        }
        std::lock_guard<std::mutex> lock(mutex_);
        ++started_;
        return true;
    }

    // Waits until all are done, or so long; whether they are.
    bool wait(std::chrono::milliseconds most) {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_for(lock, most, [this] { return done_ == started_; });
    }

private:
    void run(Interruptible* call) {
        const Interruptible::Joined joined(call);
        work_();
        std::lock_guard<std::mutex> lock(mutex_);
        ++done_;
        changed_.notify_one();
    }

    const std::function<void()>& work_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    index started_ = 0, done_ = 0;
};

}  // namespace

void run_on_threads(index extra, const std::function<void()>& work, const std::function<void()>& give_up) {
    if (extra <= 0) return work();
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto fail = [&] {
        std::lock_guard<std::mutex> lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        give_up();
    };
    const auto guarded = [&] {
        try {
            work();
        } catch (...) {
            fail();
        }
    };
    {
        const std::function<void()> run = std::ref(guarded);
        Threads threads(run);
        for (index t = 0; t < extra && threads.start(); ++t) {}
        guarded();
        // Others may have long tasks; it is this thread that hears what is to end them.
        while (!threads.wait(Interruptible::kInterval)) {
            try {
                poll();
            } catch (...) {
                fail();
            }
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace fasthdmr
