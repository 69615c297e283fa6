// Support for the listings of "CUDA by Example", which include "../common/cpu_bitmap.h": an image in host
// memory with four bytes per pixel (red, green, blue, and one that is not drawn), the first row at the
// bottom. The book opens a window; here display_and_exit writes the file bitmap.ppm to the current folder.

#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <vector>

struct CPUBitmap
{
    CPUBitmap(int width, int height, void *data = nullptr)
        : width(width), height(height), data(data), bytes(size_t(4) * width * height)
    {
    }

    unsigned char *get_ptr() { return bytes.data(); }

    long image_size() const { return long(bytes.size()); }

    // Writes the image to a file.
    void save(const char *name)
    {
        FILE *file = fopen(name, "wb");
        if (!file)
        {
            perror(name);
            exit(1);
        }
        fprintf(file, "P6 %d %d 255\n", width, height);
        for (int row = height - 1; row >= 0; row--)
            for (int col = 0; col < width; col++)
                fwrite(&bytes[4 * (size_t(row) * width + col)], 1, 3, file);
        if (fclose(file) != 0)
        {
            perror(name);
            exit(1);
        }
        printf("the picture: %s\n", name);
    }

    // Writes the image, then calls the book's callback for closing the window.
    void display_and_exit(void (*at_exit)(void *) = nullptr)
    {
        save("bitmap.ppm");
        if (at_exit)
            at_exit(data);
        exit(0);
    }

    int width, height;
    void *data;
    std::vector<unsigned char> bytes;
};
