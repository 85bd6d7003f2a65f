package zcodec;

import com.sun.jna.Platform;

/**
 * Room on a thread's stack. JNA takes a StackOverflowError before a callback has begun for the callback's success: a
 * padding would be neither made nor checked. So the error should come before the call of the library.
 */
final class Stack {
  /**
   * Of calls with 16 numbers each: 300 take about 40 KiB if they are compiled, 100 KiB if they are interpreted. On
   * aarch64, 300 compiled ones are not enough.
   */
  private static final int FRAMES = Platform.ARCH.equals("aarch64") ? 600 : 300;

  private Stack() {}

  /** Throws a StackOverflowError where callbacks would, with the stack that the library and JNA take before them. */
  static void reserve() {
    down(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  }

  private static long down(
      int frames,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f,
      long g,
      long h,
      long i,
      long j,
      long k,
      long l,
      long m,
      long n,
      long o,
      long p) {
    if (frames == 0) {
      return 1;
    }
    long below = down(frames - 1, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a);
    return below + a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p; // so that a frame keeps all of them
  }
}
