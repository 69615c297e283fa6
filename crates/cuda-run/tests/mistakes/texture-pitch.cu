// case: a 2D texture of tightly packed rows, whose pitch is not a multiple of 32 bytes
// thread: https://github.com/kornia/kornia-rs/pull/1001
int main() {
#ifdef GOOD
    const size_t width = 136;
#else
    const size_t width = 130;
#endif
    float *image;
    cudaMalloc(&image, width * 64 * sizeof(float));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = image;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = 64;
    resource.res.pitch2D.pitchInBytes = width * sizeof(float);
    cudaTextureDesc description = {};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr); //~ cudaErrorInvalidValue | the texture's pitch of 520 bytes is not a multiple of 32 bytes
#ifdef GOOD
    cudaDestroyTextureObject(texture);
#endif
    cudaFree(image);
}
