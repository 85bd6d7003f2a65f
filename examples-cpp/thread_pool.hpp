// A thread pool, as a host may have one. Without threads, what is posted runs at once.
#ifndef ZCODEC_EXAMPLE_THREAD_POOL_HPP
#define ZCODEC_EXAMPLE_THREAD_POOL_HPP

#include <condition_variable>
#include <deque>
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
    }
    changed_.notify_all();
    for (std::thread &thread : threads_) {
      thread.join();
    }
  }

  void post(std::function<void()> function) {
    if (threads_.empty()) {
      return function();
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(std::move(function));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> function;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return is_closed_ || !queue_.empty(); });
        if (queue_.empty()) {
          return;
        }
        function = std::move(queue_.front());
        queue_.pop_front();
      }
      function();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool is_closed_ = false;
  std::vector<std::thread> threads_;
};

#endif
