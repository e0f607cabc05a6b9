#!/usr/bin/env python3
"""Programs of `kilter lab app` against those of others.

    references.py KILTER ENVIRONMENT kmeans | vgg16

kmeans: from the same centres scikit-learn and Kilter come to the same clusters. Kilter's centres
after one iteration are where scikit-learn begins; then both go on until nothing moves.

vgg16: the same network, which ONNX Runtime builds from the same weights, gives the same
probabilities. Weights and a picture are drawn, and written as safetensors, as Darknet's `.weights`
and as PPM. Each format has its own scale of pixels, so each is compared with a run of the reference
on pixels in that scale.

ENVIRONMENT is a Python environment with numpy, scikit-learn, onnx and onnxruntime, which
scripts/setup.sh makes; without it the exit status is 77.
"""

import csv
import importlib.util
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77


def enter(directory, *modules):
    """Begins this script again with the Python of `directory` unless it has these modules. Where
    that Python has them neither, the test is skipped."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    python = pathlib.Path(directory, "bin", "python")
    if missing and python.exists() and pathlib.Path(sys.prefix) != pathlib.Path(directory):
        os.execv(python, [python, *sys.argv])
    if missing:
        print(f"skipped: no {', '.join(missing)} in {directory}; ./test installs it")
        sys.exit(SKIPPED)


def run_app(kilter, program, out, *options):
    """What `kilter lab app PROGRAM` writes."""
    subprocess.run(
        [kilter, "lab", "app", program, "--output", out, "--repeat", "1", "--quiet"]
        + [str(option) for option in options],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=100,
    )
    return out.read_text()


# ---- kmeans ----

POINTS, DIMENSIONS, CLUSTERS = 4000, 6, 9


def clusters_of(kilter, table, iterations, *more):
    """Centres and the cluster of each point, as the command writes them."""
    out = table.with_suffix(f".{iterations}.csv")
    options = ["--input", table, "--clusters", CLUSTERS, "--seed", 3, "--changed", 0]
    text = run_app(kilter, "kmeans", out, *options, "--iterations", iterations, *more)
    centres, labels = [], []
    for line in text.splitlines():
        words = line.split(",")
        if words[0] == "centre":
            centres.append([float(word) for word in words[1:]])
        else:
            labels.append(int(line))
    return np.array(centres), np.array(labels)


def kmeans(kilter):
    random = np.random.default_rng(11)
    groups = random.uniform(-50, 50, (CLUSTERS, DIMENSIONS))
    points = (
        groups[random.integers(CLUSTERS, size=POINTS)] + random.normal(0, 12, (POINTS, DIMENSIONS))
    ).round(2)
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "points of a test.csv"
        np.savetxt(table, points, delimiter=",", fmt="%.2f")
        begin, _ = clusters_of(kilter, table, 1)
        reference = KMeans(
            CLUSTERS, init=begin, n_init=1, max_iter=1000, tol=0, algorithm="lloyd"
        ).fit(points)
        assert reference.n_iter_ > 5, (
            f"scikit-learn had nothing to do: {reference.n_iter_} iterations"
        )
        for more in [], ["--cut", "tasks", "--policy", "dam-c"], ["--model", "loop-dynamic"]:
            centres, labels = clusters_of(kilter, table, 1000, *more)
            off = np.abs(centres - reference.cluster_centers_).max()
            assert off < 1e-3, f"{more}: a centre is off by {off}"
            differ = (labels != reference.labels_).sum()
            assert differ == 0, f"{more}: {differ} of {POINTS} points are in other clusters"
            print(
                f"{' '.join(more) or 'auto'}: centres within {off:.1e}, all {POINTS} points in the "
                f"same clusters after {reference.n_iter_} iterations"
            )
    return 0


# ---- vgg16 ----

RESOLUTION, DIVIDE, CLASSES = 64, 8, 1000
BOUND = 1e-4  # of the largest probability
CHANNELS = (  # 0: a pooling
    [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0]
)
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, from torchvision


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
        if channels == 0:
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


def probabilities_of_reference(layers, pixels):
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


def probabilities_of(kilter, folder, weights, model):
    options = ["--weights", weights, "--size", "small", "--input", folder / "picture.ppm"]
    text = run_app(kilter, "vgg16", folder / "out.csv", *options, "--model", model, "--pictures", 5)
    rows = list(csv.DictReader(text.splitlines()))
    assert [int(row["class"]) for row in rows] == list(range(CLASSES)), "a row for each class"
    return np.array([float(row["probability"]) for row in rows])


def vgg16(kilter):
    random = np.random.default_rng(1)
    layers = draw_layers(random)
    picture = random.integers(0, 256, (RESOLUTION, RESOLUTION, 3), dtype=np.uint8)
    unit = picture.transpose(2, 0, 1) / 255
    mean, deviation = (np.array(colours)[:, None, None] for colours in (MEAN, DEVIATION))
    formats = {
        "weights.safetensors": (write_safetensors, (unit - mean) / deviation),
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
            right = probabilities_of_reference(layers, pixels)
            for model in "serial", "static", "kilter":
                away = (
                    np.abs(probabilities_of(kilter, folder, folder / file, model) - right).max()
                    / right.max()
                )
                wrong += away > BOUND
                print(
                    f"{file}, {model}: {away:.1e} of the largest probability, {right.max():.3f}, "
                    f"from ONNX Runtime's{'' if away <= BOUND else ': TOO FAR'}"
                )
    return 1 if wrong else 0


if __name__ == "__main__":
    command, environment, program = sys.argv[1:]
    if program == "kmeans":
        enter(environment, "numpy", "sklearn")
        import numpy as np
        from sklearn.cluster import KMeans

        sys.exit(kmeans(command))
    enter(environment, "numpy", "onnx", "onnxruntime")
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, checker, helper, numpy_helper

    sys.exit(vgg16(command))
