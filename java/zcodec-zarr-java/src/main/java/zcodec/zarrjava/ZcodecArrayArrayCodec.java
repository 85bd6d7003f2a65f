package zcodec.zarrjava;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.zarr.zarrjava.ZarrException;
import dev.zarr.zarrjava.core.ArrayMetadata;
import dev.zarr.zarrjava.core.codec.ArrayArrayCodec;
import dev.zarr.zarrjava.v3.DataType;
import dev.zarr.zarrjava.v3.codec.Codec;
import java.io.IOException;
import java.nio.ByteBuffer;
import ucar.ma2.Array;

/** A codec from array to array. */
public abstract class ZcodecArrayArrayCodec extends ArrayArrayCodec implements Codec {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The name in metadata, which Jackson writes as the type's. */
  @JsonIgnore public final String name;

  /** The configuration, or null. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public final JsonNode configuration;

  private Chains.Key chain;
  private ArrayMetadata.CoreArrayMetadata output;

  ZcodecArrayArrayCodec(String name, JsonNode configuration) {
    this.name = name;
    this.configuration = configuration;
  }

  @Override
  public void setCoreArrayMetadata(ArrayMetadata.CoreArrayMetadata metadata) throws ZarrException {
    super.setCoreArrayMetadata(metadata);
    chain = new Chains.Key(ZcodecCodecs.codecs(name, configuration), Elements.input(metadata));
    output = output(Chains.use(chain, open -> open.outputJson()));
  }

  private ArrayMetadata.CoreArrayMetadata output(String json) throws ZarrException {
    try {
      JsonNode array = JSON.readTree(json);
      DataType type = dataType(array.get("data_type"));
      int[] chunk = JSON.convertValue(array.get("shape"), int[].class);
      long[] shape = java.util.Arrays.stream(chunk).asLongStream().toArray();
      Object fill = ArrayMetadata.parseFillValue(forZarrJava(array.get("fill_value")), type);
      return new ArrayMetadata.CoreArrayMetadata(shape, chunk, type, fill);
    } catch (IOException e) {
      throw new ZarrException("zcodec: " + json, e);
    }
  }

  /** A fill value as zarr-java reads it: it knows infinity only with its sign. */
  private static Object forZarrJava(JsonNode fill) {
    return fill != null && fill.asText().equals("Infinity") ? "+Infinity" : JSON.convertValue(fill, Object.class);
  }

  private DataType dataType(JsonNode name) throws ZarrException {
    for (DataType type : DataType.values()) {
      if (type.getValue().equals(name.asText())) {
        return type;
      }
    }
    throw new ZarrException("codec \"" + this.name + "\": zarr-java has no data type " + name + " between codecs");
  }

  @Override
  public ArrayMetadata.CoreArrayMetadata resolveArrayMetadata() throws ZarrException {
    super.resolveArrayMetadata();
    return output;
  }

  @Override
  public Array encode(Array array) throws ZarrException {
    ByteBuffer decoded = Elements.toBytes(array);
    ByteBuffer encoded = ByteBuffer.allocateDirect(output.chunkByteLength());
    Chains.use(chain, open -> open.encode(decoded, encoded));
    ((java.nio.Buffer) encoded).flip();
    return Elements.toArray(encoded, output.dataType, output.chunkShape);
  }

  @Override
  public Array decode(Array array) throws ZarrException {
    ByteBuffer encoded = Elements.toBytes(array);
    ByteBuffer decoded = ByteBuffer.allocateDirect(arrayMetadata.chunkByteLength());
    Chains.use(chain, open -> open.decode(encoded, decoded));
    ((java.nio.Buffer) decoded).flip();
    return Elements.toArray(decoded, arrayMetadata.dataType, arrayMetadata.chunkShape);
  }

  @Override
  public long computeEncodedSize(long size, ArrayMetadata.CoreArrayMetadata metadata) throws ZarrException {
    return output.chunkByteLength();
  }
}
