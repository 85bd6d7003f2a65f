package zcodec;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A native object with the number of calls that are using it. Closing never waits: if calls are under way, the last of
 * them frees the object. So a closed object throws, and no thread ever sees freed memory.
 */
abstract class NativeHandle implements AutoCloseable {
  private static final int CLOSED = 1 << 31;
  private static final int EXCLUSIVE = 1 << 30;

  private final AtomicInteger state = new AtomicInteger();
  private final long pointer;

  NativeHandle(long pointer) {
    this.pointer = pointer;
  }

  /** Frees the native object. Called once. */
  abstract void free(long pointer);

  /** The native object, which lives until {@link #release}; every call needs one. */
  final long acquire() {
    for (; ; ) {
      int now = state.get();
      if (now < 0) {
        throw new IllegalStateException(getClass().getSimpleName() + " is closed");
      }
      if ((now & EXCLUSIVE) != 0) {
        throw new IllegalStateException(getClass().getSimpleName() + " is being changed by another thread");
      }
      if (state.compareAndSet(now, now + 1)) {
        return pointer;
      }
    }
  }

  final void release() {
    released(1);
  }

  /** As {@link #acquire}, for calls during which no other call may run. */
  final long acquireAlone() {
    if (!state.compareAndSet(0, EXCLUSIVE)) {
      throw new IllegalStateException(
          getClass().getSimpleName() + (isClosed() ? " is closed" : " is in use by another call"));
    }
    return pointer;
  }

  final void releaseAlone() {
    released(EXCLUSIVE);
  }

  private void released(int users) {
    if (state.addAndGet(-users) == CLOSED) {
      free(pointer);
    }
  }

  /**
   * Whether this object was closed.
   *
   * @return true after {@link #close}
   */
  public final boolean isClosed() {
    return state.get() < 0;
  }

  /** Frees the native memory, as soon as no other thread uses it. Closing again does nothing. */
  @Override
  public final void close() {
    for (; ; ) {
      int now = state.get();
      if (now < 0) {
        return;
      }
      if (state.compareAndSet(now, now | CLOSED)) {
        if (now == 0) {
          free(pointer);
        }
        return;
      }
    }
  }
}
