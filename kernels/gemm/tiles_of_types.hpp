#pragma once
// The tiles of a kernel whose types are compiled in files of their own, as one table.
#include <initializer_list>
#include <span>
#include <vector>

#include "model/types/problem.hpp"

namespace roofcast::cuda::gemm {

/// `Tile` has a Problem `configuration`.
template <class Tile>
struct TilesOfTypes {
  std::vector<Tile> tiles;
  std::vector<Problem> configurations;

  TilesOfTypes(std::initializer_list<std::span<const Tile>> types) {
    for (const std::span<const Tile> of_type : types) {
      for (const Tile& tile : of_type) {
        tiles.push_back(tile);
        configurations.push_back(tile.configuration);
      }
    }
  }
};

}  // namespace roofcast::cuda::gemm
