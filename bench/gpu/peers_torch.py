"""Measures how long PyTorch takes for what some of the apps compute, on this machine's GPU.

Prints a line for each case of bench_gpu_apps that PyTorch says in a few lines: microseconds of a
call in a row of calls, the median of several rows, eager and compiled. float32 without tensor cores.
"""
import statistics
import time

import torch
import torch.nn.functional as F


def microseconds(call):
    call()
    torch.cuda.synchronize()
    calls, rows = 50, []
    for _ in range(11):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        rows.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(rows)


def blur(x):
    rows = x[:, :-2] + x[:, 1:-1] + x[:, 2:]
    return (rows[:-2] + rows[1:-1] + rows[2:]) * (1 / 9)


def blur_u16(x):
    rows = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) // 3
    return (rows[:-2] + rows[1:-1] + rows[2:]) // 3


def gray_of(x):
    return 0.299 * x[0] + 0.587 * x[1] + 0.114 * x[2]


def unsharp(x):
    half = torch.exp(-torch.arange(4, device=x.device) ** 2 / (2 * 1.5 ** 2))
    half = half / (half[0] + 2 * half[1:].sum())
    padded = F.pad(x[None], (3, 3, 3, 3), mode="replicate")[0]
    gray = gray_of(padded)
    h, w = x.shape[1:]
    soft = half[0] * gray[3:3 + h]
    for i in range(1, 4):
        soft = soft + half[i] * (gray[3 - i:3 - i + h] + gray[3 + i:3 + i + h])
    blurred = half[0] * soft[:, 3:3 + w]
    for i in range(1, 4):
        blurred = blurred + half[i] * (soft[:, 3 - i:3 - i + w] + soft[:, 3 + i:3 + i + w])
    inner = gray[3:3 + h, 3:3 + w]
    return x * ((2 * inner - blurred) / torch.clamp(inner, min=1e-4))


def harris(x):
    g = gray_of(x)
    up, here, down = g[:-2], g[1:-1], g[2:]
    slope_x = (up[:, 2:] - up[:, :-2] + 2 * (here[:, 2:] - here[:, :-2]) +
               down[:, 2:] - down[:, :-2]) / 12
    slope_y = (down[:, :-2] - up[:, :-2] + 2 * (down[:, 1:-1] - up[:, 1:-1]) +
               down[:, 2:] - up[:, 2:]) / 12

    def sum_3x3(a):
        rows = a[:, :-2] + a[:, 1:-1] + a[:, 2:]
        return rows[:-2] + rows[1:-1] + rows[2:]

    xx, xy, yy = sum_3x3(slope_x ** 2), sum_3x3(slope_x * slope_y), sum_3x3(slope_y ** 2)
    return xx * yy - xy * xy - 0.04 * (xx + yy) ** 2


def cases():
    new = lambda *shape: torch.rand(*shape, device="cuda")
    photo = new(3, 2560, 1536)
    yield "blur f32 1536x2560", blur, (new(2562, 1538),)
    yield "blur u16 6464x4816", blur_u16, (torch.randint(0, 1 << 14, (4818, 6466), device="cuda",
                                                         dtype=torch.int16),)
    yield "unsharp", unsharp, (photo,)
    yield "harris", harris, (photo,)
    for count, width in ((4096, 1024), (65536, 1024), (512, 512)):
        yield f"softmax {count}x{width}", lambda x: torch.softmax(x, -1), (new(count, width),)
    for count, width in ((4096, 1024), (65536, 1024), (512, 768)):
        yield (f"layer norm {count}x{width}", lambda x, s, b: F.layer_norm(x, s.shape, s, b),
               (new(count, width), new(width), new(width)))
    yield ("conv 3x3 N5 128->128 100x80", lambda x, w, b: torch.relu(F.conv2d(x, w, b)),
           (new(5, 128, 82, 102).to(memory_format=torch.channels_last), new(128, 128, 3, 3), new(128)))
    yield ("depthwise + pointwise",
           lambda x, d, p, b: torch.relu(F.conv2d(F.conv2d(x, d, padding=1, groups=32), p, b)),
           (new(4, 32, 112, 112).to(memory_format=torch.channels_last), new(32, 1, 3, 3),
            new(16, 32, 1, 1), new(16)))
    yield ("attention B1 H8 S512 D64", F.scaled_dot_product_attention,
           tuple(new(1, 8, 512, 64) for _ in range(3)))


def attention():
    """Prints what the backends of PyTorch take for the cases of bench_attention."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    heads, count = 64, 4096
    for size in (128, 64):
        query, key, value = (torch.rand(4, heads // 4, count, size, device="cuda",
                                        dtype=torch.float16) * 2 - 1 for _ in range(3))
        for causal in (False, True):
            for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
                with sdpa_kernel([backend]):
                    time = microseconds(lambda: F.scaled_dot_product_attention(
                        query, key, value, is_causal=causal))
                work = (2 if causal else 4) * heads * count * count * size
                print(f"attention {count} x {size}{', causal' if causal else ''} by "
                      f"{backend.name}: {time:.1f} us {work / time / 1e6:.0f} TFLOP/s", flush=True)


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}")
    for name, function, arguments in cases():
        eager = microseconds(lambda: function(*arguments))
        try:
            compiled = torch.compile(function)
            fast = f"{microseconds(lambda: compiled(*arguments)):10.1f}"
        except Exception as error:  # of the compiler, such as a missing C compiler
            fast = f"none ({type(error).__name__})"
        print(f"{name:32} eager {eager:10.1f} us   compiled {fast} us", flush=True)
    attention()


if __name__ == "__main__":
    main()
