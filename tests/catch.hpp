// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <catch2/catch.hpp>
