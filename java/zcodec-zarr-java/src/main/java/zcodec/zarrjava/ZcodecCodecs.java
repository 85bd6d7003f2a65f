package zcodec.zarrjava;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.zarr.zarrjava.v3.codec.Codec;
import dev.zarr.zarrjava.v3.codec.CodecRegistry;

/**
 * The codecs that zarr-java lacks. After {@link #register()} it opens and creates arrays with them.
 *
 * <p>zarr-java makes an object of the class that is registered for a name, without telling it the name; so each codec has
 * a class.
 */
public final class ZcodecCodecs {
  private ZcodecCodecs() {}

  /** Adds all of them to zarr-java's registry. Before an array is opened or created; more than once does no harm. */
  public static void register() {
    CodecRegistry.addType("reshape", Reshape.class);
    CodecRegistry.addType("squeeze", Squeeze.class);
    CodecRegistry.addType("zarrs.squeeze", ZarrsSqueeze.class);
    CodecRegistry.addType("scale_offset", ScaleOffset.class);
    CodecRegistry.addType("cast_value", CastValue.class);
    CodecRegistry.addType("bitround", Bitround.class);
    CodecRegistry.addType("numcodecs.bitround", NumcodecsBitround.class);
    CodecRegistry.addType("numcodecs.astype", NumcodecsAstype.class);
    CodecRegistry.addType("numcodecs.delta", NumcodecsDelta.class);
    CodecRegistry.addType("numcodecs.fixedscaleoffset", NumcodecsFixedscaleoffset.class);
    CodecRegistry.addType("numcodecs.packbits", NumcodecsPackbits.class);
    CodecRegistry.addType("numcodecs.quantize", NumcodecsQuantize.class);
    CodecRegistry.addType("packbits", Packbits.class);
    CodecRegistry.addType("zfp", Zfp.class);
    CodecRegistry.addType("n5_default", N5Default.class);
    CodecRegistry.addType("numcodecs.pcodec", NumcodecsPcodec.class);
    CodecRegistry.addType("numcodecs.zfpy", NumcodecsZfpy.class);
    CodecRegistry.addType("conditional", Conditional.class);
    CodecRegistry.addType("pad", Pad.class);
    CodecRegistry.addType("offset", Offset.class);
    CodecRegistry.addType("numcodecs.zlib", NumcodecsZlib.class);
    CodecRegistry.addType("numcodecs.gzip", NumcodecsGzip.class);
    CodecRegistry.addType("numcodecs.zstd", NumcodecsZstd.class);
    CodecRegistry.addType("numcodecs.lz4", NumcodecsLz4.class);
    CodecRegistry.addType("numcodecs.bz2", NumcodecsBz2.class);
    CodecRegistry.addType("numcodecs.lzma", NumcodecsLzma.class);
    CodecRegistry.addType("numcodecs.blosc", NumcodecsBlosc.class);
    CodecRegistry.addType("numcodecs.shuffle", NumcodecsShuffle.class);
    CodecRegistry.addType("numcodecs.crc32", NumcodecsCrc32.class);
    CodecRegistry.addType("numcodecs.crc32c", NumcodecsCrc32c.class);
    CodecRegistry.addType("numcodecs.adler32", NumcodecsAdler32.class);
    CodecRegistry.addType("numcodecs.fletcher32", NumcodecsFletcher32.class);
    CodecRegistry.addType("numcodecs.jenkins_lookup3", NumcodecsJenkinsLookup3.class);
  }

  /**
   * Makes a codec, for the metadata of a new array.
   *
   * @param name its name in metadata, one of those that {@link #register()} adds
   * @param configuration its configuration; null: none
   * @return the codec
   */
  public static Codec create(String name, JsonNode configuration) {
    switch (name) {
      case "reshape":
        return new Reshape(configuration);
      case "squeeze":
        return new Squeeze(configuration);
      case "zarrs.squeeze":
        return new ZarrsSqueeze(configuration);
      case "scale_offset":
        return new ScaleOffset(configuration);
      case "cast_value":
        return new CastValue(configuration);
      case "bitround":
        return new Bitround(configuration);
      case "numcodecs.bitround":
        return new NumcodecsBitround(configuration);
      case "numcodecs.astype":
        return new NumcodecsAstype(configuration);
      case "numcodecs.delta":
        return new NumcodecsDelta(configuration);
      case "numcodecs.fixedscaleoffset":
        return new NumcodecsFixedscaleoffset(configuration);
      case "numcodecs.packbits":
        return new NumcodecsPackbits(configuration);
      case "numcodecs.quantize":
        return new NumcodecsQuantize(configuration);
      case "packbits":
        return new Packbits(configuration);
      case "zfp":
        return new Zfp(configuration);
      case "n5_default":
        return new N5Default(configuration);
      case "numcodecs.pcodec":
        return new NumcodecsPcodec(configuration);
      case "numcodecs.zfpy":
        return new NumcodecsZfpy(configuration);
      case "conditional":
        return new Conditional(configuration);
      case "pad":
        return new Pad(configuration);
      case "offset":
        return new Offset(configuration);
      case "numcodecs.zlib":
        return new NumcodecsZlib(configuration);
      case "numcodecs.gzip":
        return new NumcodecsGzip(configuration);
      case "numcodecs.zstd":
        return new NumcodecsZstd(configuration);
      case "numcodecs.lz4":
        return new NumcodecsLz4(configuration);
      case "numcodecs.bz2":
        return new NumcodecsBz2(configuration);
      case "numcodecs.lzma":
        return new NumcodecsLzma(configuration);
      case "numcodecs.blosc":
        return new NumcodecsBlosc(configuration);
      case "numcodecs.shuffle":
        return new NumcodecsShuffle(configuration);
      case "numcodecs.crc32":
        return new NumcodecsCrc32(configuration);
      case "numcodecs.crc32c":
        return new NumcodecsCrc32c(configuration);
      case "numcodecs.adler32":
        return new NumcodecsAdler32(configuration);
      case "numcodecs.fletcher32":
        return new NumcodecsFletcher32(configuration);
      case "numcodecs.jenkins_lookup3":
        return new NumcodecsJenkinsLookup3(configuration);
      default:
        throw new IllegalArgumentException("no codec of this jar is called " + name);
    }
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
