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

// Memory that is reserved for a new thread. The C++ library allocates the exception state of a thread at its first
// throw, and aborts the process if there is no memory. So the reserve is mapped before the thread starts, and freed by
// the thread right before it creates its exception state. The reserve is large enough for the buffer of a BLAS as well:
// OpenBLAS retries for ever if it cannot allocate one.
class MemoryReserve {
public:
    MemoryReserve(const MemoryReserve&) = delete;
    MemoryReserve& operator=(const MemoryReserve&) = delete;
#ifdef __linux__
    MemoryReserve() : begin_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        if (begin_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~MemoryReserve() { munmap(begin_, kBytes); }

private:
    static constexpr std::size_t kBytes = std::size_t(64) << 20;
    void* begin_;
#else
    MemoryReserve() = default;
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

    // Starts a thread. Returns false if the system cannot start it or has no memory for it.
    bool start() {
        try {
            threads_.emplace_back();  // before the thread starts: if this failed later, the thread could not be joined
            auto memory = std::make_unique<MemoryReserve>();
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

    // Waits until all threads are done, but no longer than `timeout`. Returns whether they are done.
    bool wait(std::chrono::milliseconds timeout) {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_for(lock, timeout, [this] { return done_ == started_; });
    }

private:
    void run(Interruptible* call) {
        // Creates the exception state of this thread while there is memory for it.
        [[maybe_unused]] volatile const int none = std::uncaught_exceptions();
        const Interruptible::Scope scope(call);
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

void run_on_threads(index extra, const std::function<void()>& work, const std::function<void()>& cancel) {
    if (extra <= 0) return work();
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto fail = [&] {
        std::lock_guard<std::mutex> lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        cancel();
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
        // Other threads may still run long tasks. Only this thread calls the check that interrupts them, so it polls.
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
