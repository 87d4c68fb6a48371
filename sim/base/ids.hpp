// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orrery {

/// An index that cannot be mistaken for an index of another kind.
template <typename Tag>
class Id {
  public:
    constexpr Id() = default;

    constexpr explicit Id(std::uint32_t value) : value_(value) {}

    constexpr explicit Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

    [[nodiscard]] constexpr std::uint32_t value() const { return value_; }

    friend constexpr auto operator<=>(Id, Id) = default;

  private:
    std::uint32_t value_ = 0;
};

/// A vector that is indexed by one kind of id only.
template <typename I, typename T>
class IdVector {
  public:
    IdVector() = default;

    explicit IdVector(std::size_t size, const T& value = T()) : items_(size, value) {}

    [[nodiscard]] T& operator[](I id) { return items_[id.value()]; }

    [[nodiscard]] const T& operator[](I id) const { return items_[id.value()]; }

    I push_back(T item) {
        items_.push_back(std::move(item));
        return I(items_.size() - 1);
    }

    [[nodiscard]] std::size_t size() const { return items_.size(); }

    [[nodiscard]] bool empty() const { return items_.empty(); }

    [[nodiscard]] auto begin() const { return items_.begin(); }

    [[nodiscard]] auto end() const { return items_.end(); }

    [[nodiscard]] auto begin() { return items_.begin(); }

    [[nodiscard]] auto end() { return items_.end(); }

    [[nodiscard]] const std::vector<T>& items() const { return items_; }

    [[nodiscard]] std::vector<T>& items() { return items_; }

  private:
    std::vector<T> items_;
};

using RankId = Id<struct RankTag>;        ///< a GPU of the job, 0 … world size − 1
using ClassId = Id<struct ClassTag>;      ///< a set of ranks that behave alike
using GroupId = Id<struct GroupTag>;      ///< a communicator, or a class of alike communicators
using ProgramId = Id<struct ProgramTag>;  ///< a Program of a ProgramSet
using InstructionId = Id<struct InstructionTag>;  ///< an instruction of one Program, in issue order
using CostId = Id<struct CostTag>;                ///< a kernel's row of the CostTable
using CommId = Id<struct CommTag>;                ///< a row of a ProgramSet's communication table
using TensorId = Id<struct TensorTag>;            ///< a row of a Program's tensor table
using NameId = Id<struct NameTag>;                ///< an interned name

}  // namespace orrery
