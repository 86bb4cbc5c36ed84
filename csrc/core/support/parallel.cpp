#include "support/parallel.hpp"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace fasthdmr {

namespace {

// The C++ library allocates the exception state of a thread at its first throw, and ends the process if there is no
// memory. So each thread starts with a reserve, mapped from the system, and frees it right before it makes that state.
// The reserve is large enough for the buffer of a BLAS: OpenBLAS retries for ever if it gets none.
class Memory {
public:
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
#ifdef __linux__
    Memory() : begin_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        if (begin_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~Memory() { munmap(begin_, kBytes); }

private:
    static constexpr std::size_t kBytes = std::size_t(64) << 20;
    void* begin_;
#else
    Memory() = default;
#endif
};

// Threads that are joined on destruction.
class Threads {
public:
    explicit Threads(const std::function<void()>& work) : work_(work) {}
    ~Threads() {
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
    }

    // Starts a thread; false if the system refuses it or has no memory for it.
    bool start() {
        try {
            threads_.emplace_back();  // first: a thread that runs must have its place
            auto memory = std::make_unique<Memory>();
            threads_.back() =
                std::thread([this, call = Interruptible::current(), memory = std::move(memory)]() mutable {
                    memory.reset();
                    run(call);
                });
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
        // Made at first use; in a while the memory may be gone.
        [[maybe_unused]] volatile const int none = std::uncaught_exceptions();
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
