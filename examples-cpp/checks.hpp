// What programs that try a store need: a clock, random numbers, and a check.
#ifndef ZCODEC_EXAMPLE_CHECKS_HPP
#define ZCODEC_EXAMPLE_CHECKS_HPP

#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline std::uint64_t below(Random &random, std::uint64_t end) { return random() % end; }

inline void expect(bool condition, const std::string &what) {
  if (!condition) {
    throw std::runtime_error("it is false that " + what);
  }
}

#endif
