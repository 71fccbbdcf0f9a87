#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

#include <bit>
#include <optional>
#include <vector>

namespace generator {
namespace {

using Kind = Operation::Kind;

/// 2^levels consecutive positions.
struct Block {
    int first = 0;
    int levels = 0;

    int size() const { return 1 << levels; }
};

/// `size` as a sum of powers of two, largest first.
std::vector<Block> binary_blocks(int size) {
    std::vector<Block> blocks;
    for (int first = 0; first < size;) {
        const int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(size - first))) - 1;
        blocks.push_back({first, levels});
        first += 1 << levels;
    }
    return blocks;
}

/// Half `half` (0 or 1) of a part of the buffer.
ByteRange half_of(ByteRange whole, std::uint64_t element_bytes, unsigned half) {
    const ByteRange part = partition(whole.bytes, element_bytes, 2, half);
    return {whole.offset + part.offset, part.bytes};
}

/// What a rank with number `index` in its block holds after `levels` halvings: bit k of the number says which
/// half it kept in step k. So the piece of index i in a block is made of the pieces of i, i + size, i + 2
/// size
/// ... in a larger block.
ByteRange piece(ByteRange buffer, std::uint64_t element_bytes, int index, int levels) {
    for (int level = 0; level < levels; ++level)
        buffer = half_of(buffer, element_bytes, static_cast<unsigned>(index >> level) & 1U);
    return buffer;
}

/// One rank's work, step by step. A send comes after everything that was received before: what it sends is
/// made of several receives of other sizes.
struct Rank {
    RankPlan plan;
    IndexList received;

    void send(int peer, ByteRange range) { append(plan, Kind::send, peer, range, {}, received); }
    void receive(Kind kind, int peer, ByteRange range) { received.append(append(plan, kind, peer, range)); }
};

} // namespace

RankPlan halving_doubling_all_reduce(int position, int size, std::uint64_t bytes,
                                     std::uint64_t element_bytes) {
    const std::vector<Block> blocks = binary_blocks(size);
    std::size_t own = 0;
    while (position >= blocks[own].first + blocks[own].size())
        ++own;
    const Block block = blocks[own];
    const int index = position - block.first;
    const auto piece_of = [&](int number, int levels) {
        return piece({0, bytes}, element_bytes, number, levels);
    };
    Rank rank;
    for (int level = 0; level < block.levels; ++level) {
        const int partner = index ^ (1 << level);
        rank.send(block.first + partner, piece_of(partner, level + 1));
        rank.receive(Kind::receive_add, block.first + partner, piece_of(index, level + 1));
    }
    const ByteRange held = piece_of(index, block.levels);
    // From the smaller block comes its sum of this piece, to the larger one goes the sum of both, in pieces
    // as small as that block's; and the same way back.
    std::optional<int> smaller;
    if (own + 1 < blocks.size())
        smaller = blocks[own + 1].first + index % blocks[own + 1].size();
    std::vector<int> larger; // numbers in the larger block
    if (own > 0)
        for (int number = index; number < blocks[own - 1].size(); number += block.size())
            larger.push_back(number);
    if (smaller)
        rank.receive(Kind::receive_add, *smaller, held);
    for (const int number : larger)
        rank.send(blocks[own - 1].first + number, piece_of(number, blocks[own - 1].levels));
    for (const int number : larger)
        rank.receive(Kind::receive_copy, blocks[own - 1].first + number,
                     piece_of(number, blocks[own - 1].levels));
    if (smaller)
        rank.send(*smaller, held);
    for (int level = block.levels - 1; level >= 0; --level) {
        const int partner = index ^ (1 << level);
        rank.send(block.first + partner, piece_of(index, level + 1));
        rank.receive(Kind::receive_copy, block.first + partner, piece_of(partner, level + 1));
    }
    return rank.plan;
}

} // namespace generator
