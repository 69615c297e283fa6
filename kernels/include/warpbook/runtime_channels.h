// Templates of cudaCreateChannelDesc.

#pragma once

template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define WARPBOOK_CHANNELS(T, type, kind)                                                           \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() {                          \
        return cudaCreateChannelDesc(8 * (int)sizeof(T), 0, 0, 0, kind);                           \
    }                                                                                              \
    WARPBOOK_VECTOR_CHANNELS(type, sizeof(T), kind)
#define WARPBOOK_VECTOR_CHANNELS(type, bytes, kind)                                                \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type##1>() {                    \
        return cudaCreateChannelDesc(8 * (int)bytes, 0, 0, 0, kind);                               \
    }                                                                                              \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type##2>() {                    \
        return cudaCreateChannelDesc(8 * (int)bytes, 8 * (int)bytes, 0, 0, kind);                  \
    }                                                                                              \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type##4>() {                    \
        int bits = 8 * (int)bytes;                                                                 \
        return cudaCreateChannelDesc(bits, bits, bits, bits, kind);                                \
    }

WARPBOOK_CHANNELS(signed char, char, cudaChannelFormatKindSigned)
WARPBOOK_CHANNELS(unsigned char, uchar, cudaChannelFormatKindUnsigned)
WARPBOOK_CHANNELS(short, short, cudaChannelFormatKindSigned)
WARPBOOK_CHANNELS(unsigned short, ushort, cudaChannelFormatKindUnsigned)
WARPBOOK_CHANNELS(int, int, cudaChannelFormatKindSigned)
WARPBOOK_CHANNELS(unsigned int, uint, cudaChannelFormatKindUnsigned)
WARPBOOK_CHANNELS(float, float, cudaChannelFormatKindFloat)

template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<char>() {
    return cudaCreateChannelDesc(8, 0, 0, 0,
                                 (char)-1 < 0 ? cudaChannelFormatKindSigned
                                              : cudaChannelFormatKindUnsigned);
}

#undef WARPBOOK_CHANNELS
#undef WARPBOOK_VECTOR_CHANNELS

inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
    return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}
