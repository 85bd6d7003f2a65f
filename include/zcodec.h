/* zcodec: the codecs of Zarr v3.
 *
 * A chain is a run of codecs bound to what enters it: created once from JSON, then used for any number of chunks.
 * Arrays are contiguous, in C order and native byte order, unless a view says otherwise.
 *
 * Every function that can fail returns a zcodec_status. If it has a parameter `error` that is not NULL, it also
 * creates an error on failure, which the caller frees with zcodec_error_free. On success `*error` is NULL. Results are
 * written on every path: 0 or NULL on failure, unless said otherwise.
 *
 * Output buffers may be uninitialised, except in a program that is optimised together with the library (LTO).
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
 *   complex_* of every float type,     2 * C  C is the size of a component: real, then imaginary, each
 *   complex64, complex128                     as above
 *   r8, r16, ... (raw bits)            N/8    the bytes themselves
 *   numpy.datetime64,                  8      int64 in native byte order; the smallest value is "NaT"
 *   numpy.timedelta64
 *   fixed_length_utf32                 L      code points in native byte order, NULs after the last
 *   null_terminated_bytes, raw_bytes   L      the bytes themselves; L is length_bytes
 *   struct                             sum    the fields without gaps, each as its type
 *
 * Without an array->bytes codec, transpose and reshape leave the unused bits of a bool or small number as they are.
 *
 * Threads: functions that take a const handle may run in any number of threads at once on the same
 * handle. During a call of a function that takes a handle which is not const, no other thread may
 * use that handle, unless the comment of the function says otherwise. The library has no global
 * state except the panic hook that SECURITY.md describes. It starts threads only for
 * max_threads > 1, never more than there are processors, and they end before the call returns. In a
 * release build every function works on a stack of 64 KiB; encoding with numcodecs.lzma, and a few
 * codecs deep within shards (docs/limits.md), need 128 KiB.
 *
 * Structs of the caller begin with struct_size. INVALID_ARGUMENT: a size that is less than that of the
 * first version with the struct, more than 4096, or ends within a member, or a byte after the known
 * members that is not 0. Of zcodec_call_options, any members at the end may be missing; they count as
 * 0. In an array all elements have the same struct_size, a multiple of their alignment, which is the
 * distance from one to the next. zcodec_range and zcodec_piece have no struct_size and never grow.
 *
 * The host: nothing is printed, no file is opened, and no environment variable or locale is read, unless
 * small allocations fail and the process aborts. On x86, x86-64, aarch64, s390x, and RISC-V with
 * Linux, the floating-point environment of the caller (rounding, subnormals, traps) changes no result,
 * and is restored when a call returns and while a callback runs. Elsewhere the caller must have the
 * default environment.
 *
 * This file is generated; do not edit it.
 */

#ifndef ZCODEC_H
#define ZCODEC_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; zcodec_version is that of the library. */
#define ZCODEC_VERSION_MAJOR 0
#define ZCODEC_VERSION_MINOR 2
#define ZCODEC_VERSION_PATCH 5

/**
 * Flag of zcodec_call_options: store inner chunks of a shard even if every element is the fill value. Since 0.2.
 */
#define ZCODEC_CALL_STORE_EMPTY 1

/**
 * An offset or a size that is not known. Since 0.2.
 */
#define ZCODEC_SIZE_UNKNOWN UINT64_MAX

/**
 * Flag of zcodec_task for decoding: the chunk does not exist; fill its view with the fill value. Since 0.2.
 */
#define ZCODEC_TASK_MISSING 1

/**
 * Returned by `encode` and `decode` of a zcodec_codec when the output buffer is too small. Since 0.2.
 */
#define ZCODEC_CODEC_TOO_SMALL 1

/**
 * Result of a call. Numeric values are part of the ABI: they are never renumbered, and later versions may add more.
 */
typedef enum zcodec_status
#ifdef __cplusplus
  : int
#endif // __cplusplus
{
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
   * The JSON or a codec's configuration is malformed.
   */
  ZCODEC_STATUS_INVALID_METADATA = 3,
  /**
   * Valid, but this codec, data type or combination is not supported.
   */
  ZCODEC_STATUS_UNSUPPORTED = 4,
  /**
   * The output buffer is too small; the size argument is set to a capacity that suffices.
   */
  ZCODEC_STATUS_BUFFER_TOO_SMALL = 5,
  /**
   * The size is not known in advance.
   */
  ZCODEC_STATUS_UNKNOWN_SIZE = 6,
  /**
   * The encoded bytes cannot be the output of this chain, or a padding check rejected them.
   */
  ZCODEC_STATUS_CORRUPT_DATA = 7,
  /**
   * An element cannot be represented in the target type.
   */
  ZCODEC_STATUS_OUT_OF_RANGE = 8,
  /**
   * A padding callback or the executor failed, or a codec of the host broke its rules.
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
 * The kinds of chains, and of codecs.
 */
typedef enum zcodec_kind
#ifdef __cplusplus
  : int
#endif // __cplusplus
{
  /**
   * Array->array codecs only: an array enters on encode, and an array leaves.
   */
  ZCODEC_KIND_ARRAY_TO_ARRAY = 1,
  /**
   * One array->bytes codec, with any number of others before and after it: an array enters on encode, bytes leave.
   */
  ZCODEC_KIND_ARRAY_TO_BYTES = 2,
  /**
   * Bytes->bytes codecs only: bytes enter on encode, and bytes leave.
   */
  ZCODEC_KIND_BYTES_TO_BYTES = 3,
} zcodec_kind;

/**
 * The layout of the pieces of a shard's object. Since 0.2.
 */
typedef enum zcodec_layout
#ifdef __cplusplus
  : int
#endif // __cplusplus
{
  /**
   * The whole new object, with inner chunks in C order: for object stores.
   */
  ZCODEC_LAYOUT_PACKED = 0,
  /**
   * Only the bytes to write, in the order in which to write them, the index last; old bytes stay where they are: for
   * files. There are no pieces if nothing changes. For a new shard, the same as ZCODEC_LAYOUT_PACKED.
   */
  ZCODEC_LAYOUT_APPEND = 1,
} zcodec_layout;

/**
 * Bytes that the library allocated: an encoded or decoded chunk, or JSON text. Opaque.
 */
typedef struct zcodec_buffer zcodec_buffer;

/**
 * A contiguous run of Zarr v3 codecs, bound to what enters it on encode. Opaque. Once its callbacks are set it never
 * changes, and any number of threads may use it at the same time.
 */
typedef struct zcodec_chain zcodec_chain;

/**
 * Why a call failed. Opaque. Independent of the chain and of the thread that it came from.
 */
typedef struct zcodec_error zcodec_error;

/**
 * The decoded index of a shard. Opaque. It never changes, and any thread may use it. Since 0.2.
 */
typedef struct zcodec_index zcodec_index;

/**
 * One read of one stored object, a chunk or a shard. Opaque. A plan says which byte ranges it needs, one stage at a
 * time; the host fetches them in any way and supplies them; the plan decodes each of them as soon as it is supplied.
 * Since 0.2.
 */
typedef struct zcodec_plan zcodec_plan;

/**
 * The built-in codecs and those that the host added. Opaque. Several threads may create chains with it at once, but
 * not while one of them adds a codec. Since 0.2.
 */
typedef struct zcodec_registry zcodec_registry;

/**
 * Receives text from a callback. Opaque. Valid for the duration of the callback only. Since 0.2.
 */
typedef struct zcodec_sink zcodec_sink;

/**
 * Makes or changes a shard by its inner chunks. Opaque. The host puts boxes, then supplies the old inner chunks that
 * the writer asks for, then takes the pieces of the new object. Since 0.2.
 */
typedef struct zcodec_writer zcodec_writer;

/**
 * Options for creating a chain. Set all members to 0 first, then `struct_size`, then the ones you want. Since 0.2.
 */
typedef struct zcodec_chain_options {
  /**
   * sizeof(zcodec_chain_options), as the caller was compiled; later versions may append members.
   */
  size_t struct_size;
  /**
   * The codecs that the chain may use. NULL: the built-in ones.
   */
  const struct zcodec_registry *registry;
  /**
   * The most bytes that a chunk may decode to; 0: no limit. Metadata that asks for more is UNSUPPORTED, also in
   * zcodec_chain_with_shape. A chunk of bytes->bytes codecs that decodes to more is CORRUPT_DATA.
   */
  uint64_t max_decoded_size;
} zcodec_chain_options;

/**
 * Runs job `i` of a batch. `run` of the executor calls it, on any thread, and never after `run` has returned.
 * `job_data` is what `run` was given. Since 0.2.
 */
typedef void (*zcodec_job_fn)(void *job_data,
                              uint32_t i,
                              uint32_t worker);

/**
 * Threads of the host, used instead of the library's own. `run` and `user_data` must be usable from every thread that
 * makes a call with this executor. NULL_ARGUMENT: `run` is NULL. INVALID_ARGUMENT: `max_workers` is 0, or `reserved`
 * is not. Since 0.2.
 */
typedef struct zcodec_executor {
  /**
   * sizeof(zcodec_executor), as the caller was compiled; later versions may append members.
   */
  size_t struct_size;
  /**
   * Passed to `run`; the library never dereferences it.
   */
  void *user_data;
  /**
   * The number of jobs that may run at once, at least 1. It is not capped at the number of processors.
   */
  uint32_t max_workers;
  /**
   * Must be 0.
   */
  uint32_t reserved;
  /**
   * Calls job(job_data, i, worker) once for each i < count, on any threads, and returns when all jobs have returned:
   * 0, or any other number, which fails the call with CALLBACK_FAILED. `worker` is below max_workers; no two jobs of
   * one `run` have the same worker at the same time. `run` may be called from several threads at once, but never
   * from inside a job. It runs on the thread that called the library with these options; zcodec_plan_supply and
   * zcodec_writer_supply use those of their plan or writer. Jobs never wait for one another.
   */
  int32_t (*run)(void *user_data,
                 zcodec_job_fn job,
                 void *job_data,
                 uint32_t count);
} zcodec_executor;

/**
 * Options of a call. Set all members to 0 first, then `struct_size`, then the ones you want.
 */
typedef struct zcodec_call_options {
  /**
   * sizeof(zcodec_call_options), as the caller was compiled; later versions may append members.
   */
  size_t struct_size;
  /**
   * Passed to the callbacks of this call; the library never dereferences it.
   */
  void *call_data;
  /**
   * The number of threads that may work on the call. 0 or 1: the calling thread only. Results do not depend on it,
   * with one exception: if shards in shards are encoded without enough room, and an element is at fault as well,
   * either error may be reported.
   */
  uint32_t max_threads;
  /**
   * Threads of the host, used instead of the library's own; `max_threads` is then ignored. May be NULL. Since 0.2.
   */
  const struct zcodec_executor *executor;
  /**
   * ZCODEC_CALL_STORE_EMPTY or 0. Unknown flags are INVALID_ARGUMENT. Since 0.2.
   */
  uint64_t flags;
} zcodec_call_options;

/**
 * A rectangular part of a decoded chunk. Since 0.2.
 */
typedef struct zcodec_box {
  /**
   * sizeof(zcodec_box), as the caller was compiled; later versions may append members.
   */
  size_t struct_size;
  /**
   * The number of dimensions, which must be the chain's.
   */
  size_t ndim;
  /**
   * The first element of the box, as `ndim` indices. NULL: zeros.
   */
  const uint64_t *start;
  /**
   * The size along each dimension, `ndim` numbers. NULL: from `start` to the end of the chunk.
   */
  const uint64_t *shape;
} zcodec_box;

/**
 * Where the elements of a box lie in the caller's memory. Element (0, .., 0) of the box begins at `memory + offset`;
 * neighbours along dimension i are `strides[i]` bytes apart, which may be negative. A view that reaches outside
 * memory[0..memory_size) is INVALID_ARGUMENT, and nothing is read or written. Bytes between the elements keep their
 * values. No element may overlap the encoded bytes. If the library writes to the view, no two elements may share a
 * byte; this is not checked. Since 0.2.
 */
typedef struct zcodec_view {
  /**
   * sizeof(zcodec_view), as the caller was compiled; later versions may append members.
   */
  size_t struct_size;
  /**
   * The memory. Encoding only reads it.
   */
  void *memory;
  /**
   * The size of `memory` in bytes.
   */
  size_t memory_size;
  /**
   * The offset of element (0, .., 0) in bytes; at most `memory_size`, also if the box has no elements.
   */
  size_t offset;
  /**
   * The number of dimensions, which must be the chain's.
   */
  size_t ndim;
  /**
   * `ndim` strides in bytes. NULL: C order, back to back.
   */
  const int64_t *strides;
} zcodec_view;

/**
 * A range of bytes in a stored object. If `offset` is ZCODEC_SIZE_UNKNOWN, the last `size` bytes; if `size` is,
 * everything from `offset` to the end. Since 0.2.
 */
typedef struct zcodec_range {
  /**
   * The offset of the first byte.
   */
  uint64_t offset;
  /**
   * The number of bytes.
   */
  uint64_t size;
} zcodec_range;

/**
 * A piece of a new object: `size` bytes that go to `offset`. Since 0.2.
 */
typedef struct zcodec_piece {
  /**
   * The offset of the bytes in the new object.
   */
  uint64_t offset;
  /**
   * The number of bytes.
   */
  uint64_t size;
  /**
   * If `data` is NULL, the offset of the bytes in the old object.
   */
  uint64_t source_offset;
  /**
   * The bytes. NULL: the bytes of the old object at `source_offset`.
   */
  const void *data;
} zcodec_piece;

/**
 * One of many chunks. Set all members to 0 first, then `struct_size`, then the ones you want. Since 0.2.
 */
typedef struct zcodec_task {
  /**
   * sizeof(zcodec_task), as the caller was compiled; later versions may append members.
   */
  size_t struct_size;
  /**
   * The chain of this chunk.
   */
  const struct zcodec_chain *chain;
  /**
   * Passed to the callbacks of this task.
   */
  void *call_data;
  /**
   * Decode: the encoded chunk.
   */
  const void *encoded;
  /**
   * Decode: the size of `encoded`. Encode: a result, as in zcodec_encode.
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
  const struct zcodec_box *box;
  /**
   * Where the elements of the box lie.
   */
  const struct zcodec_view *view;
  /**
   * ZCODEC_TASK_MISSING, or 0.
   */
  uint32_t flags;
  /**
   * A result: the zcodec_status of this task.
   */
  int32_t status;
  /**
   * A result: why the task failed, or NULL. The caller frees every error.
   */
  struct zcodec_error *error;
} zcodec_task;

/**
 * Fills padding[0..padding_size), which is all zeros, for one chunk. `chunk` is the input of the codec: the bytes that
 * get the padding. `user_data` is that of zcodec_chain_set_padding, `call_data` that of the call's options. Returns 0
 * on success; any other value aborts the encode with CALLBACK_FAILED and is quoted in the message.
 *
 * Callbacks of the chain's own codecs run on the thread that called zcodec_encode, zcodec_decode, or their forms for
 * views and buffers, whatever threads help. Inside shards, and in tasks, plans and writers, they run on the thread that
 * does the work. They run before the call returns, and never under a lock. If several threads use a chain, they run in
 * several threads at once. They may call the library, but not with the plan or the writer of the call that runs them:
 * such a call may fail with INVALID_ARGUMENT. They must return normally: no longjmp, no exception through C frames. The
 * pointers that they get are valid until they return.
 */
typedef int32_t (*zcodec_padding_fn)(void *user_data,
                                     void *call_data,
                                     const uint8_t *chunk,
                                     size_t chunk_size,
                                     uint8_t *padding,
                                     size_t padding_size);

/**
 * Checks the bytes that decoding is about to remove. `chunk` is what remains. Returns 0 to accept; any other value
 * aborts the decode with CORRUPT_DATA and is quoted in the message. The rules of zcodec_padding_fn hold.
 */
typedef int32_t (*zcodec_padding_check_fn)(void *user_data,
                                           void *call_data,
                                           const uint8_t *chunk,
                                           size_t chunk_size,
                                           const uint8_t *padding,
                                           size_t padding_size);

/**
 * A codec of the host. Set all members to 0 first, then `struct_size`, then the others. free_user_data, free_state and
 * encoded_bound may be NULL.
 *
 * The functions run on the thread that does the work, before the call into the library returns, and never under a
 * lock. If several threads use a chain, they run in several threads at once, also with the same state; they must be
 * safe to call from every thread that uses or frees a chain with the codec. They may call the library, but not with
 * the plan or the writer of the call that runs them: such a call may fail with INVALID_ARGUMENT. They must return
 * normally: no longjmp, no exception through C frames. The pointers that they get are valid until they return. Since
 * 0.2.
 */
typedef struct zcodec_codec {
  /**
   * sizeof(zcodec_codec), as the caller was compiled; later versions may append members.
   */
  size_t struct_size;
  /**
   * The name in metadata, UTF-8 and NUL-terminated. It is copied.
   */
  const char *name;
  /**
   * The kind of the codec, a zcodec_kind.
   */
  int32_t kind;
  /**
   * Must be 0.
   */
  uint32_t reserved;
  /**
   * Passed to `bind`; the library never dereferences it.
   */
  void *user_data;
  /**
   * Called once on `user_data`, when the registry and everything that was created with the codec has been freed.
   */
  void (*free_user_data)(void *user_data);
  /**
   * Binds the codec to what enters on encode.
   *
   * `configuration` is the codec's configuration, a JSON object ("{}" if there is none). `input` describes what
   * enters, in the form of zcodec_chain_output_json. Neither is NUL-terminated. The function writes to `output` what
   * leaves, in the same form: {"data_type": .., "shape": [..], "fill_value": ..} if the kind is array->array;
   * otherwise {"size": n} for bytes of a fixed size, or {"size": null}. It may set `*state`, which is NULL before
   * and is passed to the other functions.
   *
   * Returns 0 on success. Any other number means that the chain cannot be created (INVALID_METADATA); `message` then
   * gets the reason. An output that cannot be parsed is CALLBACK_FAILED. zcodec_chain_with_shape calls `bind` again,
   * except for codecs inside a shard, whose input stays the same. Decoding calls it for each block of n5_default
   * whose shape is not that of the chunk; such a refusal is CORRUPT_DATA.
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
   * Called once on the state of each `bind` that returned 0, even if the chain could not be created.
   */
  void (*free_state)(void *state);
  /**
   * The most bytes that `decoded_size` bytes may encode to; UINT64_MAX if unknown. Not called if `bind` gave a size.
   */
  uint64_t (*encoded_bound)(void *state,
                            uint64_t decoded_size);
  /**
   * Encodes a chunk. Elements lie back to back in C order and native byte order, at any alignment, on both sides.
   * Those that enter lie in memory as this header says, whatever the caller passed: a bool is 0 or 1. `call_data`
   * comes from the options of the call.
   *
   * Returns 0 after setting `*encoded_size` to the number of bytes written. Returns ZCODEC_CODEC_TOO_SMALL if
   * `encoded` is too small, perhaps after setting `*encoded_size` to the capacity needed; otherwise the library
   * assumes twice the capacity, at least 64. It then repeats the call with a larger buffer, or, if the buffer is the
   * caller's, fails with BUFFER_TOO_SMALL. Any other number is OUT_OF_RANGE; `message` then gets the reason.
   *
   * The call fails with CALLBACK_FAILED if the size is not set, exceeds the capacity, or is not the one that `bind`
   * gave, if the function needs more than `bind` or `encoded_bound` promised, or if it asks for a little more again
   * and again.
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
   * Decodes a chunk: the inverse of `encode`, with the same rules, except for these. Any number except 0 and
   * ZCODEC_CODEC_TOO_SMALL is CORRUPT_DATA. Where the decoded size is known, `decoded_capacity` is that size, and
   * ZCODEC_CODEC_TOO_SMALL or a smaller size is CORRUPT_DATA, too: the encoded bytes may be the reason. A size that
   * is not set or exceeds the capacity is CALLBACK_FAILED, as it is for `encode`. If a chain of bytes->bytes codecs
   * gets ZCODEC_CODEC_TOO_SMALL without a size, it repeats the call with larger buffers of its own, to name the
   * capacity with BUFFER_TOO_SMALL.
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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/* ---- Chains -------------------------------------------------------------------------------- */

/**
 * Creates a chain from a list of codecs.
 *
 * `codecs_json` is a JSON array of Zarr v3 codec metadata objects or name strings. `input_json` describes what enters
 * on encode: {"data_type": .., "shape": [..], "fill_value": ..}; it is NULL with size 0 for a chain of bytes->bytes
 * codecs. Both are UTF-8, have their sizes in bytes, and need not be NUL-terminated; the chain keeps no reference to
 * them. "fill_value" may be left out since 0.2. What needs it is then UNSUPPORTED: zcodec_fill_view,
 * zcodec_is_fill_view, ZCODEC_TASK_MISSING, zcodec_encode_view of a part, new inner chunks of which only parts were
 * put, and blocks of n5_default that lack elements. Inner chunks are then always stored, and a missing one is
 * CORRUPT_DATA.
 *
 * On success `*chain` is a handle that the caller frees with zcodec_chain_free; on failure it is NULL.
 * INVALID_METADATA: the JSON or a configuration is wrong. UNSUPPORTED: both are well-formed, but the codec, the data
 * type or the combination is not supported.
 */
enum zcodec_status zcodec_chain_new(const char *codecs_json,
                                    size_t codecs_json_size,
                                    const char *input_json,
                                    size_t input_json_size,
                                    struct zcodec_chain **chain,
                                    struct zcodec_error **error);

/**
 * Creates a chain from a whole Zarr v3 array document (zarr.json): from its data_type, fill_value, codecs, and the
 * chunk shape of its regular chunk grid. For a rectilinear grid it takes the shape of the first chunk;
 * zcodec_chain_with_shape creates the chains of the others. UNSUPPORTED also for other chunk grids. A fill_value of
 * null, which some writers use for none, makes a chain without a fill value. Otherwise like zcodec_chain_new.
 *
 * Since 0.2, a Zarr v2 document (.zarray) gives the list of v3 codecs that makes the same bytes, and a chain of it,
 * without a fill value if the document's is null. zcodec_chain_codecs_json shows the list: order F becomes
 * `transpose`, the filters and the compressor become codecs such as "numcodecs.zlib", and `bytes` follows the filters
 * that take arrays, unless the last of them makes bytes itself. The codec index and the path of an error refer to this
 * list, not to `filters` and `compressor`. An error about another member of the document, or about one of which no
 * codec can be made, has neither; its message names the member.
 */
enum zcodec_status zcodec_chain_from_zarr_json(const char *zarr_json,
                                               size_t zarr_json_size,
                                               struct zcodec_chain **chain,
                                               struct zcodec_error **error);

/**
 * zcodec_chain_new with options: codecs of the host, or a limit. `options` may be NULL. UNSUPPORTED also if a chunk is
 * larger than `max_decoded_size`. CALLBACK_FAILED: a codec of the host broke its rules. Since 0.2.
 */
enum zcodec_status zcodec_chain_new_with(const struct zcodec_chain_options *options,
                                         const char *codecs_json,
                                         size_t codecs_json_size,
                                         const char *input_json,
                                         size_t input_json_size,
                                         struct zcodec_chain **chain,
                                         struct zcodec_error **error);

/**
 * zcodec_chain_from_zarr_json with the options of zcodec_chain_new_with. Since 0.2.
 */
enum zcodec_status zcodec_chain_from_zarr_json_with(const struct zcodec_chain_options *options,
                                                    const char *zarr_json,
                                                    size_t zarr_json_size,
                                                    struct zcodec_chain **chain,
                                                    struct zcodec_error **error);

/**
 * Creates a chain with the same codecs, data type, fill value and callbacks for chunks of another shape: border
 * chunks, rectilinear grids, N5 blocks. This is cheap, because nothing is parsed again. `shape` has `ndim` sizes.
 *
 * On success `*reshaped` is a handle of its own, which the caller frees with zcodec_chain_free; on failure it is NULL.
 * The chains share the user_data of the callbacks, which is freed with the last of them. UNSUPPORTED for chains of
 * bytes->bytes codecs, and for a shape that exceeds the chain's max_decoded_size; INVALID_METADATA if the codecs do
 * not fit the shape. Codecs of the host are bound again; CALLBACK_FAILED: one broke its rules.
 */
enum zcodec_status zcodec_chain_with_shape(const struct zcodec_chain *chain,
                                           const uint64_t *shape,
                                           size_t ndim,
                                           struct zcodec_chain **reshaped,
                                           struct zcodec_error **error);

/**
 * Frees a chain; no thread may be using it. NULL is fine. Errors and buffers that came from it stay valid.
 */
void zcodec_chain_free(struct zcodec_chain *chain);

/* ---- Encoding and decoding ----------------------------------------------------------------- */

/**
 * Encodes one chunk into the caller's memory.
 *
 * `decoded` holds the elements back to back, in C order and native byte order; for a chain of bytes->bytes codecs, any
 * bytes. On success `encoded` begins with the encoded chunk and `*encoded_size` is its size in bytes. The buffers may
 * have any alignment and must not overlap; NULL with size 0 is an empty buffer.
 *
 * BUFFER_TOO_SMALL: `*encoded_size` is a capacity that suffices (zcodec_chain_encoded_bound gives one in advance), or
 * twice the capacity if a codec of the host does not say how much it needs. INVALID_ARGUMENT: `decoded_size` is not
 * the size that the chain expects, or the buffers overlap; nothing was written. OUT_OF_RANGE: a codec cannot represent
 * an element in the type that it converts to. UNSUPPORTED: the format of a codec has no chunks as large as this one,
 * such as one of 2 GiB for blosc. CALLBACK_FAILED: a padding callback failed, a codec of the host broke its rules, or
 * the executor failed. OUT_OF_MEMORY. After any failure the content of `encoded` is unspecified, and `*encoded_size`
 * is 0 except for BUFFER_TOO_SMALL.
 *
 * Any number of threads may encode and decode with one chain at the same time.
 */
enum zcodec_status zcodec_encode(const struct zcodec_chain *chain,
                                 const void *decoded,
                                 size_t decoded_size,
                                 void *encoded,
                                 size_t encoded_capacity,
                                 size_t *encoded_size,
                                 struct zcodec_error **error);

/**
 * Decodes one chunk into the caller's memory.
 *
 * `encoded` is exactly one chunk. On success `decoded` begins with its elements back to back, in C order and native
 * byte order (for a chain of bytes->bytes codecs, with the bytes), and `*decoded_size` is their size in bytes. The
 * buffers may have any alignment and must not overlap; NULL with size 0 is an empty buffer.
 *
 * BUFFER_TOO_SMALL: `*decoded_size` is the capacity needed, or one that suffices if the encoded bytes do not tell; for
 * an array, `decoded` was not written to. INVALID_ARGUMENT: the buffers overlap; nothing was written. CORRUPT_DATA:
 * these bytes cannot be the output of this chain, or a padding check rejected them. OUT_OF_RANGE: a codec cannot
 * represent an element in the type that it converts to. UNSUPPORTED: the chunk uses a feature of the format that this
 * build lacks, or is a block of N5 that lacks elements, and the chain has no fill value for them. CALLBACK_FAILED: a
 * codec of the host broke its rules, or the executor failed. OUT_OF_MEMORY. After any failure the content of `decoded`
 * is unspecified, and `*decoded_size` is 0 except for BUFFER_TOO_SMALL.
 *
 * Any number of threads may encode and decode with one chain at the same time.
 */
enum zcodec_status zcodec_decode(const struct zcodec_chain *chain,
                                 const void *encoded,
                                 size_t encoded_size,
                                 void *decoded,
                                 size_t decoded_capacity,
                                 size_t *decoded_size,
                                 struct zcodec_error **error);

/**
 * zcodec_encode with options, such as data for the callbacks, or threads. `options` may be NULL.
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
 * zcodec_decode with options, such as data for the callbacks, or threads. `options` may be NULL.
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
 * zcodec_encode into memory that the library allocates. On success `*encoded` is a buffer with exactly the encoded
 * chunk, which the caller frees with zcodec_buffer_free; on failure it is NULL. The statuses are those of
 * zcodec_encode except BUFFER_TOO_SMALL.
 */
enum zcodec_status zcodec_encode_to_buffer(const struct zcodec_chain *chain,
                                           const void *decoded,
                                           size_t decoded_size,
                                           struct zcodec_buffer **encoded,
                                           struct zcodec_error **error);

/**
 * zcodec_encode_to_buffer with options, such as data for the callbacks, or threads. `options` may be NULL. Since 0.2.
 */
enum zcodec_status zcodec_encode_to_buffer_with(const struct zcodec_chain *chain,
                                                const struct zcodec_call_options *options,
                                                const void *decoded,
                                                size_t decoded_size,
                                                struct zcodec_buffer **encoded,
                                                struct zcodec_error **error);

/**
 * zcodec_decode into memory that the library allocates. On success `*decoded` is a buffer with exactly the decoded
 * chunk, which the caller frees with zcodec_buffer_free; on failure it is NULL. The statuses are those of
 * zcodec_decode except BUFFER_TOO_SMALL. A chain of bytes->bytes codecs does not know the size in advance: its buffer
 * grows with the output, and only max_decoded_size of zcodec_chain_options limits it.
 */
enum zcodec_status zcodec_decode_to_buffer(const struct zcodec_chain *chain,
                                           const void *encoded,
                                           size_t encoded_size,
                                           struct zcodec_buffer **decoded,
                                           struct zcodec_error **error);

/**
 * zcodec_decode_to_buffer with options, such as data for the callbacks, or threads. `options` may be NULL. Since 0.2.
 */
enum zcodec_status zcodec_decode_to_buffer_with(const struct zcodec_chain *chain,
                                                const struct zcodec_call_options *options,
                                                const void *encoded,
                                                size_t encoded_size,
                                                struct zcodec_buffer **decoded,
                                                struct zcodec_error **error);

/* ---- Boxes and views ----------------------------------------------------------------------- */

/**
 * Decodes a box of a chunk (NULL: the whole chunk) into a view of the caller's memory. The elements are bit for bit
 * those of zcodec_decode, but only what the box needs is decoded, where the codecs allow it. `options` may be NULL.
 *
 * A box with a size of 0 is valid; nothing is written. INVALID_ARGUMENT: `ndim` is wrong, the box does not lie within
 * the chunk, the view is too small for it, or the view and the encoded bytes overlap. UNSUPPORTED: a chain of
 * bytes->bytes codecs. Otherwise like zcodec_decode. The element index of an error counts in the whole array that the
 * named codec received. The library need not read what lies outside the box, so a chunk that is damaged elsewhere may
 * decode. After a failure the elements of the view are unspecified. Since 0.2.
 */
enum zcodec_status zcodec_decode_view(const struct zcodec_chain *chain,
                                      const struct zcodec_call_options *options,
                                      const void *encoded,
                                      size_t encoded_size,
                                      const struct zcodec_box *box,
                                      const struct zcodec_view *decoded,
                                      struct zcodec_error **error);

/**
 * Encodes a chunk of which the caller has a box (NULL: the whole chunk); the rest is the fill value, as in the border
 * chunks of a regular grid. Sizes and BUFFER_TOO_SMALL are as for zcodec_encode. `options` may be NULL.
 *
 * INVALID_ARGUMENT and UNSUPPORTED as for zcodec_decode_view; UNSUPPORTED also if the box is not the whole chunk and
 * the chain has no fill value. Since 0.2.
 */
enum zcodec_status zcodec_encode_view(const struct zcodec_chain *chain,
                                      const struct zcodec_call_options *options,
                                      const struct zcodec_box *box,
                                      const struct zcodec_view *decoded,
                                      void *encoded,
                                      size_t encoded_capacity,
                                      size_t *encoded_size,
                                      struct zcodec_error **error);

/**
 * Fills a view with the chain's fill value, for a chunk that does not exist. `shape` is the shape of the view, with as
 * many sizes as the chain has dimensions. INVALID_ARGUMENT: `ndim` of the view is wrong, or the view is too small for
 * the shape. UNSUPPORTED: the chain has no fill value, or has only bytes->bytes codecs. Since 0.2.
 */
enum zcodec_status zcodec_fill_view(const struct zcodec_chain *chain,
                                    const uint64_t *shape,
                                    const struct zcodec_view *decoded,
                                    struct zcodec_error **error);

/**
 * Sets `*is_fill` to 1 if every element of a view of this shape equals the fill value in all bits that the data type
 * has, otherwise to 0. Such a chunk need not be stored. INVALID_ARGUMENT and UNSUPPORTED as for zcodec_fill_view.
 * Since 0.2.
 */
enum zcodec_status zcodec_is_fill_view(const struct zcodec_chain *chain,
                                       const uint64_t *shape,
                                       const struct zcodec_view *decoded,
                                       int32_t *is_fill,
                                       struct zcodec_error **error);

/**
 * The smallest box that is worth decoding alone: the innermost inner chunk of a shard, seen through the codecs before
 * it; the block of zfp at a fixed rate; 1 along each dimension if each element decodes by itself; the chunk if the
 * whole of it must be decoded, and for blosc, although a box of it decodes only the blocks that it touches. `ndim`
 * numbers, none of them 0, are written to `shape`, on success only.
 *
 * INVALID_ARGUMENT: `ndim` is not the chain's. UNSUPPORTED for chains of bytes->bytes codecs. Since 0.2.
 */
enum zcodec_status zcodec_chain_granularity(const struct zcodec_chain *chain,
                                            uint64_t *shape,
                                            size_t ndim,
                                            struct zcodec_error **error);

/**
 * The shape of a decoded chunk: `*ndim` numbers are written to `shape`, which has room for `capacity` numbers.
 * BUFFER_TOO_SMALL: `capacity` is less than `*ndim`, which is set all the same. UNSUPPORTED for chains of bytes->bytes
 * codecs; `*ndim` is then 0. Since 0.2.
 */
enum zcodec_status zcodec_chain_shape(const struct zcodec_chain *chain,
                                      uint64_t *shape,
                                      size_t capacity,
                                      size_t *ndim);

/**
 * The size of one decoded element in memory, in bytes. UNSUPPORTED for chains of bytes->bytes codecs; `*size` is then
 * 0. Since 0.2.
 */
enum zcodec_status zcodec_chain_element_size(const struct zcodec_chain *chain,
                                             size_t *size);

/* ---- Plans: the bytes are somewhere else --------------------------------------------------- */

/**
 * Creates a plan that decodes box i of the chunk into view i, for each i < `count`. No two views may share a byte of
 * an element; they may interleave. `object_size` may be ZCODEC_SIZE_UNKNOWN; the range of an index at the end then
 * counts from the end. `index` is what zcodec_index_decode or zcodec_plan_index of an earlier plan gave, or NULL; with
 * it the plan does not ask for the index again. `options` may be NULL.
 *
 * Boxes, views and options are copied; the memory of the views, call_data and the executor must stay valid until the
 * plan is freed. The chain and the index may be freed earlier. The plan uses the callbacks that the chain has now. On
 * success `*plan` is a handle that the caller frees with zcodec_plan_free; on failure it is NULL. INVALID_ARGUMENT and
 * UNSUPPORTED as for zcodec_decode_view; INVALID_ARGUMENT also if `index` belongs to another grid, UNSUPPORTED also if
 * there is an `index`, but the last codec of the chain is not sharding_indexed. CORRUPT_DATA: no chunk of the chain has
 * this size. Since 0.2.
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
 * The ranges of the next stage, sorted by offset. `*count` is 0 when the views are complete. `*ranges` is valid until
 * the next call of this function, or until the plan is freed. INVALID_ARGUMENT: a range of the previous stage has not
 * been supplied, or an error has ended the plan. CORRUPT_DATA: the index names a range that cannot be, or an inner
 * chunk is missing and the chain has no fill value. Any failure except INVALID_ARGUMENT and NULL_ARGUMENT ends the
 * plan. No other thread may use the plan during this call. Since 0.2.
 */
enum zcodec_status zcodec_plan_next(struct zcodec_plan *plan,
                                    const struct zcodec_range **ranges,
                                    size_t *count,
                                    struct zcodec_error **error);

/**
 * Supplies the bytes of range `i` of this stage, which are needed for this call only. They must not overlap the memory
 * of a view; this is not checked. Several threads may supply different ranges at once. When one of them fails, the
 * others may get INVALID_ARGUMENT, perhaps before that call returns: the other error is the cause.
 *
 * INVALID_ARGUMENT: there is no range `i`, it was already supplied, or an error has ended the plan; the plan is
 * unchanged. CORRUPT_DATA: `size` is not the size of the range, or the bytes do not decode. Any failure except
 * INVALID_ARGUMENT and NULL_ARGUMENT ends the plan, which can then only be freed. Since 0.2.
 */
enum zcodec_status zcodec_plan_supply(struct zcodec_plan *plan,
                                      size_t i,
                                      const void *bytes,
                                      size_t size,
                                      struct zcodec_error **error);

/**
 * Supplies all ranges of this stage, and decodes them on up to max_threads threads or by the executor. Range i has
 * `sizes[i]` bytes at `bytes[i]`. INVALID_ARGUMENT also after a zcodec_plan_supply of the same stage. Otherwise like
 * zcodec_plan_supply, but no other call may use the plan at the same time. Since 0.2.
 */
enum zcodec_status zcodec_plan_supply_all(struct zcodec_plan *plan,
                                          const void *const *bytes,
                                          const size_t *sizes,
                                          struct zcodec_error **error);

/**
 * The index of the shard, for the host's cache. The caller frees `*index` with zcodec_index_free. If the chain has no
 * index, or a codec before the shard needs the whole of it, the call succeeds and `*index` is NULL. INVALID_ARGUMENT:
 * the index has not been supplied yet, or was not needed because every box is empty; or the plan has ended with an
 * error. Other threads may supply ranges during this call. Since 0.2.
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
 * The size of an index in memory, in bytes, for a cache. 0 for NULL. Since 0.2.
 */
size_t zcodec_index_memory(const struct zcodec_index *index);

/**
 * Adds a reference to an index, which the caller frees with zcodec_index_free. NULL for NULL. Since 0.2.
 */
struct zcodec_index *zcodec_index_ref(const struct zcodec_index *index);

/**
 * Frees a reference to an index; other references stay valid. NULL is fine. Since 0.2.
 */
void zcodec_index_free(struct zcodec_index *index);

/**
 * Gives the chain of a shard's inner chunks. For shards in shards, these are the inner shards. Codecs before
 * sharding_indexed are not part of it: the elements of an inner chunk, their type and the order of its dimensions are
 * those of the array that sharding_indexed receives. A plan sees through those codecs. `*inner` is a handle of its
 * own, which the caller frees with zcodec_chain_free; it is NULL on failure. UNSUPPORTED: the chain's array->bytes
 * codec is not sharding_indexed, or bytes->bytes codecs follow it. Since 0.2.
 */
enum zcodec_status zcodec_chain_inner(const struct zcodec_chain *chain,
                                      struct zcodec_chain **inner,
                                      struct zcodec_error **error);

/**
 * The byte range of the index in a shard. UNSUPPORTED as for zcodec_chain_inner. Since 0.2.
 */
enum zcodec_status zcodec_chain_index_range(const struct zcodec_chain *chain,
                                            struct zcodec_range *range,
                                            struct zcodec_error **error);

/**
 * Decodes the index of a shard from the bytes of zcodec_chain_index_range. `object_size` is the size of the shard, or
 * ZCODEC_SIZE_UNKNOWN. The caller frees `*index` with zcodec_index_free; it is NULL on failure. UNSUPPORTED as for
 * zcodec_chain_inner. CORRUPT_DATA: the bytes are not an index of this chain. Since 0.2.
 */
enum zcodec_status zcodec_index_decode(const struct zcodec_chain *chain,
                                       const void *bytes,
                                       size_t size,
                                       uint64_t object_size,
                                       struct zcodec_index **index,
                                       struct zcodec_error **error);

/**
 * The byte range, in its shard, of the inner chunk at the grid coordinates `cell`, `ndim` numbers. The grid is that of
 * the array that sharding_indexed receives, after the codecs before it. `*present` is 0 if the shard does not store the
 * inner chunk: all its elements are the fill value; in a chain without one, the shard is damaged.
 * INVALID_ARGUMENT: there is no such inner chunk. CORRUPT_DATA: the range lies outside the shard. Since 0.2.
 */
enum zcodec_status zcodec_index_entry(const struct zcodec_index *index,
                                      const uint64_t *cell,
                                      size_t ndim,
                                      struct zcodec_range *range,
                                      int32_t *present,
                                      struct zcodec_error **error);

/* ---- Writers: shards made and changed by their inner chunks -------------------------------- */

/**
 * Creates a writer. If `old_index` is NULL, it makes a new shard. Otherwise it changes a shard whose stored object has
 * this index and `old_size` bytes; inner chunks that are not put keep their bytes. Those of a new shard that are not
 * put are missing, also in a chain without a fill value. For a new shard, pass 0 as `old_size`. `options` may be NULL.
 *
 * Some codecs of numcodecs before the shard, such as numcodecs.fixedscaleoffset, pass the fill value on unencoded, so
 * that a missing inner chunk differs from a missing object. A writer of such a chain stores all inner chunks of a new
 * shard, as if ZCODEC_CALL_STORE_EMPTY were set. If these codecs cannot encode the fill value, such as NaN as an
 * integer, zcodec_writer_next and zcodec_writer_finish fail as zcodec_encode would, unless every element was put. At
 * the edge of an array, put any number that can be encoded outside of it.
 *
 * Options are copied; call_data and the executor must stay valid until the writer is freed. The chain and the index
 * may be freed earlier. The writer uses the callbacks that the chain has now. On success `*writer` is a handle that
 * the caller frees with zcodec_writer_free; on failure it is NULL. UNSUPPORTED: codecs other than transpose and
 * elementwise ones precede sharding_indexed, or any codec follows it. INVALID_ARGUMENT: `old_size` is
 * ZCODEC_SIZE_UNKNOWN, or not 0 without an index, or the index belongs to another grid, or was decoded for an object
 * of another size: then somebody has changed the object since. CORRUPT_DATA: `old_size` is less than the size of an
 * index. Since 0.2.
 */
enum zcodec_status zcodec_writer_new(const struct zcodec_chain *chain,
                                     const struct zcodec_call_options *options,
                                     const struct zcodec_index *old_index,
                                     uint64_t old_size,
                                     struct zcodec_writer **writer,
                                     struct zcodec_error **error);

/**
 * Puts a box of the decoded chunk (NULL: the whole chunk). Any boxes may be put, any number of times and in any order;
 * later elements replace earlier ones. The memory of the view is needed for this call only. Several threads may put at
 * once; where their boxes overlap, either may win. When one of them fails, the others may get INVALID_ARGUMENT, perhaps
 * before that call returns: the other error is the cause.
 *
 * Inner chunks that a box covers completely are encoded during the call, on up to max_threads threads or by the
 * executor. Those whose elements are all the fill value are not stored, unless ZCODEC_CALL_STORE_EMPTY is set or
 * zcodec_writer_new says otherwise. Putting a part of an inner chunk that is already encoded decodes it again; it is
 * kept decoded until zcodec_writer_next or zcodec_writer_finish.
 *
 * An error is that of the first inner chunk at fault, in C order. Its element index is neither in the box nor in the
 * inner chunk: it counts in the whole array that enters the codec that the error names. For a codec before
 * sharding_indexed that is the chunk after the codecs before it; for sharding_indexed and the codecs inside it, the
 * array of the shard, after all codecs before it. If one of these is transpose, the index is not that of the element
 * in the caller's order. INVALID_ARGUMENT: the box or the view does not fit, zcodec_writer_next has been called, or the
 * writer is finished or has failed; the writer is unchanged. Any other failure except NULL_ARGUMENT ends the writer,
 * which can then only be freed. Since 0.2.
 */
enum zcodec_status zcodec_writer_put(struct zcodec_writer *writer,
                                     const struct zcodec_box *box,
                                     const struct zcodec_view *view,
                                     struct zcodec_error **error);

/**
 * The ranges of the old object that are needed because parts of inner chunks were put, sorted by offset. `*count` is 0
 * when nothing more is needed. `*ranges` is valid until the next call of this function, or until the writer is freed.
 * After the first call nothing can be put.
 *
 * The inner chunks that need no old bytes are encoded, which may fail as zcodec_writer_put may. INVALID_ARGUMENT: a
 * range has not been supplied, or the writer is finished or has failed; the writer is unchanged. UNSUPPORTED: only a
 * part of a new inner chunk was put, and the chain has no fill value. CORRUPT_DATA: a needed inner chunk lies outside
 * the old object. Any failure except INVALID_ARGUMENT and NULL_ARGUMENT ends the writer. No other thread may use the
 * writer during this call. Since 0.2.
 */
enum zcodec_status zcodec_writer_next(struct zcodec_writer *writer,
                                      const struct zcodec_range **ranges,
                                      size_t *count,
                                      struct zcodec_error **error);

/**
 * Supplies the bytes of range `i`, which are needed for this call only: decodes that old inner chunk, and encodes the
 * new one. Several threads may supply different ranges at once, as in zcodec_plan_supply.
 *
 * INVALID_ARGUMENT: there is no range `i`, it was already supplied, or the writer is finished or has failed; the
 * writer is unchanged. CORRUPT_DATA: `size` is not the size of the range, or the bytes do not decode. It may also fail
 * as zcodec_encode may. Any failure except INVALID_ARGUMENT and NULL_ARGUMENT ends the writer. Since 0.2.
 */
enum zcodec_status zcodec_writer_supply(struct zcodec_writer *writer,
                                        size_t i,
                                        const void *bytes,
                                        size_t size,
                                        struct zcodec_error **error);

/**
 * Gives the pieces of the new object in a zcodec_layout, and its size. It succeeds only once; then the writer can only
 * be freed, and `*pieces` is valid until it is.
 *
 * ZCODEC_LAYOUT_PACKED: the whole object, in order of offset. If no inner chunk is stored, `*object_size` is the size
 * of the index, and the object may be deleted. Where missing inner chunks do not decode to the fill value, because a
 * codec before the shard rounds or casts it, at least one inner chunk is stored. ZCODEC_LAYOUT_APPEND: write the
 * pieces in their order, and all others before the last one. Until the last piece is written the first `old_size`
 * bytes do not change: truncated to `old_size`, the object is the old one, so a crash loses no old data if `old_size`
 * was stored before the first piece. Until the last piece is written or the object is truncated, nobody may read an
 * index at its end, as other bytes are there; only a checksum in the index would show that. An index at the start is
 * the last piece and overwrites the old index: only a torn write of that piece can lose the object.
 * zcodec_index_decode decodes the new index from its piece.
 *
 * In either layout `data` of a piece may be NULL: its bytes are then those of the old object at `source_offset`.
 *
 * INVALID_ARGUMENT: a range has not been supplied, old bytes are needed and zcodec_writer_next has not been called,
 * the layout is unknown, or the writer is finished or has failed; the writer is unchanged. CORRUPT_DATA: the old index
 * has an inner chunk outside the old object. It may encode, and fail, as zcodec_writer_next may. Any failure except
 * INVALID_ARGUMENT and NULL_ARGUMENT ends the writer. No other thread may use the writer during this call. Since 0.2.
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
 * Decodes many chunks, each as zcodec_decode_view would. `options` may be NULL; its call_data is ignored.
 *
 * Runs all tasks, even if some fail. Sets `status` and `error` of each task, and returns the status of the first task
 * that failed, otherwise OK. Threads share the tasks; if there are more threads than tasks, and the codecs can divide
 * a chunk, they share the parts of one task after the other. No task may write a byte, of an element of its view or of
 * its `encoded_to`, that another task reads or writes, which is not checked; views may interleave. No other thread may
 * use the tasks during this call. The caller frees the error of each task. If the executor fails, CALLBACK_FAILED is
 * the status of every task that it was running: of all tasks if the threads share them, of one if they share its parts.
 * OUT_OF_MEMORY for the list of results is the status of every task.
 *
 * INVALID_ARGUMENT or NULL_ARGUMENT with nothing written, so that `status` and `error` are as before the call: `tasks`
 * is NULL, or a struct_size, the options or their executor are invalid. A caller that uses the structs again sets both
 * to 0 before each call. Since 0.2.
 */
enum zcodec_status zcodec_decode_tasks(struct zcodec_task *tasks,
                                       size_t count,
                                       const struct zcodec_call_options *options);

/**
 * Encodes many chunks, each as zcodec_encode_view would, into `encoded_to`. Otherwise like zcodec_decode_tasks. Since
 * 0.2.
 */
enum zcodec_status zcodec_encode_tasks(struct zcodec_task *tasks,
                                       size_t count,
                                       const struct zcodec_call_options *options);

/* ---- Buffers ------------------------------------------------------------------------------- */

/**
 * The bytes of a buffer; they stay valid until it is freed. JSON text is UTF-8 and not NUL-terminated. NULL for NULL.
 * The pointer of an empty buffer must not be dereferenced.
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
 * The size in bytes of a decoded chunk. UNKNOWN_SIZE for a chain of bytes->bytes codecs; OUT_OF_MEMORY if the size
 * exceeds SIZE_MAX. `*size` is then 0.
 */
enum zcodec_status zcodec_chain_decoded_size(const struct zcodec_chain *chain,
                                             size_t *size);

/**
 * An encoded_capacity that always suffices for a decoded chunk of `decoded_size` bytes. INVALID_ARGUMENT if the chain
 * expects another size, or if the bound is more than memory can have; UNKNOWN_SIZE if a codec of the host has no
 * bound. `*bound` is then 0.
 */
enum zcodec_status zcodec_chain_encoded_bound(const struct zcodec_chain *chain,
                                              size_t decoded_size,
                                              size_t *bound);

/**
 * The number of codecs in the chain; 0 for NULL.
 */
size_t zcodec_chain_codec_count(const struct zcodec_chain *chain);

/**
 * The kind of the chain; ZCODEC_KIND_BYTES_TO_BYTES for NULL.
 */
enum zcodec_kind zcodec_chain_kind(const struct zcodec_chain *chain);

/**
 * Describes what enters on encode, as JSON in the form of zcodec_chain_output_json: {"data_type": .., "shape": [..],
 * "fill_value": ..}, without fill_value if the chain has none; {"size": null, "bound": null} for a chain of
 * bytes->bytes codecs. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure.
 * Since 0.2.
 */
enum zcodec_status zcodec_chain_input_json(const struct zcodec_chain *chain,
                                           struct zcodec_buffer **json,
                                           struct zcodec_error **error);

/**
 * Describes what leaves on encode, as JSON: {"data_type": .., "shape": [..], "fill_value": ..} for an array, {"size":
 * n} for bytes of a fixed size, {"size": null, "bound": n or null} otherwise. fill_value is the input's fill value,
 * encoded by the chain. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure.
 */
enum zcodec_status zcodec_chain_output_json(const struct zcodec_chain *chain,
                                            struct zcodec_buffer **json,
                                            struct zcodec_error **error);

/**
 * The list of the chain's codecs in canonical form, ready to be stored as "codecs" in a zarr.json: aliases are
 * replaced by the names that they stand for, and members are written as the codec's own specification or library
 * writes them. A chain created from it does the same. Equal forms mean the same codecs; different ones may, too: some
 * codecs leave out a member that was left out, and others write its default. The caller frees `*json` with
 * zcodec_buffer_free; it is NULL on failure.
 */
enum zcodec_status zcodec_chain_codecs_json(const struct zcodec_chain *chain,
                                            struct zcodec_buffer **json,
                                            struct zcodec_error **error);

/**
 * Warnings about valid metadata, as a JSON array of {"codec_index", "code", "message"}, and for a codec inside another
 * also its "path", in the form of zcodec_error_path (since 0.2.5). The codes: "lossy_int_to_float" for a cast_value
 * between types like int64 and float64, whose significand does not hold every value; "ignored_codec" for an unknown
 * codec with "must_understand": false; "assumed_little_endian" for `bytes` without endian after the data type
 * "structured". A later version may add codes. A careful writer refuses such metadata; a reader must accept it. "[]"
 * if there are none. The caller frees `*json` with zcodec_buffer_free; it is NULL on failure.
 */
enum zcodec_status zcodec_chain_warnings_json(const struct zcodec_chain *chain,
                                              struct zcodec_buffer **json,
                                              struct zcodec_error **error);

/* ---- Padding ------------------------------------------------------------------------------- */

/**
 * Sets callbacks that compute the padding of a `pad` or `offset` codec for each chunk, or check it on decode, or both.
 *
 * `codec_index` counts from 0 in the chain's list of codecs. Without `generate` the configured bytes are written;
 * without `check` decoding checks nothing; with neither the codec again does what its metadata says. Both get
 * `user_data`. `free_user_data` (may be NULL) is called on it once, when nothing uses the callbacks any more: no
 * chain, no chain that zcodec_chain_with_shape or zcodec_chain_inner made from it, no plan and no writer. Replacing
 * the callbacks gives up this chain's share only; if it was the last, this call frees their data after it has set the
 * new ones. If this call fails, `free_user_data` is not called: the caller still owns `user_data`.
 *
 * Both functions and `user_data` must be safe to use from every thread that uses the chain. No other thread may use
 * the chain during this call. INVALID_ARGUMENT: there is no pad or offset codec at this index.
 */
enum zcodec_status zcodec_chain_set_padding(struct zcodec_chain *chain,
                                            size_t codec_index,
                                            zcodec_padding_fn generate,
                                            zcodec_padding_check_fn check,
                                            void *user_data,
                                            void (*free_user_data)(void *user_data),
                                            struct zcodec_error **error);

/**
 * zcodec_chain_set_padding for any codec, also one inside sharding_indexed, its index, n5_default or conditional.
 * `path` is a NUL-terminated JSON Pointer (RFC 6901) into the codecs, such as "/2", "/0/configuration/codecs/1" or
 * "/0/configuration/index_codecs/1", as zcodec_error_path gives it; those in conditional and in an index since 0.2.4.
 * Callbacks inside shards run on the thread that codes the inner chunk or the index. Those inside conditional also run
 * for chunks that are then stored without its codecs. A check may run more than once for a chunk. Otherwise like
 * zcodec_chain_set_padding. Since 0.2.
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
 * Creates a registry of the built-in codecs, to which the host can add its own. On success `*registry` is a handle
 * that the caller frees with zcodec_registry_free; on failure it is NULL. Since 0.2.
 */
enum zcodec_status zcodec_registry_new(struct zcodec_registry **registry,
                                       struct zcodec_error **error);

/**
 * Adds a codec of the host. The struct is needed for this call only; the registry keeps the functions and `user_data`.
 * If this call fails, `free_user_data` is not called: `user_data` still belongs to the caller.
 *
 * No other thread may use the registry during this call. NULL_ARGUMENT: `registry`, `codec` or the name is NULL.
 * INVALID_ARGUMENT: the name is empty, taken or not UTF-8, a function that may not be NULL is, `kind` is not a
 * zcodec_kind, or `reserved` is not 0. Since 0.2.
 */
enum zcodec_status zcodec_registry_add(struct zcodec_registry *registry,
                                       const struct zcodec_codec *codec,
                                       struct zcodec_error **error);

/**
 * Frees a registry; no thread may be using it. NULL is fine. Chains keep the codecs that they use. Since 0.2.
 */
void zcodec_registry_free(struct zcodec_registry *registry);

/**
 * Appends UTF-8 text for the caller of a callback. Only the callback that received the sink may call this, on its own
 * thread, any number of times. In a message, invalid UTF-8 is replaced by U+FFFD. NULL_ARGUMENT, OUT_OF_MEMORY:
 * nothing was appended. Since 0.2.
 */
enum zcodec_status zcodec_sink_write(struct zcodec_sink *sink,
                                     const void *bytes,
                                     size_t size);

/* ---- Errors -------------------------------------------------------------------------------- */

/**
 * The name of a status, such as "ZCODEC_STATUS_OK"; "ZCODEC_STATUS_UNKNOWN" for any other number. Static text.
 */
const char *zcodec_status_name(zcodec_status status);

/**
 * The status that the failed call returned. NULL_ARGUMENT for NULL.
 */
enum zcodec_status zcodec_error_status(const struct zcodec_error *error);

/**
 * The message for people: the codec and its index, the JSON member or the element at fault, the value found and
 * what was expected. UTF-8, NUL-terminated; valid until the error is freed. Empty for NULL.
 */
const char *zcodec_error_message(const struct zcodec_error *error);

/**
 * The reason for programs: a word that never changes, such as "unknown_codec", "duplicate_member", "checksum" or
 * "out_of_range"; docs/errors.md lists them. Empty if there is none, or for NULL. Valid until the error is freed.
 * Since 0.2.
 */
const char *zcodec_error_code(const struct zcodec_error *error);

/**
 * The place of the codec at fault: a JSON Pointer (RFC 6901) into the list of codecs, such as "/2", or
 * "/0/configuration/codecs/1" for a codec inside another one. For a .zarray document, the list is the one that
 * zcodec_chain_from_zarr_json derives. Empty if no codec is at fault, or for NULL. Valid until the error is freed.
 * Since 0.2.
 */
const char *zcodec_error_path(const struct zcodec_error *error);

/**
 * The index of the codec at fault in the chain, from 0. If it is inside another codec, such as sharding_indexed, the
 * index of the outermost one. -1 if no codec is at fault, or for NULL.
 */
int64_t zcodec_error_codec_index(const struct zcodec_error *error);

/**
 * The first element at fault, whatever the number of threads; in a plan, the first in one of the boxes that need the
 * range that was supplied. -1 if no element is at fault, or for NULL. It counts from 0 in C order in the whole array
 * that enters the codec of zcodec_error_codec_index on encode. The codecs before that one, such as transpose, may have
 * changed the order of the caller's elements. For a codec inside a shard it counts in the array of the shard.
 */
int64_t zcodec_error_element_index(const struct zcodec_error *error);

/**
 * Frees an error. NULL is fine.
 */
void zcodec_error_free(struct zcodec_error *error);

/* ---- The library --------------------------------------------------------------------------- */

/**
 * The features of this build, as JSON: {"version", "codecs": [{"name", "aliases": [..]}, ..], "data_types": [..]}; the
 * data type "r*" stands for raw bits of a whole number of bytes, up to 2^29 - 1. UTF-8, NUL-terminated, static.
 */
const char *zcodec_supported_json(void);

/**
 * The version of the library, such as "0.2.5". Static text.
 */
const char *zcodec_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ZCODEC_H */
