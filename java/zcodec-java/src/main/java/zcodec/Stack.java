package zcodec;

/**
 * Room on a thread's stack. JNA takes a StackOverflowError before a callback has begun for the callback's success: a
 * padding would be neither made nor checked. So the error should come before the call of the library.
 */
final class Stack {
  /** Of calls without arguments: more than native code, JNA and a small callback take. */
  private static final int FRAMES = 1000;

  private Stack() {}

  /** Throws a StackOverflowError where callbacks would. */
  static void reserve() {
    down(FRAMES);
  }

  private static int down(int frames) {
    return frames == 0 ? 0 : 1 + down(frames - 1);
  }
}
