package zcodec;

import com.sun.jna.Callback;
import com.sun.jna.Function;
import com.sun.jna.Pointer;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** The function {@code run} of a {@code zcodec_executor}. */
final class ExecutorRun implements Callback {
  /** What an executor has thrown on this thread, which made the call, in the last call. */
  private static final ThreadLocal<Throwable> FAILURE = new ThreadLocal<>();

  private final Executor executor;
  private final int maxWorkers;

  ExecutorRun(Executor executor, int maxWorkers) {
    this.executor = executor;
    this.maxWorkers = maxWorkers;
  }

  /** One call of {@code run}: jobs are taken in turn by whoever is free. */
  private static final class Jobs {
    private final Function job;
    private final Long jobData;
    private final int count;
    private final AtomicInteger next = new AtomicInteger();
    private int unfinished;
    private Throwable failure;

    Jobs(Pointer job, long jobData, int count) {
      this.job = Function.getFunction(job);
      this.jobData = jobData;
      this.count = count;
      unfinished = count;
    }

    void work(int worker) {
      for (int i = next.getAndIncrement(); i >= 0 && i < count; i = next.getAndIncrement()) {
        try {
          job.invokeVoid(new Object[] {jobData, i, worker});
        } catch (Throwable e) {
          failed(e);
        } finally {
          finished();
        }
      }
    }

    private synchronized void failed(Throwable e) {
      if (failure == null) {
        failure = e;
      }
    }

    private synchronized Throwable failure() {
      return failure;
    }

    private synchronized void finished() {
      if (--unfinished == 0) {
        notifyAll();
      }
    }

    /** Waits for jobs that others have begun; an interrupt is kept for later, as the jobs use the caller's memory. */
    synchronized void await() {
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

  /** Called by the library. */
  public int callback(Pointer userData, Pointer job, long jobData, int count) {
    Jobs jobs = new Jobs(job, jobData, count);
    FAILURE.remove();
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
      jobs.await(); // until then, others use memory of the library's call
    }
    Throwable failure = jobs.failure();
    if (failure == null) {
      return 0;
    }
    FAILURE.set(failure);
    return 1;
  }

  /** What the executor of the last call on this thread has thrown; null: nothing. */
  static Throwable lastFailure() {
    return FAILURE.get();
  }
}
