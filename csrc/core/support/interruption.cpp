#include "support/interruption.hpp"

#include "kernels/compiler.hpp"

namespace fasthdmr {

namespace {

// Stored in the static TLS block, which is allocated together with the thread. Otherwise the C library would allocate
// the variable at its first use, and abort the process if there is no memory.
FASTHDMR_STATIC_TLS thread_local Interruptible* current_call = nullptr;
constexpr int kStopping = 1, kStopped = 2;

}  // namespace

Interruptible::Scope::Scope(Interruptible* call) : previous_(current_call) { current_call = call; }
Interruptible::Scope::~Scope() { current_call = previous_; }

Interruptible::Interruptible(Check check)
    : check_(check), owner_(std::this_thread::get_id()), next_(now() + kInterval) {}

// Polls are frequent, and a resolution of milliseconds is enough: a coarse clock is cheaper.
Interruptible::Time Interruptible::now() {
#ifdef CLOCK_MONOTONIC_COARSE
    std::timespec time{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
#else
    return std::chrono::steady_clock::now().time_since_epoch();
#endif
}

Interruptible* Interruptible::current() { return current_call; }

void Interruptible::stop(std::exception_ptr reason) noexcept {
    int running = 0;
    if (!state_.compare_exchange_strong(running, kStopping)) return;
    reason_ = std::move(reason);
    state_.store(kStopped);
}

void Interruptible::poll() {
    if (state_.load(std::memory_order_acquire) == kStopped) std::rethrow_exception(reason_);
    if (!check_ || std::this_thread::get_id() != owner_) return;
    const Time time = now();
    if (time < next_) return;
    next_ = time + kInterval;
    try {
        check_();
    } catch (...) {
        stop(std::current_exception());
        throw;
    }
}

}  // namespace fasthdmr
