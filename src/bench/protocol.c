#include "bench/protocol.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

void channel_init(struct channel *channel, int in_fd, int out_fd)
{
    *channel = (struct channel){in_fd, out_fd, STRBUF_INIT, 0};
}

void channel_fini(struct channel *channel)
{
    strbuf_fini(&channel->buffer);
    channel->taken = 0;
}

/* To a socket without the signal that a reader who is gone would cause. */
static ssize_t write_some(int fd, const char *data, size_t len)
{
    ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(fd, data, len) : n;
}

static bool write_all(int fd, const char *data, size_t len, struct err *err)
{
    while (len > 0) {
        ssize_t n = write_some(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_native(err, ERR_WORKER, errno, "writing to the other process");
        data += n;
        len -= (size_t)n;
    }
    return true;
}

bool channel_send(struct channel *channel, struct json *message, struct err *err)
{
    struct strbuf line = STRBUF_INIT;
    bool ok = message != NULL || err_set(err, ERR_MEMORY, "out of memory for a message between processes");
    ok = ok && json_print(message, false, &line, err);
    if (ok) {
        strbuf_addc(&line, '\n');
        ok = strbuf_ok(&line, err) && write_all(channel->out_fd, line.data, line.len, err);
    }
    strbuf_fini(&line);
    json_free(message);
    return ok;
}

/* Takes the first whole line out of the buffer; false when there is none. */
static bool take_line(struct channel *channel, const char **line, size_t *len)
{
    if (channel->buffer.data == NULL)
        return false;
    const char *start = channel->buffer.data + channel->taken;
    const char *end = memchr(start, '\n', channel->buffer.len - channel->taken);
    if (end == NULL)
        return false;
    *line = start;
    *len = (size_t)(end - start);
    channel->taken += *len + 1;
    return true;
}

static void drop_taken(struct channel *channel)
{
    struct strbuf *b = &channel->buffer;
    if (channel->taken == 0)
        return;
    memmove(b->data, b->data + channel->taken, b->len - channel->taken);
    b->len -= channel->taken;
    b->data[b->len] = '\0';
    channel->taken = 0;
}

static enum channel_result fill(struct channel *channel, int timeout_ms, struct err *err)
{
    struct pollfd p = {channel->in_fd, POLLIN, 0};
    int ready = poll(&p, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return CHANNEL_TIMEOUT;
    char chunk[65536];
    ssize_t n = ready < 0 ? -1 : read(channel->in_fd, chunk, sizeof chunk);
    if (n == 0)
        return CHANNEL_CLOSED;
    if (n < 0) {
        err_set_native(err, ERR_WORKER, errno, "reading from the other process");
        return CHANNEL_ERROR;
    }
    drop_taken(channel);
    strbuf_add_bytes(&channel->buffer, chunk, (size_t)n);
    if (!strbuf_ok(&channel->buffer, err))
        return CHANNEL_ERROR;
    if (channel->buffer.len > PROTOCOL_MAX_LINE) {
        err_set(err, ERR_WORKER, "the other process sent a line of over %zu bytes", PROTOCOL_MAX_LINE);
        return CHANNEL_ERROR;
    }
    return CHANNEL_MESSAGE;
}

enum channel_result channel_receive(struct channel *channel, int timeout_ms, struct json **message,
                                    struct err *err)
{
    const char *line;
    size_t len;
    *message = NULL;
    while (!take_line(channel, &line, &len)) {
        enum channel_result result = fill(channel, timeout_ms, err);
        if (result != CHANNEL_MESSAGE)
            return result;
    }
    *message = json_parse(line, len, "the other process", err);
    if (*message == NULL)
        return CHANNEL_ERROR;
    return CHANNEL_MESSAGE;
}

bool channel_pending(const struct channel *channel)
{
    if (channel->buffer.len > channel->taken)
        return true;
    struct pollfd p = {channel->in_fd, POLLIN, 0};
    return poll(&p, 1, 0) > 0;
}

struct json *message_new(const char *op)
{
    struct json *message = json_new_object();
    json_set_string(message, "op", op);
    return message;
}

bool message_is(const struct json *message, const char *op)
{
    return strcmp(json_string(json_get(message, "op")), op) == 0;
}

struct json *message_error(const struct err *err)
{
    struct json *message = message_new("error");
    json_set_string(message, "code", err_code_name(err->code));
    json_set_number(message, "native", err->native);
    json_set_string(message, "text", err->text);
    if (err->log != NULL)
        json_set_string(message, "log", err->log);
    return message;
}

bool message_take_error(const struct json *message, struct err *err)
{
    if (err->code != ERR_NONE)
        return false;
    err_set(err, err_code_parse(json_string(json_get(message, "code"))), "%s",
            json_string(json_get(message, "text")));
    err->native = (int)json_number(json_get(message, "native"));
    const struct json *log = json_get(message, "log");
    struct err ignored = ERR_INIT;
    if (log != NULL)
        err->log = mem_strdup(json_string(log), &ignored);
    return false;
}
