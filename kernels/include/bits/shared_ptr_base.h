// libstdc++'s header writes the attribute `__noinline__`, which is CUDA's word for an
// attribute of its own: the word is put away while that header is read.

#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
