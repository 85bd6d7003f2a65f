/* zcodec: the codecs of Zarr v3.
 *
 * A chain is a run of codecs bound to what enters it: made once from JSON, then used for any number
 * of chunks. Arrays are contiguous, in C order and native byte order, unless a view says otherwise.
 *
 * Every function that can fail returns a zcodec_status, and on failure gives an error if `error` is not
 * NULL; the caller frees it with zcodec_error_free. On success `*error` is NULL. Results are written on
 * every path: 0 or NULL on failure, unless said otherwise.
 *
 * Elements in memory:
 *
 *   data type                          bytes  layout
 *   bool                               1      0 or 1; on encode any byte except 0 is true
 *   int2, int4                         1      sign-extended; on encode only the low bits are read
 *   uint2, uint4                       1      zero-extended; on encode only the low bits are read
 *   float4_e2m1fn, float6_e2m3fn,      1      in the low 4 or 6 bits, the others 0; on encode only the
 *   float6_e3m2fn                             low bits are read
 *   float8_* (eight variants)          1      the bits themselves
 *   int8 to int64, uint8 to uint64,    N/8    native byte order
 *   float16, bfloat16, float32, float64
 *   complex_* of every float type,     2      two components: real, then imaginary, each as above
 *   complex64, complex128
 *   r8, r16, ... (raw bits)            N/8    the bytes themselves
 *
 * Threads: functions that take a const handle may run in any number of threads at once on the same
 * handle. The library has no global state; it starts threads only for max_threads > 1, never more
 * than there are processors, and prints nothing.
 *
 * This file is generated; do not edit it.
 */

#ifndef ZCODEC_H
#define ZCODEC_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; zcodec_version is that of the library. */
#define ZCODEC_VERSION_MAJOR 0
#define ZCODEC_VERSION_MINOR 1
#define ZCODEC_VERSION_PATCH 0

/**
 * Flag of zcodec_call_options: inner chunks of a shard that are only the fill value are stored all the same. Since 0.2.
 */
#define ZCODEC_CALL_STORE_EMPTY 1

/**
 * An offset or a size that is not known.
 */
#define ZCODEC_SIZE_UNKNOWN UINT64_MAX

/**
 * Flag of zcodec_task, decode: there is no such chunk; its view is filled with the fill value.
 */
#define ZCODEC_TASK_MISSING 1

/**
 * What `encode` and `decode` of a zcodec_codec return if they need more room. Since 0.2.
 */
#define ZCODEC_CODEC_TOO_SMALL 1

/**
 * Result of a call. Numeric values are part of the ABI: they are never renumbered, and later versions may add more.
 */
typedef enum zcodec_status {
  /**
   * Success.
   */
  ZCODEC_STATUS_OK = 0,
  /**
   * A pointer that must not be NULL was NULL.
   */
  ZCODEC_STATUS_NULL_ARGUMENT = 1,
  /**
   * A size, index or option of the call is wrong.
   */
  ZCODEC_STATUS_INVALID_ARGUMENT = 2,
  /**
   * The JSON is malformed, or a codec's configuration is.
   */
  ZCODEC_STATUS_INVALID_METADATA = 3,
  /**
   * Valid, but this codec, data type or combination is not supported.
   */
  ZCODEC_STATUS_UNSUPPORTED = 4,
  /**
   * The output buffer is too small; the size argument has the size that is needed.
   */
  ZCODEC_STATUS_BUFFER_TOO_SMALL = 5,
  /**
   * The size asked for is not known before the data is.
   */
  ZCODEC_STATUS_UNKNOWN_SIZE = 6,
  /**
   * The encoded bytes cannot have come from this chain.
   */
  ZCODEC_STATUS_CORRUPT_DATA = 7,
  /**
   * An element cannot be represented in the target type.
   */
  ZCODEC_STATUS_OUT_OF_RANGE = 8,
  /**
   * A callback reported failure.
   */
  ZCODEC_STATUS_CALLBACK_FAILED = 9,
  /**
   * Memory could not be allocated.
   */
  ZCODEC_STATUS_OUT_OF_MEMORY = 10,
  /**
   * A bug in the library; never undefined behaviour. Please report it.
   */
  ZCODEC_STATUS_INTERNAL = 11,
} zcodec_status;

/**
 * The three shapes of a chain.
 */
typedef enum zcodec_kind {
  /**
   * Array->array codecs only: an array enters on encode, and an array leaves.
   */
  ZCODEC_KIND_ARRAY_TO_ARRAY = 1,
  /**
   * One array->bytes codec, perhaps with others before and after it: an array enters on encode, bytes leave.
   */
  ZCODEC_KIND_ARRAY_TO_BYTES = 2,
  /**
   * Bytes->bytes codecs only: bytes enter on encode, and bytes leave.
   */
  ZCODEC_KIND_BYTES_TO_BYTES = 3,
} zcodec_kind;

/**
 * How the object of a shard is made.
 */
typedef enum zcodec_layout {
  /**
   * The whole new object, inner chunks in C order: for object stores.
   */
  ZCODEC_LAYOUT_PACKED = 0,
  /**
   * Only what must be written, in the order to write it, the index last; old bytes stay where they are. Nothing to
   * write: no pieces. For files. A new shard: as ZCODEC_LAYOUT_PACKED.
   */
  ZCODEC_LAYOUT_APPEND = 1,
} zcodec_layout;

/**
 * What a writer is told to compress with: a `cname`.
 */
typedef struct Compressor Compressor;

/**
 * Bytes that the library allocated: an encoded or decoded chunk, or JSON text. Opaque.
 */
typedef struct zcodec_buffer zcodec_buffer;

/**
 * A contiguous run of Zarr v3 codecs, bound to what enters it on encode. Opaque. Immutable once its callbacks are
 * set, and may then be used by any number of threads at the same time.
 */
typedef struct zcodec_chain zcodec_chain;

/**
 * Why a call failed. Opaque; independent of the chain, and of the thread, that it came from.
 */
typedef struct zcodec_error zcodec_error;

/**
 * The index of a shard, decoded. Opaque; immutable, for any thread.
 */
typedef struct zcodec_index zcodec_index;

/**
 * One read of one stored object, a chunk or a shard. Opaque. It says which byte ranges it needs, all of a stage at once;
 * the host fetches them as it likes and supplies them; each is decoded to its place at once.
 */
typedef struct zcodec_plan zcodec_plan;

/**
 * The built-in codecs, and those that were added. Opaque. Several threads may make chains with it at once, but not while
 * one of them adds a codec.
 */
typedef struct zcodec_registry zcodec_registry;

/**
 * Takes text from a callback. Opaque. It lives for the duration of the callback only.
 */
typedef struct zcodec_sink zcodec_sink;

/**
 * A shard that is made, or changed, by its inner chunks. Opaque. Boxes are put; then the old inner chunks that are needed
 * are asked for and supplied; then it gives the pieces of the new object.
 */
typedef struct zcodec_writer zcodec_writer;

/**
 * Runs one job of an executor.
 */
typedef void (*zcodec_job_fn)(void *job_data,
                              uint32_t i,
                              uint32_t worker);

/**
 * Threads of the host, used instead of the library's own. Every thread that makes calls may use all members.
 */
typedef struct zcodec_executor {
  /**
   * sizeof(zcodec_executor) of the caller: lets later versions grow it.
   */
  size_t struct_size;
  /**
   * Passed to `run`, and never followed.
   */
  void *user_data;
  /**
   * How many jobs may run at once, at least 1. It is not capped by the number of processors.
   */
  uint32_t max_workers;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Runs job(job_data, i, worker) for each i < count on any threads and returns when all have returned: 0, or a number
   * that becomes CALLBACK_FAILED. worker < max_workers; no two jobs of one `run` with the same worker at once. `run`
   * may be called from several threads at once, never from inside a job; jobs never wait for one another.
   */
  int32_t (*run)(void *user_data,
                 zcodec_job_fn job,
                 void *job_data,
                 uint32_t count);
} zcodec_executor;

/**
 * What a call may do differently. Set all members to 0 first, then `struct_size`, then what is wanted.
 */
typedef struct zcodec_call_options {
  /**
   * sizeof(zcodec_call_options) of the caller: lets later versions grow it.
   */
  size_t struct_size;
  /**
   * Passed to the callbacks of this call, and never followed.
   */
  void *call_data;
  /**
   * How many threads may work on the call. 0 or 1: the calling thread only. The result is the same to the bit.
   */
  uint32_t max_threads;
  /**
   * Threads of the host, used instead of the library's own; `max_threads` is then ignored. NULL: none. Since 0.2.
   */
  const struct zcodec_executor *executor;
  /**
   * ZCODEC_CALL_STORE_EMPTY, or 0; unknown flags are INVALID_ARGUMENT. Since 0.2.
   */
  uint64_t flags;
} zcodec_call_options;

/**
 * A part of a chunk's decoded side.
 */
typedef struct zcodec_box {
  /**
   * sizeof(zcodec_box) of the caller: lets later versions grow it.
   */
  size_t struct_size;
  /**
   * The number of dimensions: the chain's.
   */
  size_t ndim;
  /**
   * Where the box begins: `ndim` indices. NULL: zeros.
   */
  const uint64_t *start;
  /**
   * Its size along each dimension: `ndim` sizes. NULL: from `start` to the end of the chunk.
   */
  const uint64_t *shape;
} zcodec_box;

/**
 * Where the elements of a box lie in memory of the caller. Element (0, .., 0) of the box begins at `memory + offset`;
 * neighbours along dimension i are `strides[i]` bytes apart, any sign. No byte outside memory[0..memory_size) is read or
 * written, whatever the other members say: INVALID_ARGUMENT instead. Bytes between the elements stay as they are. Where
 * the library writes, no two elements may share a byte (not checked).
 */
typedef struct zcodec_view {
  /**
   * sizeof(zcodec_view) of the caller: lets later versions grow it.
   */
  size_t struct_size;
  /**
   * Only read on encode.
   */
  void *memory;
  /**
   * The number of bytes at `memory`.
   */
  size_t memory_size;
  /**
   * Where element (0, .., 0) begins, in bytes.
   */
  size_t offset;
  /**
   * The number of dimensions: the chain's.
   */
  size_t ndim;
  /**
   * `ndim` distances in bytes. NULL: C order, back to back.
   */
  const int64_t *strides;
} zcodec_view;

/**
 * Bytes of a stored object. `offset` ZCODEC_SIZE_UNKNOWN: the last `size` bytes. `size` ZCODEC_SIZE_UNKNOWN: up to the
 * end.
 */
typedef struct zcodec_range {
  /**
   * Where the bytes begin.
   */
  uint64_t offset;
  /**
   * Their number.
   */
  uint64_t size;
} zcodec_range;

/**
 * Bytes of a new object: `size` bytes that go to `offset`.
 */
typedef struct zcodec_piece {
  /**
   * Where the bytes go.
   */
  uint64_t offset;
  /**
   * Their number.
   */
  uint64_t size;
  /**
   * If `data` is NULL: where the bytes lie in the old object.
   */
  uint64_t source_offset;
  /**
   * The bytes. NULL: those of the old object.
   */
  const void *data;
} zcodec_piece;

/**
 * One chunk of many. Set all members to 0 first, then `struct_size`, then what is wanted.
 */
typedef struct zcodec_task {
  /**
   * sizeof(zcodec_task) of the caller: lets later versions grow it.
   */
  size_t struct_size;
  /**
   * The chain of this chunk.
   */
  const struct zcodec_chain *chain;
  /**
   * Handed to the callbacks of this task.
   */
  void *call_data;
  /**
   * Decode: the encoded chunk.
   */
  const void *encoded;
  /**
   * Decode: given. Encode: the size of what was written, or of what would be enough.
   */
  size_t encoded_size;
  /**
   * Encode: where the encoded chunk goes.
   */
  void *encoded_to;
  /**
   * Encode: the bytes that there is room for.
   */
  size_t encoded_capacity;
  /**
   * The box of the chunk. NULL: all of it.
   */
  const struct zcodec_box *part;
  /**
   * Where the elements of the box lie.
   */
  const struct zcodec_view *view;
  /**
   * ZCODEC_TASK_MISSING, or 0.
   */
  uint32_t flags;
  /**
   * The result of this task, a zcodec_status; written, never read.
   */
  int32_t status;
  /**
   * Why the task failed, or NULL; written, never read. The caller frees every error.
   */
  struct zcodec_error *error;
} zcodec_task;

/**
 * Fills padding[0..padding_size), which is all zeros, for one chunk. `chunk` is what the codec received: the bytes
 * that the padding will be attached to. `user_data` is that of zcodec_chain_set_padding, `call_data` that of the
 * call's options. Returns 0 on success; any other value aborts the encode with CALLBACK_FAILED and is quoted in the
 * message.
 *
 * Callbacks run on the thread that called the library and before that call returns, never under a lock; a chain that
 * is used by several threads runs them in several threads at once. They may call the library. They must return
 * normally: no longjmp, no exception through C frames. What the pointers point to is theirs for the duration of the
 * call only.
 */
typedef int32_t (*zcodec_padding_fn)(void *user_data,
                                     void *call_data,
                                     const uint8_t *chunk,
                                     size_t chunk_size,
                                     uint8_t *padding,
                                     size_t padding_size);

/**
 * Looks at the bytes that decoding is about to remove. `chunk` is what remains. Returns 0 to accept; any other value
 * aborts the decode with CORRUPT_DATA and is quoted in the message. The rules of zcodec_padding_fn hold.
 */
typedef int32_t (*zcodec_padding_check_fn)(void *user_data,
                                           void *call_data,
                                           const uint8_t *chunk,
                                           size_t chunk_size,
                                           const uint8_t *padding,
                                           size_t padding_size);

/**
 * A codec of the host. Set all members to 0 first, then `struct_size`, then the others; free_user_data, free_state and
 * encoded_bound may be NULL.
 *
 * The functions run on the thread that does the work, before the call of the library returns, and never under a lock; a
 * chain that is used by several threads runs them in several threads at once, also on the same state. They may call the
 * library. They must return normally: no longjmp, no exception through C frames. What the pointers point to is theirs
 * for the duration of the call only. They must be fit for every thread that uses or frees a chain with the codec.
 */
typedef struct zcodec_codec {
  /**
   * sizeof(zcodec_codec) of the caller: lets later versions grow it.
   */
  size_t struct_size;
  /**
   * The name in metadata: UTF-8, NUL-terminated. It is copied.
   */
  const char *name;
  /**
   * What it takes and gives: a zcodec_kind.
   */
  int32_t kind;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Handed to `bind`, and never followed.
   */
  void *user_data;
  /**
   * Called on `user_data` once, when the registry and all that was made with the codec are gone.
   */
  void (*free_user_data)(void *user_data);
  /**
   * Binds the codec to what enters on encode.
   *
   * `configuration` is the codec's, a JSON object ("{}" if there is none); `input` is what enters, as
   * zcodec_chain_output_json writes it. Neither is NUL-terminated. What leaves goes to `output` in the same form: an
   * array, {"data_type": .., "shape": [..], "fill_value": ..}, if array->array is the kind; otherwise {"size": n} for
   * bytes of a fixed size, or {"size": null}. `*state`, NULL before, is handed to the other functions.
   *
   * Returns 0; or any other number, and why in `message`: the chain cannot be made, INVALID_METADATA. An output that
   * cannot be read is CALLBACK_FAILED. zcodec_chain_with_shape binds again.
   */
  int32_t (*bind)(void *user_data,
                  const char *configuration,
                  size_t configuration_size,
                  const char *input,
                  size_t input_size,
                  struct zcodec_sink *output,
                  struct zcodec_sink *message,
                  void **state);
  /**
   * Called once for each `bind` that returned 0, on what it made, whether the chain came about or not.
   */
  void (*free_state)(void *state);
  /**
   * The most bytes that encoding makes of this many; UINT64_MAX: not known. It is not asked where `bind` said the size.
   */
  uint64_t (*encoded_bound)(void *state,
                            uint64_t decoded_size);
  /**
   * Encodes a chunk. Arrays lie back to back in C order and native byte order, at any alignment, on either side.
   * `call_data` is that of the call's options.
   *
   * Returns 0 and the size of what was written. ZCODEC_CODEC_TOO_SMALL: `encoded` is too small; `*encoded_size` may say
   * what would do, otherwise it is taken to be twice as much. The call is then repeated with more room; if it is the
   * caller's room that is too small, BUFFER_TOO_SMALL. Any other number, and why in `message`: OUT_OF_RANGE.
   *
   * CALLBACK_FAILED: the size is larger than the capacity, or not what `bind` said; more room is needed than `bind` or
   * `encoded_bound` said; or it is asked for without end.
   */
  int32_t (*encode)(void *state,
                    void *call_data,
                    const void *decoded,
                    size_t decoded_size,
                    void *encoded,
                    size_t encoded_capacity,
                    size_t *encoded_size,
                    struct zcodec_sink *message);
  /**
   * Decodes a chunk: `encode` the other way round. Any other number than 0 and ZCODEC_CODEC_TOO_SMALL is CORRUPT_DATA;
   * so is ZCODEC_CODEC_TOO_SMALL, or another size, where the decoded size is known: `decoded_capacity` is then that.
   */
  int32_t (*decode)(void *state,
                    void *call_data,
                    const void *encoded,
                    size_t encoded_size,
                    void *decoded,
                    size_t decoded_capacity,
                    size_t *decoded_size,
                    struct zcodec_sink *message);
} zcodec_codec;

/**
 * What a chain is made with. Set all members to 0 first, then `struct_size`, then what is wanted.
 */
typedef struct zcodec_chain_options {
  /**
   * sizeof(zcodec_chain_options) of the caller: lets later versions grow it.
   */
  size_t struct_size;
  /**
   * The codecs. NULL: the built-in ones.
   */
  const struct zcodec_registry *registry;
  /**
   * The most bytes that a chunk may decode to. Metadata that asks for more is UNSUPPORTED, also that of
   * zcodec_chain_with_shape; a chunk of bytes->bytes codecs that decodes to more is CORRUPT_DATA. 0: no limit.
   */
  uint64_t max_decoded_size;
} zcodec_chain_options;



#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/* ---- Chains -------------------------------------------------------------------------------- */

/**
 * Makes a chain of a list of codecs.
 *
 * `codecs_json` is a JSON array of Zarr v3 codec metadata objects, or name strings. `input_json` says what enters on
 * encode, {"data_type": .., "shape": [..], "fill_value": ..}; NULL with size 0 for a chain of bytes->bytes codecs.
 * Both are UTF-8, with their lengths in bytes, and need not be NUL-terminated; nothing of them is kept.
 *
 * On success `*chain` is a handle that the caller frees with zcodec_chain_free; on failure it is NULL.
 * INVALID_METADATA: the JSON or a configuration is wrong. UNSUPPORTED: well-formed, but the codec, the data type or the
 * combination is not supported. `error` may be NULL.
 */
enum zcodec_status zcodec_chain_new(const char *codecs_json,
                                    size_t codecs_json_size,
                                    const char *input_json,
                                    size_t input_json_size,
                                    struct zcodec_chain **chain,
                                    struct zcodec_error **error);

/**
 * Makes the chain of a whole Zarr v3 array document (a zarr.json): takes its data_type, fill_value, codecs, and the
 * chunk shape of its regular chunk grid, or that of the first chunk of a rectilinear one: zcodec_chain_with_shape makes
 * the chains of others. A Zarr v2 one (a .zarray) makes a chain of v3 codecs, without a fill value if that is null.
 * Otherwise as zcodec_chain_new. UNSUPPORTED also for other chunk grids.
 */
enum zcodec_status zcodec_chain_from_zarr_json(const char *zarr_json,
                                               size_t zarr_json_size,
                                               struct zcodec_chain **chain,
                                               struct zcodec_error **error);

/**
 * Makes a chain of the same codecs, data type, fill value and callbacks for a chunk of another shape: border chunks,
 * rectilinear grids, N5 blocks. Cheap: nothing is parsed again. `shape` has `ndim` sizes.
 *
 * On success `*reshaped` is a handle of its own, which the caller frees with zcodec_chain_free; on failure it is NULL.
 * The user_data of the callbacks is shared, and freed with the last chain that holds it. UNSUPPORTED for chains of
 * bytes->bytes codecs, and for more than the max_decoded_size of the chain; INVALID_METADATA if the codecs do not fit the
 * shape. Codecs of the host are bound again. `error` may be NULL.
 */
enum zcodec_status zcodec_chain_with_shape(const struct zcodec_chain *chain,
                                           const uint64_t *shape,
                                           size_t ndim,
                                           struct zcodec_chain **reshaped,
                                           struct zcodec_error **error);

/**
 * Frees a chain; no thread may be using it. NULL is fine. Errors and buffers that it gave stay valid.
 */
void zcodec_chain_free(struct zcodec_chain *chain);

/* ---- Encoding and decoding ----------------------------------------------------------------- */

/**
 * Encodes one chunk into memory of the caller.
 *
 * `decoded` holds the elements back to back, in C order and native byte order; or any bytes, for a chain of
 * bytes->bytes codecs. On success `encoded` begins with the encoded chunk and `*encoded_size` is its size in bytes.
 * The buffers may have any alignment and must not overlap; a NULL buffer of size 0 is an empty one.
 *
 * BUFFER_TOO_SMALL: `*encoded_size` is a capacity that is enough (zcodec_chain_encoded_bound gives one in advance);
 * or, if a codec of the host does not say how much it needs, twice the capacity.
 * INVALID_ARGUMENT: `decoded_size` is not what the chain takes; nothing was written. OUT_OF_RANGE: an element cannot
 * be represented in the type that a codec converts it to. CALLBACK_FAILED: a padding callback failed. OUT_OF_MEMORY.
 * After any failure the content of `encoded` is unspecified, and `*encoded_size` is 0 except for BUFFER_TOO_SMALL.
 *
 * One chain may encode and decode in any number of threads at once. `error` may be NULL.
 */
enum zcodec_status zcodec_encode(const struct zcodec_chain *chain,
                                 const void *decoded,
                                 size_t decoded_size,
                                 void *encoded,
                                 size_t encoded_capacity,
                                 size_t *encoded_size,
                                 struct zcodec_error **error);

/**
 * Decodes one chunk into memory of the caller.
 *
 * `encoded` is exactly one chunk. On success `decoded` begins with its elements back to back, in C order and native
 * byte order (or with bytes, for a chain of bytes->bytes codecs), and `*decoded_size` is their size in bytes. The
 * buffers may have any alignment and must not overlap; a NULL buffer of size 0 is an empty one.
 *
 * BUFFER_TOO_SMALL: `*decoded_size` is the capacity that is needed; for an array, `decoded` was not written to.
 * CORRUPT_DATA: no encode of this chain can have made these bytes, or a padding check refused them. OUT_OF_RANGE: an
 * element cannot be represented in the type that a codec converts it to. OUT_OF_MEMORY. After any failure the content
 * of `decoded` is unspecified, and `*decoded_size` is 0 except for BUFFER_TOO_SMALL.
 *
 * One chain may encode and decode in any number of threads at once. `error` may be NULL.
 */
enum zcodec_status zcodec_decode(const struct zcodec_chain *chain,
                                 const void *encoded,
                                 size_t encoded_size,
                                 void *decoded,
                                 size_t decoded_capacity,
                                 size_t *decoded_size,
                                 struct zcodec_error **error);

/**
 * zcodec_encode with options: data for the callbacks, threads. `options` may be NULL. INVALID_ARGUMENT also if its
 * `struct_size` is not the size in any version, or a member unknown to this version is not 0.
 */
enum zcodec_status zcodec_encode_with(const struct zcodec_chain *chain,
                                      const struct zcodec_call_options *options,
                                      const void *decoded,
                                      size_t decoded_size,
                                      void *encoded,
                                      size_t encoded_capacity,
                                      size_t *encoded_size,
                                      struct zcodec_error **error);

/**
 * zcodec_decode with options: data for the callbacks, threads. `options` may be NULL. INVALID_ARGUMENT also if its
 * `struct_size` is not the size in any version, or a member unknown to this version is not 0.
 */
enum zcodec_status zcodec_decode_with(const struct zcodec_chain *chain,
                                      const struct zcodec_call_options *options,
                                      const void *encoded,
                                      size_t encoded_size,
                                      void *decoded,
                                      size_t decoded_capacity,
                                      size_t *decoded_size,
                                      struct zcodec_error **error);

/**
 * zcodec_encode into memory that the library allocates. On success `*encoded` is a buffer of exactly the encoded
 * chunk, which the caller frees with zcodec_buffer_free; on failure it is NULL.
 */
enum zcodec_status zcodec_encode_to_buffer(const struct zcodec_chain *chain,
                                           const void *decoded,
                                           size_t decoded_size,
                                           struct zcodec_buffer **encoded,
                                           struct zcodec_error **error);

/**
 * zcodec_encode_to_buffer with options: data for the callbacks, threads. `options` may be NULL. Since 0.2.
 */
enum zcodec_status zcodec_encode_to_buffer_with(const struct zcodec_chain *chain,
                                                const struct zcodec_call_options *options,
                                                const void *decoded,
                                                size_t decoded_size,
                                                struct zcodec_buffer **encoded,
                                                struct zcodec_error **error);

/**
 * zcodec_decode into memory that the library allocates. On success `*decoded` is a buffer of exactly the decoded
 * chunk, which the caller frees with zcodec_buffer_free; on failure it is NULL. A chain of bytes->bytes codecs does
 * not know the size in advance: its buffer grows with what really comes out.
 */
enum zcodec_status zcodec_decode_to_buffer(const struct zcodec_chain *chain,
                                           const void *encoded,
                                           size_t encoded_size,
                                           struct zcodec_buffer **decoded,
                                           struct zcodec_error **error);

/**
 * zcodec_decode_to_buffer with options: data for the callbacks, threads. `options` may be NULL. Since 0.2.
 */
enum zcodec_status zcodec_decode_to_buffer_with(const struct zcodec_chain *chain,
                                                const struct zcodec_call_options *options,
                                                const void *encoded,
                                                size_t encoded_size,
                                                struct zcodec_buffer **decoded,
                                                struct zcodec_error **error);

/* ---- Boxes and views ----------------------------------------------------------------------- */

/**
 * Decodes a box of a chunk (NULL: all of it) to where the caller wants it. The same elements, to the bit, as
 * zcodec_decode gives; only what the box needs is decoded, where the codecs allow it. `options` may be NULL.
 *
 * A box with a size of 0 is valid and touches nothing. INVALID_ARGUMENT: a wrong `ndim`, a box that is not within the
 * chunk, a view too small for it. UNSUPPORTED: a chain of bytes->bytes codecs. Otherwise as zcodec_decode. The element
 * index of an error counts in the whole array that the named codec received. The library need not look at what lies
 * outside the box: a chunk that is damaged elsewhere may decode. After a failure the elements of the view are
 * unspecified. Since 0.2.
 */
enum zcodec_status zcodec_decode_view(const struct zcodec_chain *chain,
                                      const struct zcodec_call_options *options,
                                      const void *encoded,
                                      size_t encoded_size,
                                      const struct zcodec_box *part,
                                      const struct zcodec_view *decoded,
                                      struct zcodec_error **error);

/**
 * Encodes a chunk of which the caller holds the box (NULL: all of it); the rest is the fill value, as in the border
 * chunks of a regular grid. Sizes and BUFFER_TOO_SMALL as for zcodec_encode. `options` may be NULL.
 *
 * INVALID_ARGUMENT and UNSUPPORTED as for zcodec_decode_view; UNSUPPORTED also for a part of a chunk if the chain has no
 * fill value. Since 0.2.
 */
enum zcodec_status zcodec_encode_view(const struct zcodec_chain *chain,
                                      const struct zcodec_call_options *options,
                                      const struct zcodec_box *part,
                                      const struct zcodec_view *decoded,
                                      void *encoded,
                                      size_t encoded_capacity,
                                      size_t *encoded_size,
                                      struct zcodec_error **error);

/**
 * Fills a view of this shape (`ndim` of the view, the chain's, numbers) with the chain's fill value: a chunk that does
 * not exist. UNSUPPORTED: the chain has no fill value, or is one of bytes->bytes codecs. Since 0.2.
 */
enum zcodec_status zcodec_fill_view(const struct zcodec_chain *chain,
                                    const uint64_t *shape,
                                    const struct zcodec_view *decoded,
                                    struct zcodec_error **error);

/**
 * Whether every element of a view of this shape is the fill value, to the bit: such a chunk need not be stored.
 * `*is_fill` is 1 then, else 0. UNSUPPORTED as for zcodec_fill_view. Since 0.2.
 */
enum zcodec_status zcodec_is_fill_view(const struct zcodec_chain *chain,
                                       const uint64_t *shape,
                                       const struct zcodec_view *decoded,
                                       int32_t *is_fill,
                                       struct zcodec_error **error);

/**
 * The smallest box that is worth asking for: the block of zfp in fixed_rate; all ones if each element decodes by
 * itself; the chunk if the whole object must be read. `ndim` numbers are written to `shape`. INVALID_ARGUMENT: `ndim`
 * is not the chain's. UNSUPPORTED for chains of bytes->bytes codecs. Since 0.2.
 */
enum zcodec_status zcodec_chain_granularity(const struct zcodec_chain *chain,
                                            uint64_t *shape,
                                            size_t ndim,
                                            struct zcodec_error **error);

/**
 * The shape of the decoded side: `*ndim` numbers are written to `shape`, which has room for `capacity`.
 * BUFFER_TOO_SMALL: `capacity` is less than `*ndim`, which is set nevertheless. UNSUPPORTED for chains of bytes->bytes
 * codecs; `*ndim` is then 0. Since 0.2.
 */
enum zcodec_status zcodec_chain_shape(const struct zcodec_chain *chain,
                                      uint64_t *shape,
                                      size_t capacity,
                                      size_t *ndim);

/**
 * The bytes that one element of the decoded side takes in memory. UNSUPPORTED for chains of bytes->bytes codecs; `*size`
 * is then 0. Since 0.2.
 */
enum zcodec_status zcodec_chain_element_size(const struct zcodec_chain *chain,
                                             size_t *size);

/* ---- Plans: the bytes are somewhere else --------------------------------------------------- */

/**
 * Makes a plan: box i of the chunk goes to view i; their memory must not overlap. `object_size` may be
 * ZCODEC_SIZE_UNKNOWN: an index at the end is then asked for as the last bytes. `index`: what zcodec_plan_index gave
 * before, or NULL; with it the index is not asked for again. `options` may be NULL.
 *
 * Boxes, views and options are copied; the memory of the views, call_data and the executor must live until the plan is
 * freed. Chain and index may be freed before it. Callbacks are those set when the plan is made. On success `*plan` is a
 * handle that the caller frees with zcodec_plan_free; on failure it is NULL. INVALID_ARGUMENT and UNSUPPORTED as for
 * zcodec_decode_view; INVALID_ARGUMENT also for an index of another grid; CORRUPT_DATA: no chunk of the chain has this
 * size. Since 0.2.
 */
enum zcodec_status zcodec_plan_new(const struct zcodec_chain *chain,
                                   const struct zcodec_call_options *options,
                                   const struct zcodec_box *boxes,
                                   const struct zcodec_view *views,
                                   size_t count,
                                   uint64_t object_size,
                                   const struct zcodec_index *index,
                                   struct zcodec_plan **plan,
                                   struct zcodec_error **error);

/**
 * The ranges of the next stage, sorted by offset, once the last stage has been supplied. `*count` 0: the views are
 * complete. `*ranges` is valid until the next call of this function. INVALID_ARGUMENT: a range of the last stage is
 * missing, or the plan has ended with an error. Not while another thread uses the plan. Since 0.2.
 */
enum zcodec_status zcodec_plan_next(struct zcodec_plan *plan,
                                    const struct zcodec_range **ranges,
                                    size_t *count,
                                    struct zcodec_error **error);

/**
 * The bytes of range `i` of this stage; needed for the call only. Several threads may supply different ranges at once.
 *
 * INVALID_ARGUMENT, and the plan is as it was: there is no range `i`, or it was supplied. CORRUPT_DATA: not as many bytes
 * as the range has, or they do not decode. Any failure other than INVALID_ARGUMENT and NULL_ARGUMENT ends the plan: it
 * can only be freed. Since 0.2.
 */
enum zcodec_status zcodec_plan_supply(struct zcodec_plan *plan,
                                      size_t i,
                                      const void *bytes,
                                      size_t size,
                                      struct zcodec_error **error);

/**
 * All ranges of this stage, on max_threads threads: the bytes of range i are `bytes[i]`, `sizes[i]` of them.
 * INVALID_ARGUMENT also after a zcodec_plan_supply of the same stage. Otherwise as zcodec_plan_supply. Since 0.2.
 */
enum zcodec_status zcodec_plan_supply_all(struct zcodec_plan *plan,
                                          const void *const *bytes,
                                          const size_t *sizes,
                                          struct zcodec_error **error);

/**
 * The index of the shard, as a reference of the caller's own, which it frees with zcodec_index_free; once it is known:
 * INVALID_ARGUMENT before. `*index` NULL: the chain has none. Hosts keep it in their own cache. Since 0.2.
 */
enum zcodec_status zcodec_plan_index(const struct zcodec_plan *plan,
                                     struct zcodec_index **index,
                                     struct zcodec_error **error);

/**
 * Frees a plan; no thread may be using it. NULL is fine. Since 0.2.
 */
void zcodec_plan_free(struct zcodec_plan *plan);

/* ---- Indices of shards --------------------------------------------------------------------- */

/**
 * The memory that an index takes, in bytes: its weight in a cache. 0 for NULL. Since 0.2.
 */
size_t zcodec_index_memory(const struct zcodec_index *index);

/**
 * One more reference, which the caller frees with zcodec_index_free. NULL for NULL. Since 0.2.
 */
struct zcodec_index *zcodec_index_ref(const struct zcodec_index *index);

/**
 * Frees a reference to an index. NULL is fine. Since 0.2.
 */
void zcodec_index_free(struct zcodec_index *index);

/**
 * The chain of the inner chunks of a shard, as a handle of its own, which the caller frees with zcodec_chain_free; NULL
 * on failure. Of shards in shards it is the outermost. UNSUPPORTED: the chain's array->bytes codec is not
 * sharding_indexed, or a bytes->bytes codec stands after it. Since 0.2.
 */
enum zcodec_status zcodec_chain_inner(const struct zcodec_chain *chain,
                                      struct zcodec_chain **inner,
                                      struct zcodec_error **error);

/**
 * Where the index of a shard lies in its object. UNSUPPORTED as for zcodec_chain_inner. Since 0.2.
 */
enum zcodec_status zcodec_chain_index_range(const struct zcodec_chain *chain,
                                            struct zcodec_range *range,
                                            struct zcodec_error **error);

/**
 * Decodes the index of a shard from the bytes of zcodec_chain_index_range. `object_size` is that of the shard, or
 * ZCODEC_SIZE_UNKNOWN. The caller frees `*index` with zcodec_index_free; it is NULL on failure. UNSUPPORTED as for
 * zcodec_chain_inner; CORRUPT_DATA: the bytes are no index of this chain. Since 0.2.
 */
enum zcodec_status zcodec_index_decode(const struct zcodec_chain *chain,
                                       const void *bytes,
                                       size_t size,
                                       uint64_t object_size,
                                       struct zcodec_index **index,
                                       struct zcodec_error **error);

/**
 * Where the inner chunk at these grid coordinates (`ndim` numbers, the chain's) lies in its shard. `*present` 0: nowhere,
 * it is the fill value. INVALID_ARGUMENT: there is no such inner chunk. CORRUPT_DATA: it lies outside the shard. Since
 * 0.2.
 */
enum zcodec_status zcodec_index_entry(const struct zcodec_index *index,
                                      const uint64_t *cell,
                                      size_t ndim,
                                      struct zcodec_range *range,
                                      int32_t *present,
                                      struct zcodec_error **error);

/* ---- Writers: a shard is made and changed by its inner chunks ------------------------------ */

/**
 * Makes a writer. `old_index` NULL: of a new shard. Else of a shard whose stored object has this index and `old_size`
 * bytes; what is not put keeps its bytes. `options` may be NULL.
 *
 * Options are copied; call_data and the executor must live until the writer is freed. Chain and index may be freed before
 * it. Callbacks are those set when the writer is made. On success `*writer` is a handle that the caller frees with
 * zcodec_writer_free; on failure it is NULL. UNSUPPORTED: before sharding_indexed stand codecs other than transpose and
 * elementwise ones, or any codec after it. INVALID_ARGUMENT: `old_size` is ZCODEC_SIZE_UNKNOWN, or the index is that of
 * another grid. CORRUPT_DATA: `old_size` is less than an index takes. Since 0.2.
 */
enum zcodec_status zcodec_writer_new(const struct zcodec_chain *chain,
                                     const struct zcodec_call_options *options,
                                     const struct zcodec_index *old_index,
                                     uint64_t old_size,
                                     struct zcodec_writer **writer,
                                     struct zcodec_error **error);

/**
 * Puts a box (NULL: all) of the shard's array. Any box, any number of times, in any order; what was put last wins. The
 * memory of the view is needed for the call only. Several threads may put at once; where their boxes share elements,
 * either wins.
 *
 * Inner chunks that a box covers whole are encoded at once, on max_threads threads or by the executor; those that are only
 * the fill value are left out, unless ZCODEC_CALL_STORE_EMPTY is set. A part put onto an inner chunk that is already
 * encoded decodes it again. INVALID_ARGUMENT, and the writer is as it was: a box or a view that does not fit, or
 * zcodec_writer_next has been called. Any other failure, except NULL_ARGUMENT, ends the writer: it can only be freed.
 * Since 0.2.
 */
enum zcodec_status zcodec_writer_put(struct zcodec_writer *writer,
                                     const struct zcodec_box *part,
                                     const struct zcodec_view *view,
                                     struct zcodec_error **error);

/**
 * The ranges of the old object that are needed because inner chunks were put in part, sorted by offset. `*count` 0:
 * nothing is needed any more. `*ranges` is valid until the next call of this function. After the first call nothing can
 * be put.
 *
 * INVALID_ARGUMENT, and the writer is as it was: a range is missing. UNSUPPORTED: a new inner chunk was put in part, and
 * the chain has no fill value. CORRUPT_DATA: a needed inner chunk lies outside the old object. Not while another thread
 * uses the writer. Since 0.2.
 */
enum zcodec_status zcodec_writer_next(struct zcodec_writer *writer,
                                      const struct zcodec_range **ranges,
                                      size_t *count,
                                      struct zcodec_error **error);

/**
 * The bytes of range `i`; needed for the call only. Several threads may supply different ranges at once. The statuses are
 * those of zcodec_plan_supply. Since 0.2.
 */
enum zcodec_status zcodec_writer_supply(struct zcodec_writer *writer,
                                        size_t i,
                                        const void *bytes,
                                        size_t size,
                                        struct zcodec_error **error);

/**
 * The pieces of the new object by a zcodec_layout, and its size. Once only; then the writer can only be freed, and
 * `*pieces` is valid until it is.
 *
 * ZCODEC_LAYOUT_PACKED: all of the object, in order of offset. If every inner chunk is left out, `*object_size` is the
 * size of the index, and the object may be deleted. ZCODEC_LAYOUT_APPEND: write the pieces in their order, each complete
 * before the last. Up to the last one the first `old_size` bytes stay as they are: an object cut back to `old_size` is the
 * old one, and a crash costs nothing that was there. An index at the start is the last piece and overwrites the old one:
 * only a torn write of it can lose the object. zcodec_index_decode decodes the new index from its piece.
 *
 * INVALID_ARGUMENT, and the writer is as it was: a range is missing, or the layout is unknown. CORRUPT_DATA: the old index
 * has an inner chunk outside the old object. Not while another thread uses the writer. Since 0.2.
 */
enum zcodec_status zcodec_writer_finish(struct zcodec_writer *writer,
                                        int32_t layout,
                                        const struct zcodec_piece **pieces,
                                        size_t *count,
                                        uint64_t *object_size,
                                        struct zcodec_error **error);

/**
 * Frees a writer; no thread may be using it. NULL is fine. Since 0.2.
 */
void zcodec_writer_free(struct zcodec_writer *writer);

/* ---- Many chunks in one call --------------------------------------------------------------- */

/**
 * Decodes many chunks: each task as zcodec_decode_view does. `options` may be NULL; its call_data does not count.
 *
 * Runs all tasks, whatever becomes of some. OK if every one is, else the status of the first that is not; `status` and
 * `error` of each task are written. Threads share tasks, or parts of a task where there are fewer tasks than threads.
 * INVALID_ARGUMENT, with nothing written: the structs cannot be read. The views of the tasks must not overlap. Since 0.2.
 */
enum zcodec_status zcodec_decode_tasks(struct zcodec_task *tasks,
                                       size_t count,
                                       const struct zcodec_call_options *options);

/**
 * Encodes many chunks: each task as zcodec_encode_view does, into `encoded_to`. Otherwise as zcodec_decode_tasks. Since
 * 0.2.
 */
enum zcodec_status zcodec_encode_tasks(struct zcodec_task *tasks,
                                       size_t count,
                                       const struct zcodec_call_options *options);

/* ---- Buffers ------------------------------------------------------------------------------- */

/**
 * The bytes of a buffer; they live as long as it does. JSON text is UTF-8 and not NUL-terminated. NULL for NULL; for
 * an empty buffer a pointer that must not be followed.
 */
const uint8_t *zcodec_buffer_data(const struct zcodec_buffer *buffer);

/**
 * The number of bytes of a buffer; 0 for NULL.
 */
size_t zcodec_buffer_size(const struct zcodec_buffer *buffer);

/**
 * Frees a buffer. NULL is fine.
 */
void zcodec_buffer_free(struct zcodec_buffer *buffer);

/* ---- Asking a chain ------------------------------------------------------------------------ */

/**
 * The size in bytes of the decoded side. UNKNOWN_SIZE for a chain of bytes->bytes codecs; `*size` is then 0.
 */
enum zcodec_status zcodec_chain_decoded_size(const struct zcodec_chain *chain,
                                             size_t *size);

/**
 * An encoded_capacity that is always enough for a decoded side of `decoded_size` bytes. INVALID_ARGUMENT if the chain
 * takes another size, or no memory could hold what it makes; UNKNOWN_SIZE if a codec of the host does not know;
 * `*bound` is then 0.
 */
enum zcodec_status zcodec_chain_encoded_bound(const struct zcodec_chain *chain,
                                              size_t decoded_size,
                                              size_t *bound);

/**
 * The number of codecs; 0 for NULL.
 */
size_t zcodec_chain_codec_count(const struct zcodec_chain *chain);

/**
 * Which of the three shapes the chain has. `chain` must not be NULL; for NULL the answer is
 * ZCODEC_KIND_BYTES_TO_BYTES.
 */
enum zcodec_kind zcodec_chain_kind(const struct zcodec_chain *chain);

/**
 * What enters on encode, as JSON, as zcodec_chain_output_json writes it: {"data_type": .., "shape": [..],
 * "fill_value": ..}, without fill_value if the chain has none; {"size": null, "bound": null} for a chain of bytes->bytes
 * codecs. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure. `error` may be NULL. Since 0.2.
 */
enum zcodec_status zcodec_chain_input_json(const struct zcodec_chain *chain,
                                           struct zcodec_buffer **json,
                                           struct zcodec_error **error);

/**
 * What leaves on encode, as JSON: {"data_type": .., "shape": [..], "fill_value": ..} for an array, {"size": n} for
 * bytes of a fixed size, {"size": null, "bound": n or null} otherwise. fill_value is the input's fill value taken
 * through the chain. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure. `error` may be NULL.
 */
enum zcodec_status zcodec_chain_output_json(const struct zcodec_chain *chain,
                                            struct zcodec_buffer **json,
                                            struct zcodec_error **error);

/**
 * The chain's codecs in canonical form, ready to be stored as "codecs" of a zarr.json: aliases under their own names,
 * and defaults written out. A chain made from it does the same. The caller frees `*json` with zcodec_buffer_free; it
 * is NULL on failure. `error` may be NULL.
 */
enum zcodec_status zcodec_chain_codecs_json(const struct zcodec_chain *chain,
                                            struct zcodec_buffer **json,
                                            struct zcodec_error **error);

/**
 * Warnings about valid metadata, as a JSON array of {"codec_index", "code", "message"}: for example
 * "lossy_int_to_float" for a cast_value from int64 to float64, whose mantissa does not hold every value. A careful
 * writer refuses what a reader must accept. "[]" if nothing. The caller frees `*json` with zcodec_buffer_free; it is
 * NULL on failure. `error` may be NULL.
 */
enum zcodec_status zcodec_chain_warnings_json(const struct zcodec_chain *chain,
                                              struct zcodec_buffer **json,
                                              struct zcodec_error **error);

/* ---- Padding ------------------------------------------------------------------------------- */

/**
 * Sets callbacks that compute the padding of a `pad` or `offset` codec for each chunk, or check it on decode, or both.
 *
 * `codec_index` counts from 0 in the chain's list of codecs. Without `generate` the configured bytes are written;
 * without `check` decoding checks nothing; with neither the codec is again as its metadata says. Both get `user_data`.
 * `free_user_data` (may be NULL) is called on it once: when the callbacks are replaced, or when the chain and all
 * chains that zcodec_chain_with_shape made from it have been freed. If this call fails, it is not called: the caller
 * still owns `user_data`.
 *
 * Both functions and `user_data` must be fit for every thread that uses the chain. No other thread may use the chain
 * during this call. INVALID_ARGUMENT: there is no pad or offset codec at this index. `error` may be NULL.
 */
enum zcodec_status zcodec_chain_set_padding(struct zcodec_chain *chain,
                                            size_t codec_index,
                                            zcodec_padding_fn generate,
                                            zcodec_padding_check_fn check,
                                            void *user_data,
                                            void (*free_user_data)(void *user_data),
                                            struct zcodec_error **error);

/**
 * zcodec_chain_set_padding for a codec anywhere, also inside a codec that holds chains: `path` is a NUL-terminated JSON
 * Pointer (RFC 6901) into the codecs, such as "/0/configuration/codecs/1" or "/2", as zcodec_error_path gives it.
 * Otherwise as zcodec_chain_set_padding; callbacks inside shards run on the thread that does the work. Since 0.2.
 */
enum zcodec_status zcodec_chain_set_padding_at(struct zcodec_chain *chain,
                                               const char *path,
                                               zcodec_padding_fn generate,
                                               zcodec_padding_check_fn check,
                                               void *user_data,
                                               void (*free_user_data)(void *user_data),
                                               struct zcodec_error **error);

/* ---- Codecs of the host -------------------------------------------------------------------- */

/**
 * Adds to the text of a callback; several calls write one text. OUT_OF_MEMORY: nothing was added. Since 0.2.
 */
enum zcodec_status zcodec_sink_write(struct zcodec_sink *sink,
                                     const void *bytes,
                                     size_t size);

/**
 * Makes a registry of the built-in codecs, to which codecs of the host can be added. On success `*registry` is a handle
 * that the caller frees with zcodec_registry_free; on failure it is NULL. `error` may be NULL. Since 0.2.
 */
enum zcodec_status zcodec_registry_new(struct zcodec_registry **registry,
                                       struct zcodec_error **error);

/**
 * Adds a codec of the host. `codec` is needed for the call only; the functions and `user_data` are kept. If this call
 * fails, `free_user_data` is not called: `user_data` stays the caller's.
 *
 * No other thread may use the registry during this call. INVALID_ARGUMENT: the name is empty or taken, a function is
 * missing, or `kind` is none. `error` may be NULL. Since 0.2.
 */
enum zcodec_status zcodec_registry_add(struct zcodec_registry *registry,
                                       const struct zcodec_codec *codec,
                                       struct zcodec_error **error);

/**
 * Frees a registry; no thread may be using it. NULL is fine. Chains keep what they use.
 */
void zcodec_registry_free(struct zcodec_registry *registry);

/**
 * zcodec_chain_new with options: codecs of the host, a limit. `options` may be NULL. UNSUPPORTED also for a chunk that is
 * larger than `max_decoded_size`. CALLBACK_FAILED: a codec of the host did what it must not. Since 0.2.
 */
enum zcodec_status zcodec_chain_new_with(const struct zcodec_chain_options *options,
                                         const char *codecs_json,
                                         size_t codecs_json_size,
                                         const char *input_json,
                                         size_t input_json_size,
                                         struct zcodec_chain **chain,
                                         struct zcodec_error **error);

/**
 * zcodec_chain_from_zarr_json with options, as zcodec_chain_new_with has them. Since 0.2.
 */
enum zcodec_status zcodec_chain_from_zarr_json_with(const struct zcodec_chain_options *options,
                                                    const char *zarr_json,
                                                    size_t zarr_json_size,
                                                    struct zcodec_chain **chain,
                                                    struct zcodec_error **error);

/* ---- Errors -------------------------------------------------------------------------------- */

/**
 * The name of a status, such as "ZCODEC_STATUS_OK"; "ZCODEC_STATUS_UNKNOWN" for any other number. Static text.
 */
const char *zcodec_status_name(zcodec_status status);

/**
 * The status of an error: the one that the failed call returned. NULL_ARGUMENT for NULL.
 */
enum zcodec_status zcodec_error_status(const struct zcodec_error *error);

/**
 * What went wrong, for people: the codec, its index, the JSON member or the element at fault, the value found and what
 * was expected. UTF-8, NUL-terminated; lives as long as the error. The empty text for NULL.
 */
const char *zcodec_error_message(const struct zcodec_error *error);

/**
 * For programs, why: a word that never changes, such as "unknown_codec", "duplicate_member", "checksum" or
 * "out_of_range"; docs/errors.md lists them. Empty if there is none, or for NULL. Lives as long as the error. Since 0.2.
 */
const char *zcodec_error_code(const struct zcodec_error *error);

/**
 * Where the codec at fault stands: a JSON Pointer (RFC 6901) into the codecs, such as "/2". Empty if the error is about
 * none, or for NULL. Lives as long as the error. Since 0.2.
 */
const char *zcodec_error_path(const struct zcodec_error *error);

/**
 * The index in the chain of the codec at fault; -1 if the error is about none, or for NULL.
 */
int64_t zcodec_error_codec_index(const struct zcodec_error *error);

/**
 * The element at fault, counted in C order in the array that the named codec received: the first one, whatever the
 * number of threads. -1 if the error is about none, or for NULL.
 */
int64_t zcodec_error_element_index(const struct zcodec_error *error);

/**
 * Frees an error. NULL is fine.
 */
void zcodec_error_free(struct zcodec_error *error);

/* ---- The library --------------------------------------------------------------------------- */

/**
 * What this build supports, as JSON: {"version", "codecs": [{"name", "aliases": [..]}, ..], "data_types": [..]}; the
 * data type "r*" stands for raw bits of any whole number of bytes. UTF-8, NUL-terminated, static.
 */
const char *zcodec_supported_json(void);

/**
 * The version of the library, such as "0.1.0". Static text.
 */
const char *zcodec_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ZCODEC_H */
