/* External C program: minimal use of the installed library. */
#include <evenkeel.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    struct ek_error *e = ek_error_new();
    struct ek_assets *assets = NULL;
    if (!e)
        return 1;
    int code = ek_assets_load(&assets, "absent.yaml", "absent.ekp", NULL, NULL, e);
    printf("%s\n%s\n", ek_version(), ek_error_message(e));
    int good = code != 0 && assets == NULL && strstr(ek_error_message(e), "absent") != NULL;
    ek_error_free(e);
    return good ? 0 : 1;
}
