// SPDX-License-Identifier: Apache-2.0
#include "report/caching_allocator.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

namespace orrery {

namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
constexpr std::int64_t kSmallRequest = kMiB;
constexpr std::int64_t kSmallSegment = 2 * kMiB;
constexpr std::int64_t kLargeSegment = 20 * kMiB;
constexpr std::int64_t kLargeRequest = 10 * kMiB;  ///< from here on a segment of its own size
constexpr std::int64_t kBlockRounding = 512;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

std::optional<CachingAllocator::Address> CachingAllocator::allocate(std::int64_t bytes) {
    ORRERY_ASSERT(bytes > 0, "a tensor without bytes takes no block");
    const std::int64_t size = round_up(bytes, kBlockRounding);
    Pool& pool = pools_[size <= kSmallRequest ? 0 : 1];
    const auto found = pool.free_blocks.lower_bound({size, std::numeric_limits<Address>::min()});
    if (found == pool.free_blocks.end() && !reserve(pool, size)) {
        return std::nullopt;
    }
    return take(pool, size);
}

CachingAllocator::Address CachingAllocator::take(Pool& pool, std::int64_t size) {
    const auto found = pool.free_blocks.lower_bound({size, std::numeric_limits<Address>::min()});
    ORRERY_ASSERT(found != pool.free_blocks.end(), "reserve leaves a block that is large enough");
    const auto [whole, address] = *found;
    pool.free_blocks.erase(found);
    Block& block = pool.blocks.at(address);
    block.is_free = false;
    const std::int64_t rest = whole - size;
    const bool splits_small = pool.is_small || kind_ == Allocator::Expandable;
    if (splits_small ? rest >= kBlockRounding : rest > kSmallRequest) {
        block.size = size;
        pool.blocks[address + size] = Block{rest, true};
        pool.free_blocks.insert({rest, address + size});
    }
    in_use_ += block.size;
    return address;
}

void CachingAllocator::free(Address address) {
    Pool& pool = pool_of(address);
    const auto at = pool.blocks.find(address);
    ORRERY_ASSERT(at != pool.blocks.end() && !at->second.is_free,
                  "only what was allocated is freed");
    const std::int64_t size = at->second.size;
    in_use_ -= size;
    pool.blocks.erase(at);
    add_free(pool, address, size);
}

std::int64_t CachingAllocator::block_size(Address address) const {
    return pool_of(address).blocks.at(address).size;
}

void CachingAllocator::add_free(Pool& pool, Address address, std::int64_t size) {
    // Blocks of different segments are never adjacent: reserve_segment leaves a gap.
    auto next = pool.blocks.lower_bound(address);
    if (next != pool.blocks.end() && next->first == address + size && next->second.is_free) {
        size += next->second.size;
        pool.free_blocks.erase({next->second.size, next->first});
        next = pool.blocks.erase(next);
    }
    if (next != pool.blocks.begin()) {
        const auto previous = std::prev(next);
        if (previous->second.is_free && previous->first + previous->second.size == address) {
            address = previous->first;
            size += previous->second.size;
            pool.free_blocks.erase({previous->second.size, previous->first});
            pool.blocks.erase(previous);
        }
    }
    pool.blocks[address] = Block{size, true};
    pool.free_blocks.insert({size, address});
}

bool CachingAllocator::reserve(Pool& pool, std::int64_t size) {
    const auto attempt = [&] {
        return kind_ == Allocator::Expandable ? grow(pool, size) : reserve_segment(pool, size);
    };
    if (attempt()) {
        return true;
    }
    for (Pool& each : pools_) {
        release_cached(each);
    }
    return attempt();
}

bool CachingAllocator::reserve_segment(Pool& pool, std::int64_t size) {
    std::int64_t segment = round_up(size, kSmallSegment);
    if (pool.is_small) {
        segment = kSmallSegment;
    } else if (size < kLargeRequest) {
        segment = kLargeSegment;
    }
    if (!charge(segment)) {
        return false;
    }
    const Address begin = pool.end + kBlockRounding;  // the gap keeps segments apart
    pool.end = begin + segment;
    pool.segments[begin] = segment;
    add_free(pool, begin, segment);
    return true;
}

bool CachingAllocator::grow(Pool& pool, std::int64_t size) {
    std::int64_t missing = size;
    if (!pool.blocks.empty()) {
        const auto& [address, block] = *pool.blocks.rbegin();
        if (block.is_free && address + block.size == pool.end) {
            missing -= block.size;
        }
    }
    const std::int64_t mapped = round_up(missing, pool.is_small ? kSmallSegment : kLargeSegment);
    if (!charge(mapped)) {
        return false;
    }
    const Address begin = pool.end;
    pool.end += mapped;
    add_free(pool, begin, mapped);
    return true;
}

bool CachingAllocator::charge(std::int64_t bytes) {
    if (bytes > capacity_ - reserved_) {
        return false;
    }
    reserved_ += bytes;
    peak_reserved_ = std::max(peak_reserved_, reserved_);
    return true;
}

void CachingAllocator::release_cached(Pool& pool) {
    if (kind_ == Allocator::Expandable) {
        release_pages(pool);
        return;
    }
    for (auto segment = pool.segments.begin(); segment != pool.segments.end();) {
        const auto [begin, size] = *segment;
        const Block& first = pool.blocks.at(begin);
        if (first.is_free && first.size == size) {
            pool.blocks.erase(begin);
            pool.free_blocks.erase({size, begin});
            segment = pool.segments.erase(segment);
            reserved_ -= size;
        } else {
            ++segment;
        }
    }
}

void CachingAllocator::release_pages(Pool& pool) {
    const std::int64_t page = pool.is_small ? kSmallSegment : kLargeSegment;
    const Address base = pool.is_small ? 0 : kLargeBase;
    const auto free_blocks = pool.free_blocks;
    for (const auto& [size, address] : free_blocks) {
        const Address first = base + round_up(address - base, page);
        const Address last = base + (address + size - base) / page * page;
        if (first >= last) {
            continue;
        }
        pool.blocks.erase(address);
        pool.free_blocks.erase({size, address});
        reserved_ -= last - first;
        if (first > address) {
            add_free(pool, address, first - address);
        }
        if (address + size > last) {
            add_free(pool, last, address + size - last);
        }
    }
}

namespace {

/// One pass over the events with a given limit.
class Replay {
  public:
    Replay(const Program& program, Allocator kind, std::int64_t capacity)
        : program_(&program), alive_(program.tensors.size()) {
        for (const TensorId tensor : program.persistent) {
            outside_ += is_outside(tensor) ? bytes(tensor) : 0;
        }
        allocator_.emplace(kind, capacity - outside_);
    }

    bool run(const std::vector<MemoryEvent>& events) {
        for (const TensorId tensor : program_->persistent) {
            if (!is_outside(tensor) && !allocate(tensor)) {
                return false;
            }
        }
        for (const MemoryEvent& event : events) {
            for (const TensorId tensor : program_->tensor_lists[event.list]) {
                if (!event.is_allocation) {
                    free(tensor);
                } else if (!allocate(tensor)) {
                    return false;
                }
            }
        }
        return true;
    }

    [[nodiscard]] std::int64_t peak_bytes() const { return outside_ + allocator_->peak_reserved(); }

  private:
    [[nodiscard]] bool is_outside(TensorId tensor) const {
        return program_->tensors[tensor].category == MemoryCategory::Framework;
    }

    [[nodiscard]] std::int64_t bytes(TensorId tensor) const {
        return program_->tensors[tensor].bytes;
    }

    bool allocate(TensorId tensor) {
        if (bytes(tensor) == 0) {
            return true;
        }
        const auto address = allocator_->allocate(bytes(tensor));
        if (address) {
            alive_[tensor.value()].push_back(*address);
        }
        return address.has_value();
    }

    void free(TensorId tensor) {
        if (bytes(tensor) == 0) {
            return;
        }
        auto& alive = alive_[tensor.value()];
        ORRERY_ASSERT(!alive.empty(), "a tensor is freed after it was allocated");
        allocator_->free(alive.front());
        alive.pop_front();
    }

    const Program* program_;
    std::int64_t outside_ = 0;
    std::optional<CachingAllocator> allocator_;
    std::vector<std::deque<CachingAllocator::Address>> alive_;
};

}  // namespace

ReservedMemory replay_allocator(const Program& program, const std::vector<MemoryEvent>& events,
                                Allocator kind, std::int64_t capacity) {
    Replay limited(program, kind, capacity);
    if (limited.run(events)) {
        return {limited.peak_bytes(), true};
    }
    constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 2;
    Replay unlimited(program, kind, kNoLimit);
    const bool was_served = unlimited.run(events);
    ORRERY_ASSERT(was_served, "nothing is refused without a limit");
    return {unlimited.peak_bytes(), false};
}

}  // namespace orrery
