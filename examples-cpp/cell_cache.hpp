/* A cache of decoded cells, which are inner chunks of shards, or chunks. */
#ifndef ZCODEC_EXAMPLE_CELL_CACHE_HPP
#define ZCODEC_EXAMPLE_CELL_CACHE_HPP

#include "files.hpp"

#include <list>
#include <mutex>
#include <unordered_map>

// Decoded cells, the least recently used one first to go.
class Cache {
 public:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // the numbers of the object's state and of the cell in it
  using Cell = std::shared_ptr<Bytes>;

  explicit Cache(std::size_t capacity) : capacity_(capacity) {}

  bool is_empty() const { return capacity_ == 0; }

  Cell find(const Key &key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = cells_.find(key);
    if (found == cells_.end()) {
      return nullptr;
    }
    order_.splice(order_.end(), order_, found->second.second);
    return found->second.first;
  }

  void insert(const Key &key, const Cell &cell) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (cells_.count(key) > 0) {
      return;
    }
    cells_.emplace(key, std::make_pair(cell, order_.insert(order_.end(), key)));
    size_ += cell->size();
    while (size_ > capacity_) {
      const auto oldest = cells_.find(order_.front());
      size_ -= oldest->second.first->size();
      cells_.erase(oldest);
      order_.pop_front();
    }
  }

 private:
  struct Hash {
    std::size_t operator()(const Key &key) const {
      return std::hash<std::uint64_t>()(key.first * 0x9E3779B97F4A7C15 + key.second);
    }
  };

  std::mutex mutex_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::list<Key> order_;
  std::unordered_map<Key, std::pair<Cell, std::list<Key>::iterator>, Hash> cells_;
};

#endif
