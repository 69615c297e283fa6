// libstdc++'s header writes the attribute `__noinline__`, which CUDA defines as a macro:
// the macro is hidden while that header is included.

#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
