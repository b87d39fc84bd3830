/* JSON values as Python's str() prints them, because that is what the cells of tt-metal's op report hold:
 * {'key': 'value'}, [1, 2.0], True, None. Nothing is evaluated. */
#ifndef DEVLOG_TT_METAL_PYTHON_H
#define DEVLOG_TT_METAL_PYTHON_H

#include "ops/jsonline.h"

/* As str() gives it: a text without quotes, everything else as repr() does. */
void tt_python_str(const jl_value *v, dl_str *out);
void tt_python_repr(const jl_value *v, dl_str *out);
/* The shortest digits that are this double again, as Python writes them: 1.0, 1e-05, 1e+16. */
void tt_python_double(double value, dl_str *out);

#endif
