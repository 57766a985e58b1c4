#include "unit/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/progress.h"

static void test_plain_lines(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct progress p;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    progress_init(&p, out, false, 3);
    assert_false(p.terminal);
    progress_step(&p, 0, "cpu/64x64");
    p.start_ns -= UINT64_C(90000000000); /* 90 s for one of three: 180 s left */
    progress_step(&p, 1, "gpu/64x64");
    progress_clear(&p);
    progress_finish(&p);
    progress_step(&p, 2, "after the end");
    fclose(out);
    assert_string_equal(text, "[1/3] cpu/64x64, 0 s\n[2/3] gpu/64x64, 1:30, 3:00 left\n");
    free(text);
}

static void test_quiet(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct progress p;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    progress_init(&p, out, true, 2);
    progress_step(&p, 1, "x");
    assert_int_equal(p.done, 1);
    progress_clear(&p);
    progress_finish(&p);
    fclose(out);
    assert_string_equal(text, "");
    free(text);
    progress_init(&p, NULL, false, 1);
    progress_step(&p, 0, "x");
}

/* On a terminal: one line, never longer than the terminal, wiped with blanks before the next. */
static void test_terminal(void **state)
{
    static const char want[] = "[1/2] a name that is"
                               "\r                    \r"
                               "[2/2] x, 0 s, 0 s l"
                               "\r                   \r";
    struct winsize window = {.ws_row = 24, .ws_col = 21};
    char got[sizeof(want)] = "";
    struct progress p;
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    FILE *out = fopen(ptsname(master), "w");
    assert_non_null(out);
    assert_int_equal(ioctl(master, TIOCSWINSZ, &window), 0);

    setenv("TERM", "xterm", 1);
    progress_init(&p, out, false, 2);
    assert_true(p.terminal);
    progress_step(&p, 0, "a name that is too long for it");
    window.ws_col = 20;
    assert_int_equal(ioctl(master, TIOCSWINSZ, &window), 0);
    progress_step(&p, 1, "x");
    progress_finish(&p);
    size_t length = 0;
    while (length < sizeof(want) - 1) {
        ssize_t n = read(master, got + length, sizeof(want) - 1 - length);
        assert_true(n > 0);
        length += (size_t)n;
    }
    assert_memory_equal(got, want, sizeof(want) - 1);

    setenv("TERM", "dumb", 1);
    progress_init(&p, out, false, 2);
    assert_false(p.terminal);
    fclose(out);
    close(master);
}

static void test_clock(void **state)
{
    (void)state;
    uint64_t before = clock_now_ns();
    clock_sleep_ns(2000000);
    assert_true(clock_now_ns() - before >= 2000000);
}

static void test_stamps(void **state)
{
    char stamp[32];
    (void)state;
    setenv("TZ", "XYZ-05:30", 1);
    tzset();
    clock_stamp_file(stamp, sizeof(stamp));
    assert_int_equal(strlen(stamp), 15);
    assert_int_equal(stamp[8], 'T');
    clock_stamp_rfc3339(stamp, sizeof(stamp));
    assert_int_equal(strlen(stamp), 25);
    assert_string_equal(stamp + 19, "+05:30");
    setenv("TZ", "UTC0", 1);
    tzset();
    clock_stamp_rfc3339(stamp, sizeof(stamp));
    assert_string_equal(stamp + 19, "+00:00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_lines), cmocka_unit_test(test_quiet),  cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_clock),       cmocka_unit_test(test_stamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
