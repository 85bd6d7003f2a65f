package zcodec;

import java.nio.ByteBuffer;

/**
 * A codec of the program, for a {@link Registry}. It runs on the thread that does the work, in several threads at once if
 * its chains are used so. Buffers are valid until a method returns; they must not be kept.
 */
public interface HostCodec {
  /**
   * Binds the codec to what enters on encode.
   *
   * @param configuration the codec's configuration, a JSON object
   * @param input what enters, as JSON: {@code {"data_type": .., "shape": [..], "fill_value": ..}} or {@code {"size": ..}}
   * @return the codec for such chunks
   * @throws Exception the chain cannot be made; the message of its {@link ZcodecException} has this one
   */
  Bound bind(String configuration, String input) throws Exception;

  /** A codec for chunks of one kind. Closed when the last chain that uses it is freed. */
  interface Bound extends AutoCloseable {
    /**
     * What leaves on encode.
     *
     * @return JSON, in the form of {@code input}
     */
    String output();

    /**
     * The most bytes that encoding makes of this many. Not called if {@link #output} gives a size. What it throws is
     * lost: the bound is then not known, as with -1.
     *
     * @param decodedSize a size in bytes
     * @return the bound; -1: not known
     */
    default long encodedBound(long decodedSize) {
      return -1;
    }

    /**
     * Encodes a chunk.
     *
     * @param callData that of the call's options, or null
     * @param decoded read-only: the elements in C order and native byte order, or bytes
     * @param encoded gets the encoded chunk by relative puts: what lies before its position at the end is the chunk.
     *     After a {@link java.nio.BufferOverflowException}, of this buffer or any other, the call is repeated with more
     *     room, up to 2 GiB. Where there is no more, the exception is the cause of the error
     * @throws Exception the encode fails with {@link Status#OUT_OF_RANGE}
     */
    void encode(Object callData, ByteBuffer decoded, ByteBuffer encoded) throws Exception;

    /**
     * Decodes a chunk.
     *
     * @param callData that of the call's options, or null
     * @param encoded read-only: exactly one chunk
     * @param decoded gets the elements, as for {@code encode}
     * @throws Exception the decode fails with {@link Status#CORRUPT_DATA}
     */
    void decode(Object callData, ByteBuffer encoded, ByteBuffer decoded) throws Exception;

    @Override
    default void close() {}
  }
}
