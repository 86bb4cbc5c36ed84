// Interruptible calls. Long loops poll on every thread that works for the call. An interruption is an exception, the
// same one on all threads.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <thread>

namespace fasthdmr {

class Interruptible {
public:
    using Ask = void (*)();
    static constexpr std::chrono::milliseconds kInterval{100};

    // When its owner thread polls, `ask` is called at intervals, and throws to end the call. It may be null: nothing
    // ends the call then.
    explicit Interruptible(Ask ask);
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    void poll();

    // The call that this thread works for, or null.
    static Interruptible* current();

    // While it lives, this thread works for a call.
    class Joined {
    public:
        explicit Joined(Interruptible* call);
        ~Joined();
        Joined(const Joined&) = delete;
        Joined& operator=(const Joined&) = delete;

    private:
        Interruptible* before_;
    };

private:
    using Time = std::chrono::nanoseconds;
    static Time now();
    // Ends the call with this exception, unless it is ending already.
    void stop(std::exception_ptr reason) noexcept;

    Ask ask_;
    std::thread::id owner_;
    Time next_;
    std::atomic<int> state_{0};  // 1: the reason is being written, 2: it is there
    std::exception_ptr reason_;
};

// Throws if the call that this thread works for is to end.
inline void poll() {
    if (Interruptible* call = Interruptible::current()) call->poll();
}

}  // namespace fasthdmr
