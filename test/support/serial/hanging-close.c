/* A serial driver that does not let go: while the file HANG_FLAG exists, close() of a terminal does not return. Preloaded into
 * a test's own child process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int close(int fd) {
  static int (*next)(int);
  const char *flag = getenv("HANG_FLAG");
  if (next == NULL) next = (int (*)(int))dlsym(RTLD_NEXT, "close");
  if (flag != NULL && isatty(fd))
    while (access(flag, F_OK) == 0) usleep(20000);
  return next(fd);
}
