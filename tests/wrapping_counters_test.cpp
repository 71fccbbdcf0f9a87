#include "collectors/wrapping_counters.hpp"

#include <cerrno>
#include <memory>
#include <vector>

#include "catch.hpp"

using namespace collectors;

namespace {

constexpr std::uint64_t round_bytes = std::uint64_t{1} << 32;
constexpr double ten_gigabit = 10e9 / 8;

/// One reading each millisecond.
class Listed : public CounterSource {
public:
    explicit Listed(std::vector<Counters> all) : all_(std::move(all)) {}
    Counters read() noexcept override {
        Counters counters = all_[next_];
        counters.begin_ns = static_cast<std::int64_t>(next_++) * 1'000'000;
        counters.middle_ns = counters.begin_ns + 1000;
        counters.end_ns = counters.begin_ns + 2000;
        return counters;
    }
    std::string name() const override { return "listed"; }

private:
    std::vector<Counters> all_;
    std::size_t next_ = 0;
};

CounterSource::Counters counts(std::uint64_t rx, std::uint64_t tx, int error = 0, bool reopened = false) {
    return {.rx_bytes = rx, .tx_bytes = tx, .error = error, .reopened = reopened};
}

} // namespace

TEST_CASE("a declared 32-bit counter wraps on at a rate that the link can carry", "[wrap]") {
    WrappingCounter counter(1, ten_gigabit);
    CHECK(counter.add(round_bytes - 1000, 0, 1000).bytes == round_bytes - 1000);
    const auto wrapped = counter.add(200, 1'000'000, 1'001'000);
    CHECK(wrapped.bytes == round_bytes + 200);
    CHECK_FALSE(wrapped.anew);
    CHECK(counter.add(5000, 2'000'000, 2'001'000).bytes == round_bytes + 5000);
    // The second round, 2 s later: 2.1e9 bytes are less than half a round, and 10 Gbit/s carry 2.5e9.
    CHECK(counter.add(3'000'000'000, 1'602'000'000, 1'602'001'000).bytes == round_bytes + 3'000'000'000);
    const auto again = counter.add(805'032'704, 3'602'000'000, 3'602'001'000);
    CHECK(again.bytes == 2 * round_bytes + 805'032'704);
    CHECK_FALSE(again.anew);
}

TEST_CASE("what fell by more than half a round, or too fast, was reset", "[wrap]") {
    WrappingCounter half(1, 1e15);
    half.add(1'000'000'000, 0, 1000);
    const auto fell = half.add(5, 1'000'000'000, 1'000'001'000); // a step of 3.3e9
    CHECK(fell.anew);
    CHECK(fell.bytes == 5);

    WrappingCounter fast(1, ten_gigabit);
    fast.add(round_bytes - 1'000'000'000, 0, 1000);
    CHECK(fast.add(5, 1'000'000, 1'001'000).anew); // 1 GB in 1 ms; 10 Gbit/s carry 1.25 MB
    WrappingCounter wide(1, 1e15);
    wide.add(round_bytes + 7, 0, 1000); // more than 32 bits hold: it was declared wrongly
    CHECK(wide.add(5, 1'000'000, 1'001'000).anew);
}

TEST_CASE("counters of words wrap at four times the bytes", "[wrap]") {
    WrappingCounter words(4, 100e9 / 8);
    words.add(4 * round_bytes - 400, 0, 1000);
    CHECK(words.add(800, 1'000'000, 1'001'000).bytes == 4 * round_bytes + 800);
}

TEST_CASE("a declared source unwraps both directions; one that came back starts anew", "[wrap]") {
    WrappingCounters source(std::make_unique<Listed>(
                                std::vector{counts(round_bytes - 10, 1), counts(5, 2), counts(0, 0, EIO),
                                            counts(6, round_bytes - 1), counts(3, 4, 0, true), counts(4, 5)}),
                            1, ten_gigabit);
    CHECK(source.read().rx_bytes == round_bytes - 10);
    const auto wrapped = source.read();
    CHECK(wrapped.rx_bytes == round_bytes + 5);
    CHECK(wrapped.tx_bytes == 2);
    CHECK_FALSE(wrapped.reopened);
    CHECK(source.read().error == EIO);
    CHECK(source.read().rx_bytes == round_bytes + 6);
    const auto back = source.read(); // 4 is no wrap of round_bytes - 1: it is another device's count
    CHECK(back.reopened);
    CHECK(back.tx_bytes == 4);
    CHECK_FALSE(source.read().reopened);
}
