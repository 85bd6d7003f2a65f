/*
 * N5 datasets as Zarr v3 arrays.
 *
 * N5 lists axes fastest first, and the first axis of a block varies fastest: in Zarr's terms each block is in Fortran
 * order, which a `transpose` of all axes expresses. A header of big-endian integers comes before the compressed block:
 * mode (0), number of dimensions, and the block's own size along each. Blocks at the upper border are truncated.
 */
#ifndef ZCODEC_N5_H
#define ZCODEC_N5_H

#include "example.h"

enum {
  N5_NDIM = 3,
  N5_HEADER_SIZE = 4 + 4 * N5_NDIM,
  N5_PAD_INDEX = 3 /* of the pad codec in N5_CODECS */
};

/* A format for printf: compression codec. */
static const char N5_CODECS[] =
    "    {\"name\": \"transpose\", \"configuration\": {\"order\": [2, 1, 0]}},\n"
    "    {\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}},\n"
    "    %s,\n"
    "    {\"name\": \"pad\", \"configuration\": {\"location\": \"start\", \"nbytes\": 16}}\n";
/* A format for printf: shape, data type, block size, codecs. */
static const char N5_METADATA[] =
    "{\n"
    "  \"zarr_format\": 3,\n"
    "  \"node_type\": \"array\",\n"
    "  \"shape\": %.*s,\n"
    "  \"data_type\": %.*s,\n"
    "  \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": %.*s}},\n"
    "  \"chunk_key_encoding\": {\"name\": \"v2\", \"configuration\": {\"separator\": \"/\"}},\n"
    "  \"codecs\": [\n"
    "%s"
    "  ],\n"
    "  \"fill_value\": 0\n"
    "}\n";

/* One block of a dataset: where it begins and how large it is, both in elements. */
typedef struct n5_block {
  uint64_t start[N5_NDIM];
  uint64_t shape[N5_NDIM];
} n5_block;

/* The header before a block of this shape. */
static inline void n5_make_header(uint8_t header[N5_HEADER_SIZE], const n5_block *block) {
  int axis;
  memcpy(header, "\0\0\0\x03", 4);
  for (axis = 0; axis < N5_NDIM; axis++) {
    uint8_t *at = header + 4 + 4 * axis;
    at[0] = (uint8_t)(block->shape[axis] >> 24);
    at[1] = (uint8_t)(block->shape[axis] >> 16);
    at[2] = (uint8_t)(block->shape[axis] >> 8);
    at[3] = (uint8_t)block->shape[axis];
  }
}

/* The block of a dataset with these indices in the grid of blocks. */
static inline n5_block n5_block_at(const uint64_t index[N5_NDIM], const uint64_t block_size[N5_NDIM],
                                   const uint64_t dimensions[N5_NDIM]) {
  n5_block block;
  int axis;
  for (axis = 0; axis < N5_NDIM; axis++) {
    block.start[axis] = index[axis] * block_size[axis];
    block.shape[axis] = dimensions[axis] - block.start[axis];
    if (block.shape[axis] > block_size[axis]) {
      block.shape[axis] = block_size[axis];
    }
  }
  return block;
}

/* The number of elements of a block. */
static inline size_t n5_block_count(const n5_block *block) {
  return (size_t)(block->shape[0] * block->shape[1] * block->shape[2]);
}

/* A chain for this block: `chain` itself, bound to another shape if the block is truncated. The caller frees it. */
static inline zcodec_chain *n5_chain_for(const zcodec_chain *chain, const n5_block *block) {
  zcodec_chain *reshaped = NULL;
  zcodec_error *error = NULL;
  check(zcodec_chain_with_shape(chain, block->shape, N5_NDIM, &reshaped, &error), &error);
  return reshaped;
}

#endif
