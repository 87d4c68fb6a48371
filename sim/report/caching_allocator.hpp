// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/run_record.hpp"
#include "model/training.hpp"
#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace orrery {

/// PyTorch's caching allocator on one stream: what it holds from the GPU while tensors come and go.
///   block    = request rounded up to 512 B; pool small if <= 1 MiB, else large
///   segment  = 2 MiB in the small pool; 20 MiB for requests under 10 MiB; else rounded up to 2 MiB
///   choice   = the smallest free block of the pool that is large enough, the lowest of equals
///   split    = if the rest is >= 512 B (small pool, expandable) or > 1 MiB (large pool)
///   free     = joined with free neighbours of the same segment; the segment stays reserved
/// Expandable: one segment a pool that grows at its end by pages of 2 MiB (small) or 20 MiB
/// (large). When the capacity is reached, empty segments (expandable: whole free pages) are given
/// back, then the request is tried once more. Source: PyTorch c10/cuda/CUDACachingAllocator.cpp
/// (get_allocation_size, should_split).
class CachingAllocator {
  public:
    using Address = std::int64_t;  ///< offset in the allocator's own address space; −1 is never one

    /// `capacity` in bytes.
    CachingAllocator(Allocator kind, std::int64_t capacity) : kind_(kind), capacity_(capacity) {}

    /// Takes `bytes`; nothing where even an emptied cache leaves no room. Requires: bytes > 0.
    [[nodiscard]] std::optional<Address> allocate(std::int64_t bytes);

    /// Requires: `address` came from allocate and was not freed since.
    void free(Address address);

    [[nodiscard]] std::int64_t reserved() const { return reserved_; }

    [[nodiscard]] std::int64_t peak_reserved() const { return peak_reserved_; }

    /// Bytes in blocks that are in use, after rounding and unsplit rests.
    [[nodiscard]] std::int64_t in_use() const { return in_use_; }

    /// Size of the block at `address`. Requires: as free.
    [[nodiscard]] std::int64_t block_size(Address address) const;

  private:
    struct Block {
        std::int64_t size = 0;
        bool is_free = true;
    };

    struct Pool {
        bool is_small = false;
        std::map<Address, Block> blocks;
        std::set<std::pair<std::int64_t, Address>> free_blocks;  ///< by (size, address)
        std::map<Address, std::int64_t> segments;  ///< begin → size; not when expandable
        Address end = 0;  ///< of what was ever mapped; expandable segments grow from here
    };

    [[nodiscard]] Pool& pool_of(Address address) { return pools_[address >= kLargeBase ? 1 : 0]; }

    [[nodiscard]] const Pool& pool_of(Address address) const {
        return pools_[address >= kLargeBase ? 1 : 0];
    }

    bool reserve(Pool& pool, std::int64_t size);
    bool reserve_segment(Pool& pool, std::int64_t size);
    bool grow(Pool& pool, std::int64_t size);
    void release_cached(Pool& pool);
    void release_pages(Pool& pool);
    void add_free(Pool& pool, Address address, std::int64_t size);
    Address take(Pool& pool, std::int64_t size);
    bool charge(std::int64_t bytes);

    static constexpr Address kLargeBase = Address{1}
                                          << 60;  ///< the large pool's addresses start here

    Allocator kind_;
    std::int64_t capacity_;
    std::int64_t reserved_ = 0;
    std::int64_t peak_reserved_ = 0;
    std::int64_t in_use_ = 0;
    std::array<Pool, 2> pools_{Pool{true, {}, {}, {}, 0}, Pool{false, {}, {}, {}, kLargeBase}};
};

/// What the allocator would have held for one rank.
struct ReservedMemory {
    std::int64_t peak_bytes = 0;  ///< reserved, with what lies outside the allocator
    bool fits = true;             ///< every request was served within the capacity
};

/// Replays a rank's memory events, in order, through the allocator: first the persistent tensors in
/// the Program's order, then the step. Persistent tensors of MemoryCategory::Framework lie outside
/// it (the CUDA context). Of several alive tensors of one kind the oldest is freed first. Where a
/// request fails, the replay is done again without a limit, so that the bytes say what would have
/// been needed. Requires: `events` is the whole step of that Program.
[[nodiscard]] ReservedMemory replay_allocator(const Program& program,
                                              const std::vector<MemoryEvent>& events,
                                              Allocator kind, std::int64_t capacity);

}  // namespace orrery
