package zcodec;

/** What a chain is made with. Immutable. */
public final class ChainOptions {
  /** The built-in codecs, and no limit. */
  public static final ChainOptions DEFAULT = new ChainOptions(null, 0);

  static final int STRUCT_SIZE = 24;

  final Registry registry;
  private final long maxDecodedSize;

  private ChainOptions(Registry registry, long maxDecodedSize) {
    this.registry = registry;
    this.maxDecodedSize = maxDecodedSize;
  }

  /**
   * Adds codecs of the program. The chain keeps what it uses; the registry may be closed before it.
   *
   * @param registry the codecs; null: only the built-in ones
   * @return options with this change
   */
  public ChainOptions registry(Registry registry) {
    return new ChainOptions(registry, maxDecodedSize);
  }

  /**
   * Limits what a chunk may decode to: metadata that asks for more is {@link Status#UNSUPPORTED}, and a chunk of bytes
   * that decodes to more is {@link Status#CORRUPT_DATA}.
   *
   * @param maxDecodedSize the limit in bytes; 0: none
   * @return options with this change
   */
  public ChainOptions maxDecodedSize(long maxDecodedSize) {
    if (maxDecodedSize < 0) {
      throw new IllegalArgumentException("maxDecodedSize is " + maxDecodedSize);
    }
    return new ChainOptions(registry, maxDecodedSize);
  }

  /** The {@code zcodec_chain_options}; {@code registryPointer} is in use until the call ends. */
  long write(Arena arena, long registryPointer) {
    long address = arena.zeros(STRUCT_SIZE);
    arena.putLong(address, STRUCT_SIZE);
    arena.putLong(address + 8, registryPointer);
    arena.putLong(address + 16, maxDecodedSize);
    return address;
  }
}
