#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

namespace generator {

RankPlan pairwise_all_to_all(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan;
    const auto part = [&](int index) {
        return partition(bytes, element_bytes, static_cast<std::uint64_t>(size),
                         static_cast<std::uint64_t>(index));
    };
    const std::uint64_t own_bytes = part(position).bytes;
    IndexList step_before;
    for (int step = 1; step < size; ++step) {
        const int to = (position + step) % size;
        const int from = (position + size - step) % size;
        const std::uint64_t place = bytes + static_cast<std::uint64_t>(from) * own_bytes;
        IndexList this_step = append(plan, Operation::Kind::send, to, part(to), {}, step_before);
        this_step.append(append(plan, Operation::Kind::receive_copy, from, {place, own_bytes}));
        if (!this_step.empty())
            step_before = this_step;
    }
    return plan;
}

RankPlan send_plan(int position, std::uint64_t bytes) {
    RankPlan plan;
    append(plan, position == 0 ? Operation::Kind::send : Operation::Kind::receive_copy, 1 - position,
           {0, bytes});
    return plan;
}

} // namespace generator
