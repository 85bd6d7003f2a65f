package zcodec.zarrjava;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.zarr.zarrjava.ZarrException;
import dev.zarr.zarrjava.core.ArrayMetadata;
import dev.zarr.zarrjava.core.codec.ArrayBytesCodec;
import dev.zarr.zarrjava.v3.codec.Codec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import ucar.ma2.Array;

/** A codec from array to bytes. */
public abstract class ZcodecArrayBytesCodec extends ArrayBytesCodec implements Codec {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The name in metadata, which Jackson writes as the type's. */
  @JsonIgnore public final String name;

  /** The configuration, or null. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public final JsonNode configuration;

  private Chains.Key chain;

  ZcodecArrayBytesCodec(String name, JsonNode configuration) {
    this.name = name;
    this.configuration = configuration;
  }

  @Override
  public void setCoreArrayMetadata(ArrayMetadata.CoreArrayMetadata metadata) throws ZarrException {
    super.setCoreArrayMetadata(metadata);
    chain = new Chains.Key(ZcodecCodecs.codecs(name, configuration), Elements.input(metadata));
    Chains.use(chain, open -> open.kind()); // wrong metadata shows here
  }

  @Override
  public ByteBuffer encode(Array array) throws ZarrException {
    ByteBuffer decoded = Elements.toBytes(array);
    return Chains.use(
        chain,
        open -> {
          ByteBuffer encoded = ByteBuffer.allocate(Math.toIntExact(open.encodedBound(decoded.remaining())));
          open.encode(decoded, encoded);
          int size = encoded.position();
          // Exact, because zarr-java's shards take the capacity of a buffer for its size.
          return ByteBuffer.wrap(size == encoded.capacity() ? encoded.array() : Arrays.copyOf(encoded.array(), size));
        });
  }

  @Override
  public Array decode(ByteBuffer encoded) throws ZarrException {
    ByteBuffer decoded = ByteBuffer.allocateDirect(arrayMetadata.chunkByteLength());
    Chains.use(chain, open -> open.decode(encoded.duplicate(), decoded));
    ((java.nio.Buffer) decoded).flip();
    return Elements.toArray(decoded, arrayMetadata.dataType, arrayMetadata.chunkShape);
  }

  @Override
  public long computeEncodedSize(long size, ArrayMetadata.CoreArrayMetadata metadata) throws ZarrException {
    String output = Chains.use(chain, open -> open.outputJson());
    try {
      JsonNode encoded = JSON.readTree(output).get("size");
      if (encoded.isNull()) {
        throw new ZarrException("codec \"" + name + "\" does not make chunks of a fixed size");
      }
      return encoded.asLong();
    } catch (IOException e) {
      throw new ZarrException("zcodec: " + output, e);
    }
  }
}
