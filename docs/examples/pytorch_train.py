#!/usr/bin/env python3
"""Trains a routable model in PyTorch and writes it for evenkeel.

    python3 docs/examples/pytorch_train.py --manifest features.yaml --train train.txt --vali vali.txt -o model.safetensors

The transforms and the file are in routable.py, the formula of the score is in docs/format/model.md.
"""

import numpy as np
import torch
from torch import nn

import routable

HIDDEN, GATE = (64, 32), 4


class Network(nn.Module):
    """Shapes of the inputs: routable.encode; mask [Q, K] is 1 where a feature is routed."""

    def __init__(self, items, queries, positions):
        super().__init__()
        self.positions, k = positions, len(positions)
        widths = [items + queries + 3 * k, *HIDDEN, 1]
        self.deep = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.gate = nn.Linear(queries, GATE)
        self.slope = nn.Parameter(torch.zeros(GATE + 1, k))
        self.zero = nn.Parameter(torch.zeros(GATE + 1, k))

    def forward(self, t, v, z, b, mask):
        lists, depth, _ = t.shape
        routed = mask[:, None, :]
        u = t.clone()
        u[..., self.positions] = u[..., self.positions] * (1 - routed)
        common = torch.cat([v, mask], 1)[:, None, :].expand(lists, depth, -1)
        # The order of docs/format/model.md: u, v, m, z, b.
        x = torch.cat([u, common, z, b], 2)
        for layer in self.deep[:-1]:
            x = torch.relu(layer(x))
        gate = torch.cat([self.gate(v), torch.ones(lists, 1)], 1)
        wide = z * (gate @ self.slope)[:, None, :] + b * (gate @ self.zero)[:, None, :]
        return self.deep[-1](x)[..., 0] + (wide * routed).sum(2)


def listnet(scores, labels, present):
    """Softmax cross-entropy against normalized gains, over lists with a positive label."""
    gains = (2 ** labels - 1) * present
    total = gains.sum(1, keepdim=True)
    log_softmax = torch.log_softmax(scores.masked_fill(~present, -1e9), 1).masked_fill(~present, 0)
    loss = -(gains / total.clamp(min=1e-9) * log_softmax).sum(1)
    return loss.sum() / (total > 0).sum().clamp(min=1)


def tensors(inputs):
    return {name: torch.from_numpy(array) for name, array in inputs.items()}


@torch.no_grad()
def score(network, inputs, masks):
    return network(**tensors(inputs), mask=torch.from_numpy(masks)).numpy()


def train(network, lists, inputs, epochs, rng, batch=64):
    inputs = tensors(inputs)
    labels, present = torch.from_numpy(lists.labels), torch.from_numpy(lists.present)
    count, routable_count = len(labels), len(network.positions)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-4)
    steps = epochs * -(-count // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.05)
    for epoch in range(epochs):
        total = 0.0
        for chosen in np.array_split(rng.permutation(count), -(-count // batch)):
            part = {name: x[chosen] for name, x in inputs.items()}
            mask = torch.from_numpy(routable.draw_masks(rng, len(chosen), routable_count))
            loss = listnet(network(**part, mask=mask), labels[chosen], present[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) * len(chosen)
        print(f"epoch {epoch + 1}: loss {total / count:.4f}")


def main():
    args = routable.arguments(__doc__.splitlines()[0])
    manifest = routable.Manifest(args.manifest)
    lists = routable.read_letor(args.train, manifest)
    stats = routable.statistics(lists, manifest)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    network = Network(len(manifest.item_names), len(manifest.query_names), manifest.routable)
    train(network, lists, routable.encode(lists, manifest, stats), args.epochs, rng)

    routable.validate(args, manifest, stats, rng, lambda inputs, mask: score(network, inputs, mask))
    weights = {name: x.detach().numpy() for name, x in network.named_parameters()}
    training = {"routing": "random", "loss": "listnet", "seed": str(args.seed)}
    routable.write_model(args.output, manifest, stats, weights, HIDDEN, GATE, training)


if __name__ == "__main__":
    main()
