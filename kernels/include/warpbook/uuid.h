// The sixteen bytes by which a device is known.

#pragma once

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
