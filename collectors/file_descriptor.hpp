#pragma once

#include <utility>

#include <unistd.h>

namespace collectors {

/// An open file, socket or eBPF object; closed with its owner.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number) noexcept : number_(number) {}
    ~FileDescriptor() {
        if (number_ >= 0)
            ::close(number_);
    }
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }

    int number() const noexcept { return number_; }
    bool is_open() const noexcept { return number_ >= 0; }

private:
    int number_ = -1;
};

} // namespace collectors
