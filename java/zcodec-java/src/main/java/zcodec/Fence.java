package zcodec;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** {@code Reference.reachabilityFence}, which Java 8 lacks: native code uses memory that the collector must not free. */
final class Fence {
  private static final MethodHandle FENCE = find();

  private Fence() {}

  private static MethodHandle find() {
    try {
      return MethodHandles.lookup()
          .findStatic(
              java.lang.ref.Reference.class, "reachabilityFence", MethodType.methodType(void.class, Object.class));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** The object is alive up to here. */
  static void keep(Object object) {
    if (FENCE == null) {
      synchronized (object) { // Java 8: an object that is locked is reachable (JLS 12.6.1)
        return;
      }
    }
    try {
      FENCE.invokeExact(object);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
