// Aligned buffers, views of the caller's arrays, sequences of row numbers, and the exception for invalid input.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "kernels/records.hpp"

namespace fasthdmr {

// Invalid input of the caller. Becomes a ValueError in Python.
struct Error : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Requests huge pages (2 MB) for new memory where the system supports them. The first access to each page is slow, and
// huge pages need fewer of them.
inline void advise_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
}

// Allocator that aligns arrays to cache lines. Otherwise vectorised sums could depend on the address.
template <class T>
struct Aligned {
    using value_type = T;
    Aligned() = default;
    template <class U>
    Aligned(const Aligned<U>&) {}
    T* allocate(std::size_t n) {
        void* p = ::operator new(n * sizeof(T), alignment(n));
        if (is_huge(n)) advise_huge_pages(p, n * sizeof(T));
        return static_cast<T*>(p);
    }
    void deallocate(T* p, std::size_t n) { ::operator delete(p, alignment(n)); }
    template <class U>
    bool operator==(const Aligned<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const Aligned<U>&) const {
        return false;
    }

private:
    static constexpr std::size_t kHugePage = std::size_t(2) << 20;
    static bool is_huge(std::size_t n) { return n * sizeof(T) >= 2 * kHugePage; }
    static std::align_val_t alignment(std::size_t n) { return std::align_val_t{is_huge(n) ? kHugePage : 64}; }
};

template <class T>
using Buffer = std::vector<T, Aligned<T>>;

// The same without a value until one is written: memory that is not used costs nothing.
template <class T>
struct Unset : Aligned<T> {
    template <class U>
    struct rebind {
        using other = Unset<U>;
    };
    Unset() = default;
    template <class U>
    Unset(const Unset<U>&) {}
    template <class U>
    void construct(U* p) {
        ::new (static_cast<void*>(p)) U;
    }
};

template <class T>
using UnsetBuffer = std::vector<T, Unset<T>>;

// A two-dimensional array of float32 or float64 in any memory order; strides are in bytes.
struct Table {
    const char* data;
    bool is_float32;
    index rows, columns;
    index row_stride, column_stride;

    double at(index i, index j) const {
        const char* p = data + i * row_stride + j * column_stride;
        return is_float32 ? read<float>(p) : read<double>(p);
    }

    template <class T>
    static double read(const char* p) {  // a field of a record array need not be aligned
        T value;
        std::memcpy(&value, p, sizeof value);
        return value;
    }
};

// Rows per block. The feature columns of a block and their sums fit into the first- and second-level caches.
constexpr index kBlockRows = 1024;

// The number of rows, within limits, whose data fit into some memory.
inline index rows_within(index bytes, index row_bytes, index least, index most) {
    return std::clamp(bytes / std::max<index>(row_bytes, 1), least, most);
}

// A sequence of row numbers: an arithmetic progression, or a list.
struct Rows {
    index start = 0, stride = 1, count = 0;
    const index* list = nullptr;

    index operator[](index k) const { return list ? list[k] : start + stride * k; }
    Rows slice(index first, index n) const {
        return list ? Rows{0, 1, n, list + first} : Rows{start + stride * first, stride, n, nullptr};
    }
};

}  // namespace fasthdmr
