#!/usr/bin/env python3
"""Trains a routable model in Keras 3 (TensorFlow, or another backend) and writes it for evenkeel.

    python3 docs/examples/keras_train.py --manifest features.yaml --train train.txt --vali vali.txt -o model.safetensors

The transforms and the file are in routable.py, the formula of the score is in docs/format/model.md.
"""

import keras
import numpy as np
from keras import layers, ops

import routable

HIDDEN, GATE = (64, 32), 4
PADDING = -1.0  # the label of what is behind the end of a list


class Lists(keras.utils.PyDataset):
    """Batches under masks that are drawn again each time."""

    def __init__(self, inputs, lists, rng, batch=64):
        super().__init__()
        self.inputs, self.rng, self.batch = inputs, rng, batch
        self.labels = np.where(lists.present, lists.labels, PADDING).astype(np.float32)
        self.order = rng.permutation(len(self.labels))

    def __len__(self):
        return -(-len(self.order) // self.batch)

    def __getitem__(self, at):
        chosen = self.order[at * self.batch:(at + 1) * self.batch]
        part = {name: x[chosen] for name, x in self.inputs.items()}
        part["m"] = routable.draw_masks(self.rng, len(chosen), part["z"].shape[2])
        return part, self.labels[chosen]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.labels))


class Wide(layers.Layer):
    """What routed features say: slopes and zeros by the gate's outputs and a constant."""

    def build(self, shape):
        self.slope = self.add_weight(shape=(GATE + 1, shape[1][-1]), initializer="zeros", name="slope")
        self.zero = self.add_weight(shape=(GATE + 1, shape[1][-1]), initializer="zeros", name="zero")

    def call(self, inputs):
        gate, m, z, b = inputs
        gate = ops.concatenate([gate, ops.ones_like(gate[:, :1])], 1)
        slope, zero = ops.matmul(gate, self.slope) * m, ops.matmul(gate, self.zero) * m
        return ops.sum(z * slope[:, None, :] + b * zero[:, None, :], 2)


class Network(keras.Model):
    """Shapes of the inputs: routable.encode; mask m [Q, K] is 1 where a feature is routed."""

    def __init__(self, items, positions):
        super().__init__()
        self.place = np.zeros((len(positions), items), np.float32)  # which routable feature is which item feature
        self.place[np.arange(len(positions)), positions] = 1
        self.deep = [layers.Dense(n, activation="relu") for n in HIDDEN] + [layers.Dense(1)]
        self.gate, self.wide = layers.Dense(GATE), Wide()

    def call(self, inputs):
        t, v, m, z, b = (inputs[name] for name in "tvmzb")
        u = t * (1 - ops.matmul(m, self.place))[:, None, :]
        common = ops.concatenate([v, m], 1)[:, None, :]
        common = ops.broadcast_to(common, (ops.shape(t)[0], ops.shape(t)[1], common.shape[2]))
        # The order of docs/format/model.md: u, v, m, z, b.
        x = ops.concatenate([u, common, z, b], 2)
        for layer in self.deep:
            x = layer(x)
        return x[..., 0] + self.wide([self.gate(v), m, z, b])

    def weights_by_name(self):
        found = {"slope": self.wide.slope, "zero": self.wide.zero}
        for name, layer in [(f"deep.{i}", x) for i, x in enumerate(self.deep)] + [("gate", self.gate)]:
            found[f"{name}.weight"], found[f"{name}.bias"] = ops.transpose(layer.kernel), layer.bias
        return {name: ops.convert_to_numpy(x) for name, x in found.items()}


def listnet(labels, scores):
    """Softmax cross-entropy against normalized gains; lists without a positive label count 0."""
    present = ops.cast(labels >= 0, scores.dtype)
    gains = (2.0 ** labels - 1) * present
    target = gains / ops.maximum(ops.sum(gains, 1, keepdims=True), 1e-9)
    log_softmax = ops.log_softmax(scores - 1e9 * (1 - present), 1)
    return -ops.sum(target * log_softmax * present, 1)


def score(network, inputs, masks):
    return ops.convert_to_numpy(network({**inputs, "m": masks}))


def main():
    args = routable.arguments(__doc__.splitlines()[0])
    manifest = routable.Manifest(args.manifest)
    lists = routable.read_letor(args.train, manifest)
    stats = routable.statistics(lists, manifest)
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    network = Network(len(manifest.item_names), manifest.routable)
    network.compile(optimizer=keras.optimizers.AdamW(3e-3, weight_decay=1e-4), loss=listnet)
    network.fit(Lists(routable.encode(lists, manifest, stats), lists, rng), epochs=args.epochs, verbose=2)

    routable.validate(args, manifest, stats, rng, lambda inputs, mask: score(network, inputs, mask))
    training = {"routing": "random", "loss": "listnet", "seed": str(args.seed)}
    routable.write_model(args.output, manifest, stats, network.weights_by_name(), HIDDEN, GATE, training)


if __name__ == "__main__":
    main()
