/* The least that creates, stats and unlinks files by several threads, phase after phase.
 *
 *     metadata_peer DIRECTORY THREADS FILES
 *
 * Every thread works in DIRECTORY/thread-N/t0. Names are made before; between two system calls
 * nothing happens but the test for an error. Prints the operations per second of each phase, from
 * the first start to the last end. Linux only. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PHASES = 3, NAME_BYTES = 32 };

struct worker {
    pthread_t thread;
    int directory;
    double started[PHASES], ended[PHASES];
};

static const char *const phase_names[PHASES] = {"create", "stat", "unlink"};
static pthread_barrier_t barrier;
static char (*names)[NAME_BYTES];
static long files;

static void require(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static void create(int directory)
{
    for (long i = 0; i < files; i++) {
        int file = openat(directory, names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        require(file >= 0, "openat");
        require(close(file) == 0, "close");
    }
}

static void stat_all(int directory)
{
    struct stat found;
    for (long i = 0; i < files; i++)
        require(fstatat(directory, names[i], &found, AT_SYMLINK_NOFOLLOW) == 0, "fstatat");
}

static void unlink_all(int directory)
{
    for (long i = 0; i < files; i++)
        require(unlinkat(directory, names[i], 0) == 0, "unlinkat");
}

static void *work(void *argument)
{
    static void (*const phases[PHASES])(int) = {create, stat_all, unlink_all};
    struct worker *self = argument;
    for (int phase = 0; phase < PHASES; phase++) {
        pthread_barrier_wait(&barrier);
        self->started[phase] = now();
        phases[phase](self->directory);
        self->ended[phase] = now();
    }
    return NULL;
}

static void make_tree(struct worker *self, const char *top, int thread)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/thread-%d", top, thread);
    require(mkdir(path, 0755) == 0, path);
    self->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(self->directory >= 0, path);
    require(mkdirat(self->directory, "t0", 0755) == 0, "t0");
}

static void print_rate(const struct worker *workers, int threads, int phase)
{
    double first = workers[0].started[phase], last = workers[0].ended[phase];
    for (int i = 1; i < threads; i++) {
        if (workers[i].started[phase] < first)
            first = workers[i].started[phase];
        if (workers[i].ended[phase] > last)
            last = workers[i].ended[phase];
    }
    printf("%s %.1f\n", phase_names[phase], threads * files / (last - first));
}

int main(int count, char **arguments)
{
    require(count == 4, "usage: metadata_peer DIRECTORY THREADS FILES");
    int threads = atoi(arguments[2]);
    files = atol(arguments[3]);
    struct worker *workers = calloc(threads, sizeof *workers);
    names = calloc(files, NAME_BYTES);
    require(workers && names, "memory");
    require(pthread_barrier_init(&barrier, NULL, threads) == 0, "barrier");
    for (long i = 0; i < files; i++)
        snprintf(names[i], NAME_BYTES, "t0/f%ld", i);
    for (int i = 0; i < threads; i++)
        make_tree(&workers[i], arguments[1], i);
    for (int i = 0; i < threads; i++)
        require(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "thread");
    for (int i = 0; i < threads; i++)
        require(pthread_join(workers[i].thread, NULL) == 0, "join");
    for (int phase = 0; phase < PHASES; phase++)
        print_rate(workers, threads, phase);
    return 0;
}
