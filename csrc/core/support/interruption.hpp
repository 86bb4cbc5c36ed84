// Interruption of long calls, such as by Ctrl-C in Python. Long loops call poll() on every thread that works for the
// call. If the call is interrupted, poll() throws the same exception on all threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <exception>
#include <thread>

namespace fasthdmr {

class Interruptible {
public:
    using Check = void (*)();
    static constexpr std::chrono::milliseconds kInterval{100};

    // `check` throws if the call is to end. It is called at most once in kInterval, when the thread that made this
    // object polls. If it is null, the call cannot be interrupted.
    explicit Interruptible(Check check);
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    void poll();

    // The call that this thread works for, or null.
    static Interruptible* current();

    // Makes `call` the current call of this thread for the duration of a scope.
    class Scope {
    public:
        explicit Scope(Interruptible* call);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        Interruptible* previous_;
    };

private:
    using Time = std::chrono::nanoseconds;
    static Time now();
    // Sets the exception that ends the call, unless there is one already.
    void stop(std::exception_ptr reason) noexcept;

    Check check_;
    std::thread::id owner_;
    Time next_;
    std::atomic<int> state_{0};  // 0: running, 1: reason_ is being written, 2: reason_ is set
    std::exception_ptr reason_;
};

// Throws if the current call of this thread has been interrupted.
inline void poll() {
    if (Interruptible* call = Interruptible::current()) call->poll();
}

// Polls once for about kNodes nodes of trees: a poll takes as long as the work on a small tree.
class NodePolls {
public:
    void add(std::int64_t nodes) {
        nodes_ += nodes;
        if (nodes_ < kNodes) return;
        nodes_ = 0;
        poll();
    }

private:
    static constexpr std::int64_t kNodes = 1 << 12;
    std::int64_t nodes_ = kNodes;  // the first call polls
};

}  // namespace fasthdmr
