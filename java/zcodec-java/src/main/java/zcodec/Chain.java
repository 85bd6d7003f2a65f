package zcodec;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * A run of Zarr v3 codecs, bound to what enters it on encode. Made once, then used for any number of chunks, in any
 * number of threads at the same time.
 *
 * <pre>{@code
 * try (Chain chain = Chain.of("[\"packbits\"]", "{\"data_type\":\"bool\",\"shape\":[1000],\"fill_value\":false}")) {
 *   byte[] packed = chain.encode(mask); // 125 bytes
 * }
 * }</pre>
 */
public final class Chain extends NativeHandle {
  private static final long NO_SIZE = -1;

  private final long decodedSize;
  private final Kind kind;
  private volatile boolean callbacks;

  private Chain(long pointer, boolean callbacks) {
    super(pointer);
    this.callbacks = callbacks;
    kind = Kind.of(C.zcodec_chain_kind(pointer));
    decodedSize = kind == Kind.BYTES_TO_BYTES ? NO_SIZE : ask(C::zcodec_chain_decoded_size, pointer);
  }

  @Override
  void free(long pointer) {
    C.zcodec_chain_free(pointer);
  }

  // ---- Making ----

  /**
   * Makes a chain of a list of codecs.
   *
   * @param codecsJson an array of Zarr v3 codec metadata, as in a {@code zarr.json}
   * @param inputJson what enters on encode, {@code {"data_type": .., "shape": [..], "fill_value": ..}}; null for a
   *     chain of codecs from bytes to bytes
   * @return the chain
   * @throws ZcodecException {@link Status#INVALID_METADATA} if the JSON or a configuration is wrong, {@link
   *     Status#UNSUPPORTED} if a codec, the data type or the combination is not supported
   */
  public static Chain of(String codecsJson, String inputJson) {
    return of(codecsJson, inputJson, ChainOptions.DEFAULT);
  }

  /**
   * Makes a chain of a list of codecs.
   *
   * @param codecsJson as in {@link #of(String, String)}
   * @param inputJson as in {@link #of(String, String)}
   * @param options codecs of the program, a limit
   * @return the chain
   * @throws ZcodecException {@link Status#INVALID_METADATA} if the JSON or a configuration is wrong, {@link
   *     Status#UNSUPPORTED} if a codec, the data type or the combination is not supported, or a chunk is larger than
   *     the limit, {@link Status#CALLBACK_FAILED} if a codec of the program broke its rules
   */
  public static Chain of(String codecsJson, String inputJson, ChainOptions options) {
    return make(
        options,
        in -> {
          byte[] codecs = Arena.utf8(codecsJson);
          byte[] input = inputJson == null ? new byte[0] : Arena.utf8(inputJson);
          return C.zcodec_chain_new_with(
              options.write(in.arena, in.handle),
              in.arena.bytes(codecs),
              codecs.length,
              inputJson == null ? 0 : in.arena.bytes(input),
              input.length,
              in.out,
              in.error);
        });
  }

  /**
   * Makes the chain of an array: of its {@code zarr.json}, or of the {@code .zarray} of a Zarr v2 array.
   *
   * @param zarrJson the whole document
   * @return the chain of its chunks
   * @throws ZcodecException {@link Status#INVALID_METADATA} if the document or a configuration in it is wrong, {@link
   *     Status#UNSUPPORTED} if the chunk grid, a codec, the data type or the combination is not supported
   */
  public static Chain ofZarrJson(String zarrJson) {
    return ofZarrJson(zarrJson, ChainOptions.DEFAULT);
  }

  /**
   * Makes the chain of an array.
   *
   * @param zarrJson as in {@link #ofZarrJson(String)}
   * @param options codecs of the program, a limit
   * @return the chain of its chunks
   * @throws ZcodecException {@link Status#INVALID_METADATA} if the document or a configuration in it is wrong, {@link
   *     Status#UNSUPPORTED} if the chunk grid, a codec, the data type or the combination is not supported, or a chunk
   *     is larger than the limit, {@link Status#CALLBACK_FAILED} if a codec of the program broke its rules
   */
  public static Chain ofZarrJson(String zarrJson, ChainOptions options) {
    return make(
        options,
        in -> {
          byte[] json = Arena.utf8(zarrJson);
          return C.zcodec_chain_from_zarr_json_with(
              options.write(in.arena, in.handle), in.arena.bytes(json), json.length, in.out, in.error);
        });
  }

  private interface Make {
    int call(Invocation in);
  }

  private static Chain make(ChainOptions options, Make make) {
    try (Invocation in = new Invocation(options.registry)) {
      in.check(make.call(in));
      return new Chain(in.result(), options.registry != null);
    }
  }

  /**
   * A chain of the same codecs, data type, fill value and callbacks for a chunk of another shape. Cheap: nothing is
   * parsed again.
   *
   * @param shape the shape of the chunk
   * @return a chain of its own, to be closed as well
   * @throws ZcodecException {@link Status#INVALID_METADATA} if the codecs do not fit the shape, {@link
   *     Status#UNSUPPORTED} if the chain has only codecs from bytes to bytes, or the shape exceeds the chain's limit,
   *     {@link Status#CALLBACK_FAILED} if a codec of the program broke its rules
   */
  public Chain withShape(long... shape) {
    try (Invocation in = new Invocation(this)) {
      long sizes = in.arena.longs(Check.notNegative("shape", shape));
      in.check(C.zcodec_chain_with_shape(in.handle, sizes, shape.length, in.out, in.error));
      return new Chain(in.result(), callbacks);
    }
  }

  /**
   * The chain of the inner chunks of a shard. For shards in shards, these are the inner shards.
   *
   * @return a chain of its own, to be closed as well
   * @throws ZcodecException {@link Status#UNSUPPORTED} if the chain makes no shards, or codecs from bytes to bytes
   *     follow {@code sharding_indexed}
   */
  public Chain inner() {
    try (Invocation in = new Invocation(this)) {
      in.check(C.zcodec_chain_inner(in.handle, in.out, in.error));
      return new Chain(in.result(), callbacks);
    }
  }

  // ---- Coding ----

  /**
   * Encodes a chunk.
   *
   * @param decoded the elements, from the buffer's position to its limit
   * @param encoded where the encoded chunk goes, from the buffer's position on
   * @return the size of the encoded chunk; both positions are after what was read and written
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the elements are not those of a whole chunk, or direct
   *     buffers overlap, {@link Status#OUT_OF_RANGE} for an element that a codec cannot represent, {@link
   *     Status#UNSUPPORTED} if the format of a codec has no chunks as large, {@link Status#CALLBACK_FAILED}, {@link
   *     Status#OUT_OF_MEMORY}; {@link Status#BUFFER_TOO_SMALL} with {@link ZcodecException#neededSize}, the capacity
   *     that is needed. The positions are then unchanged, and the content of the output is unspecified
   */
  public int encode(ByteBuffer decoded, ByteBuffer encoded) {
    return encode(decoded, encoded, CallOptions.DEFAULT);
  }

  /**
   * Encodes a chunk.
   *
   * @param decoded as in {@link #encode(ByteBuffer, ByteBuffer)}
   * @param encoded as in {@link #encode(ByteBuffer, ByteBuffer)}
   * @param options threads, data for callbacks
   * @return as in {@link #encode(ByteBuffer, ByteBuffer)}
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the elements are not those of a whole chunk, {@link
   *     Status#OUT_OF_RANGE} for an element that a codec cannot represent, {@link Status#UNSUPPORTED} if the format of
   *     a codec has no chunks as large, {@link Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}; {@link
   *     Status#BUFFER_TOO_SMALL} with {@link ZcodecException#neededSize}, the capacity that is needed. The positions
   *     are then unchanged, and the content of the output is unspecified
   */
  public int encode(ByteBuffer decoded, ByteBuffer encoded, CallOptions options) {
    return code(C::zcodec_encode_with, decoded, encoded, options);
  }

  /**
   * Decodes a chunk.
   *
   * @param encoded exactly one chunk, from the buffer's position to its limit
   * @param decoded where the elements go, from the buffer's position on
   * @return the size of the decoded chunk in bytes; both positions are after what was read and written
   * @throws ZcodecException {@link Status#CORRUPT_DATA} if this chain cannot have made the chunk, {@link
   *     Status#OUT_OF_RANGE}, {@link Status#UNSUPPORTED} if the chunk uses a feature that the library lacks, {@link
   *     Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}; {@link Status#BUFFER_TOO_SMALL} with {@link
   *     ZcodecException#neededSize}, the capacity that is needed. The positions are then unchanged, and the content of
   *     the output is unspecified
   */
  public int decode(ByteBuffer encoded, ByteBuffer decoded) {
    return decode(encoded, decoded, CallOptions.DEFAULT);
  }

  /**
   * Decodes a chunk.
   *
   * @param encoded as in {@link #decode(ByteBuffer, ByteBuffer)}
   * @param decoded as in {@link #decode(ByteBuffer, ByteBuffer)}
   * @param options threads, data for callbacks
   * @return as in {@link #decode(ByteBuffer, ByteBuffer)}
   * @throws ZcodecException {@link Status#CORRUPT_DATA} if this chain cannot have made the chunk, {@link
   *     Status#OUT_OF_RANGE}, {@link Status#UNSUPPORTED} if the chunk uses a feature that the library lacks, {@link
   *     Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}; {@link Status#BUFFER_TOO_SMALL} with {@link
   *     ZcodecException#neededSize}, the capacity that is needed. The positions are then unchanged, and the content of
   *     the output is unspecified
   */
  public int decode(ByteBuffer encoded, ByteBuffer decoded, CallOptions options) {
    return code(C::zcodec_decode_with, encoded, decoded, options);
  }

  private interface Code {
    int call(long chain, long options, long from, long size, long to, long capacity, long written, long error);
  }

  private int code(Code code, ByteBuffer source, ByteBuffer target, CallOptions options) {
    if (source != null && source == target) {
      throw new IllegalArgumentException("the input and the output are the same buffer");
    }
    try (Invocation in = new Invocation(this, options, callbacks);
        Staged from = Staged.input(source);
        Staged to = Staged.output(target)) {
      in.check(
          code.call(in.handle, in.options, from.address, from.size, to.address, to.size, in.out, in.error));
      int written = (int) in.result();
      to.copyOut(written);
      ((java.nio.Buffer) source).position(source.limit());
      ((java.nio.Buffer) target).position(target.position() + written);
      return written;
    }
  }

  /**
   * Encodes a chunk.
   *
   * @param decoded the elements
   * @return the encoded chunk
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the elements are not those of a whole chunk, {@link
   *     Status#OUT_OF_RANGE} for an element that a codec cannot represent, {@link Status#UNSUPPORTED} if the format of
   *     a codec has no chunks as large, {@link Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}
   * @throws OutOfMemoryError if Java has no room for the chunk, or it is more than an array holds
   */
  public byte[] encode(byte[] decoded) {
    return encode(decoded, CallOptions.DEFAULT);
  }

  /**
   * Encodes a chunk.
   *
   * @param decoded the elements
   * @param options threads, data for callbacks
   * @return the encoded chunk
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the elements are not those of a whole chunk, {@link
   *     Status#OUT_OF_RANGE} for an element that a codec cannot represent, {@link Status#UNSUPPORTED} if the format of
   *     a codec has no chunks as large, {@link Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}
   * @throws OutOfMemoryError if Java has no room for the chunk, or it is more than an array holds
   */
  public byte[] encode(byte[] decoded, CallOptions options) {
    return toBuffer(C::zcodec_encode_to_buffer_with, decoded, options);
  }

  /**
   * Decodes a chunk.
   *
   * @param encoded exactly one chunk
   * @return its elements
   * @throws ZcodecException {@link Status#CORRUPT_DATA} if this chain cannot have made the chunk, {@link
   *     Status#OUT_OF_RANGE}, {@link Status#UNSUPPORTED} if the chunk uses a feature that the library lacks, {@link
   *     Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}
   * @throws OutOfMemoryError if Java has no room for the elements, or they are more than an array holds
   */
  public byte[] decode(byte[] encoded) {
    return decode(encoded, CallOptions.DEFAULT);
  }

  /**
   * Decodes a chunk.
   *
   * @param encoded exactly one chunk
   * @param options threads, data for callbacks
   * @return its elements
   * @throws ZcodecException {@link Status#CORRUPT_DATA} if this chain cannot have made the chunk, {@link
   *     Status#OUT_OF_RANGE}, {@link Status#UNSUPPORTED} if the chunk uses a feature that the library lacks, {@link
   *     Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}
   * @throws OutOfMemoryError if Java has no room for the elements, or they are more than an array holds
   */
  public byte[] decode(byte[] encoded, CallOptions options) {
    if (decodedSize < 0 || decodedSize > Integer.MAX_VALUE - 8) {
      return toBuffer(C::zcodec_decode_to_buffer_with, encoded, options);
    }
    byte[] decoded = new byte[(int) decodedSize];
    decode(ByteBuffer.wrap(encoded), ByteBuffer.wrap(decoded), options);
    return decoded;
  }

  private interface ToBuffer {
    int call(long chain, long options, long from, long size, long buffer, long error);
  }

  private byte[] toBuffer(ToBuffer code, byte[] source, CallOptions options) {
    try (Invocation in = new Invocation(this, options, callbacks);
        Staged from = Staged.input(ByteBuffer.wrap(source))) {
      in.check(code.call(in.handle, in.options, from.address, from.size, in.out, in.error));
      return in.takeBuffer();
    }
  }

  // ---- Boxes and views ----

  /**
   * Decodes a box of a chunk to where the program wants it. Only what the box needs is decoded, where the codecs allow
   * it.
   *
   * @param encoded exactly one chunk, from the buffer's position to its limit; both stay as they are
   * @param box the part; null: all
   * @param decoded where its elements go
   * @param options threads, data for callbacks
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the box does not lie within the chunk, or the view does
   *     not fit it, {@link Status#UNSUPPORTED} if the chain has only codecs from bytes to bytes, or as in {@link
   *     #decode(ByteBuffer, ByteBuffer)}, {@link Status#CORRUPT_DATA} if this chain cannot have made the chunk, {@link
   *     Status#OUT_OF_RANGE}, {@link Status#CALLBACK_FAILED}, {@link Status#OUT_OF_MEMORY}. The elements of the view
   *     are then unspecified
   */
  public void decodeView(ByteBuffer encoded, Box box, View decoded, CallOptions options) {
    try (Invocation in = new Invocation(this, options, callbacks);
        Staged from = Staged.input(encoded);
        Staged to = Staged.partial(decoded.memory)) {
      long view = view(in, decoded, to);
      in.check(
          C.zcodec_decode_view(
              in.handle, in.options, from.address, from.size, in.arena.box(box), view, in.error));
      to.copyOut();
    }
  }

  /**
   * Encodes a chunk of which the program holds a box; the rest is the fill value.
   *
   * @param box the part; null: all
   * @param decoded where its elements lie
   * @param encoded where the encoded chunk goes, from the buffer's position on
   * @param options threads, data for callbacks
   * @return the size of the encoded chunk; the position of {@code encoded} is after it
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the box does not lie within the chunk, or the view does
   *     not fit it, {@link Status#UNSUPPORTED} if the chain has only codecs from bytes to bytes, or the box is a part
   *     and the chain has no fill value, and otherwise as in {@link #encode(ByteBuffer, ByteBuffer)}
   */
  public int encodeView(Box box, View decoded, ByteBuffer encoded, CallOptions options) {
    try (Invocation in = new Invocation(this, options, callbacks);
        Staged from = Staged.input(decoded.memory);
        Staged to = Staged.output(encoded)) {
      long view = view(in, decoded, from);
      in.check(
          C.zcodec_encode_view(
              in.handle, in.options, in.arena.box(box), view, to.address, to.size, in.out, in.error));
      int written = (int) in.result();
      to.copyOut(written);
      ((java.nio.Buffer) encoded).position(encoded.position() + written);
      return written;
    }
  }

  /**
   * Fills a view with the fill value: a chunk that does not exist.
   *
   * @param shape the shape of the view
   * @param decoded where its elements go
   * @throws IllegalArgumentException if the shape does not have one number for each dimension of the chain
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the view does not fit the shape, {@link
   *     Status#UNSUPPORTED} if the chain has no fill value, or has only codecs from bytes to bytes
   */
  public void fillView(long[] shape, View decoded) {
    try (Invocation in = new Invocation(this);
        Staged to = Staged.partial(decoded.memory)) {
      in.check(
          C.zcodec_fill_view(in.handle, in.arena.longs(dimensions(shape)), view(in, decoded, to), in.error));
      to.copyOut();
    }
  }

  /**
   * Whether every element of a view is the fill value, to the bit: such a chunk need not be stored.
   *
   * @param shape the shape of the view
   * @param decoded where its elements lie
   * @return true if every element is the fill value
   * @throws IllegalArgumentException if the shape does not have one number for each dimension of the chain
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the view does not fit the shape, {@link
   *     Status#UNSUPPORTED} if the chain has no fill value, or has only codecs from bytes to bytes
   */
  public boolean isFillView(long[] shape, View decoded) {
    try (Invocation in = new Invocation(this);
        Staged from = Staged.input(decoded.memory)) {
      in.check(
          C.zcodec_is_fill_view(
              in.handle, in.arena.longs(dimensions(shape)), view(in, decoded, from), in.out, in.error));
      return in.arena.getInt(in.out) != 0;
    }
  }

  /** The library reads as many numbers as the chain has dimensions, if the view has as many. */
  private long[] dimensions(long[] shape) {
    if (kind != Kind.BYTES_TO_BYTES && shape.length != ndim()) {
      throw new IllegalArgumentException(
          "shape has " + shape.length + " numbers, but the chain has " + ndim() + " dimensions");
    }
    return Check.notNegative("shape", shape);
  }

  private static long view(Invocation in, View view, Staged staged) {
    long address = in.arena.zeros(View.STRUCT_SIZE);
    view.write(in.arena, address, staged.address);
    return address;
  }

  // ---- Plans and shards ----

  /**
   * Makes a plan for one read of one stored object: which bytes it needs, so that the program can fetch them.
   *
   * @param boxes the parts wanted; null instead of a box: all
   * @param views where the elements of each box go; no byte of an element of one view may belong to another, but their
   *     elements may interleave in one buffer or array
   * @param objectSize the size of the stored object; {@link Range#UNKNOWN} if it is not known
   * @param index what {@link Plan#index} gave before, or null
   * @param options threads, data for callbacks
   * @return the plan, to be closed
   * @throws IllegalArgumentException if there are not as many views as boxes
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if a box does not lie within the chunk, a view does not fit
   *     its box, or the index belongs to another grid, {@link Status#UNSUPPORTED} if the chain has only codecs from
   *     bytes to bytes, or there is an index, but the chain does not end with {@code sharding_indexed}, {@link
   *     Status#CORRUPT_DATA} if no chunk of the chain has this size
   */
  public Plan plan(List<Box> boxes, List<View> views, long objectSize, ShardIndex index, CallOptions options) {
    return Plan.make(this, callbacks, boxes, views, objectSize, index, options);
  }

  /**
   * Makes a writer of a shard, new or changed.
   *
   * @param oldIndex the index of the stored shard that is changed; null: a new shard
   * @param oldSize the size of that shard; 0 for a new one
   * @param options threads, data for callbacks, whether empty inner chunks are stored
   * @return the writer, to be closed
   * @throws ZcodecException {@link Status#UNSUPPORTED} if codecs other than {@code transpose} and elementwise ones
   *     precede {@code sharding_indexed}, or any codec follows it, {@link Status#INVALID_ARGUMENT} if {@code oldSize}
   *     is not 0 without an index, or the index belongs to another grid, or was decoded for an object of another size
   *     (then somebody has changed the shard since), {@link Status#CORRUPT_DATA} if the size is less than that of an
   *     index
   */
  public Writer writer(ShardIndex oldIndex, long oldSize, CallOptions options) {
    return Writer.make(this, callbacks, oldIndex, oldSize, options);
  }

  /**
   * Where the index of a shard lies in its object.
   *
   * @return the range; with an unknown offset for an index at the end
   * @throws ZcodecException {@link Status#UNSUPPORTED} as for {@link #inner}
   */
  public Range indexRange() {
    try (Invocation in = new Invocation(this)) {
      long range = in.arena.zeros(Range.STRUCT_SIZE);
      in.check(C.zcodec_chain_index_range(in.handle, range, in.error));
      return new Range(in.arena.getLong(range), in.arena.getLong(range + 8));
    }
  }

  /**
   * Decodes the index of a shard.
   *
   * @param bytes those of {@link #indexRange}; position and limit stay as they are
   * @param objectSize the size of the shard; {@link Range#UNKNOWN} if it is not known
   * @return the index, to be closed
   * @throws ZcodecException {@link Status#CORRUPT_DATA} if the bytes are not an index of this chain, {@link
   *     Status#UNSUPPORTED} as for {@link #inner}
   */
  public ShardIndex decodeIndex(ByteBuffer bytes, long objectSize) {
    Check.sizeOrUnknown("objectSize", objectSize);
    try (Invocation in = new Invocation(this);
        Staged from = Staged.input(bytes)) {
      in.check(C.zcodec_index_decode(in.handle, from.address, from.size, objectSize, in.out, in.error));
      return new ShardIndex(in.result());
    }
  }

  // ---- Asking ----

  /**
   * The kind of the chain.
   *
   * @return the kind
   */
  public Kind kind() {
    acquire(); // throws if the chain is closed
    release();
    return kind;
  }

  /**
   * The number of codecs.
   *
   * @return the number
   */
  public int codecCount() {
    try (Invocation in = new Invocation(this)) {
      return (int) C.zcodec_chain_codec_count(in.handle);
    }
  }

  /**
   * The size of a decoded chunk in bytes.
   *
   * @return the size
   * @throws ZcodecException {@link Status#UNKNOWN_SIZE} for a chain of codecs from bytes to bytes
   */
  public long decodedSize() {
    try (Invocation in = new Invocation(this)) {
      in.check(C.zcodec_chain_decoded_size(in.handle, in.out));
      return in.result();
    }
  }

  /**
   * A capacity that is always enough for an encoded chunk.
   *
   * @param decodedSize the size of a decoded chunk in bytes
   * @return the capacity in bytes
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the chain expects another size, or memory cannot have as
   *     much, {@link Status#UNKNOWN_SIZE} if a codec of the program has no bound
   */
  public long encodedBound(long decodedSize) {
    Check.notNegative("decodedSize", decodedSize);
    try (Invocation in = new Invocation(this)) {
      in.check(C.zcodec_chain_encoded_bound(in.handle, decodedSize, in.out));
      return in.result();
    }
  }

  /**
   * The shape of a decoded chunk.
   *
   * @return a size for each dimension
   * @throws ZcodecException {@link Status#UNSUPPORTED} for a chain of codecs from bytes to bytes
   */
  public long[] shape() {
    try (Invocation in = new Invocation(this)) {
      int ndim = ndim();
      long shape = in.arena.zeros(Math.max(8, 8 * ndim));
      in.check(C.zcodec_chain_shape(in.handle, shape, ndim, in.out));
      return numbers(in, shape, ndim);
    }
  }

  private static long[] numbers(Invocation in, long address, int count) {
    long[] numbers = new long[count];
    Arrays.setAll(numbers, i -> in.arena.getLong(address + 8L * i));
    return numbers;
  }

  int ndim() {
    try (Invocation in = new Invocation(this)) {
      int status = C.zcodec_chain_shape(in.handle, 0, 0, in.out);
      if (status != Status.BUFFER_TOO_SMALL.number()) {
        in.check(status);
      }
      return (int) in.result();
    }
  }

  /**
   * The smallest box that is worth asking for.
   *
   * @return a size for each dimension
   * @throws ZcodecException {@link Status#UNSUPPORTED} for a chain of codecs from bytes to bytes
   */
  public long[] granularity() {
    try (Invocation in = new Invocation(this)) {
      int ndim = ndim();
      long shape = in.arena.zeros(Math.max(8, 8 * ndim));
      in.check(C.zcodec_chain_granularity(in.handle, shape, ndim, in.error));
      return numbers(in, shape, ndim);
    }
  }

  /**
   * The bytes that one element takes in memory.
   *
   * @return the size
   * @throws ZcodecException {@link Status#UNSUPPORTED} for a chain of codecs from bytes to bytes
   */
  public int elementSize() {
    try (Invocation in = new Invocation(this)) {
      in.check(C.zcodec_chain_element_size(in.handle, in.out));
      return (int) in.result();
    }
  }

  private interface Ask {
    int call(long chain, long out);
  }

  private static long ask(Ask ask, long pointer) {
    Arena arena = Arena.local();
    long mark = arena.mark();
    try {
      long out = arena.out();
      return ask.call(pointer, out) == 0 ? arena.getLong(out) : NO_SIZE;
    } finally {
      arena.reset(mark);
    }
  }

  /**
   * What enters on encode.
   *
   * @return JSON: {@code {"data_type": .., "shape": [..], "fill_value": ..}}
   */
  public String inputJson() {
    return json(C::zcodec_chain_input_json);
  }

  /**
   * What leaves on encode.
   *
   * @return JSON: an array as in {@link #inputJson}, or {@code {"size": n}}, or {@code {"size": null, "bound": ..}}
   */
  public String outputJson() {
    return json(C::zcodec_chain_output_json);
  }

  /**
   * The codecs in canonical form, ready to be stored in a {@code zarr.json}.
   *
   * @return a JSON array
   */
  public String codecsJson() {
    return json(C::zcodec_chain_codecs_json);
  }

  /**
   * Warnings about metadata that is valid but likely to cause trouble.
   *
   * @return a JSON array of {@code {"codec_index", "code", "message"}}, with the {@code "path"} of a codec in another
   */
  public String warningsJson() {
    return json(C::zcodec_chain_warnings_json);
  }

  private interface Json {
    int call(long chain, long json, long error);
  }

  private String json(Json json) {
    try (Invocation in = new Invocation(this)) {
      in.check(json.call(in.handle, in.out, in.error));
      return in.takeText();
    }
  }

  // ---- Padding ----

  /**
   * Sets the callbacks of a {@code pad} or {@code offset} codec. No other call may use the chain meanwhile.
   *
   * @param codecIndex the index of the codec in the chain
   * @param padding the callbacks; null: the codec is again as its metadata says
   * @throws IllegalStateException another call uses the chain
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if there is no such codec at this index
   */
  public void setPadding(int codecIndex, Padding padding) {
    Check.notNegative("codecIndex", codecIndex);
    setPadding(
        padding,
        (pointer, in, generate, check, key, free) ->
            C.zcodec_chain_set_padding(pointer, codecIndex, generate, check, key, free, in.error));
  }

  /**
   * Sets the callbacks of a codec anywhere, also inside a codec that holds chains.
   *
   * @param path a JSON Pointer into the codecs, such as {@code /0/configuration/codecs/1}
   * @param padding the callbacks; null: the codec is again as its metadata says
   * @throws IllegalStateException another call uses the chain
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if there is no such codec at this path
   */
  public void setPadding(String path, Padding padding) {
    setPadding(
        padding,
        (pointer, in, generate, check, key, free) ->
            C.zcodec_chain_set_padding_at(pointer, in.arena.text(path), generate, check, key, free, in.error));
  }

  private interface SetPadding {
    int call(long pointer, Invocation in, long generate, long check, long key, long free);
  }

  private void setPadding(Padding padding, SetPadding set) {
    boolean some = padding != null && (padding.generator != null || padding.check != null);
    long pointer = acquireAlone();
    long key = some ? Callbacks.put(padding) : 0;
    boolean taken = false;
    try (Invocation in = new Invocation(null)) {
      long generate = some && padding.generator != null ? Callbacks.GENERATE_FUNCTION : 0;
      long check = some && padding.check != null ? Callbacks.CHECK_FUNCTION : 0;
      in.check(set.call(pointer, in, generate, check, key, some ? Callbacks.REMOVE_FUNCTION : 0));
      taken = true;
      callbacks |= some;
    } finally {
      if (!taken && some) {
        Callbacks.remove(key);
      }
      releaseAlone();
    }
  }
}
