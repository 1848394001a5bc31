"""Images in files, as arrays of NumPy's whose axes are channel, y and x: im[c, y, x] is f[x, y, c].

PNG, PGM and PPM are read and written by Tessera itself, other formats by the package imageio where it is installed.

>>> ts.imageio.imwrite("picture.png", np.array([[0, 255]], np.uint8))
>>> ts.imageio.imread("picture.png").tolist()
[[0, 255]]
"""
import os

from . import _tessera

_OWN = (".png", ".pgm", ".ppm")


def _is_own(path, format):
    return format is None and isinstance(path, (str, os.PathLike)) and os.fspath(path).lower().endswith(_OWN)


def _imageio():
    try:
        import imageio.v2
    except ImportError:
        raise _tessera_error("files other than PNG, PGM and PPM need the package imageio: pip install imageio") from None
    return imageio.v2


def _tessera_error(text):
    from ._errors import Error

    return Error(text)


def is_interleaved(im):
    """Returns True for an array of three axes whose last one is that of the channels: (height, width, 3).

    >>> pixels = np.zeros((48, 64, 3), np.uint8)
    >>> ts.imageio.is_interleaved(pixels), ts.imageio.is_interleaved(ts.imageio.copy_to_planar(pixels))
    (True, False)
    """
    return im.ndim == 3 and im.shape[2] <= 4 and im.strides[2] == im.itemsize and im.strides[1] == im.shape[2] * im.itemsize


def _moved(im, source, destination):
    import numpy

    return numpy.moveaxis(im, source, destination)


def copy_to_planar(im):
    """Returns a copy with each channel a plane: (3, height, width).

    >>> ts.imageio.copy_to_planar(np.zeros((48, 64, 3), np.uint8)).shape
    (3, 48, 64)
    """
    import numpy

    return numpy.array(_moved(im, 2, 0) if is_interleaved(im) else im, order="C")


def copy_to_interleaved(im):
    """Returns a copy with the channels of a pixel side by side: (height, width, 3).

    >>> ts.imageio.copy_to_interleaved(np.zeros((3, 48, 64), np.uint8)).shape
    (48, 64, 3)
    """
    import numpy

    return numpy.array(_moved(im, 0, 2) if im.ndim == 3 and not is_interleaved(im) else im, order="C")


def imread(uri, format=None, **kwargs):
    """Returns the image of a file: (height, width), or (channels, height, width).

    >>> ts.imageio.imwrite("picture.png", np.zeros((48, 64), np.uint8))
    >>> ts.imageio.imread("picture.png").shape
    (48, 64)
    """
    if _is_own(uri, format) and not kwargs:
        return _tessera.load_image(os.fspath(uri)).numpy()
    import numpy

    return copy_to_planar(numpy.asarray(_imageio().imread(uri, format, **kwargs)))


def imwrite(uri, im, format=None, **kwargs):
    """Writes an image, planar or interleaved, in the format that the ending of the path says.

    >>> ts.imageio.imwrite("picture.ppm", np.zeros((48, 64, 3), np.uint8))
    >>> ts.imageio.imread("picture.ppm").shape
    (3, 48, 64)
    """
    import numpy

    array = numpy.asarray(im)
    if _is_own(uri, format) and not kwargs:
        _tessera.save_image(copy_to_planar(array), os.fspath(uri))
        return
    _imageio().imwrite(uri, copy_to_interleaved(array), format, **kwargs)
