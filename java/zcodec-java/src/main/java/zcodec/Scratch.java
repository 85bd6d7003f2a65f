package zcodec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Native memory for copies of heap buffers, kept from call to call: Java fills new memory with zeros, and the system must
 * find its pages, which takes longer than the copy. At most {@link #KEPT} bytes are kept.
 */
final class Scratch {
  static final long KEPT = 64 << 20;
  /** What the smallest buffer has. */
  static final int SMALLEST = 1 << 12;
  private static final int LARGEST_BITS = 24;

  private static final AtomicLong kept = new AtomicLong();
  private static final ConcurrentLinkedDeque<ByteBuffer>[] FREE = deques();

  private Scratch() {}

  @SuppressWarnings({"unchecked", "rawtypes"}) // there is no other way to an array of a generic class
  private static ConcurrentLinkedDeque<ByteBuffer>[] deques() {
    ConcurrentLinkedDeque[] all = new ConcurrentLinkedDeque[LARGEST_BITS + 1];
    for (int i = 0; i < all.length; i++) {
      all[i] = new ConcurrentLinkedDeque<ByteBuffer>();
    }
    return all;
  }

  /** At least this many bytes, with any content. */
  static ByteBuffer take(int size) {
    int bits = 32 - Integer.numberOfLeadingZeros(Math.max(size, SMALLEST) - 1);
    if (bits > LARGEST_BITS) {
      return ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
    }
    ByteBuffer found = FREE[bits].pollFirst();
    if (found == null) {
      return ByteBuffer.allocateDirect(1 << bits).order(ByteOrder.nativeOrder());
    }
    kept.addAndGet(-found.capacity());
    return found;
  }

  /** Takes the memory back. Nothing may use it afterwards. */
  static void give(ByteBuffer scratch) {
    int size = scratch.capacity();
    if (size > 1 << LARGEST_BITS) {
      return;
    }
    if (kept.addAndGet(size) > KEPT) {
      kept.addAndGet(-size);
      return;
    }
    FREE[31 - Integer.numberOfLeadingZeros(size)].addFirst(scratch);
  }
}
