// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "base/sim_time.hpp"

#include <cstdint>
#include <queue>
#include <vector>

namespace orrery {

/// Phases of one instant: what ends comes before what starts.
enum class EventKind : std::uint8_t {
    KernelEnd,   ///< `detail` is the version of the kernel's end: an end that was moved is stale
    StreamStart  ///< the host has issued the head of stream `detail`
};

struct Event {
    SimTime time;
    std::uint64_t sequence = 0;
    EventKind kind = EventKind::KernelEnd;
    std::uint32_t detail = 0;
    ClassId rank_class;
};

/// Events in total order (time, phase, sequence): written once, here.
class EventQueue {
  public:
    void push(SimTime time, EventKind kind, ClassId rank_class, std::uint32_t detail) {
        heap_.push({time, sequence_++, kind, detail, rank_class});
    }

    [[nodiscard]] bool empty() const { return heap_.empty(); }

    [[nodiscard]] const Event& top() const { return heap_.top(); }

    void pop() { heap_.pop(); }

  private:
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            if (a.time != b.time) {
                return a.time > b.time;
            }
            return a.kind != b.kind ? a.kind > b.kind : a.sequence > b.sequence;
        }
    };

    std::priority_queue<Event, std::vector<Event>, Later> heap_;
    std::uint64_t sequence_ = 0;
};

}  // namespace orrery
