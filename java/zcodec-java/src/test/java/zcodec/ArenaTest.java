package zcodec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The memory for the arguments of a call. */
class ArenaTest {
  @Test
  void allMemoryIsZeroAndApart() {
    Arena arena = Arena.local();
    long mark = arena.mark();
    for (int round = 0; round < 3; round++) {
      long[] places = new long[20_000];
      for (int i = 0; i < places.length; i++) {
        int size = i % 1000 == 999 ? 100_000 : i % 50;
        places[i] = arena.zeros(size);
        for (int at = 0; at + 8 <= size; at += 8) {
          assertEquals(0, arena.getLong(places[i] + at));
          arena.putLong(places[i] + at, i);
        }
      }
      for (int i = 0; i < places.length; i++) {
        if (i % 50 >= 8) {
          assertEquals(i, arena.getLong(places[i]));
        }
      }
      arena.reset(mark);
    }
  }

  @Test
  void callsOfACallbackLeaveNothing() {
    Arena arena = Arena.local();
    long outer = arena.mark();
    long number = arena.longs(new long[] {7});
    long before = arena.mark();
    for (int i = 0; i < 1000; i++) {
      long inner = arena.mark();
      arena.zeros(i % 3 * 4000);
      arena.zeros(1 << 20);
      assertTrue(arena.mark() != before);
      arena.reset(inner);
      assertEquals(before, arena.mark());
    }
    assertEquals(7, arena.getLong(number));
    arena.reset(outer);
  }
}
