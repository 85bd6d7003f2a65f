package zcodec;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.CallbackThreadInitializer;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Java objects for {@code void *} parameters: the library gets a number, which it never follows, and the functions look
 * up what it stands for. So there is one native function per kind of callback, whatever the number of chains.
 */
final class Callbacks {
  private static final Map<Long, Object> OBJECTS = new ConcurrentHashMap<>();
  private static final AtomicLong LAST = new AtomicLong();

  private Callbacks() {}

  /** A call with callbacks: the user's object, and what the first callback that failed has thrown. */
  static final class Call implements AutoCloseable {
    final long key;
    private final Object data;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private Throwable failure;
    /** The last overflow of a buffer that no success has followed. */
    private Throwable overflow;

    Call(Object data) {
      this.data = data;
      key = put(this);
    }

    synchronized void failed(Throwable e) {
      if (failure == null) {
        failure = e;
      }
    }

    /** A codec had too little room: the library repeats the call, or gives up. */
    synchronized void overflowed(Throwable e) {
      overflow = e;
    }

    synchronized void succeeded() {
      overflow = null;
    }

    synchronized Throwable failure() {
      return failure == null ? overflow : failure;
    }

    /** What a callback has thrown, once: the next failure of a plan or a writer is another. */
    synchronized Throwable takeFailure() {
      Throwable taken = failure();
      failure = null;
      overflow = null;
      return taken;
    }

    /** Whether this thread runs a callback of the call. */
    boolean runsHere() {
      return threads.contains(Thread.currentThread());
    }

    @Override
    public void close() {
      remove(key);
    }
  }

  /** A callback of this call, which may be 0, begins on this thread. What it returns goes to {@link #end}. */
  static Call begin(long call) {
    Call found = call == 0 ? null : (Call) get(call);
    return found != null && found.threads.add(Thread.currentThread()) ? found : null;
  }

  static void end(Call begun) {
    if (begun != null) {
      begun.threads.remove(Thread.currentThread());
    }
  }

  static long put(Object object) {
    long key = LAST.incrementAndGet();
    OBJECTS.put(key, object);
    return key;
  }

  static Object get(long key) {
    return OBJECTS.get(key);
  }

  static void remove(long key) {
    OBJECTS.remove(key);
  }

  /** How many objects native code holds; for tests. */
  static int count() {
    return OBJECTS.size();
  }

  static Object dataOf(long call) {
    Object found = call == 0 ? null : get(call);
    return found == null ? null : ((Call) found).data;
  }

  /** Keeps what a callback has thrown, for the exception of the call. */
  static void failed(long call, Throwable e) {
    tell(call, found -> found.failed(e));
  }

  /** Keeps the overflow, for the exception of the call if the library gives up. */
  static void overflowed(long call, Throwable e) {
    tell(call, found -> found.overflowed(e));
  }

  static void succeeded(long call) {
    tell(call, Call::succeeded);
  }

  private static void tell(long call, Consumer<Call> news) {
    try {
      Object found = call == 0 ? null : get(call);
      if (found != null) {
        news.accept((Call) found);
      }
    } catch (Throwable another) {
      // The call fails without its cause.
    }
  }

  /** Native memory as a buffer, for the duration of a callback. */
  static ByteBuffer bytes(long address, long size) {
    if (size > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("a ByteBuffer does not hold " + size + " bytes");
    }
    return size == 0
        ? ByteBuffer.allocateDirect(0)
        : new Pointer(address).getByteBuffer(0, size).order(ByteOrder.nativeOrder());
  }

  static ByteBuffer readOnly(long address, long size) {
    return bytes(address, size).asReadOnlyBuffer().order(ByteOrder.nativeOrder()); // which does not keep the order
  }

  /** The native function of a callback, which the caller must keep. Threads of the library stay attached to Java. */
  static long function(Callback callback) {
    Native.setCallbackThreadInitializer(callback, new CallbackThreadInitializer(true, false, "zcodec"));
    return Pointer.nativeValue(CallbackReference.getFunctionPointer(callback));
  }

  // The types of the native functions; JNA takes their only method.

  interface Pad extends Callback {
    int callback(long userData, long callData, long chunk, long chunkSize, long padding, long paddingSize);
  }

  interface Free extends Callback {
    void callback(long key);
  }

  private static final Pad GENERATE =
      (userData, callData, chunk, chunkSize, padding, paddingSize) -> {
        Call begun = null;
        try {
          begun = begin(callData);
          ((Padding) get(userData))
              .generator.generate(dataOf(callData), readOnly(chunk, chunkSize), bytes(padding, paddingSize));
          return 0;
        } catch (Throwable e) { // nothing may pass through native frames
          failed(callData, e);
          return 1;
        } finally {
          end(begun);
        }
      };

  private static final Pad CHECK =
      (userData, callData, chunk, chunkSize, padding, paddingSize) -> {
        Call begun = null;
        try {
          begun = begin(callData);
          boolean right =
              ((Padding) get(userData))
                  .check.check(
                      dataOf(callData),
                      readOnly(chunk, chunkSize),
                      readOnly(padding, paddingSize));
          return right ? 0 : 1;
        } catch (Throwable e) {
          failed(callData, e);
          return 1;
        } finally {
          end(begun);
        }
      };

  private static final Free REMOVE = Callbacks::remove;

  static final long GENERATE_FUNCTION = function(GENERATE);
  static final long CHECK_FUNCTION = function(CHECK);
  static final long REMOVE_FUNCTION = function(REMOVE);
}
