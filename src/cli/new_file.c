#include "cli/new_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool check_folder(const char *folder, const char *name, struct err *err)
{
    struct stat st;

    if (stat(folder, &st) != 0)
        return errno == ENOENT ? err_set(err, ERR_IO, "%s: there is no folder %s", name, folder)
                               : err_set_native(err, ERR_IO, errno, "%s: the folder %s", name, folder);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_IO, "%s: %s is no folder", name, folder);
    return access(folder, W_OK | X_OK) == 0 ||
           err_set_native(err, ERR_IO, errno, "%s cannot be made: the folder %s", name, folder);
}

bool new_file_folder_check(const char *name, struct err *err)
{
    char folder[4096];
    size_t length = strlen(name);

    if (length >= sizeof folder)
        return err_set(err, ERR_IO, "%.60s...: the name is too long", name);
    strcpy(folder, name);
    while (length > 1 && folder[length - 1] == '/')
        folder[--length] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash)
        strcpy(folder, ".");
    else
        slash[slash == folder] = '\0';
    return check_folder(folder, name, err);
}

bool new_file_check(const char *name, struct err *err)
{
    const size_t length = strlen(name);
    char partial[4096];
    struct stat st;

    if (stat(name, &st) == 0)
        return S_ISDIR(st.st_mode)
                   ? err_set(err, ERR_IO, "%s is a folder: name a file in it", name)
                   : err_set(err, ERR_IO, "%s exists already: move it away, or give -o another name", name);
    if (lstat(name, &st) == 0)
        return err_set(err, ERR_IO, "%s is a link to nothing: remove it, or give -o another name", name);
    if (length == 0 || name[length - 1] == '/')
        return err_set(err, ERR_IO, "\"%s\" names no file", name);
    snprintf(partial, sizeof partial, "%s.partial", name);
    if (!new_file_folder_check(name, err))
        return false;
    return access(partial, F_OK) != 0 ||
           err_set(err, ERR_IO, "%s is what an unfinished run left: go on with it by --resume, or remove it",
                   partial);
}

bool new_folder_check(const char *name, struct err *err)
{
    return access(name, F_OK) == 0 ? check_folder(name, name, err) : new_file_folder_check(name, err);
}
