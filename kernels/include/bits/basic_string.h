// Same fix as in shared_ptr_base.h, next to this file: since GCC 13 libstdc++ writes the attribute `__noinline__`.

#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/basic_string.h>
#pragma pop_macro("__noinline__")
