// Files for array_store: positioned reads and writes, and reads in a queue.
#ifndef ZCODEC_EXAMPLE_FILES_HPP
#define ZCODEC_EXAMPLE_FILES_HPP

#include "thread_pool.hpp"
#include "zcodec.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

using Bytes = zcodec::Vector<std::uint8_t>;

[[noreturn]] inline void throw_errno(const std::string &path) {
  throw std::system_error(errno, std::generic_category(), path);
}

// All of a small file; empty if there is none.
inline std::string text_of(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// An open file. It stays readable after another one has taken its name.
class File {
 public:
  // NULL if there is no such file.
  static std::shared_ptr<File> open(const std::string &path) {
    int descriptor = ::open(path.c_str(), O_RDWR);
    if (descriptor < 0 && (errno == EACCES || errno == EROFS)) {
      descriptor = ::open(path.c_str(), O_RDONLY);
    }
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

  // Reads what the system has in memory. False: not all of it, or the system does not tell.
  bool read_cached([[maybe_unused]] std::uint64_t offset, [[maybe_unused]] std::uint8_t *bytes,
                   [[maybe_unused]] std::size_t size) const {
#ifdef RWF_NOWAIT
    const iovec part = {bytes, size};
    return ::preadv2(descriptor_, &part, 1, static_cast<off_t>(offset), RWF_NOWAIT) == static_cast<ssize_t>(size);
#else
    return false;
#endif
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

/*
 * A plan that is fed by a queue of reads. Ranges that lie close together are read at once. What the system has in
 * memory is read by the thread that decodes it, because waking another one takes longer; all else goes through the
 * queue, and is decoded while other bytes are still on their way.
 */
class AsyncPlan : public std::enable_shared_from_this<AsyncPlan> {
 public:
  using Done = std::function<void(zcodec::Plan, std::exception_ptr)>;

  AsyncPlan(zcodec::Plan plan, std::shared_ptr<const File> file, std::uint64_t size, ThreadPool &io,
            ThreadPool &workers, Done done)
      : plan_(std::move(plan)),
        file_(std::move(file)),
        size_(size),
        io_(io),
        workers_(workers),
        done_(std::move(done)) {}

  // Begins the next stage; what comes last of a stage begins the one after it.
  void start_stage() {
    const auto stage = std::make_shared<Stage>();
    try {
      stage->batches = coalesce(plan_.next());
    } catch (...) {
      return done_(std::move(plan_), std::current_exception());
    }
    if (stage->batches.empty()) {
      return done_(std::move(plan_), nullptr);
    }
    stage->missing = stage->batches.size();
    const std::size_t count = std::min(workers_.thread_count() + 1, stage->batches.size());
    for (std::size_t i = 0; i < count; i++) {
      workers_.post([self = shared_from_this(), stage] { self->work(stage); });
    }
  }

 private:
  struct Range {
    std::size_t number;  // in the stage
    std::uint64_t begin;
    std::size_t size;
  };

  // Ranges that are read together: all within `begin` to `end` of the file.
  struct Batch {
    std::uint64_t begin;
    std::uint64_t end;
    std::vector<Range> ranges;
    Bytes bytes;
  };

  struct Stage {
    std::vector<Batch> batches;
    std::atomic<std::size_t> next{0};  // the first batch that no thread has taken
    std::atomic<std::size_t> missing{0};
    std::mutex mutex;
    std::exception_ptr error;
  };

  std::vector<Batch> coalesce(zcodec::List<zcodec::Range> ranges) const {
    constexpr std::uint64_t largest_gap = 4096, largest_read = 1 << 17;
    std::vector<Batch> batches;
    for (std::size_t i = 0; i < ranges.size(); i++) {
      const std::uint64_t begin = ranges[i].offset == zcodec::size_unknown ? size_ - ranges[i].size : ranges[i].offset;
      const std::uint64_t end = begin + ranges[i].size;
      if (batches.empty() || begin > batches.back().end + largest_gap || end - batches.back().begin > largest_read) {
        batches.push_back({begin, end, {}, {}});
      }
      batches.back().end = std::max(batches.back().end, end);
      batches.back().ranges.push_back({i, begin, static_cast<std::size_t>(ranges[i].size)});
    }
    return batches;
  }

  // Several threads run this for one stage; each takes the next batch until none is left.
  void work(const std::shared_ptr<Stage> &stage) {
    for (std::size_t i = stage->next++; i < stage->batches.size(); i = stage->next++) {
      Batch &batch = stage->batches[i];
      try {
        batch.bytes.resize(static_cast<std::size_t>(batch.end - batch.begin));
        if (!file_->read_cached(batch.begin, batch.bytes.data(), batch.bytes.size())) {
          io_.post([self = shared_from_this(), stage, i] { self->read(stage, i); });
          continue;
        }
      } catch (...) {
        finish(*stage, std::current_exception());
        continue;
      }
      supply(*stage, batch);
    }
  }

  void read(const std::shared_ptr<Stage> &stage, std::size_t i) {
    Batch &batch = stage->batches[i];
    try {
      file_->read(batch.begin, batch.bytes.data(), batch.bytes.size());
      workers_.post([self = shared_from_this(), stage, i] { self->supply(*stage, stage->batches[i]); });
    } catch (...) {
      finish(*stage, std::current_exception());
    }
  }

  void supply(Stage &stage, Batch &batch) {
    std::exception_ptr error;
    try {
      for (const Range &range : batch.ranges) {
        plan_.supply(range.number, batch.bytes.data() + (range.begin - batch.begin), range.size);
      }
    } catch (...) {
      error = std::current_exception();
    }
    batch.bytes = {};
    finish(stage, error);
  }

  void finish(Stage &stage, std::exception_ptr error) {
    if (error != nullptr) {
      const std::lock_guard<std::mutex> lock(stage.mutex);
      if (stage.error == nullptr || may_follow(stage.error)) {
        stage.error = error;
      }
    }
    if (--stage.missing == 0) {
      stage.error != nullptr ? done_(std::move(plan_), stage.error) : start_stage();
    }
  }

  /** Whether an error may only say that another has ended the plan. */
  static bool may_follow(const std::exception_ptr &error) {
    try {
      std::rethrow_exception(error);
    } catch (const zcodec::Error &caught) {
      return caught.status() == ZCODEC_STATUS_INVALID_ARGUMENT;
    } catch (...) {
      return false;
    }
  }

  zcodec::Plan plan_;
  std::shared_ptr<const File> file_;
  std::uint64_t size_;
  ThreadPool &io_;
  ThreadPool &workers_;
  Done done_;
};

#endif
