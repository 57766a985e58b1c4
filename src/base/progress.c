#include "base/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/utf8.h"

#define DEFAULT_COLUMNS 80

void progress_init(struct progress *p, FILE *out, bool quiet, size_t total)
{
    const char *term = getenv("TERM");

    memset(p, 0, sizeof(*p));
    p->out = quiet ? NULL : out;
    p->total = total;
    p->start_ns = clock_now_ns();
    p->terminal = p->out && isatty(fileno(p->out)) && !(term && strcmp(term, "dumb") == 0);
}

static size_t terminal_columns(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        return size.ws_col;
    return DEFAULT_COLUMNS;
}

/* Cuts text to `columns` code points: a line that wraps could not be redrawn. */
static void cut(struct strbuf *line, size_t columns)
{
    size_t at = 0;
    for (size_t i = 0; i < columns && at < line->len; i++) {
        size_t n = utf8_sequence(line->data + at, line->len - at);
        at += n ? n : 1;
    }
    strbuf_cut(line, at);
}

void progress_step(struct progress *p, size_t done, const char *what)
{
    p->done = done;
    if (!p->out)
        return;

    struct strbuf line = STRBUF_INIT;
    char time[UNITS_MAX];
    uint64_t elapsed_ns = clock_now_ns() - p->start_ns;

    units_duration(time, elapsed_ns);
    strbuf_addf(&line, "[%zu/%zu] %s, %s", done + 1, p->total, what, time);
    if (done > 0 && done < p->total) {
        units_duration(time, (uint64_t)((double)elapsed_ns / (double)done * (double)(p->total - done)));
        strbuf_addf(&line, ", %s left", time);
    }
    if (p->terminal) {
        cut(&line, terminal_columns(p->out) - 1);
        progress_clear(p);
        fputs(strbuf_str(&line), p->out);
        p->drawn_columns = utf8_length(strbuf_str(&line));
    } else {
        fprintf(p->out, "%s\n", strbuf_str(&line));
    }
    fflush(p->out);
    strbuf_fini(&line);
}

void progress_clear(struct progress *p)
{
    if (!p->out || p->drawn_columns == 0)
        return;
    fprintf(p->out, "\r%*s\r", (int)p->drawn_columns, "");
    fflush(p->out);
    p->drawn_columns = 0;
}

void progress_finish(struct progress *p)
{
    progress_clear(p);
    p->out = NULL;
}
