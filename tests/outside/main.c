#include <zcodec.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  const char *codecs = "[\"bytes\", \"zstd\", \"crc32c\"]";
  const char *input = "{\"data_type\": \"uint8\", \"shape\": [5], \"fill_value\": 0}";
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  zcodec_buffer *encoded = NULL;
  char decoded[5] = "";
  size_t decoded_size = 0;
  int good = zcodec_chain_new(codecs, strlen(codecs), input, strlen(input), &chain, &error) == ZCODEC_STATUS_OK &&
             zcodec_encode_to_buffer(chain, "chunk", 5, &encoded, &error) == ZCODEC_STATUS_OK &&
             zcodec_decode(chain, zcodec_buffer_data(encoded), zcodec_buffer_size(encoded), decoded, sizeof decoded,
                           &decoded_size, &error) == ZCODEC_STATUS_OK &&
             decoded_size == 5 && memcmp(decoded, "chunk", 5) == 0;
  printf("zcodec %s: %s\n", zcodec_version(), good ? "a chunk came back" : zcodec_error_message(error));
  zcodec_buffer_free(encoded);
  zcodec_error_free(error);
  zcodec_chain_free(chain);
  return good ? 0 : 1;
}
