// A thread pool, as a host may have one. Without threads, what is posted runs at once.
#ifndef ZCODEC_EXAMPLE_THREAD_POOL_HPP
#define ZCODEC_EXAMPLE_THREAD_POOL_HPP

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

class ThreadPool {
 public:
  explicit ThreadPool(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  // What was posted is done before this returns.
  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_closed_ = true;
      wake();
    }
    for (std::thread &thread : threads_) {
      thread.join();
    }
  }

  std::size_t thread_count() const { return threads_.size(); }

  void post(std::function<void()> function) {
    if (threads_.empty()) {
      return function();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(function));
    wake();
  }

  /*
   * Counts what is under way for one caller, who takes part in the work of the pool until all of it is done: a thread
   * that only waited would be one less that works. The first failure is thrown to the caller.
   */
  class Pending {
   public:
    explicit Pending(ThreadPool &pool) : pool_(pool) {}

    void add() {
      const std::lock_guard<std::mutex> lock(pool_.mutex_);
      count_++;
    }

    void done(std::exception_ptr error) {
      const std::lock_guard<std::mutex> lock(pool_.mutex_);
      if (error != nullptr && error_ == nullptr) {
        error_ = error;
      }
      if (--count_ == 0) {
        pool_.wake();
      }
    }

    void wait() {
      std::unique_lock<std::mutex> lock(pool_.mutex_);
      while (count_ > 0) {
        if (!pool_.run_first(lock)) {
          pool_.sleep(lock);
        }
      }
      if (error_ != nullptr) {
        std::rethrow_exception(error_);
      }
    }

   private:
    ThreadPool &pool_;
    std::size_t count_ = 0;
    std::exception_ptr error_;
  };

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (run_first(lock) || !is_closed_) {
      if (queue_.empty() && !is_closed_) {
        sleep(lock);
      }
    }
  }

  // Call both under the lock.
  void wake() {
    changes_++;
    if (sleepers_ > 0) {
      changed_.notify_all();
    }
  }

  // To wake up a thread takes longer than most tasks, so that it looks for a while first whether something has changed.
  void sleep(std::unique_lock<std::mutex> &lock) {
    const std::uint64_t seen = changes_;
    lock.unlock();
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (changes_ == seen && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    lock.lock();
    if (changes_ == seen) {
      sleepers_++;
      changed_.wait(lock);
      sleepers_--;
    }
  }

  // Runs what was posted first, without the lock; false if there is nothing.
  bool run_first(std::unique_lock<std::mutex> &lock) {
    if (queue_.empty()) {
      return false;
    }
    {
      const std::function<void()> function = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      function();
    }
    lock.lock();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::atomic<std::uint64_t> changes_{0};
  std::size_t sleepers_ = 0;
  bool is_closed_ = false;
  std::vector<std::thread> threads_;
};

#endif
