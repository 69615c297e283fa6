// Texture and surface objects: each function compiles to its instruction.
extern "C" __global__ void images(cudaTextureObject_t t, cudaSurfaceObject_t s, float *f, float4 *v,
                                  unsigned char *c) {
    f[0] = tex1Dfetch<float>(t, 3) + tex1D<float4>(t, 1.5f).y + tex2D<float>(t, 1.5f, 2.5f);
    f[1] = tex3D<float>(t, 1, 2, 3);
    f[2] = tex1DLod<float>(t, 1, 2) + tex2DLod<float>(t, 1, 2, 3) + tex3DLod<float>(t, 1, 2, 3, 4);
    tex2D(f + 3, t, 1.0f, 2.0f);
    c[0] = tex2D<unsigned char>(t, 3, 4);
    c[1] = (unsigned char)tex2D<char4>(t, 3, 4).z;
    c[2] = (unsigned char)tex2D<uint2>(t, 3, 4).y;
    v[1] = tex2D<float4>(t, 0.5f, 0.5f);
    surf2Dread(f + 4, s, 4, 5);
    f[5] = surf2Dread<float>(s, 8, 1, cudaBoundaryModeClamp);
    c[3] = surf2Dread<unsigned char>(s, 1, 1) + surf1Dread<short>(s, 2);
    v[2] = surf1Dread<float4>(s, 16);
    surf1Dwrite(f[0], s, 4);
    surf2Dwrite(v[2], s, 16, 5);
    surf2Dwrite((unsigned char)3, s, 1, 5);
    surf2Dwrite(make_float2(1, 2), s, 8, 2, cudaBoundaryModeZero);
    surf3Dwrite(make_uchar4(1, 2, 3, 4), s, 4, 2, 3);
}

// Layered and cubemap textures and surfaces.
extern "C" __global__ void layers(cudaTextureObject_t t, cudaSurfaceObject_t s, float *f) {
    f[0] = tex1DLayered<float>(t, 1, 2) + tex2DLayered<float>(t, 1, 2, 3);
    f[1] = texCubemap<float>(t, 1, 2, 3) + texCubemapLayered<float>(t, 1, 2, 3, 4);
    f[2] = tex1DLayeredLod<float>(t, 1, 2, 3) + tex2DLayeredLod<float>(t, 1, 2, 3, 4);
    f[3] = texCubemapLod<float>(t, 1, 2, 3, 4) + texCubemapLayeredLod<float>(t, 1, 2, 3, 4, 5);
    f[4] = surf1DLayeredread<float>(s, 4, 1) + surf2DLayeredread<float>(s, 4, 1, 2);
    f[5] = surfCubemapread<float>(s, 4, 1, 5) + surfCubemapLayeredread<float>(s, 4, 1, 11);
    surf1DLayeredwrite(make_float4(1, 2, 3, 4), s, 16, 1);
    surf2DLayeredwrite((short)2, s, 2, 2, 3);
    surfCubemapwrite(make_float2(1, 2), s, 8, 0, 4, cudaBoundaryModeZero);
    surfCubemapLayeredwrite((unsigned char)2, s, 2, 2, 3, cudaBoundaryModeClamp);
}
