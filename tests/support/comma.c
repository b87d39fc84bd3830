/* Makes a locale with commas out of the sources that Debian's package locales has. See the header. */
#include "support/comma.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/cli.h"
#include "support/cmocka_all.h"

void comma_locale(void)
{
    char command[1200];
    const char *folder = in_scratch("locales");
    /* localedef ends with 1 when it has warned. */
    snprintf(command, sizeof command,
             "mkdir -p %s && { localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 || true; } >/dev/null 2>&1",
             folder, folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("LOCPATH", folder, 1), 0);
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        fail_msg("localedef made no de_DE.UTF-8: is the package locales there?");
    assert_int_equal(unsetenv("LOCPATH"), 0);
    assert_string_equal(localeconv()->decimal_point, ",");
}

int comma_set_up(void **state)
{
    (void)state;
    comma_locale();
    return 0;
}
