/* The plugin for GDAL in a process that is forked while threads decode. The program has the functions of GDAL that the
 * plugin needs. Its argument is the plugin. */
#include "../gdal/cpl.h"
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREAD_COUNT = 3, FORK_COUNT = 300, SIZE = 64, PATIENCE = 60 /* seconds */ };

#define EXPORT __attribute__((visibility("default")))

EXPORT bool CPLRegisterCompressor(const cpl_compressor *codec);
EXPORT bool CPLRegisterDecompressor(const cpl_compressor *codec);
EXPORT const cpl_compressor *CPLGetCompressor(const char *id);
EXPORT const cpl_compressor *CPLGetDecompressor(const char *id);
EXPORT void *VSIMalloc(size_t size);
EXPORT void VSIFree(void *memory);
EXPORT const char *CPLGetConfigOption(const char *name, const char *otherwise);
EXPORT void CPLError(int severity, int number, const char *format, ...);

static cpl_compressor compressor, decompressor;

bool CPLRegisterCompressor(const cpl_compressor *codec) {
  if (strcmp(codec->id, "lz4") == 0) compressor = *codec;
  return true;
}

bool CPLRegisterDecompressor(const cpl_compressor *codec) {
  if (strcmp(codec->id, "lz4") == 0) decompressor = *codec;
  return true;
}

const cpl_compressor *CPLGetCompressor(const char *id) { return (void)id, NULL; }

const cpl_compressor *CPLGetDecompressor(const char *id) { return (void)id, NULL; }

void *VSIMalloc(size_t size) { return malloc(size); }

void VSIFree(void *memory) { free(memory); }

const char *CPLGetConfigOption(const char *name, const char *otherwise) { return (void)name, otherwise; }

void CPLError(int severity, int number, const char *format, ...) {
  va_list arguments;
  (void)severity, (void)number;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
}

static unsigned char decoded[SIZE], encoded[4 * SIZE];
static size_t encoded_size = sizeof encoded;
static int is_done;

static bool decodes(void) {
  unsigned char found[SIZE];
  void *output = found;
  size_t size = SIZE;
  return decompressor.function(encoded, encoded_size, &output, &size, NULL, decompressor.user_data) && size == SIZE &&
         memcmp(found, decoded, SIZE) == 0;
}

static void *decode_all_the_time(void *unused) {
  while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED)) CHECK(decodes());
  return unused;
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  void *plugin = dlopen(arguments[1], RTLD_NOW);
  CHECK(plugin != NULL);
  void (*register_codecs)(void);
  *(void **)&register_codecs = dlsym(plugin, "GDALRegister_zcodec"); /* as POSIX wants it */
  CHECK(register_codecs != NULL);
  register_codecs();
  void *output = encoded;
  CHECK(compressor.function(decoded, SIZE, &output, &encoded_size, NULL, compressor.user_data) && decodes());
  pthread_t threads[THREAD_COUNT];
  for (int i = 0; i < THREAD_COUNT; i++) CHECK(pthread_create(&threads[i], NULL, decode_all_the_time, NULL) == 0);
  for (int i = 0; i < FORK_COUNT; i++) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(PATIENCE); /* ends it if it hangs */
      _exit(decodes() ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  __atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < THREAD_COUNT; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
