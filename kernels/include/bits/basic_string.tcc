// As shared_ptr_base.h beside this: libstdc++'s header writes the attribute `__noinline__` since GCC 13.

#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/basic_string.tcc>
#pragma pop_macro("__noinline__")
