/* Counts the instructions that one call of the library executes, by single steps: unlike valgrind and qemu, also those
 * of AVX-512. An instruction that repeats itself, such as the one that memcpy may use, counts once for each repetition.
 * Linux on x86-64 only; a million steps take a few seconds.
 *
 *     gcc -O1 -I include benches/steps.c -o steps -L build/lib -lzcodec -lm -Wl,-rpath,$PWD/build/lib
 *     ./steps CODECS DATA_TYPE SHAPE KIND      for example: '[{"name": "bytes"}]' uint8 1024,1024 bytes
 *
 * KIND says what the elements are: `bytes` (random, of one byte each), `bools`, `small` (integers from 0 to 63),
 * `halves` (float16 from 1 to 2), `tens` (floats from 3 to 17), or `smooth` (a smooth float32 field with noise). The
 * program prints the instructions of one zcodec_encode and of one zcodec_decode, each after a call of the same kind.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zcodec.h>

#define BREAK __asm__ volatile("int3")

static void expect_ok(zcodec_status status, zcodec_error *const *error) {
  if (status == ZCODEC_STATUS_OK) return;
  fprintf(stderr, "%s\n", error == NULL ? "a size is not known" : zcodec_error_message(*error));
  exit(EXIT_FAILURE);
}

/* The next random number, from 0 to 2^31 - 1. */
static uint32_t next_random(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33);
}

/* Element `index` of an array with sides of about `side`. */
static void fill(uint8_t *element, size_t size, const char *kind, size_t index, size_t side) {
  uint64_t integer = next_random();
  if (strcmp(kind, "bools") == 0)
    integer &= 1;
  else if (strcmp(kind, "small") == 0)
    integer &= 63;
  else if (strcmp(kind, "halves") == 0)
    integer = 0x3C00 | (integer & 0x3FF);
  double number = 3 + (double)(index * 7 % 15);
  if (strcmp(kind, "smooth") == 0) {
    number = 250 + 0.01 * integer / 0x7FFFFFFF;
    for (size_t rest = index; rest > 0; rest /= side) number += 10 * sin(0.05 * (double)(rest % side));
  }
  const float single = (float)number;
  if (strcmp(kind, "tens") != 0 && strcmp(kind, "smooth") != 0)
    memcpy(element, &integer, size); /* its first bytes; x86-64 is little-endian */
  else if (size == sizeof single)
    memcpy(element, &single, size);
  else
    memcpy(element, &number, size);
}

/* What is counted: runs in a process that its parent steps through. */
static int run(char **arguments, int decodes) {
  const char *codecs = arguments[0], *data_type = arguments[1], *shape = arguments[2], *kind = arguments[3];
  char input[512];
  snprintf(input, sizeof input, "{\"data_type\": \"%s\", \"shape\": [%s], \"fill_value\": %s}", data_type, shape,
           strcmp(data_type, "bool") == 0 ? "false" : "0");
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  expect_ok(zcodec_chain_new(codecs, strlen(codecs), input, strlen(input), &chain, &error), &error);
  size_t element_size = 0, size = 0, capacity = 0, encoded_size = 0;
  expect_ok(zcodec_chain_element_size(chain, &element_size), NULL);
  expect_ok(zcodec_chain_decoded_size(chain, &size), NULL);
  expect_ok(zcodec_chain_encoded_bound(chain, size, &capacity), NULL);
  uint8_t *decoded = malloc(size), *encoded = malloc(capacity);
  if (decoded == NULL || encoded == NULL) return EXIT_FAILURE;
  int dimensions = 1;
  for (const char *at = shape; *at != '\0'; at++) dimensions += *at == ',';
  const size_t count = size / element_size, side = (size_t)ceil(pow((double)count, 1.0 / dimensions)) + 1;
  for (size_t index = 0; index < count; index++) fill(decoded + index * element_size, element_size, kind, index, side);
  expect_ok(zcodec_encode(chain, decoded, size, encoded, capacity, &encoded_size, &error), &error);
  for (int time = 0; time < 2; time++) {
    if (time == 1) BREAK;
    if (decodes)
      expect_ok(zcodec_decode(chain, encoded, encoded_size, decoded, size, &size, &error), &error);
    else
      expect_ok(zcodec_encode(chain, decoded, size, encoded, capacity, &encoded_size, &error), &error);
  }
  BREAK;
  return EXIT_SUCCESS;
}

/* Counts the steps of a process from its first breakpoint to its second; exits if it has none. */
static long count(pid_t process) {
  long steps = 0;
  int status = 0;
  waitpid(process, &status, 0);
  for (;; steps++) {
    siginfo_t signal = {0};
    if (!WIFSTOPPED(status) || ptrace(PTRACE_GETSIGINFO, process, NULL, &signal) != 0) exit(EXIT_FAILURE);
    if (signal.si_code == SI_KERNEL && steps > 0) /* the second; a step ends with another code */
      break;
    ptrace(PTRACE_SINGLESTEP, process, NULL, NULL);
    waitpid(process, &status, 0);
  }
  kill(process, SIGKILL);
  waitpid(process, NULL, 0);
  return steps - 1; /* without the breakpoint itself */
}

int main(int argument_count, char **arguments) {
  if (argument_count != 5) {
    fprintf(stderr, "usage: %s CODECS DATA_TYPE SHAPE KIND\n", arguments[0]);
    return EXIT_FAILURE;
  }
  for (int decodes = 0; decodes < 2; decodes++) {
    const pid_t process = fork();
    if (process == 0) {
      ptrace(PTRACE_TRACEME, 0, NULL, NULL);
      return run(arguments + 1, decodes);
    }
    printf("%s %ld\n", decodes ? "decode" : "encode", count(process));
    fflush(stdout);
  }
  return EXIT_SUCCESS;
}
