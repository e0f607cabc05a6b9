#!/usr/bin/env python3
"""`kilter app vgg16` gives the probabilities of ONNX Runtime for the same weights.

    vgg16_reference.py KILTER ENVIRONMENT

ONNX Runtime is the same network, built by other hands. Weights and a picture are drawn, and written
as safetensors, as Darknet's `.weights` and as PPM. ENVIRONMENT is a Python environment with numpy,
onnx and onnxruntime, which scripts/setup.sh makes; without it the exit status is 77. Each format
has its own scale of pixels, so each is compared with a run of the reference on pixels in that
scale.
"""

import csv
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import environment

RESOLUTION, DIVIDE, CLASSES = 64, 8, 1000
BOUND = 1e-4  # of the largest probability
CHANNELS = [
    64,
    64,
    "pool",
    128,
    128,
    "pool",
    256,
    256,
    256,
    "pool",
    512,
    512,
    512,
    "pool",
    512,
    512,
    512,
    "pool",
]
MEAN, DEVIATION = (
    (0.485, 0.456, 0.406),
    (0.229, 0.224, 0.225),
)  # of ImageNet, as torchvision documents its models


def draw_layers(random):
    """(torchvision's name, weights, biases) of each layer that has some, None for a pooling."""
    layers, inputs, number, side = [], 3, 0, RESOLUTION

    def drawn(name, shape):
        fan_in = np.prod(shape[1:])
        return (
            name,
            random.normal(0, np.sqrt(2 / fan_in), shape).astype("<f4"),
            random.uniform(-0.1, 0.1, shape[0]).astype("<f4"),
        )

    for channels in CHANNELS:
        if channels == "pool":
            layers.append(None)
            side //= 2
            number += 1
            continue
        layers.append(drawn(f"features.{number}", (channels // DIVIDE, inputs, 3, 3)))
        inputs = channels // DIVIDE
        number += 2
    inputs *= side * side
    for number, outputs in (0, 4096 // DIVIDE), (3, 4096 // DIVIDE), (6, CLASSES):
        layers.append(drawn(f"classifier.{number}", (outputs, inputs)))
        inputs = outputs
    return layers


def with_weights(layers):
    return [layer for layer in layers if layer]


def write_safetensors(path, layers):
    header, data = {}, b""
    for name, weights, biases in with_weights(layers):
        for what, values in (".weight", weights), (".bias", biases):
            header[name + what] = {
                "dtype": "F32",
                "shape": list(values.shape),
                "data_offsets": [len(data), len(data) + values.nbytes],
            }
            data += values.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_darknet(path, layers):
    path.write_bytes(
        struct.pack("<iiiq", 0, 2, 0, 0)
        + b"".join(
            biases.tobytes() + weights.tobytes() for _, weights, biases in with_weights(layers)
        )
    )


def reference(layers, pixels):
    """The probabilities that ONNX Runtime computes for an input of 3 x RESOLUTION x RESOLUTION."""
    nodes, constants, now = [], [], "input"

    def node(kind, inputs, **how):
        nonlocal now
        out = f"{kind}{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [out], **how))
        now = out

    for layer in layers:
        if layer is None:
            node("MaxPool", [now], kernel_shape=[2, 2], strides=[2, 2])
            continue
        name, weights, biases = layer
        constants += [
            numpy_helper.from_array(weights, name + ".weight"),
            numpy_helper.from_array(biases, name + ".bias"),
        ]
        convolution = weights.ndim == 4
        if name == "classifier.0":
            node("Flatten", [now])
        if convolution:
            node(
                "Conv",
                [now, name + ".weight", name + ".bias"],
                kernel_shape=[3, 3],
                pads=[1, 1, 1, 1],
            )
        else:
            node("Gemm", [now, name + ".weight", name + ".bias"], transB=1)
        node("Softmax" if name == "classifier.6" else "Relu", [now])
    number = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "vgg16",
        [number("input", TensorProto.FLOAT, [1, 3, RESOLUTION, RESOLUTION])],
        [number(now, TensorProto.FLOAT, [1, CLASSES])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"input": pixels[None].astype("f4")})[0][0]


def kilter_probabilities(kilter, folder, weights, model):
    out = folder / "out.csv"
    subprocess.run(
        [
            kilter,
            "app",
            "vgg16",
            "--weights",
            weights,
            "--size",
            "small",
            "--input",
            folder / "picture.ppm",
            "--model",
            model,
            "--pictures",
            "5",
            "--repeat",
            "1",
            "--output",
            out,
            "--quiet",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=100,
    )
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["class"]) for row in rows] == list(range(CLASSES)), "a row for each class"
    return np.array([float(row["probability"]) for row in rows])


def main(kilter):
    random = np.random.default_rng(1)
    layers = draw_layers(random)
    picture = random.integers(0, 256, (RESOLUTION, RESOLUTION, 3), dtype=np.uint8)
    unit = picture.transpose(2, 0, 1) / 255

    def column(of_colours):
        return np.array(of_colours)[:, None, None]

    formats = {
        "weights.safetensors": (write_safetensors, (unit - column(MEAN)) / column(DEVIATION)),
        "vgg-16.weights": (write_darknet, 2 * unit - 1),
    }
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "picture.ppm").write_bytes(
            b"P6\n%d %d\n255\n" % (RESOLUTION, RESOLUTION) + picture.tobytes()
        )
        for file, (write, pixels) in formats.items():
            write(folder / file, layers)
            right = reference(layers, pixels)
            for model in "serial", "static", "kilter":
                away = (
                    np.abs(kilter_probabilities(kilter, folder, folder / file, model) - right).max()
                    / right.max()
                )
                wrong += away > BOUND
                print(
                    f"{file}, {model}: {away:.1e} of the largest probability, {right.max():.3f}, "
                    "from ONNX Runtime's" + ("" if away <= BOUND else ": TOO FAR")
                )
    return 1 if wrong else 0


if __name__ == "__main__":
    environment.enter(sys.argv[2], "numpy", "onnx", "onnxruntime")
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, checker, helper, numpy_helper

    sys.exit(main(sys.argv[1]))
