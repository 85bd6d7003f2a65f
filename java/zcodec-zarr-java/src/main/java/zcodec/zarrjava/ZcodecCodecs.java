package zcodec.zarrjava;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.zarr.zarrjava.v3.codec.Codec;
import dev.zarr.zarrjava.v3.codec.CodecRegistry;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The codecs that zarr-java lacks. After {@link #register()} it opens and creates arrays with them.
 *
 * <p>zarr-java makes an object of the class that is registered for a name, without telling it the name; so each codec
 * has a class.
 */
public final class ZcodecCodecs {
  /** A codec's class, and what makes one of it. */
  private static final class Entry {
    final Class<? extends Codec> type;
    final Function<JsonNode, ? extends Codec> make;

    Entry(Class<? extends Codec> type, Function<JsonNode, ? extends Codec> make) {
      this.type = type;
      this.make = make;
    }
  }

  /** All of them, by their names in metadata. */
  private static final Map<String, Entry> CODECS = new LinkedHashMap<>();

  static {
    add("reshape", Reshape.class, Reshape::new);
    add("squeeze", Squeeze.class, Squeeze::new);
    add("zarrs.squeeze", ZarrsSqueeze.class, ZarrsSqueeze::new);
    add("scale_offset", ScaleOffset.class, ScaleOffset::new);
    add("cast_value", CastValue.class, CastValue::new);
    add("bitround", Bitround.class, Bitround::new);
    add("numcodecs.bitround", NumcodecsBitround.class, NumcodecsBitround::new);
    add("numcodecs.astype", NumcodecsAstype.class, NumcodecsAstype::new);
    add("numcodecs.delta", NumcodecsDelta.class, NumcodecsDelta::new);
    add("numcodecs.fixedscaleoffset", NumcodecsFixedscaleoffset.class, NumcodecsFixedscaleoffset::new);
    add("numcodecs.packbits", NumcodecsPackbits.class, NumcodecsPackbits::new);
    add("numcodecs.quantize", NumcodecsQuantize.class, NumcodecsQuantize::new);
    add("packbits", Packbits.class, Packbits::new);
    add("zfp", Zfp.class, Zfp::new);
    add("n5_default", N5Default.class, N5Default::new);
    add("numcodecs.pcodec", NumcodecsPcodec.class, NumcodecsPcodec::new);
    add("numcodecs.zfpy", NumcodecsZfpy.class, NumcodecsZfpy::new);
    add("conditional", Conditional.class, Conditional::new);
    add("pad", Pad.class, Pad::new);
    add("offset", Offset.class, Offset::new);
    add("numcodecs.zlib", NumcodecsZlib.class, NumcodecsZlib::new);
    add("numcodecs.gzip", NumcodecsGzip.class, NumcodecsGzip::new);
    add("numcodecs.zstd", NumcodecsZstd.class, NumcodecsZstd::new);
    add("numcodecs.lz4", NumcodecsLz4.class, NumcodecsLz4::new);
    add("numcodecs.bz2", NumcodecsBz2.class, NumcodecsBz2::new);
    add("numcodecs.lzma", NumcodecsLzma.class, NumcodecsLzma::new);
    add("numcodecs.blosc", NumcodecsBlosc.class, NumcodecsBlosc::new);
    add("numcodecs.shuffle", NumcodecsShuffle.class, NumcodecsShuffle::new);
    add("numcodecs.crc32", NumcodecsCrc32.class, NumcodecsCrc32::new);
    add("numcodecs.crc32c", NumcodecsCrc32c.class, NumcodecsCrc32c::new);
    add("numcodecs.adler32", NumcodecsAdler32.class, NumcodecsAdler32::new);
    add("numcodecs.fletcher32", NumcodecsFletcher32.class, NumcodecsFletcher32::new);
    add("numcodecs.jenkins_lookup3", NumcodecsJenkinsLookup3.class, NumcodecsJenkinsLookup3::new);
  }

  private static <T extends Codec> void add(String name, Class<T> type, Function<JsonNode, T> make) {
    CODECS.put(name, new Entry(type, make));
  }

  private ZcodecCodecs() {}

  /** Adds all of them to zarr-java's registry. Before an array is opened or created; more than once does no harm. */
  public static void register() {
    CODECS.forEach((name, entry) -> CodecRegistry.addType(name, entry.type));
  }

  /**
   * Makes a codec, for the metadata of a new array.
   *
   * @param name its name in metadata, one of those that {@link #register()} adds
   * @param configuration its configuration; null: none
   * @return the codec
   * @throws IllegalArgumentException there is no such name
   */
  public static Codec create(String name, JsonNode configuration) {
    Entry entry = CODECS.get(name);
    if (entry == null) {
      throw new IllegalArgumentException("no codec of this jar is called " + name);
    }
    return entry.make.apply(configuration);
  }

  /** The names of all of them; for tests. */
  static Set<String> names() {
    return CODECS.keySet();
  }

  /** The list of one codec, as JSON. */
  static String codecs(String name, JsonNode configuration) {
    return "[{\"name\":\"" + name + "\"" + (configuration == null ? "" : ",\"configuration\":" + configuration) + "}]";
  }

  /** The codec {@code reshape}. */
  public static final class Reshape extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Reshape(@JsonProperty("configuration") JsonNode configuration) {
      super("reshape", configuration);
    }
  }

  /** The codec {@code squeeze}. */
  public static final class Squeeze extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Squeeze(@JsonProperty("configuration") JsonNode configuration) {
      super("squeeze", configuration);
    }
  }

  /** The codec {@code zarrs.squeeze}. */
  public static final class ZarrsSqueeze extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public ZarrsSqueeze(@JsonProperty("configuration") JsonNode configuration) {
      super("zarrs.squeeze", configuration);
    }
  }

  /** The codec {@code scale_offset}. */
  public static final class ScaleOffset extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public ScaleOffset(@JsonProperty("configuration") JsonNode configuration) {
      super("scale_offset", configuration);
    }
  }

  /** The codec {@code cast_value}. */
  public static final class CastValue extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public CastValue(@JsonProperty("configuration") JsonNode configuration) {
      super("cast_value", configuration);
    }
  }

  /** The codec {@code bitround}. */
  public static final class Bitround extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Bitround(@JsonProperty("configuration") JsonNode configuration) {
      super("bitround", configuration);
    }
  }

  /** The codec {@code numcodecs.bitround}. */
  public static final class NumcodecsBitround extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsBitround(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.bitround", configuration);
    }
  }

  /** The codec {@code numcodecs.astype}. */
  public static final class NumcodecsAstype extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsAstype(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.astype", configuration);
    }
  }

  /** The codec {@code numcodecs.delta}. */
  public static final class NumcodecsDelta extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsDelta(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.delta", configuration);
    }
  }

  /** The codec {@code numcodecs.fixedscaleoffset}. */
  public static final class NumcodecsFixedscaleoffset extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsFixedscaleoffset(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.fixedscaleoffset", configuration);
    }
  }

  /** The codec {@code numcodecs.packbits}. */
  public static final class NumcodecsPackbits extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsPackbits(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.packbits", configuration);
    }
  }

  /** The codec {@code numcodecs.quantize}. */
  public static final class NumcodecsQuantize extends ZcodecArrayArrayCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsQuantize(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.quantize", configuration);
    }
  }

  /** The codec {@code packbits}. */
  public static final class Packbits extends ZcodecArrayBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Packbits(@JsonProperty("configuration") JsonNode configuration) {
      super("packbits", configuration);
    }
  }

  /** The codec {@code zfp}. */
  public static final class Zfp extends ZcodecArrayBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Zfp(@JsonProperty("configuration") JsonNode configuration) {
      super("zfp", configuration);
    }
  }

  /** The codec {@code n5_default}. */
  public static final class N5Default extends ZcodecArrayBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public N5Default(@JsonProperty("configuration") JsonNode configuration) {
      super("n5_default", configuration);
    }
  }

  /** The codec {@code numcodecs.pcodec}. */
  public static final class NumcodecsPcodec extends ZcodecArrayBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsPcodec(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.pcodec", configuration);
    }
  }

  /** The codec {@code numcodecs.zfpy}. */
  public static final class NumcodecsZfpy extends ZcodecArrayBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsZfpy(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.zfpy", configuration);
    }
  }

  /** The codec {@code conditional}. */
  public static final class Conditional extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Conditional(@JsonProperty("configuration") JsonNode configuration) {
      super("conditional", configuration, false);
    }
  }

  /** The codec {@code pad}. */
  public static final class Pad extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Pad(@JsonProperty("configuration") JsonNode configuration) {
      super("pad", configuration, true);
    }
  }

  /** The codec {@code offset}. */
  public static final class Offset extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public Offset(@JsonProperty("configuration") JsonNode configuration) {
      super("offset", configuration, true);
    }
  }

  /** The codec {@code numcodecs.zlib}. */
  public static final class NumcodecsZlib extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsZlib(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.zlib", configuration, false);
    }
  }

  /** The codec {@code numcodecs.gzip}. */
  public static final class NumcodecsGzip extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsGzip(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.gzip", configuration, false);
    }
  }

  /** The codec {@code numcodecs.zstd}. */
  public static final class NumcodecsZstd extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsZstd(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.zstd", configuration, false);
    }
  }

  /** The codec {@code numcodecs.lz4}. */
  public static final class NumcodecsLz4 extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsLz4(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.lz4", configuration, false);
    }
  }

  /** The codec {@code numcodecs.bz2}. */
  public static final class NumcodecsBz2 extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsBz2(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.bz2", configuration, false);
    }
  }

  /** The codec {@code numcodecs.lzma}. */
  public static final class NumcodecsLzma extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsLzma(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.lzma", configuration, false);
    }
  }

  /** The codec {@code numcodecs.blosc}. */
  public static final class NumcodecsBlosc extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsBlosc(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.blosc", configuration, false);
    }
  }

  /** The codec {@code numcodecs.shuffle}. */
  public static final class NumcodecsShuffle extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsShuffle(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.shuffle", configuration, true);
    }
  }

  /** The codec {@code numcodecs.crc32}. */
  public static final class NumcodecsCrc32 extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsCrc32(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.crc32", configuration, true);
    }
  }

  /** The codec {@code numcodecs.crc32c}. */
  public static final class NumcodecsCrc32c extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsCrc32c(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.crc32c", configuration, true);
    }
  }

  /** The codec {@code numcodecs.adler32}. */
  public static final class NumcodecsAdler32 extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsAdler32(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.adler32", configuration, true);
    }
  }

  /** The codec {@code numcodecs.fletcher32}. */
  public static final class NumcodecsFletcher32 extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsFletcher32(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.fletcher32", configuration, true);
    }
  }

  /** The codec {@code numcodecs.jenkins_lookup3}. */
  public static final class NumcodecsJenkinsLookup3 extends ZcodecBytesBytesCodec {
    /**
     * The codec with its configuration.
     *
     * @param configuration as in metadata; null: none
     */
    @JsonCreator
    public NumcodecsJenkinsLookup3(@JsonProperty("configuration") JsonNode configuration) {
      super("numcodecs.jenkins_lookup3", configuration, true);
    }
  }
}
