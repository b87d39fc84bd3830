"""The neural network of nn.c in Python, with numpy in the device's place: the same ops, told by the package devlog, and the same
numbers, so that its report has the columns and rows of the other, without what only a device can tell.

    devlog run --host-only -- python3 examples/nn/nn.py [STEPS [LAYERS [COLUMNS ROWS]]]

The defaults are those of nn.c: 2 steps of 2 layers on 3x2 cores, each with a token matrix of its own."""

import sys

import numpy as np

import devlog

N, SHIFT, MAX_CORES = 12, 8, 64  # as in nn.h


def op(name, *inputs, type="tt_dnn_cpu", **told):
    """Tensors are told as one core has them."""
    return devlog.op(name, inputs=[a[0] for a in inputs], type=type, **told)


def matmul(a, b):
    with op("Matmul", a, b, attributes={"transpose_a": False, "transpose_b": False, "block": [1, 1, N]}) as told:
        product = (a @ b) >> SHIFT
        told.output(product[0])
    return product


def softmax(scores):
    with op("Softmax", scores, attributes="over rows, in two programs") as told:
        halvings = np.minimum((scores.max(axis=2, keepdims=True) - scores) // 16, 31)
        exponentials = np.where(halvings < 16, 65536 >> halvings, 0).astype(np.int32)
        result = (exponentials << SHIFT) // exponentials.sum(axis=2, keepdims=True, dtype=np.int32)
        told.output(result[0])
    return result


def attention(tokens, weights):
    with op("Attention", tokens) as told:
        mixed = matmul(softmax(matmul(tokens, weights)), tokens)
        told.output(mixed[0])
    return mixed


def add(a, b):
    with op("Add", a, b) as told:
        total = a + b
        told.output(total[0])
    return total


def transpose(a):
    with op("Transpose", a) as told:
        moved = np.ascontiguousarray(a.transpose(0, 2, 1))
        told.output(moved[0])
    return moved


def embed(step, cores):
    """Tokens and weights of every core, by the generator of nn.c."""
    with op("(torch) embedding", type="python_fallback") as told:
        words = np.empty((cores, 2, N, N), np.int32)
        for core in range(cores):
            x = (step * 2654435761 + core * 40503 + 1) % 2**32
            for k in range(2 * N * N):
                x = (x * 1664525 + 1013904223) % 2**32
                words[core].reshape(-1)[k] = (x >> 24) - 128
        tokens, weights = (np.ascontiguousarray(words[:, m]) for m in (0, 1))
        told.output(tokens[0])
    return tokens, weights


def argmax(moved):
    """The token that the network would choose."""
    with op("ArgMax", moved) as told:
        token = int(moved[0].argmax())
        told.append_meta_data({"token": token})
        told.output(moved[0])
    return token


def run(steps, layers, columns, rows):
    chosen = []
    for step in range(steps):
        devlog.step(step)
        tokens, weights = embed(step, columns * rows)
        for layer in range(layers):
            devlog.signpost(f"layer {layer}")
            # Keeps the numbers small, as a normalisation would; the remainder has its sign, as in C.
            tokens = np.fmod(add(tokens, attention(tokens, weights)), 256)
        chosen.append(argmax(transpose(tokens[:columns])))
    return chosen


def main(arguments):
    if len(arguments) in (0, 1, 2, 4) and all(a.isascii() and a.isdigit() and 1 <= int(a[:9]) <= 65535 for a in arguments):
        steps, layers, columns, rows = [int(a) for a in arguments] + [2, 2, 3, 2][len(arguments):]
        if columns * rows <= MAX_CORES:
            print(f"nn: {steps} steps of {layers} layers on {columns}x{rows} cores: tokens", *run(steps, layers, columns, rows))
            return 0
    print(f"nn: all of them are numbers from 1 on, and there are at most {MAX_CORES} cores; usage: nn.py [STEPS [LAYERS [COLUMNS ROWS]]]",
          file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
