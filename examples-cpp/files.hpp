// Files for array_store: positioned reads and writes, and reads in a queue.
#ifndef ZCODEC_EXAMPLE_FILES_HPP
#define ZCODEC_EXAMPLE_FILES_HPP

#include "thread_pool.hpp"
#include "zcodec.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

using Bytes = zcodec::Vector<std::uint8_t>;

[[noreturn]] inline void throw_errno(const std::string &path) {
  throw std::system_error(errno, std::generic_category(), path);
}

// An open file. It stays readable after another one has taken its name.
class File {
 public:
  // NULL if there is no such file.
  static std::shared_ptr<File> open(const std::string &path) {
    const int descriptor = ::open(path.c_str(), O_RDWR);
    if (descriptor < 0 && errno == ENOENT) {
      return nullptr;
    }
    return std::make_shared<File>(path, descriptor);
  }
  static std::shared_ptr<File> create(const std::string &path) {
    return std::make_shared<File>(path, ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666));
  }

  File(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {
    if (descriptor_ < 0) {
      throw_errno(path_);
    }
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() { ::close(descriptor_); }

  std::uint64_t size() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) {
      throw_errno(path_);
    }
    return static_cast<std::uint64_t>(status.st_size);
  }

  void truncate(std::uint64_t size) const {
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
      throw_errno(path_);
    }
  }

  void read(std::uint64_t offset, std::uint8_t *bytes, std::size_t size) const {
    while (size > 0) {
      const ssize_t count = ::pread(descriptor_, bytes, size, static_cast<off_t>(offset));
      if (count < 0 && errno != EINTR) {
        throw_errno(path_);
      }
      if (count == 0) {
        throw std::runtime_error(path_ + " ends at byte " + std::to_string(offset));
      }
      const std::size_t step = count > 0 ? static_cast<std::size_t>(count) : 0;
      bytes += step;
      offset += step;
      size -= step;
    }
  }

  void write(std::uint64_t offset, const void *bytes, std::size_t size) const {
    const char *at = static_cast<const char *>(bytes);
    while (size > 0) {
      const ssize_t count = ::pwrite(descriptor_, at, size, static_cast<off_t>(offset));
      if (count < 0 && errno != EINTR) {
        throw_errno(path_);
      }
      const std::size_t step = count > 0 ? static_cast<std::size_t>(count) : 0;
      at += step;
      offset += step;
      size -= step;
    }
  }

 private:
  std::string path_;
  int descriptor_;
};

// Counts work that is under way; the first failure is thrown to who waits.
class Pending {
 public:
  void add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    count_++;
  }
  void done(std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error != nullptr && error_ == nullptr) {
      error_ = error;
    }
    if (--count_ == 0) {
      changed_.notify_all();
    }
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0; });
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
  std::exception_ptr error_;
};

/*
 * A plan that is fed by a queue of reads. Ranges that lie close together are read at once; each is decoded on a thread
 * of `workers` as soon as its bytes are there, while others are still being read.
 */
class AsyncPlan : public std::enable_shared_from_this<AsyncPlan> {
 public:
  using Done = std::function<void(zcodec::Plan &, std::exception_ptr)>;

  AsyncPlan(zcodec::Plan plan, std::shared_ptr<const File> file, std::uint64_t size, ThreadPool &io,
            ThreadPool &workers, Done done)
      : plan_(std::move(plan)),
        file_(std::move(file)),
        size_(size),
        io_(io),
        workers_(workers),
        done_(std::move(done)) {}

  // Reads the ranges of the next stage; what comes last starts the stage after it.
  void start_stage() {
    std::vector<Batch> batches;
    try {
      batches = coalesce(plan_.next());
    } catch (...) {
      error_ = std::current_exception();
      batches.clear();
    }
    if (batches.empty()) {
      return done_(plan_, error_);
    }
    missing_ = batches.size();
    for (Batch &batch : batches) {
      io_.post([self = shared_from_this(), batch = std::move(batch)] { self->read(batch); });
    }
  }

 private:
  // Ranges `first` to `first + ranges.size() - 1` of the stage, all within `begin` to `end` of the file.
  struct Batch {
    std::size_t first;
    std::uint64_t begin;
    std::uint64_t end;
    std::vector<std::pair<std::uint64_t, std::size_t>> ranges;
  };

  std::vector<Batch> coalesce(zcodec::List<zcodec::Range> ranges) const {
    constexpr std::uint64_t largest_gap = 4096, largest_read = 1 << 20;
    std::vector<Batch> batches;
    for (std::size_t i = 0; i < ranges.size(); i++) {
      const std::uint64_t begin = ranges[i].offset == zcodec::size_unknown ? size_ - ranges[i].size : ranges[i].offset;
      const std::uint64_t end = begin + ranges[i].size;
      if (batches.empty() || begin > batches.back().end + largest_gap || end - batches.back().begin > largest_read) {
        batches.push_back({i, begin, end, {}});
      }
      batches.back().end = std::max(batches.back().end, end);
      batches.back().ranges.emplace_back(begin, static_cast<std::size_t>(ranges[i].size));
    }
    return batches;
  }

  void read(const Batch &batch) {
    try {
      const auto bytes = std::make_shared<Bytes>(static_cast<std::size_t>(batch.end - batch.begin));
      file_->read(batch.begin, bytes->data(), bytes->size());
      workers_.post([self = shared_from_this(), batch, bytes] { self->supply(batch, *bytes); });
    } catch (...) {
      finish(std::current_exception());
    }
  }

  void supply(const Batch &batch, const Bytes &bytes) {
    std::exception_ptr error;
    try {
      for (std::size_t i = 0; i < batch.ranges.size(); i++) {
        const auto [begin, size] = batch.ranges[i];
        plan_.supply(batch.first + i, bytes.data() + (begin - batch.begin), size);
      }
    } catch (...) {
      error = std::current_exception();
    }
    finish(error);
  }

  void finish(std::exception_ptr error) {
    if (error != nullptr) {
      const std::lock_guard<std::mutex> lock(mutex_);
      error_ = error;
    }
    if (--missing_ == 0) {
      error_ != nullptr ? done_(plan_, error_) : start_stage();
    }
  }

  zcodec::Plan plan_;
  std::shared_ptr<const File> file_;
  std::uint64_t size_;
  ThreadPool &io_;
  ThreadPool &workers_;
  Done done_;
  std::atomic<std::size_t> missing_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
};

#endif
