package zcodec;

import com.sun.jna.CallbackReference;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.Executor;

/** What a call may do differently. Immutable; may be used for any number of calls at once. */
public final class CallOptions {
  /** One thread, no data for callbacks. */
  public static final CallOptions DEFAULT = new CallOptions(1, null, null, false);

  private static final int STRUCT_SIZE = 40;
  private static final int EXECUTOR_SIZE = 32;
  private static final int STORE_EMPTY = 1;

  private static final Executor NEW_THREADS =
      job -> {
        Thread thread = new Thread(job, "zcodec");
        thread.setDaemon(true);
        thread.start();
      };

  final Object callData;
  private final int maxThreads;
  private final HostThreads threads;
  private final boolean storeEmpty;

  /** A {@code zcodec_executor} with its callback. */
  private static final class HostThreads {
    private final ExecutorRun run;
    private final ByteBuffer struct = ByteBuffer.allocateDirect(EXECUTOR_SIZE).order(ByteOrder.nativeOrder());

    HostThreads(Executor executor, int maxWorkers) {
      run = new ExecutorRun(executor, maxWorkers);
      struct.putLong(0, EXECUTOR_SIZE);
      struct.putInt(16, maxWorkers);
      struct.putLong(24, Pointer.nativeValue(CallbackReference.getFunctionPointer(run)));
    }
  }

  private CallOptions(int maxThreads, HostThreads threads, Object callData, boolean storeEmpty) {
    this.maxThreads = maxThreads;
    this.threads = threads;
    this.callData = callData;
    this.storeEmpty = storeEmpty;
  }

  /**
   * Lets threads of the library work on the call. The result is the same to the bit.
   *
   * @param maxThreads how many threads, the calling one included
   * @return options with this change
   */
  public CallOptions maxThreads(int maxThreads) {
    if (maxThreads < 0) {
      throw new IllegalArgumentException("maxThreads is " + maxThreads);
    }
    return new CallOptions(maxThreads, threads, callData, storeEmpty);
  }

  /**
   * Lets threads of the program work on the call instead of threads of the library. The calling thread works, too: a
   * pool without a free thread makes the call slower, but never hangs.
   *
   * @param executor runs jobs on its threads
   * @param maxWorkers how many may run at once, at least 1, the calling thread included
   * @return options with this change
   */
  public CallOptions executor(Executor executor, int maxWorkers) {
    if (maxWorkers < 1) {
      throw new IllegalArgumentException("maxWorkers is " + maxWorkers);
    }
    return new CallOptions(
        maxThreads, new HostThreads(Objects.requireNonNull(executor), maxWorkers), callData, storeEmpty);
  }

  /**
   * Hands an object to the callbacks of the call.
   *
   * @param callData any object, or null
   * @return options with this change
   */
  public CallOptions callData(Object callData) {
    return new CallOptions(maxThreads, threads, callData, storeEmpty);
  }

  /**
   * Stores inner chunks of a shard also if they hold only the fill value.
   *
   * @param storeEmpty whether they are stored
   * @return options with this change
   */
  public CallOptions storeEmpty(boolean storeEmpty) {
    return new CallOptions(maxThreads, threads, callData, storeEmpty);
  }

  /** How many threads may work on a call. */
  int workers() {
    return threads != null ? threads.run.maxWorkers : Math.min(maxThreads, Runtime.getRuntime().availableProcessors());
  }

  /** Runs jobs on the threads that may work on a call; what a job throws is thrown when all are done. */
  void share(int count, Jobs.Job job) {
    Throwable failure = Jobs.run(threads != null ? threads.run.executor : NEW_THREADS, workers(), count, job);
    if (failure instanceof Error) {
      throw (Error) failure;
    } else if (failure != null) {
      throw (RuntimeException) failure; // no job and no executor throws another
    }
  }

  /** The {@code zcodec_call_options}, or 0 if there is nothing in them. */
  long write(Arena arena, long call) {
    if (maxThreads <= 1 && threads == null && call == 0 && !storeEmpty) {
      return 0;
    }
    long address = arena.zeros(STRUCT_SIZE);
    arena.putLong(address, STRUCT_SIZE);
    arena.putLong(address + 8, call);
    arena.putInt(address + 16, maxThreads);
    arena.putLong(address + 24, threads == null ? 0 : Arena.address(threads.struct));
    arena.putLong(address + 32, storeEmpty ? STORE_EMPTY : 0);
    return address;
  }
}
