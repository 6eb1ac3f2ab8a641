#pragma once

namespace roofcast {

/// How many of `draws` independent accesses, each to one of `pieces` pieces of memory with equal
/// chance, miss a cache that holds `held` of them: until it is full each piece misses once, after
/// that an access hits with the chance held ÷ pieces.
double random_misses(double draws, double pieces, double held);

}  // namespace roofcast
