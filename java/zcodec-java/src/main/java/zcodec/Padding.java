package zcodec;

import java.nio.ByteBuffer;

/** Computes and checks the bytes of a {@code pad} or {@code offset} codec for each chunk. */
public final class Padding {
  /**
   * Computes padding. It runs on the thread that does the work, in several threads at once if the chain is used so, and
   * may use the library. The buffers are valid until it returns; they must not be kept.
   */
  @FunctionalInterface
  public interface Generator {
    /**
     * Fills the padding of one chunk.
     *
     * @param callData that of the call's options, or null
     * @param chunk read-only: what the padding will be attached to
     * @param padding to be filled; all zeros
     * @throws Exception the encode fails with {@link Status#CALLBACK_FAILED}, and with this as its cause
     */
    void generate(Object callData, ByteBuffer chunk, ByteBuffer padding) throws Exception;
  }

  /** Looks at the bytes that decoding is about to remove. The rules of {@link Generator} hold. */
  @FunctionalInterface
  public interface Check {
    /**
     * Looks at the padding of one chunk.
     *
     * @param callData that of the call's options, or null
     * @param chunk read-only: what remains
     * @param padding read-only: what is about to be removed
     * @return whether the padding is right; if not, the decode fails with {@link Status#CORRUPT_DATA}
     * @throws Exception the decode fails with {@link Status#CORRUPT_DATA}, and with this as its cause
     */
    boolean check(Object callData, ByteBuffer chunk, ByteBuffer padding) throws Exception;
  }

  final Generator generator;
  final Check check;

  private Padding(Generator generator, Check check) {
    this.generator = generator;
    this.check = check;
  }

  /**
   * Callbacks of one codec.
   *
   * @param generator computes the padding; null: the configured bytes are written
   * @param check looks at it on decode; null: nothing is checked
   * @return both
   */
  public static Padding of(Generator generator, Check check) {
    return new Padding(generator, check);
  }
}
