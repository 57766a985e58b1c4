/* Which shape of tile the probe takes, and what is remembered of it: by whom, where, and when not. */
#include "unit/scratch.h"

#include "base/cache_file.h"
#include "gpu/tuning.h"

#define SAMPLES 16

static void spread(uint64_t *times, uint64_t middle, uint64_t step)
{
    for (uint64_t i = 0; i < SAMPLES; i++)
        times[i] = middle + (i * 7 % SAMPLES) * step - SAMPLES / 2 * step;
}

static size_t pick(uint64_t rule, uint64_t second, uint64_t third, uint64_t step)
{
    uint64_t times[3 * SAMPLES];

    spread(times, rule, step);
    spread(times + SAMPLES, second, step);
    spread(times + 2 * SAMPLES, third, step);
    return tuning_pick(times, 3, SAMPLES);
}

static void test_pick(void **state)
{
    (void)state;
    assert_int_equal(pick(100000, 100000, 100000, 10), 0);
    assert_int_equal(pick(100000, 96000, 120000, 10), 0); /* not 5 % */
    assert_int_equal(pick(100000, 94000, 120000, 10), 1);
    assert_int_equal(pick(100000, 94000, 80000, 10), 2);
    assert_int_equal(pick(100000, 80000, 94000, 10), 1);
    assert_int_equal(pick(100000, 90000, 91000, 4000), 0); /* intervals touch */
}

/* An empty folder as $XDG_CACHE_HOME. */
static void make_home(char home[SCRATCH_MAX])
{
    scratch_make(home);
    assert_int_equal(setenv("XDG_CACHE_HOME", home, 1), 0);
}

static void remove_home(const char *home)
{
    char command[SCRATCH_MAX + 32];

    snprintf(command, sizeof command, "rm -rf '%s'", home);
    assert_int_equal(system(command), 0);
}

static void write_text(const char *name, const char *content)
{
    struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;

    strbuf_add(&text, content);
    if (!cache_file_write(name, &text, &err))
        fail_msg("%s", err.text);
    strbuf_fini(&text);
}

/* "": read well; "none"; or why not. */
static void check_read(const char *name, const char *want)
{
    struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;
    bool ok = cache_file_read(name, &text, &err);
    const char *got = ok ? strbuf_str(&text) : err.code == ERR_NONE ? "none" : err.text;

    if (!strstr(got, want))
        fail_msg("%s: wanted '%s', got '%s'", name, want, got);
    err_fini(&err);
    strbuf_fini(&text);
}

static void test_cache_files(void **state)
{
    char home[SCRATCH_MAX], path[SCRATCH_MAX + 32], other[SCRATCH_MAX + 32];
    struct stat s;

    (void)state;
    make_home(home);
    check_read("a", "none");
    write_text("a", "first");
    write_text("a", "second");
    check_read("a", "second");
    check_read("b", "none");
    snprintf(path, sizeof path, "%s/gpubench", home);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    snprintf(path, sizeof path, "%s/gpubench/a", home);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_int_equal(chmod(path, 0620), 0);
    check_read("a", "other users can write it");
    assert_int_equal(chmod(path, 0600), 0);
    check_read("a", "second");
    /* A link is not followed, wherever it leads; a pipe does not hold the reader up. */
    snprintf(other, sizeof other, "%s/gpubench/link", home);
    assert_int_equal(symlink("a", other), 0);
    check_read("link", "Too many levels");
    snprintf(other, sizeof other, "%s/gpubench/pipe", home);
    assert_int_equal(mkfifo(other, 0600), 0);
    check_read("pipe", "no plain file");
    assert_int_equal(truncate(path, CACHE_FILE_MAX + 1), 0);
    check_read("a", "larger");
    remove_home(home);
}

static void test_cache_folders(void **state)
{
    char home[SCRATCH_MAX], path[SCRATCH_MAX + 32], moved[SCRATCH_MAX + 32];
    struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    make_home(home);
    write_text("a", "kept");
    snprintf(path, sizeof path, "%s/gpubench", home);
    assert_int_equal(chmod(path, 0777), 0);
    check_read("a", "other users can write it");
    strbuf_add(&text, "x");
    assert_false(cache_file_write("a", &text, &err));
    assert_non_null(strstr(err.text, "not trusted"));
    err_fini(&err);
    assert_int_equal(chmod(path, 0700), 0);
    check_read("a", "kept");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        check_read("a", "another user owns it");
        assert_int_equal(chown(path, 0, 0), 0);
    } else {
        print_message("another user's folder is not tried: only root can make one\n");
    }
    snprintf(moved, sizeof moved, "%s/moved", home);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(symlink(moved, path), 0);
    check_read("a", "the cache");
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    check_read("a", "neither XDG_CACHE_HOME nor HOME");
    strbuf_fini(&text);
    remove_home(home);
}

static bool load(const struct device_info *info, const char *path, uint32_t pixels[TILE_CLASSES])
{
    struct err err = ERR_INIT;
    bool ok = tuning_load(info, path, pixels, &err);

    assert_int_equal(err.code, ERR_NONE);
    return ok;
}

static void test_remembers(void **state)
{
    const uint32_t pixels[TILE_CLASSES] = {32, 128, 256};
    struct device_info info = {.kind = DEVICE_GPU}, other;
    uint32_t got[TILE_CLASSES] = {0};
    char home[SCRATCH_MAX], command[SCRATCH_MAX + 96];
    struct err err = ERR_INIT;

    (void)state;
    make_home(home);
    snprintf(info.name, sizeof info.name, "A device");
    snprintf(info.driver_version, sizeof info.driver_version, "1.2");
    snprintf(info.path, sizeof info.path, "local");
    assert_false(load(&info, NULL, got));
    assert_true(tuning_store(&info, pixels, &err));
    assert_true(load(&info, "local", got));
    assert_memory_equal(got, pixels, sizeof pixels);
    assert_false(load(&info, "ptx", got));
    other = info;
    snprintf(other.driver_version, sizeof other.driver_version, "1.3");
    assert_false(load(&other, NULL, got));
    tuning_describe(&other);
    assert_string_equal(other.tiles, "what the rule says");
    tuning_describe(&info);
    assert_string_equal(info.tiles, "32, 128, 256 pixels (probe)");
    static const char *const damages[] = {
        "s/128/100/",
        "s/128/512/",
        "s/\"version\": 1/\"version\": 2/",
        "s/\"kernels\": \"./\"kernels\": \"x/",
        "s/}//",
        "s/\"A device\"/7/",
        "s/,$/,,/",
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        assert_true(tuning_store(&info, pixels, &err));
        assert_true(load(&info, NULL, got));
        snprintf(command, sizeof command, "sed -i '%s' %s/gpubench/tiles-*.json", damages[i], home);
        assert_int_equal(system(command), 0);
        assert_false(load(&info, NULL, got));
    }
    remove_home(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_cache_files),
        cmocka_unit_test(test_remembers),
        cmocka_unit_test(test_cache_folders),
    };

    return cmocka_run_group_tests_name("tuning", tests, NULL, NULL);
}
