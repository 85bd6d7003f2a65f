// The test of array_store.
#ifndef ZCODEC_EXAMPLE_ARRAY_STORE_TEST_HPP
#define ZCODEC_EXAMPLE_ARRAY_STORE_TEST_HPP

#include <cstdint>
#include <string>

// Checks that damaged shards and boxes outside an array are errors. Then writes and reads random boxes of arrays of
// several kinds in `directory` until `megabytes` have moved, and compares them with an array in memory. Throws if
// anything differs.
void test_store(const std::string &directory, std::uint64_t megabytes, unsigned threads, std::uint64_t seed);

#endif
