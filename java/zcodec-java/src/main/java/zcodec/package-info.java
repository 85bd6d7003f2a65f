/**
 * The codecs of Zarr v3: a {@link zcodec.Chain} is made once from the metadata of an array and then encodes and decodes
 * its chunks, or parts of them.
 *
 * <p>The native library comes with the jar and needs no set-up. {@link zcodec.Zcodec} says how to use another one.
 *
 * <p><b>Memory.</b> Elements lie in a {@link java.nio.ByteBuffer} in <em>native</em> byte order, whatever the
 * {@linkplain java.nio.ByteBuffer#order() order} of the buffer; set it to {@link java.nio.ByteOrder#nativeOrder()}
 * before reading numbers. Direct buffers are used in place. Heap buffers and arrays are copied to native memory and
 * back, which costs about as much as a copy always costs.
 *
 * <p><b>Lifetime.</b> Chains, plans, writers, indices and registries hold native memory until they are closed; there
 * are no finalisers. The methods of a closed object throw {@link java.lang.IllegalStateException}, except {@code close}
 * and {@link zcodec.Chain#isClosed isClosed}. A chain, index or registry that is closed while other threads use it is
 * freed when the last of them is done; {@code close} of a plan or a writer waits for them.
 *
 * <p><b>Threads.</b> Chains and indices may be used by any number of threads at the same time. Of one plan or writer
 * several threads may supply, or put, at once. A registry may be used by several threads, but not while a codec is
 * added.
 *
 * <p><b>Errors.</b> What the library refuses is thrown as a {@link zcodec.ZcodecException}, which is unchecked and has
 * a {@link zcodec.Status}. This binding refuses arguments by an {@link java.lang.IllegalArgumentException}, null where
 * none may be by a {@link java.lang.NullPointerException}, an output that is read-only by a {@link
 * java.nio.ReadOnlyBufferException}, and more than a buffer or an array holds by an {@link
 * java.lang.ArithmeticException} or an {@link java.lang.OutOfMemoryError}. An {@link java.lang.IllegalStateException}
 * says that an object is closed, or in use by a call that must be alone.
 */
package zcodec;
