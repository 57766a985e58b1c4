/* Results as one page: no script, nothing loaded from elsewhere. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/view.h"
#include "report/warnings.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)

/* Head members: an empty string where there is none. */
static const struct json *head_at(const struct results *results, const char *object, const char *key)
{
    const struct json *node = results->head ? json_get(results->head, object) : NULL;
    return node && key ? json_get(node, key) : node;
}

static const char *head_text(const struct results *results, const char *object, const char *key)
{
    const struct json *node = head_at(results, object, key);
    return node ? json_string(node) : "";
}

/* ---- the verdict ---- */

#define VERDICTS_MAX 2 /* that stand on top each; of more the best, and a list */

struct verdict {
    struct strbuf items; /* all of them as a list; owned */
    size_t lines, best;  /* best: by how much its line won at most */
    double score;
};

/* Who wins how often, and by how much at most. */
struct tally {
    size_t seen[RATIO_TIE + 1];
    double most[2]; /* times as fast as the other at least, by the interval, where the first or the second
                       wins */
};

static bool count_wins(const struct view *v, struct tally *tally, struct err *err)
{
    *tally = (struct tally){0};
    for (size_t s = 0; s < v->plane.size_count; s++)
        for (size_t i = 0; i < v->plane.triangle_count; i++) {
            struct ratio ratio;
            if (!ratio_of(view_partner(v, s, i), view_cell(v, s, i, NULL), &ratio, err))
                return false;
            tally->seen[ratio.verdict]++;
            if (ratio.verdict == RATIO_FIRST)
                tally->most[0] = fmax(tally->most[0], 1 / (ratio.has_ci ? ratio.ci95[1] : ratio.value));
            if (ratio.verdict == RATIO_SECOND)
                tally->most[1] = fmax(tally->most[1], ratio.has_ci ? ratio.ci95[0] : ratio.value);
        }
    return true;
}

/* names: of the first and the second side. */
static void add_tally(struct strbuf *out, const struct tally *t, char names[2][LABEL_MAX])
{
    const size_t won[] = {t->seen[RATIO_FIRST], t->seen[RATIO_SECOND]}, ties = t->seen[RATIO_TIE];
    const size_t all = won[0] + won[1] + ties, more = won[1] >= won[0]; /* who won more */
    char most[2][NUMBER_MAX];

    number_ratio(most[0], t->most[0]);
    number_ratio(most[1], t->most[1]);
    if (all == 0)
        page_textf(out, "%s and %s cannot be compared: no point has a time of both", names[1], names[0]);
    else if (ties == all)
        page_textf(out, "%s and %s tie everywhere measured", names[1], names[0]);
    else if (won[!more] == 0)
        page_textf(out, "%s wins%s everywhere measured, up to %s times as fast as %s", names[more],
                   ties ? " or ties" : "", most[more], names[!more]);
    else
        page_textf(out, "%s wins %zu of %zu points, up to %s times as fast; %s %zu, up to %s times as fast",
                   names[more], won[more], all, most[more], names[!more], won[!more], most[!more]);
    if (ties && ties < all && won[!more])
        page_textf(out, "; %zu %s", ties, ties == 1 ? "is a tie" : "are ties");
}

static bool add_verdict(void *context, const struct view *v, struct err *err)
{
    struct verdict *verdict = context;
    char names[2][LABEL_MAX], heading[LABEL_MAX], point[LABEL_MAX];
    struct tally tally;

    if (!count_wins(v, &tally, err))
        return false;
    label_sides(names[0], names[1], v->results, v->reference, v->line);
    view_heading(v, heading);
    label_point(point, v->results, &v->line->spec, v->free);
    strbuf_add(&verdict->items, "<li>");
    add_tally(&verdict->items, &tally, names);
    strbuf_add(&verdict->items, ".<span class=\"note\">");
    page_textf(&verdict->items, "%s · %s", heading, point);
    strbuf_add(&verdict->items, "</span></li>\n");
    if (tally.most[1] > verdict->score) {
        verdict->score = tally.most[1];
        verdict->best = verdict->lines;
    }
    verdict->lines++;
    return true;
}

/* The item of that number, without its element. */
static void add_item_of(struct strbuf *out, const struct verdict *verdict, size_t number)
{
    const char *at = strbuf_str(&verdict->items);

    while (number-- > 0)
        at = strchr(at, '\n') + 1;
    strbuf_add_bytes(out, at + strlen("<li>"), strcspn(at, "\n") - strlen("<li></li>"));
}

static bool find_verdict(const struct results *results, struct verdict *out, struct err *err)
{
    *out = (struct verdict){.items = STRBUF_INIT};
    return view_each(results, MODES, VIEW_OTHERS, keys_named("size triangles"), add_verdict, out, err) &&
           strbuf_ok(&out->items, err);
}

static void add_best(struct strbuf *out, const struct verdict *verdict)
{
    if (verdict->lines == 0) {
        strbuf_add(out, "One device was measured: there is nothing to compare it with.");
        return;
    }
    if (verdict->lines > 1)
        strbuf_addf(out, "The best of %zu: ", verdict->lines);
    add_item_of(out, verdict, verdict->best);
}

static bool add_verdicts(struct strbuf *out, const struct results *results, struct err *err)
{
    struct verdict verdict;
    bool ok = find_verdict(results, &verdict, err);
    const bool each = verdict.lines > 0 && verdict.lines <= VERDICTS_MAX;

    for (size_t i = 0; ok && i < (each ? verdict.lines : 1); i++) {
        strbuf_add(out, "<p class=\"verdict\">");
        if (each)
            add_item_of(out, &verdict, i);
        else
            add_best(out, &verdict);
        strbuf_add(out, "</p>\n");
    }
    if (ok && verdict.lines > VERDICTS_MAX)
        strbuf_addf(out, "<details><summary>All %zu</summary>\n<ul>\n%s</ul></details>\n", verdict.lines,
                    strbuf_str(&verdict.items));
    strbuf_fini(&verdict.items);
    return ok;
}

/* The devices in a line; the rest of the machine is at the end of the page. */
static void add_devices(struct strbuf *out, const struct results *results)
{
    strbuf_add(out, "<p class=\"note\">");
    for (size_t i = 0; i < results->device_count; i++) {
        const struct device_info *d = &results->devices[i];
        page_textf(out, "%s%s [%s%s%s]", i ? ", " : "", d->name, d->selector, *d->path ? " " : "", d->path);
        if (d->threads)
            page_textf(out, ", %" PRIu32 " threads", d->threads);
        else if (*d->driver_version)
            page_textf(out, ", driver %s", d->driver_version);
    }
    page_textf(out, "%s%s", results->device_count ? ". Measured " : "", head_text(results, "created", NULL));
    strbuf_add(out, "</p>\n");
}

/* ---- warnings ---- */

#define FAILED_SHOWN 20

static void add_item(void *list, const char *text)
{
    strbuf_add(list, "<li>");
    page_text(list, text);
    strbuf_add(list, "</li>\n");
}

static void add_cell_warnings(struct strbuf *list, const struct results *results)
{
    size_t failed = 0;

    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (cell->status == CELL_OK || ++failed > FAILED_SHOWN)
            continue;
        strbuf_add(list, "<li>");
        page_textf(list, "%s %s: %s", cell->id ? cell->id : cell->backend, cell_status_name(cell->status),
                   cell->reason ? cell->reason : "no reason given");
        strbuf_add(list, "</li>\n");
    }
    if (failed > FAILED_SHOWN)
        strbuf_addf(list, "<li>and %zu cells more that have no time</li>\n", failed - FAILED_SHOWN);
}

static void add_warnings(struct strbuf *out, const struct results *results)
{
    struct strbuf list = STRBUF_INIT;

    if (results->partial)
        strbuf_add(&list, "<li>The run was interrupted: not every cell was measured.</li>\n");
    add_cell_warnings(&list, results);
    warnings_tell(results, add_item, &list);
    if (list.len)
        strbuf_addf(out, "<h2>Warnings</h2>\n<ul>\n%s</ul>\n", strbuf_str(&list));
    out->failed |= list.failed;
    strbuf_fini(&list);
}

/* ---- the machine ---- */

static void add_fact(struct strbuf *out, const char *name, const char *text)
{
    if (!*text)
        return;
    strbuf_addf(out, "<dt>%s</dt><dd>", name);
    page_text(out, text);
    strbuf_add(out, "</dd>\n");
}

static void add_device(struct strbuf *out, const struct device_info *device)
{
    char memory[UNITS_MAX];

    strbuf_addf(out, "<dt>");
    page_text(out, device->selector);
    strbuf_addf(out, "</dt><dd>");
    page_text(out, device->name);
    if (*device->platform)
        page_textf(out, ", %s", device->platform);
    if (*device->driver_version)
        page_textf(out, ", driver %s", device->driver_version);
    if (device->compute_units)
        page_textf(out, ", %" PRIu32 " compute units", device->compute_units);
    if (device->threads)
        page_textf(out, ", %" PRIu32 " threads", device->threads);
    if (device->global_bytes) {
        units_bytes(memory, device->global_bytes);
        page_textf(out, ", %s", memory);
    }
    if (*device->path)
        page_textf(out, ", path %s", device->path);
    strbuf_add(out, "</dd>\n");
}

static void add_machine(struct strbuf *out, const struct results *results)
{
    const struct json *cpu = head_at(results, "machine", "cpu"), *model = cpu ? json_get(cpu, "model") : NULL;

    strbuf_add(out, "<h2>Machine</h2>\n<dl>\n");
    add_fact(out, "CPU", model ? json_string(model) : "");
    add_fact(out, "kernel", head_text(results, "machine", "kernel"));
    add_fact(out, "governor", head_text(results, "machine", "governor"));
    for (size_t i = 0; i < results->device_count; i++)
        add_device(out, &results->devices[i]);
    add_fact(out, "gpubench", head_text(results, "tool", "version"));
    add_fact(out, "revision", head_text(results, "tool", "revision"));
    add_fact(out, "compiler", head_text(results, "tool", "compiler"));
    add_fact(out, "measured", head_text(results, "created", NULL));
    strbuf_add(out, "</dl>\n");
}

/* A word as a POSIX shell reads it back. */
static void add_word(struct strbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

    if (*word && strspn(word, plain) == strlen(word)) {
        page_text(out, word);
        return;
    }
    strbuf_addc(out, '\'');
    for (; *word; word++) {
        char one[2] = {*word, '\0'};
        if (*word == '\'')
            strbuf_add(out, "'\\''");
        else
            page_text(out, one);
    }
    strbuf_addc(out, '\'');
}

static void add_command(struct strbuf *out, const struct results *results)
{
    const struct json *command = head_at(results, "command", NULL);

    if (!command || !json_count(command))
        return;
    strbuf_add(out, "<h2>To measure it again</h2>\n<pre tabindex=\"0\" role=\"region\" "
                    "aria-label=\"command\"><code>");
    for (size_t i = 0; i < json_count(command); i++) {
        strbuf_add(out, i ? " " : "");
        add_word(out, json_string(json_at(command, i)));
    }
    strbuf_add(out, "</code></pre>\n");
}

static const char *name_of(const struct results *results)
{
    const char *name = head_text(results, "config", "name");
    return *name ? name : "results";
}

static bool add_run(struct strbuf *out, const struct table_run *run, unsigned page, struct err *err)
{
    const struct results *results = run->results;

    strbuf_addf(out, "<h1 id=\"run%u\">gpubench: ", page);
    page_text(out, name_of(results));
    strbuf_add(out, "</h1>\n");
    if (!add_verdicts(out, results, err))
        return false;
    add_devices(out, results);
    add_warnings(out, results);
    if (!chart_heat(results, out, err) || !chart_scaling(results, page, out, err) ||
        !chart_phases(results, page, out, err) || !chart_roofline(results, page, out, err))
        return false;
    if (run->count)
        strbuf_add(out, "<h2>Tables</h2>\n");
    for (size_t i = 0; i < run->count; i++) {
        if (!table_ok(&run->tables[i], err))
            return false;
        page_table(out, &run->tables[i]);
    }
    if (!chart_samples(results, page, out, err))
        return false;
    add_machine(out, results);
    add_command(out, results);
    return true;
}

/* What a page is of, and who wins where. */
static bool add_contents(struct strbuf *out, const struct table_run *runs, size_t count, struct err *err)
{
    bool ok = true;

    strbuf_addf(out, "<h1>gpubench: %zu runs</h1>\n", count);
    strbuf_add(out, "<nav aria-label=\"runs\"><ul>\n");
    for (size_t i = 0; ok && i < count; i++) {
        struct verdict verdict;
        strbuf_addf(out, "<li><a href=\"#run%zu\">", i);
        page_text(out, name_of(runs[i].results));
        page_textf(out, "%s%s", runs[i].results->path ? ", " : "",
                   runs[i].results->path ? runs[i].results->path : "");
        strbuf_add(out, "</a>: ");
        ok = find_verdict(runs[i].results, &verdict, err);
        if (ok)
            add_best(out, &verdict);
        strbuf_fini(&verdict.items);
        strbuf_add(out, "</li>\n");
    }
    strbuf_add(out, "</ul></nav>\n");
    return ok;
}

bool results_write_html(const struct table_run *runs, size_t count, struct strbuf *out, struct err *err)
{
    strbuf_add(out,
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>gpubench: ");
    for (size_t i = 0; i < count; i++) {
        strbuf_add(out, i ? ", " : "");
        page_text(out, name_of(runs[i].results));
    }
    strbuf_addf(out, "</title>\n<style>\n%s</style></head>\n<body><main>\n", page_style);
    if (count > 1 && !add_contents(out, runs, count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_run(out, &runs[i], (unsigned)i, err))
            return false;
    strbuf_add(out, "</main></body></html>\n");
    return strbuf_ok(out, err);
}
