package zcodec;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;

/**
 * Small native memory for the arguments of one call: structs, results, text. Each thread has one and uses it as a
 * stack, because callbacks may call the library again:
 * {@code int mark = arena.mark(); try { .. } finally { arena.reset(mark); }}.
 */
final class Arena {
  private static final int SIZE = 4096;
  private static final ThreadLocal<Arena> LOCAL = ThreadLocal.withInitial(Arena::new);

  private final ByteBuffer block = ByteBuffer.allocateDirect(SIZE).order(ByteOrder.nativeOrder());
  private final long base = address(block);
  private int used;
  private int depth;
  /** What did not fit into the block; kept until the outermost call ends. */
  private final ArrayList<ByteBuffer> large = new ArrayList<>();

  static Arena local() {
    return LOCAL.get();
  }

  /** Where the memory of a direct buffer begins, whatever its position. */
  static long address(ByteBuffer direct) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
  }

  int mark() {
    depth++;
    return used;
  }

  void reset(int mark) {
    used = mark;
    if (--depth == 0) {
      large.clear();
    }
  }

  /** Memory of this many bytes, all 0, aligned to 8. {@link ArithmeticException}: a buffer does not hold as many. */
  long zeros(int size) {
    int rounded = Math.addExact(size, 7) & -8;
    if (rounded > SIZE - used) {
      ByteBuffer more = ByteBuffer.allocateDirect(Math.max(rounded, 8));
      large.add(more);
      return address(more);
    }
    int at = used;
    for (int i = 0; i < rounded; i += 8) {
      block.putLong(at + i, 0);
    }
    used += rounded;
    return base + at;
  }

  /** A place for one result: a pointer or a size, 0 so far. */
  long out() {
    return zeros(8);
  }

  void putLong(long address, long value) {
    if (isInBlock(address)) {
      block.putLong((int) (address - base), value);
    } else {
      new Pointer(address).setLong(0, value);
    }
  }

  void putInt(long address, int value) {
    if (isInBlock(address)) {
      block.putInt((int) (address - base), value);
    } else {
      new Pointer(address).setInt(0, value);
    }
  }

  long getLong(long address) {
    return isInBlock(address) ? block.getLong((int) (address - base)) : new Pointer(address).getLong(0);
  }

  int getInt(long address) {
    return isInBlock(address) ? block.getInt((int) (address - base)) : new Pointer(address).getInt(0);
  }

  private boolean isInBlock(long address) {
    return address >= base && address < base + SIZE;
  }

  /** An array of 64-bit numbers; 0 for null. */
  long longs(long[] values) {
    if (values == null) {
      return 0;
    }
    long address = zeros(Math.multiplyExact(8, values.length));
    for (int i = 0; i < values.length; i++) {
      putLong(address + 8L * i, values[i]);
    }
    return address;
  }

  long bytes(byte[] bytes) {
    long address = zeros(bytes.length);
    new Pointer(address).write(0, bytes, 0, bytes.length);
    return address;
  }

  /** UTF-8 with a NUL at its end. */
  long text(String text) {
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a NUL would end the text: " + text.replace("\0", "\\0"));
    }
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    byte[] ended = java.util.Arrays.copyOf(utf8, utf8.length + 1);
    return bytes(ended);
  }

  /** A {@code zcodec_box}; 0 for null. */
  long box(Box box) {
    if (box == null) {
      return 0;
    }
    long address = zeros(Box.STRUCT_SIZE);
    box.write(this, address);
    return address;
  }
}
