package zcodec;

import com.sun.jna.Callback;
import com.sun.jna.Pointer;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The built-in codecs, and those of the program. */
public final class Registry extends NativeHandle {
  private static final int STRUCT_SIZE = 80;
  private static final int TOO_SMALL = 1;
  private static final int FAILED = 2;

  private Registry(long pointer) {
    super(pointer);
  }

  /**
   * Makes a registry of the built-in codecs.
   *
   * @return the registry, to be closed
   */
  public static Registry create() {
    try (Invocation in = new Invocation(null)) {
      in.check(C.zcodec_registry_new(in.out, in.error));
      return new Registry(in.result());
    }
  }

  @Override
  void free(long pointer) {
    C.zcodec_registry_free(pointer);
  }

  /**
   * Adds a codec. No other call may use the registry meanwhile. The codec is kept until the registry and all chains,
   * plans and writers that use it are closed.
   *
   * @param name its name in metadata
   * @param kind what it takes and gives
   * @param codec the codec
   * @throws IllegalStateException another call uses the registry
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the name is empty or taken, or the kind is {@link
   *     Kind#UNKNOWN}
   */
  public void add(String name, Kind kind, HostCodec codec) {
    Objects.requireNonNull(codec, "codec"); // before anything is taken that is given back below
    long pointer = acquireAlone();
    long key = Callbacks.put(codec);
    boolean added = false;
    try (Invocation in = new Invocation(null)) {
      long struct = in.arena.zeros(STRUCT_SIZE);
      in.arena.putLong(struct, STRUCT_SIZE);
      in.arena.putLong(struct + 8, in.arena.text(name));
      in.arena.putInt(struct + 16, kind.number());
      in.arena.putLong(struct + 24, key);
      in.arena.putLong(struct + 32, Callbacks.REMOVE_FUNCTION);
      in.arena.putLong(struct + 40, BIND_FUNCTION);
      in.arena.putLong(struct + 48, FREE_FUNCTION);
      in.arena.putLong(struct + 56, BOUND_FUNCTION);
      in.arena.putLong(struct + 64, ENCODE_FUNCTION);
      in.arena.putLong(struct + 72, DECODE_FUNCTION);
      in.check(C.zcodec_registry_add(pointer, struct, in.error));
      added = true;
    } finally {
      if (!added) {
        Callbacks.remove(key);
      }
      releaseAlone();
    }
  }

  // The functions of zcodec_codec.

  interface Bind extends Callback {
    int callback(
        long userData,
        long configuration,
        long configurationSize,
        long input,
        long inputSize,
        long output,
        long message,
        long state);
  }

  interface Bounds extends Callback {
    long callback(long state, long decodedSize);
  }

  interface Code extends Callback {
    int callback(
        long state, long callData, long from, long size, long to, long capacity, long written, long message);
  }

  private interface Run {
    void run(HostCodec.Bound bound, Object callData, ByteBuffer from, ByteBuffer to) throws Exception;
  }

  private static final Bind BIND =
      (userData, configuration, configurationSize, input, inputSize, output, message, state) -> {
        try {
          HostCodec codec = (HostCodec) Callbacks.get(userData);
          HostCodec.Bound bound = codec.bind(text(configuration, configurationSize), text(input, inputSize));
          try {
            write(output, bound.output());
          } catch (Throwable e) { // the library gets no state, and so never frees it
            closeAfter(e, bound);
            throw e;
          }
          new Pointer(state).setLong(0, Callbacks.put(bound));
          return 0;
        } catch (Throwable e) { // nothing may pass through native frames
          return refused(message, e);
        }
      };

  private static void closeAfter(Throwable e, HostCodec.Bound bound) {
    try {
      if (bound != null) {
        bound.close();
      }
    } catch (Throwable another) {
      e.addSuppressed(another);
    }
  }

  private static final Callbacks.Free FREE =
      key -> {
        HostCodec.Bound bound = (HostCodec.Bound) Callbacks.get(key);
        Callbacks.remove(key);
        try {
          bound.close();
        } catch (Throwable e) {
          // There is nobody to tell: the chain is being freed.
        }
      };

  private static final Bounds BOUND =
      (state, decodedSize) -> {
        try {
          return ((HostCodec.Bound) Callbacks.get(state)).encodedBound(decodedSize);
        } catch (Throwable e) {
          return C.SIZE_UNKNOWN;
        }
      };

  static final Code ENCODE = code(HostCodec.Bound::encode);
  private static final Code DECODE = code(HostCodec.Bound::decode);

  private static Code code(Run run) {
    return (state, callData, from, size, to, capacity, written, message) -> {
      Callbacks.Call begun = null;
      try {
        begun = Callbacks.begin(callData);
        ByteBuffer target = Callbacks.bytes(to, Math.min(capacity, Integer.MAX_VALUE));
        HostCodec.Bound bound = (HostCodec.Bound) Callbacks.get(state);
        run.run(bound, Callbacks.dataOf(callData), Callbacks.readOnly(from, size), target);
        new Pointer(written).setLong(0, target.position());
        Callbacks.succeeded(callData);
        return 0;
      } catch (BufferOverflowException e) {
        if (capacity < Integer.MAX_VALUE) {
          Callbacks.overflowed(callData, e);
          return TOO_SMALL;
        }
        Callbacks.failed(callData, e); // a ByteBuffer of more room cannot be had
        return refused(message, e);
      } catch (Throwable e) {
        Callbacks.failed(callData, e);
        return refused(message, e);
      } finally {
        Callbacks.end(begun);
      }
    };
  }

  private static final long BIND_FUNCTION = Callbacks.function(BIND);
  private static final long FREE_FUNCTION = Callbacks.function(FREE);
  private static final long BOUND_FUNCTION = Callbacks.function(BOUND);
  private static final long ENCODE_FUNCTION = Callbacks.function(ENCODE);
  private static final long DECODE_FUNCTION = Callbacks.function(DECODE);

  private static String text(long address, long size) {
    return size == 0 ? "" : new String(new Pointer(address).getByteArray(0, (int) size), StandardCharsets.UTF_8);
  }

  /** Tells the library why, if that works. */
  private static int refused(long message, Throwable e) {
    try {
      write(message, String.valueOf(e));
    } catch (Throwable another) {
      // The call fails without the reason.
    }
    return FAILED;
  }

  private static void write(long sink, String text) {
    Arena arena = Arena.local();
    long mark = arena.mark();
    try {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      C.zcodec_sink_write(sink, arena.bytes(utf8), utf8.length);
    } finally {
      arena.reset(mark);
    }
  }
}
