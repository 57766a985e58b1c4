#include "unit/made.h"

/* Elements that have no end. */
static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "!DOCTYPE") == 0;
}

/* Every element that is opened is closed, in order; returns how many there were. */
static size_t check_elements(const char *html)
{
    char open[64][16];
    size_t depth = 0, seen = 0;

    for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
        bool end = at[1] == '/';
        const char *name = at + 1 + end, *close = strchr(at, '>');
        size_t len = strcspn(name, " />\n");
        char text[16];
        assert_non_null(close);
        assert_true(len > 0 && len < sizeof(text));
        memcpy(text, name, len);
        text[len] = '\0';
        if (end) {
            assert_true(depth > 0);
            assert_string_equal(text, open[--depth]);
        } else if (close[-1] != '/' && !is_void(text)) {
            assert_true(depth < 64);
            strcpy(open[depth++], text);
        }
        seen++;
    }
    assert_int_equal(depth, 0);
    return seen;
}

static char *page_of(const struct results *r, const char *kind)
{
    struct table *tables = NULL;
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    size_t count = 0;

    if (kind)
        assert_true(table_kind_find(kind)->make(r, &tables, &count, &err));
    assert_true(results_write_html(r, tables, count, &sb, &err));
    tables_free(tables, count);
    check_elements(sb.data);
    assert_null(strstr(sb.data, "nan"));
    assert_null(strstr(sb.data, "inf"));
    assert_null(strstr(sb.data, "http")); /* nothing is loaded from elsewhere */
    assert_null(strstr(sb.data, "<script"));
    return sb.data;
}

static void expect_in(const char *html, const char *text)
{
    if (!strstr(html, text))
        fail_msg("not in the page: %s", text);
}

static void test_the_whole_page(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 20);
    for (size_t i = 1; i < r.cell_count; i += 2)
        made_phases(&r.cells[i], r.cells[i].median_ns);
    r.cells[0].samples_ns[3] *= 9;
    made_fail(&r.cells[3], CELL_WRONG, "vertices 3.1e-2 & more than <allowed>");
    struct json *command = json_set_array(r.head, "command");
    json_add_string(command, "gpubench");
    json_add_string(command, "it's <mine>.json");
    char *html = page_of(&r, "crossover");
    expect_in(
        html,
        "<p class=\"verdict\">H200 wins 7 of 8 points, CPU 1 (NVIDIA H200 [0:0], fused + ordered, call: "
        "loader).</p>");
    expect_in(html, "wrong: vertices 3.1e-2 &amp; more than &lt;allowed&gt;</li>");
    expect_in(html, "<td class=\"h1\"><b>0.56 [0.56,0.57]</b><small>CPU</small></td>");
    expect_in(html, "<td class=\"hx\">wrong</td>");
    expect_in(html,
              "<td class=\"loser\">0.56 [0.56,0.57] CPU</td>"); /* the table has the heat map's figures */
    expect_in(html, "<title>upload: 46.6 us, 20.0 %</title>");
    expect_in(html, "1 beyond</text>");
    expect_in(html, "<pre><code>gpubench 'it'\\''s &lt;mine&gt;.json'</code></pre>");
    free(html);
    made_fini(&r);
}

static void test_pages_of_little(void **state)
{
    struct results r;
    char *html;
    (void)state;
    made_init(&r);
    html = page_of(&r, NULL);
    expect_in(html, "there is nothing to compare it with");
    free(html);
    made_cell(&r, "cpu", MADE_CPU, 64, 0, 1000, 1)->spec.batch = 0;
    free(page_of(&r, "speedup"));
    made_cell(&r, "device", MADE_GPU, 64, 0, 0, 1)->spec.batch = 0;
    html = page_of(&r, "scaling");
    expect_in(html, "no point has a time of both");
    free(html);
    json_free(r.head);
    r.head = NULL;
    r.partial = true;
    html = page_of(&r, "phases");
    expect_in(html, "The run was interrupted");
    free(html);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole_page),
        cmocka_unit_test(test_pages_of_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
