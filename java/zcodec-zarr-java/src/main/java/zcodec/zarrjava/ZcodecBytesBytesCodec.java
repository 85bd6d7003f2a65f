package zcodec.zarrjava;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.zarr.zarrjava.ZarrException;
import dev.zarr.zarrjava.core.ArrayMetadata;
import dev.zarr.zarrjava.core.codec.BytesBytesCodec;
import dev.zarr.zarrjava.v3.codec.Codec;
import java.nio.ByteBuffer;

/** A codec from bytes to bytes. */
public abstract class ZcodecBytesBytesCodec extends BytesBytesCodec implements Codec {
  /** The name in metadata, which Jackson writes as the type's. */
  @JsonIgnore public final String name;

  /** The configuration, or null. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public final JsonNode configuration;

  private final Chains.Key chain;
  private final boolean fixedSize;

  /** With {@code fixedSize}, the encoded size depends on the decoded size alone, and is the bound. */
  ZcodecBytesBytesCodec(String name, JsonNode configuration, boolean fixedSize) {
    this.name = name;
    this.configuration = configuration;
    this.fixedSize = fixedSize;
    chain = new Chains.Key(ZcodecCodecs.codecs(name, configuration), null);
  }

  @Override
  public void setCoreArrayMetadata(ArrayMetadata.CoreArrayMetadata metadata) throws ZarrException {
    super.setCoreArrayMetadata(metadata);
    Chains.use(chain, open -> open.kind()); // wrong metadata shows here
  }

  @Override
  public ByteBuffer encode(ByteBuffer decoded) throws ZarrException {
    return Chains.use(chain, open -> ByteBuffer.wrap(open.encode(bytes(decoded))));
  }

  @Override
  public ByteBuffer decode(ByteBuffer encoded) throws ZarrException {
    return Chains.use(chain, open -> ByteBuffer.wrap(open.decode(bytes(encoded))));
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  @Override
  public long computeEncodedSize(long size, ArrayMetadata.CoreArrayMetadata metadata) throws ZarrException {
    if (!fixedSize) {
      throw new ZarrException("codec \"" + name + "\" does not make chunks of a fixed size");
    }
    return Chains.use(chain, open -> open.encodedBound(size));
  }
}
