#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace generator {

/// A list of indices that mostly holds none or one: these lie in the list itself, only more take memory of
/// their own. Plans of a thousand ranks have millions of such lists.
class IndexList {
public:
    IndexList() = default;
    IndexList(std::initializer_list<std::uint32_t> indices) {
        for (const std::uint32_t index : indices)
            push_back(index);
    }
    IndexList(const std::vector<std::uint32_t>& indices) {
        for (const std::uint32_t index : indices)
            push_back(index);
    }
    IndexList(const IndexList& other)
        : first_(other.first_), holds_first_(other.holds_first_),
          many_(other.many_ ? std::make_unique<std::vector<std::uint32_t>>(*other.many_) : nullptr) {}
    IndexList(IndexList&&) = default;
    IndexList& operator=(IndexList other) noexcept {
        first_ = other.first_;
        holds_first_ = other.holds_first_;
        many_ = std::move(other.many_);
        return *this;
    }
    ~IndexList() = default;

    void push_back(std::uint32_t index) {
        if (many_) {
            many_->push_back(index);
        } else if (holds_first_ != 0) {
            many_ = std::make_unique<std::vector<std::uint32_t>>(std::initializer_list{first_, index});
        } else {
            first_ = index;
            holds_first_ = 1;
        }
    }
    void append(const IndexList& others) {
        const std::size_t count = others.size(); // `others` may be this list
        for (std::size_t place = 0; place < count; ++place)
            push_back(others[place]);
    }

    const std::uint32_t* begin() const { return many_ ? many_->data() : &first_; }
    const std::uint32_t* end() const { return begin() + size(); }
    std::size_t size() const { return many_ ? many_->size() : holds_first_; }
    bool empty() const { return size() == 0; }
    std::uint32_t operator[](std::size_t place) const { return begin()[place]; }
    std::uint32_t back() const { return begin()[size() - 1]; }

    friend bool operator==(const IndexList& one, const IndexList& other) {
        return std::equal(one.begin(), one.end(), other.begin(), other.end());
    }

private:
    std::uint32_t first_ = 0;
    std::uint32_t holds_first_ = 0; ///< 0 or 1; without meaning once there are many
    std::unique_ptr<std::vector<std::uint32_t>> many_;
};

} // namespace generator
