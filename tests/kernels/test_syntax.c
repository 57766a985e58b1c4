/* Every variant of every kernel through clang's front end, for each code path as a device of it would get the
 * text: the compilers of NVIDIA's driver, and of those with sub-groups, are not where the tests run. What PTX
 * instructions say in their strings, nobody reads here. */
#include "unit/gpu_fixture.h"

#include "gpu/program.h"
#include "gpu/renderer.h"
#include "gpu/variants.h"
#include "unit/scratch.h"

/* A made-up device of a path. */
struct subject {
    enum gpu_path path;
    uint32_t lanes;
    uint64_t max_group;  /* up to it, each size of work-group that can be asked for, too */
    const char *macros;  /* that the host defines for such a device */
    const char *options; /* of clang */
};

static const struct subject ptx = {PATH_PTX, 32, 64, " -DHAS_FMA",
                                   "--target=nvptx64-nvidia-nvcl -cl-std=CL1.2 -Dasm=__asm__"};
static const struct subject subgroups3 = {
    PATH_SUBGROUPS, 32, 1, " -DHAS_FMA -DFLOAT_ATOMICS",
    "--target=spir64 -cl-std=CL3.0 -D__opencl_c_ext_fp32_global_atomic_add=1"};
static const struct subject subgroups2 = {PATH_SUBGROUPS, 16, 1, " -DREQUIRE_LANES",
                                          "--target=spir64 -cl-std=CL2.0"};
static const struct subject local_memory = {PATH_LOCAL, 0, 1, "", "--target=spir64 -cl-std=CL1.2"};
static const struct subject cpu16 = {
    PATH_CPU, 16, 1, " -DON_CPU -DHAS_FMA",
    "--target=x86_64 -Xclang -target-cpu -Xclang skylake-avx512 -cl-std=CL1.2"};
static const struct subject cpu8 = {PATH_CPU, 8, 1, " -DON_CPU", "--target=x86_64 -cl-std=CL1.2"};

/* Variants leave unused what others need. Drivers show their users whatever else there is to warn of. */
#define CLANG                                                                                        \
    "clang -fsyntax-only -x cl -D__OPENCL_VERSION__=120 -Werror -Wall -Wextra -Wdouble-promotion "   \
    "-Wno-unused -Wunused-value -Wno-unused-parameter -Wno-unused-but-set-parameter"

static void need_clang(void)
{
    if (system("clang --version >/dev/null 2>&1") == 0)
        return;
    print_message("skipped: there is no clang\n");
    skip();
}

/* What clang says of the files (a shell's pattern) in a folder, at most `size` bytes; whether it finds
 * nothing. */
static bool passes(const char *options, const char *dir, const char *files, char *said, size_t size)
{
    struct strbuf command = STRBUF_INIT;
    char rest[4096];

    strbuf_addf(&command, "cd '%s' && echo %s | xargs -n 16 -P \"$(nproc)\" %s %s 2>&1", dir, files, CLANG,
                options);
    FILE *pipe = popen(strbuf_str(&command), "r");
    strbuf_fini(&command);
    assert_non_null(pipe);
    said[fread(said, 1, size - 1, pipe)] = '\0';
    while (fread(rest, 1, sizeof rest, pipe) > 0)
        continue;
    return pclose(pipe) == 0;
}

/* " -DLANES=32u -DSHARED_TILE" is "#define LANES 32u" and "#define SHARED_TILE 1". */
static void add_macros(const char *defines, struct strbuf *out)
{
    for (const char *at = defines; (at = strstr(at, " -D")) != NULL;) {
        at += 3;
        const size_t length = strcspn(at, " "), name = strcspn(at, " =");
        strbuf_addf(out, "#define %.*s %.*s\n", (int)name, at, name < length ? (int)(length - name - 1) : 1,
                    name < length ? at + name + 1 : "1");
    }
}

static void write_variant(const struct subject *s, const struct program_variant *v, const char *path)
{
    struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;

    add_macros(s->macros, &text);
    add_macros(v->defines, &text);
    expect_ok(program_source(v->file, NULL, &text, &err), &err, v->file);
    scratch_write(path, text.data, text.len);
    strbuf_fini(&text);
}

static const char *variant_path(char out[SCRATCH_MAX], const char *dir, size_t i)
{
    char name[32];

    snprintf(name, sizeof name, "%zu.cl", i);
    return scratch_path(out, dir, name);
}

static void test_path(void **state)
{
    const struct subject *s = *state;
    struct opencl_renderer r = {.path = s->path, .lanes = s->lanes};
    struct program_variant *variants;
    struct err err = ERR_INIT;
    char dir[SCRATCH_MAX], path[SCRATCH_MAX], said[4000];
    size_t count, wrong = SIZE_MAX;

    need_clang();
    r.base.info.kind = s->path == PATH_CPU ? DEVICE_CPU : DEVICE_GPU;
    r.base.info.max_work_group_size = s->max_group;
    expect_ok(variants_list(&r.base, true, &variants, &count, &err), &err, "variants_list");
    scratch_make(dir);
    for (size_t i = 0; i < count; i++)
        write_variant(s, &variants[i], variant_path(path, dir, i));
    if (!passes(s->options, dir, "*.cl", said, sizeof said))
        for (wrong = 0; wrong < count; wrong++)
            if (!passes(s->options, dir, strrchr(variant_path(path, dir, wrong), '/') + 1, said, sizeof said))
                break;
    for (size_t i = 0; i < count; i++)
        unlink(variant_path(path, dir, i));
    scratch_remove(dir, NULL, 0);
    if (wrong != SIZE_MAX)
        fail_msg("%s%s:\n%s", wrong < count ? variants[wrong].file : "all together",
                 wrong < count ? variants[wrong].defines : "", said);
    variants_free(variants, count);
}

/* A function that nobody declared is an error, and a double a warning that counts as one. */
static void test_errors_show(void **state)
{
    static const struct {
        const char *text, *said;
    } wrong[] = {
        {"#ifdef PATH_PTX\nkernel void k(global float *x) { *x = nowhere(*x); }\n#endif\n", "nowhere"},
        {"kernel void k(global float *x) { *x = *x * 0.5; }\n", "double"}};
    static const char *const name = "a.cl";
    char dir[SCRATCH_MAX], path[SCRATCH_MAX], said[4000];

    (void)state;
    need_clang();
    scratch_make(dir);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct strbuf text = STRBUF_INIT;
        add_macros(" -DPATH_PTX", &text);
        strbuf_add(&text, wrong[i].text);
        scratch_write(scratch_path(path, dir, name), text.data, text.len);
        strbuf_fini(&text);
        assert_false(passes(ptx.options, dir, name, said, sizeof said));
        assert_non_null(strstr(said, wrong[i].said));
    }
    scratch_remove(dir, &name, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"ptx", test_path, NULL, NULL, (void *)&ptx},
        {"subgroups, OpenCL C 3.0", test_path, NULL, NULL, (void *)&subgroups3},
        {"subgroups, OpenCL C 2.0", test_path, NULL, NULL, (void *)&subgroups2},
        {"local", test_path, NULL, NULL, (void *)&local_memory},
        {"cpu, 16 pixels a vector", test_path, NULL, NULL, (void *)&cpu16},
        {"cpu, 8 pixels a vector", test_path, NULL, NULL, (void *)&cpu8},
        cmocka_unit_test(test_errors_show),
    };

    return cmocka_run_group_tests_name("syntax", tests, NULL, NULL);
}
