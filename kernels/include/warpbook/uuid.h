// The 16-byte unique identifier of a device.

#pragma once

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
