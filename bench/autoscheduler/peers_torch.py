"""Measures how long PyTorch takes for the operators of `bench_autoscheduler --operators`, on this CPU.

Reads that program's table from stdin and prints for each row the milliseconds of PyTorch, the least
of both of its layouts, and how many times as fast ours is. `--threads`: as there.
"""
import argparse
import re
import sys
import time

import torch
import torch.nn.functional as F


def milliseconds(call):
    call()
    begin, runs = time.perf_counter(), 0
    while time.perf_counter() - begin < 0.05:
        call()
        runs += 1
    best = 1e300
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(runs):
            call()
        best = min(best, (time.perf_counter() - begin) / runs * 1e3)
    return best


def convolution(batch, sizes, inputs, outputs, taps, stride, pad, groups=1, dilation=1, layer=False):
    """Calls in both layouts."""
    dims = len(sizes)
    conv = (F.conv1d, F.conv2d, F.conv3d)[dims - 1]
    image = torch.rand(batch, inputs, *sizes)
    weights = torch.rand(outputs, inputs // groups, *[taps] * dims)
    scale, bias = torch.rand(1, outputs, 1, 1), torch.rand(1, outputs, 1, 1)

    def call(image, weights):
        result = conv(image, weights, None, stride, pad, dilation, groups)
        return torch.relu(result * scale + bias) if layer else result

    calls = [lambda: call(image, weights)]
    if dims > 1:
        form = torch.channels_last if dims == 2 else torch.channels_last_3d
        turned = image.contiguous(memory_format=form), weights.contiguous(memory_format=form)
        calls.append(lambda: call(*turned))
    return calls


def transposed(batch, size, inputs, outputs, taps, stride, pad):
    image, weights = torch.rand(batch, inputs, size, size), torch.rand(inputs, outputs, taps, taps)
    turned = image.contiguous(memory_format=torch.channels_last)
    return [lambda x=x: F.conv_transpose2d(x, weights, None, stride, pad) for x in (image, turned)]


def attention(batch, length, heads, depth):
    q, k = torch.rand(batch, length, heads, depth), torch.rand(batch, length, heads, depth)
    return [lambda: torch.softmax(q.permute(0, 2, 1, 3) @ k.permute(0, 2, 3, 1), -1)]


def product(batch, rows, columns, depth):
    a, b = torch.rand(batch, rows, depth), torch.rand(batch, depth, columns)
    return [lambda: torch.bmm(a, b)]


def norm(batch, size):
    image = torch.rand(batch, size * size)
    return [lambda: torch.linalg.vector_norm(image, dim=1)]


def calls_of(name, s, batch):
    """Nothing where PyTorch has no such operator."""
    if name == "C1D":
        return convolution(batch, s[:1], *s[1:])
    if name in ("C2D", "GRP", "DIL", "ConvLayer"):
        return convolution(batch, s[:2], *s[2:], groups=4 if name == "GRP" else 1,
                           dilation=2 if name == "DIL" else 1, layer=name == "ConvLayer")
    if name == "C3D":
        return convolution(batch, s[:3], *s[3:])
    if name == "DEP":
        return convolution(batch, s[:2], s[2], s[2], *s[3:], groups=s[2])
    if name == "T2D":
        return transposed(batch, s[0], *s[2:])
    if name == "GMM":
        return product(batch, *s)
    if name == "TBS":
        return attention(batch, *s)
    if name == "NRM":
        return norm(batch, s[0])
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    torch.set_num_threads(parser.parse_args().threads)
    row = re.compile(r"^(\w+) +([\d ]+) x(\d+) +([\d.]+) +([\d.]+) ")
    for line in sys.stdin:
        match = row.match(line)
        if not match:
            continue
        name, shape, batch, _, ours = match.groups()
        calls = calls_of(name, [int(n) for n in shape.split()], int(batch))
        if not calls:
            continue
        with torch.inference_mode():
            theirs = min(milliseconds(call) for call in calls)
        ratio = theirs / float(ours)
        print(f"{name:10} {shape} x{batch:4} {theirs:10.4f} ms, ours {ours} ms: {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
