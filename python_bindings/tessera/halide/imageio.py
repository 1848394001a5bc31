"""Images in files, where a program imports `halide.imageio` by itself: the functions of tessera.imageio."""
from tessera.imageio import copy_to_interleaved, copy_to_planar, imread, imwrite, is_interleaved

__all__ = ["copy_to_interleaved", "copy_to_planar", "imread", "imwrite", "is_interleaved"]
