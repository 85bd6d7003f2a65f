package zcodec;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Jobs that are taken in turn by whoever is free: by threads of an executor, and by the one that waits for them. */
final class Jobs {
  /** What is done for each number below a count. */
  interface Job {
    void run(int i, int worker);
  }

  private final Job job;
  private final int count;
  private final AtomicInteger next = new AtomicInteger();
  private int unfinished;
  private Throwable failure;

  private Jobs(int count, Job job) {
    this.job = job;
    this.count = count;
    unfinished = count;
  }

  /** Runs all jobs; returns what the first of them, or the executor, has thrown; null: nothing. */
  static Throwable run(Executor executor, int maxWorkers, int count, Job job) {
    Jobs jobs = new Jobs(count, job);
    try {
      for (int worker = 1; worker < maxWorkers && worker < count; worker++) {
        int number = worker;
        executor.execute(() -> jobs.work(number));
      }
    } catch (RejectedExecutionException e) {
      // The calling thread does what nobody else takes.
    } catch (Throwable e) {
      jobs.failed(e);
    }
    try {
      jobs.work(0);
    } finally {
      jobs.await(); // until then, others use memory of the caller
    }
    return jobs.failure();
  }

  private void work(int worker) {
    for (int i = next.getAndIncrement(); i >= 0 && i < count; i = next.getAndIncrement()) {
      try {
        job.run(i, worker);
      } catch (Throwable e) {
        failed(e);
      } finally {
        finished();
      }
    }
  }

  private synchronized void failed(Throwable e) {
    if (failure == null || isConsequence(failure)) {
      failure = e;
    }
  }

  /** What the others that use a plan or a writer may get first when one of them fails. */
  private static boolean isConsequence(Throwable e) {
    return e instanceof ZcodecException && ((ZcodecException) e).status() == Status.INVALID_ARGUMENT;
  }

  private synchronized Throwable failure() {
    return failure;
  }

  private synchronized void finished() {
    if (--unfinished == 0) {
      notifyAll();
    }
  }

  /** Waits for jobs that others have begun; an interrupt is kept for later. */
  private synchronized void await() {
    boolean interrupted = false;
    while (unfinished > 0) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
