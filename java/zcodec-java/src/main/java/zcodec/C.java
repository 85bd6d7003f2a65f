package zcodec;

/**
 * The functions of zcodec.h, by JNA's direct mapping. Pointers and sizes are {@code long}: this package has the library
 * for 64-bit machines only, and JNA passes primitive numbers without a detour.
 */
final class C {
  static {
    com.sun.jna.Native.register(C.class, Library.NATIVE);
  }

  /** {@code ZCODEC_SIZE_UNKNOWN}. */
  static final long SIZE_UNKNOWN = -1;

  private C() {}

  static native int zcodec_chain_new_with(
      long options, long codecs, long codecsSize, long input, long inputSize, long chain, long error);

  static native int zcodec_chain_from_zarr_json_with(long options, long json, long jsonSize, long chain, long error);

  static native int zcodec_chain_with_shape(long chain, long shape, long ndim, long reshaped, long error);

  static native void zcodec_chain_free(long chain);

  static native int zcodec_encode_with(
      long chain,
      long options,
      long decoded,
      long decodedSize,
      long encoded,
      long capacity,
      long encodedSize,
      long error);

  static native int zcodec_decode_with(
      long chain,
      long options,
      long encoded,
      long encodedSize,
      long decoded,
      long capacity,
      long decodedSize,
      long error);

  static native int zcodec_encode_to_buffer_with(
      long chain, long options, long decoded, long decodedSize, long buffer, long error);

  static native int zcodec_decode_to_buffer_with(
      long chain, long options, long encoded, long encodedSize, long buffer, long error);

  static native int zcodec_decode_view(
      long chain, long options, long encoded, long encodedSize, long box, long view, long error);

  static native int zcodec_encode_view(
      long chain, long options, long box, long view, long encoded, long capacity, long encodedSize, long error);

  static native int zcodec_fill_view(long chain, long shape, long view, long error);

  static native int zcodec_is_fill_view(long chain, long shape, long view, long isFill, long error);

  static native int zcodec_chain_granularity(long chain, long shape, long ndim, long error);

  static native int zcodec_chain_shape(long chain, long shape, long capacity, long ndim);

  static native int zcodec_chain_element_size(long chain, long size);

  static native int zcodec_plan_new(
      long chain,
      long options,
      long boxes,
      long views,
      long count,
      long objectSize,
      long index,
      long plan,
      long error);

  static native int zcodec_plan_next(long plan, long ranges, long count, long error);

  static native int zcodec_plan_supply(long plan, long i, long bytes, long size, long error);

  static native int zcodec_plan_supply_all(long plan, long bytes, long sizes, long error);

  static native int zcodec_plan_index(long plan, long index, long error);

  static native void zcodec_plan_free(long plan);

  static native int zcodec_writer_new(
      long chain, long options, long oldIndex, long oldSize, long writer, long error);

  static native int zcodec_writer_put(long writer, long box, long view, long error);

  static native int zcodec_writer_next(long writer, long ranges, long count, long error);

  static native int zcodec_writer_supply(long writer, long i, long bytes, long size, long error);

  static native int zcodec_writer_finish(
      long writer, int layout, long pieces, long count, long objectSize, long error);

  static native void zcodec_writer_free(long writer);

  static native long zcodec_index_memory(long index);

  static native void zcodec_index_free(long index);

  static native int zcodec_chain_inner(long chain, long inner, long error);

  static native int zcodec_chain_index_range(long chain, long range, long error);

  static native int zcodec_index_decode(long chain, long bytes, long size, long objectSize, long index, long error);

  static native int zcodec_index_entry(long index, long cell, long ndim, long range, long present, long error);

  static native int zcodec_decode_tasks(long tasks, long count, long options);

  static native int zcodec_encode_tasks(long tasks, long count, long options);

  static native long zcodec_buffer_data(long buffer);

  static native long zcodec_buffer_size(long buffer);

  static native void zcodec_buffer_free(long buffer);

  static native int zcodec_chain_decoded_size(long chain, long size);

  static native int zcodec_chain_encoded_bound(long chain, long decodedSize, long bound);

  static native long zcodec_chain_codec_count(long chain);

  static native int zcodec_chain_kind(long chain);

  static native int zcodec_chain_input_json(long chain, long json, long error);

  static native int zcodec_chain_output_json(long chain, long json, long error);

  static native int zcodec_chain_codecs_json(long chain, long json, long error);

  static native int zcodec_chain_warnings_json(long chain, long json, long error);

  static native int zcodec_chain_set_padding(
      long chain, long codecIndex, long generate, long check, long userData, long freeUserData, long error);

  static native int zcodec_chain_set_padding_at(
      long chain, long path, long generate, long check, long userData, long freeUserData, long error);

  static native int zcodec_sink_write(long sink, long bytes, long size);

  static native int zcodec_registry_new(long registry, long error);

  static native int zcodec_registry_add(long registry, long codec, long error);

  static native void zcodec_registry_free(long registry);

  static native long zcodec_status_name(int status);

  static native long zcodec_error_message(long error);

  static native long zcodec_error_code(long error);

  static native long zcodec_error_path(long error);

  static native long zcodec_error_codec_index(long error);

  static native long zcodec_error_element_index(long error);

  static native void zcodec_error_free(long error);

  static native long zcodec_supported_json();

  static native long zcodec_version();
}
