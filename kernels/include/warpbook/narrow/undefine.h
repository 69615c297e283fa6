// Undefines the macros that half_type.h and bfloat16_type.h define for type.h,
// conversions.h and functions.h.

#undef WARPBOOK_NARROW
#undef WARPBOOK_NARROW2
#undef WARPBOOK_NARROW_OTHER
#undef WARPBOOK_NARROW_RAW
#undef WARPBOOK_NARROW2_RAW
#undef WARPBOOK_NARROW_FROM
#undef WARPBOOK_NARROW_TO
#undef WARPBOOK_NAME
#undef WARPBOOK_NAME2
