/* Messages between parent and worker: whole lines, however they arrive. */
#include "unit/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/protocol.h"

struct pipes {
    int fd[2];
    struct channel channel; /* reads and writes the same pipe */
};

static void begin(struct pipes *p)
{
    assert_int_equal(pipe(p->fd), 0);
    channel_init(&p->channel, p->fd[0], p->fd[1]);
}

static void end(struct pipes *p)
{
    channel_fini(&p->channel);
    close(p->fd[0]);
    if (p->fd[1] >= 0)
        close(p->fd[1]);
}

static void put(struct pipes *p, const char *text)
{
    assert_int_equal(write(p->fd[1], text, strlen(text)), (long)strlen(text));
}

static void test_there_and_back(void **state)
{
    (void)state;
    struct pipes p;
    struct err err = ERR_INIT;
    struct json *message = message_new("stage"), *got;
    begin(&p);
    assert_false(channel_pending(&p.channel));
    json_set_string(message, "text", "two\nlines and \"quotes\"");
    assert_true(channel_send(&p.channel, message, &err));
    assert_true(channel_pending(&p.channel));
    assert_int_equal(channel_receive(&p.channel, -1, &got, &err), CHANNEL_MESSAGE);
    assert_true(message_is(got, "stage"));
    assert_string_equal(json_string(json_get(got, "text")), "two\nlines and \"quotes\"");
    json_free(got);
    assert_int_equal(channel_receive(&p.channel, 0, &got, &err), CHANNEL_TIMEOUT);
    end(&p);
}

static void test_pieces_and_several_at_once(void **state)
{
    (void)state;
    struct pipes p;
    struct err err = ERR_INIT;
    struct json *got;
    begin(&p);
    put(&p, "{\"op\":");
    assert_int_equal(channel_receive(&p.channel, 0, &got, &err), CHANNEL_TIMEOUT);
    put(&p, "\"a\"}\n{\"op\":\"b\"}\n{\"op\"");
    assert_int_equal(channel_receive(&p.channel, 0, &got, &err), CHANNEL_MESSAGE);
    assert_true(message_is(got, "a"));
    json_free(got);
    /* Already read from the pipe, but still to come. */
    assert_true(channel_pending(&p.channel));
    assert_int_equal(channel_receive(&p.channel, 0, &got, &err), CHANNEL_MESSAGE);
    assert_true(message_is(got, "b"));
    json_free(got);
    assert_int_equal(channel_receive(&p.channel, 0, &got, &err), CHANNEL_TIMEOUT);
    put(&p, ":\"c\"}\n");
    assert_int_equal(channel_receive(&p.channel, 0, &got, &err), CHANNEL_MESSAGE);
    assert_true(message_is(got, "c"));
    json_free(got);
    end(&p);
}

static void test_a_long_message(void **state)
{
    (void)state;
    struct pipes p;
    struct err err = ERR_INIT;
    struct json *got = NULL;
    char *text = malloc(40001);
    memset(text, 'x', 40000);
    text[40000] = '\0';
    begin(&p);
    for (int i = 0; i < 3; i++) {
        struct json *message = message_new("long");
        json_set_string(message, "text", text);
        assert_true(channel_send(&p.channel, message, &err));
        assert_int_equal(channel_receive(&p.channel, -1, &got, &err), CHANNEL_MESSAGE);
        assert_string_equal(json_string(json_get(got, "text")), text);
        json_free(got);
    }
    free(text);
    end(&p);
}

static void test_nonsense_and_the_end(void **state)
{
    (void)state;
    struct pipes p;
    struct err err = ERR_INIT;
    struct json *got;
    begin(&p);
    put(&p, "Segmentation fault\n");
    assert_int_equal(channel_receive(&p.channel, -1, &got, &err), CHANNEL_ERROR);
    assert_true(err.code != ERR_NONE);
    err_fini(&err);
    close(p.fd[1]);
    p.fd[1] = -1;
    assert_int_equal(channel_receive(&p.channel, -1, &got, &err), CHANNEL_CLOSED);
    assert_true(channel_pending(&p.channel));
    end(&p);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct pipes p;
    struct err err = ERR_INIT;
    begin(&p);
    signal(SIGPIPE, SIG_IGN);
    close(p.fd[0]);
    assert_false(channel_send(&p.channel, message_new("hello"), &err));
    assert_int_equal(err.code, ERR_WORKER);
    err_fini(&err);
    p.fd[0] = dup(0);
    end(&p);
}

/* Without the signal that would end the process, which is not ignored here. */
static void test_nobody_listens_to_a_socket(void **state)
{
    (void)state;
    struct pipes p;
    struct err err = ERR_INIT;
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p.fd), 0);
    channel_init(&p.channel, p.fd[0], p.fd[1]);
    close(p.fd[0]);
    assert_false(channel_send(&p.channel, message_new("hello"), &err));
    assert_int_equal(err.code, ERR_WORKER);
    err_fini(&err);
    p.fd[0] = dup(0);
    end(&p);
}

static void test_errors_keep_everything(void **state)
{
    (void)state;
    struct err cause = ERR_INIT, err = ERR_INIT;
    err_set_native(&cause, ERR_BUILD, -11, "kernels/a.cl:12 does not build");
    cause.log = strdup("line 1\nline 2");
    struct json *message = message_error(&cause);
    assert_true(message_is(message, "error"));
    assert_false(message_take_error(message, &err));
    assert_int_equal(err.code, ERR_BUILD);
    assert_int_equal(err.native, -11);
    assert_string_equal(err.text, cause.text);
    assert_string_equal(err.log, "line 1\nline 2");
    json_free(message);
    err_fini(&cause);
    err_fini(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),         cmocka_unit_test(test_pieces_and_several_at_once),
        cmocka_unit_test(test_a_long_message),         cmocka_unit_test(test_nonsense_and_the_end),
        cmocka_unit_test(test_nobody_listens),         cmocka_unit_test(test_nobody_listens_to_a_socket),
        cmocka_unit_test(test_errors_keep_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
