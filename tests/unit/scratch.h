/* Files that a test writes, in a folder of its own. */
#ifndef GPUBENCH_TESTS_UNIT_SCRATCH_H
#define GPUBENCH_TESTS_UNIT_SCRATCH_H

#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_MAX 512

/* A new folder; scratch_remove deletes it with the files directly in it. */
static inline void scratch_make(char dir[SCRATCH_MAX])
{
    const char *parent = getenv("TMPDIR");

    snprintf(dir, SCRATCH_MAX, "%s/gpubench-test-XXXXXX", parent && *parent ? parent : P_tmpdir);
    assert_non_null(mkdtemp(dir));
}

static inline const char *scratch_path(char out[SCRATCH_MAX], const char *dir, const char *name)
{
    assert_true(snprintf(out, SCRATCH_MAX, "%s/%s", dir, name) < SCRATCH_MAX);
    return out;
}

static inline void scratch_write(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* The whole of a small file, NUL-terminated; free() releases. */
static inline char *scratch_read(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    struct stat st;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    *len = (size_t)st.st_size;
    char *data = malloc(*len + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *len, file), *len);
    data[*len] = '\0';
    fclose(file);
    return data;
}

static inline void scratch_remove(const char *dir, const char *const *names, size_t count)
{
    char path[SCRATCH_MAX];

    for (size_t i = 0; i < count; i++)
        unlink(scratch_path(path, dir, names[i]));
    assert_int_equal(rmdir(dir), 0);
}

#endif
