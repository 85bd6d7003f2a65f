package zcodec;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;

/**
 * Small native memory for the arguments of one call: structs, results, text. Each thread has one and uses it as a
 * stack, because callbacks may call the library again:
 * {@code long mark = arena.mark(); try { .. } finally { arena.reset(mark); }}.
 */
final class Arena {
  private static final int FIRST_SIZE = 4096;

  /** Blocks double in size up to this one; a larger one holds a single piece of memory. */
  private static final int LARGEST_SIZE = 1 << 20;

  private static final ThreadLocal<Arena> LOCAL = ThreadLocal.withInitial(Arena::new);

  /** Kept; the calls of most programs need no more. */
  private final Block first = new Block(FIRST_SIZE);
  /** What did not fit into the blocks before. */
  private final ArrayList<Block> more = new ArrayList<>();
  private Block last = first;

  private static final class Block {
    final ByteBuffer memory;
    final long base;
    int used;

    Block(int size) {
      memory = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
      base = address(memory);
    }
  }

  static Arena local() {
    return LOCAL.get();
  }

  /** Where the memory of a direct buffer begins, whatever its position. */
  static long address(ByteBuffer direct) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
  }

  /** What is in use: how many blocks, and how much of the last one. */
  long mark() {
    return (long) more.size() << 32 | last.used;
  }

  /** Takes back what was taken since the mark. */
  void reset(long mark) {
    int count = (int) (mark >>> 32);
    if (more.size() > count) {
      more.subList(count, more.size()).clear();
      last = count == 0 ? first : more.get(count - 1);
    }
    last.used = (int) mark;
  }

  /** Memory of this many bytes, all 0, aligned to 8. {@link ArithmeticException}: a buffer does not hold as many. */
  long zeros(int size) {
    int rounded = Math.addExact(size, 7) & -8;
    if (rounded > last.memory.capacity() - last.used) {
      last = new Block(Math.max(rounded, Math.min(2 * last.memory.capacity(), LARGEST_SIZE)));
      more.add(last);
    }
    int at = last.used;
    for (int i = 0; i < rounded; i += 8) {
      last.memory.putLong(at + i, 0);
    }
    last.used += rounded;
    return last.base + at;
  }

  /** A place for one result: a pointer or a size, 0 so far. */
  long out() {
    return zeros(8);
  }

  void putLong(long address, long value) {
    if (isInFirst(address)) {
      first.memory.putLong((int) (address - first.base), value);
    } else {
      new Pointer(address).setLong(0, value);
    }
  }

  void putInt(long address, int value) {
    if (isInFirst(address)) {
      first.memory.putInt((int) (address - first.base), value);
    } else {
      new Pointer(address).setInt(0, value);
    }
  }

  long getLong(long address) {
    return isInFirst(address) ? first.memory.getLong((int) (address - first.base)) : new Pointer(address).getLong(0);
  }

  int getInt(long address) {
    return isInFirst(address) ? first.memory.getInt((int) (address - first.base)) : new Pointer(address).getInt(0);
  }

  private boolean isInFirst(long address) {
    return address >= first.base && address < first.base + FIRST_SIZE;
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
    byte[] utf8 = utf8(text);
    return bytes(Arrays.copyOf(utf8, utf8.length + 1));
  }

  /** The bytes of a text. {@link IllegalArgumentException}: half of a surrogate pair stands alone. */
  static byte[] utf8(String text) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(encoded.array(), encoded.limit());
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("UTF-8 has no such text: half of a surrogate pair stands alone", e);
    }
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
