package zcodec;

import com.sun.jna.Callback;
import com.sun.jna.Function;
import com.sun.jna.Pointer;
import java.util.concurrent.Executor;

/** The function {@code run} of a {@code zcodec_executor}. */
final class ExecutorRun implements Callback {
  /** What an executor has thrown on this thread, which made the call, in the last call. */
  private static final ThreadLocal<Throwable> FAILURE = new ThreadLocal<>();

  final Executor executor;
  final int maxWorkers;

  ExecutorRun(Executor executor, int maxWorkers) {
    this.executor = executor;
    this.maxWorkers = maxWorkers;
  }

  /** Called by the library. */
  public int callback(Pointer userData, Pointer job, long jobData, int count) {
    FAILURE.remove();
    Function function = Function.getFunction(job);
    Long data = jobData;
    Throwable failure =
        Jobs.run(
            executor,
            maxWorkers,
            count,
            (i, worker) -> {
              Stack.reserve(); // the job may call a callback on this thread
              function.invokeVoid(new Object[] {data, i, worker});
            });
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
