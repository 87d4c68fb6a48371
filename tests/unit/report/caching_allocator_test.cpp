// SPDX-License-Identifier: Apache-2.0
#include "report/caching_allocator.hpp"

#include "tests/catch.hpp"
#include "tests/unit/report/fixture.hpp"

namespace orrery {
namespace {

using test::kGiB;
using test::kMiB;

CachingAllocator make(Allocator kind, std::int64_t capacity = 80 * kGiB) {
    return {kind, capacity};
}

TEST_CASE("caching allocator: 1000 B take a block of 1024 B in a segment of 2 MiB") {
    CachingAllocator allocator = make(Allocator::Segments);
    const auto block = allocator.allocate(1000);
    REQUIRE(block);
    CHECK(allocator.block_size(*block) == 1024);
    CHECK(allocator.reserved() == 2 * kMiB);
}

TEST_CASE("caching allocator: 5 MiB are split off a segment of 20 MiB") {
    CachingAllocator allocator = make(Allocator::Segments);
    const auto block = allocator.allocate(5 * kMiB);
    REQUIRE(block);
    CHECK(allocator.block_size(*block) == 5 * kMiB);
    CHECK(allocator.reserved() == 20 * kMiB);
    // Three more fit in what is left, a fifth needs a new segment.
    REQUIRE(allocator.allocate(5 * kMiB));
    REQUIRE(allocator.allocate(5 * kMiB));
    REQUIRE(allocator.allocate(5 * kMiB));
    CHECK(allocator.reserved() == 20 * kMiB);
    REQUIRE(allocator.allocate(5 * kMiB));
    CHECK(allocator.reserved() == 40 * kMiB);
}

TEST_CASE("caching allocator: a byte above 12 MiB takes a segment of 14 MiB") {
    CachingAllocator allocator = make(Allocator::Segments);
    REQUIRE(allocator.allocate(12 * kMiB + 1));
    CHECK(allocator.reserved() == 14 * kMiB);
}

TEST_CASE("caching allocator: in the large pool a rest of 1 MiB or less is not split off") {
    // 19.5 MiB in 20 MiB: the block keeps the half MiB
    CachingAllocator segments = make(Allocator::Segments);
    const auto whole = segments.allocate(39 * kMiB / 2);
    REQUIRE(whole);
    CHECK(segments.block_size(*whole) == 20 * kMiB);
    // expandable segments split any rest of 512 B
    CachingAllocator expandable = make(Allocator::Expandable);
    const auto part = expandable.allocate(39 * kMiB / 2);
    REQUIRE(part);
    CHECK(expandable.block_size(*part) == 39 * kMiB / 2);
    CHECK(expandable.reserved() == 20 * kMiB);
}

TEST_CASE("caching allocator: small and large requests do not share segments") {
    CachingAllocator allocator = make(Allocator::Segments);
    REQUIRE(allocator.allocate(5 * kMiB));
    REQUIRE(allocator.allocate(kMiB));  // 1 MiB is still small
    CHECK(allocator.reserved() == 22 * kMiB);
}

TEST_CASE("caching allocator: a freed block is used again, the smallest that is large enough") {
    CachingAllocator allocator = make(Allocator::Segments);
    const auto large = allocator.allocate(40 * kMiB);
    const auto medium = allocator.allocate(30 * kMiB);
    REQUIRE(large);
    REQUIRE(medium);
    allocator.free(*large);
    allocator.free(*medium);
    CHECK(allocator.in_use() == 0);
    const auto again = allocator.allocate(29 * kMiB + 512);
    CHECK(again == medium);
    CHECK(allocator.reserved() == 70 * kMiB);
}

TEST_CASE("caching allocator: free neighbours join, so that a large request fits again") {
    CachingAllocator allocator = make(Allocator::Segments);
    std::array<CachingAllocator::Address, 4> blocks{};
    for (auto& block : blocks) {
        block = allocator.allocate(5 * kMiB).value();
    }
    for (const std::size_t i : {0U, 2U, 1U, 3U}) {
        allocator.free(blocks.at(i));
    }
    REQUIRE(allocator.allocate(20 * kMiB));
    CHECK(allocator.reserved() == 20 * kMiB);
}

TEST_CASE("caching allocator: separate segments never join, an expandable one grows") {
    // two blocks of 12 MiB are freed, then 24 MiB are asked for
    const auto reserved = [](Allocator kind) {
        CachingAllocator allocator = make(kind);
        const auto a = allocator.allocate(12 * kMiB).value();
        const auto b = allocator.allocate(12 * kMiB).value();
        allocator.free(a);
        allocator.free(b);
        REQUIRE(allocator.allocate(24 * kMiB));
        return allocator.reserved();
    };
    CHECK(reserved(Allocator::Segments) == (12 + 12 + 24) * kMiB);
    CHECK(reserved(Allocator::Expandable) == 2 * 20 * kMiB);
}

TEST_CASE("caching allocator: at the capacity empty segments are given back before it fails") {
    CachingAllocator allocator = make(Allocator::Segments, 64 * kMiB);
    const auto block = allocator.allocate(40 * kMiB);
    REQUIRE(block);
    CHECK_FALSE(allocator.allocate(42 * kMiB));
    allocator.free(*block);
    REQUIRE(allocator.allocate(42 * kMiB));
    CHECK(allocator.reserved() == 42 * kMiB);
    CHECK(allocator.peak_reserved() == 42 * kMiB);
}

TEST_CASE("caching allocator: expandable segments give back whole free pages at the capacity") {
    CachingAllocator allocator = make(Allocator::Expandable, 60 * kMiB);
    const auto first = allocator.allocate(45 * kMiB).value();  // pages 0, 1 and a part of 2
    REQUIRE(allocator.allocate(10 * kMiB));
    allocator.free(first);
    // 45 MiB are free in one piece but 50 are asked: two whole pages go back; 60 − 40 + 60 > 60
    // fails
    CHECK_FALSE(allocator.allocate(50 * kMiB));
    CHECK(allocator.reserved() == 20 * kMiB);
    // 40 MiB fit: the free end of page 2 (5 MiB) and two new pages
    REQUIRE(allocator.allocate(40 * kMiB));
    CHECK(allocator.reserved() == 60 * kMiB);
}

TEST_CASE("replay: fragments can make a step fail that would fit by its bytes") {
    // 12, 12 freed, then 24 MiB: 36 MiB alive at most with the 12 that stay, 48 reserved
    Program program;
    program.tensors.push_back({NameId(), MemoryCategory::Parameters, 12 * kMiB});
    program.tensors.push_back({NameId(), MemoryCategory::Activations, 5 * kMiB});
    program.tensors.push_back({NameId(), MemoryCategory::Activations, 19 * kMiB});
    program.tensor_lists = {{TensorId(1U)}, {TensorId(2U)}};
    program.persistent = {TensorId(0U)};
    const SimTime now;
    // Two blocks of 5 MiB share a segment of 20; the first goes, then 19 MiB come.
    const std::vector<MemoryEvent> events{{now, 0, true}, {now, 0, true},  {now, 0, false},
                                          {now, 1, true}, {now, 1, false}, {now, 0, false}};
    // alive at most 12 + 5 + 19 = 36 MiB; reserved 12 + 20 + 20 = 52 MiB
    const ReservedMemory tight = replay_allocator(program, events, Allocator::Segments, 48 * kMiB);
    CHECK_FALSE(tight.fits);
    CHECK(tight.peak_bytes == 52 * kMiB);
    const ReservedMemory wide = replay_allocator(program, events, Allocator::Segments, 52 * kMiB);
    CHECK(wide.fits);
    CHECK(wide.peak_bytes == 52 * kMiB);
}

TEST_CASE("replay: the framework's own share is outside the allocator and counted to the byte") {
    Program program;
    program.tensors.push_back({NameId(), MemoryCategory::Framework, 1001});
    program.tensors.push_back({NameId(), MemoryCategory::Parameters, 512});
    program.persistent = {TensorId(0U), TensorId(1U)};
    const ReservedMemory reserved = replay_allocator(program, {}, Allocator::Segments, kGiB);
    CHECK(reserved.peak_bytes == 1001 + 2 * kMiB);
}

}  // namespace
}  // namespace orrery
