"""A plain network with ListNet in numpy: inputs are standardized signed logs, NaN is 0 with a flag."""
import numpy as np
from lists import Lists, Orders

EPOCHS, BATCH, RATE, DECAY = 12, 64, 3e-3, 1e-4


class Network:
    def __init__(self, A, seed, hidden=(64, 32)):
        t = self.logs(A)
        self.mean, self.sd, self.flags = np.nanmean(t, 0), np.maximum(np.nanstd(t, 0), 1e-6), np.isnan(A).any(0)
        rng, sizes = np.random.default_rng(seed), [A.shape[1] + int(self.flags.sum()), *hidden, 1]
        self.parts = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.parts += [rng.uniform(-1, 1, (a, b)) / np.sqrt(a), rng.uniform(-1, 1, b) / np.sqrt(a)]
        self.first, self.second = ([np.zeros_like(p) for p in self.parts] for _ in range(2))
        self.steps = 0

    @staticmethod
    def logs(A):
        return np.sign(A) * np.log1p(np.abs(A.astype(float)))

    def inputs(self, A):
        missing = np.isnan(A)
        return np.hstack([np.where(missing, 0, (self.logs(A) - self.mean) / self.sd), missing[:, self.flags]])

    def forward(self, x):
        layers = [x]
        for i in range(0, len(self.parts), 2):
            y = layers[-1] @ self.parts[i] + self.parts[i + 1]
            layers.append(np.maximum(y, 0) if i + 2 < len(self.parts) else y)
        return layers

    def predict(self, A):
        return self.forward(self.inputs(A))[-1][:, 0]

    def step(self, layers, slope, rate):
        """One step of AdamW for the derivative of the loss by the scores."""
        self.steps += 1
        for i in range(len(self.parts) - 2, -1, -2):
            gradients = layers[i // 2].T @ slope, slope.sum(0)
            slope = (slope @ self.parts[i].T) * (layers[i // 2] > 0)
            for k, g in zip((i, i + 1), gradients):
                self.first[k] = .9 * self.first[k] + .1 * g
                self.second[k] = .999 * self.second[k] + .001 * g * g
                m, v = self.first[k] / (1 - .9 ** self.steps), self.second[k] / (1 - .999 ** self.steps)
                self.parts[k] = self.parts[k] * (1 - rate * DECAY) - rate * m / (np.sqrt(v) + 1e-8)


def slopes(scores, gains, owner, lists):
    """Return the derivative of the mean ListNet loss by each score."""
    top = np.full(lists, -np.inf)
    np.maximum.at(top, owner, scores)
    e = np.exp(scores - top[owner])
    share = e / np.bincount(owner, e, lists)[owner]
    total = np.bincount(owner, gains, lists)[owner]
    return np.where(total > 0, share - gains / np.maximum(total, 1e-9), 0) / lists


def fit(A, y, sizes, vali, seed):
    network, rng, starts = Network(A, seed), np.random.default_rng(seed), np.r_[0, np.cumsum(sizes)]
    x, gains = network.inputs(A), 2.0 ** y - 1
    other = Orders(Lists(vali[0], None, vali[1], np.r_[0, np.cumsum(vali[2])]))
    batches = EPOCHS * -(-len(sizes) // BATCH)
    best, kept = -1.0, None
    for _ in range(EPOCHS):
        order = rng.permutation(len(sizes))
        for first in range(0, len(order), BATCH):
            some = order[first:first + BATCH]
            rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in some])
            owner = np.repeat(np.arange(len(some)), sizes[some])
            layers, done = network.forward(x[rows]), network.steps / batches
            rate = RATE * (done / .1 if done < .1 else .5 + .5 * np.cos(np.pi * (done - .1) / .9))
            network.step(layers, slopes(layers[-1][:, 0], gains[rows], owner, len(some))[:, None], max(rate, RATE / 25))
        quality = other.ndcg(other.of(network.predict(vali[0])))
        if quality > best:
            best, kept = quality, [p.copy() for p in network.parts]
    network.parts = kept
    return network.predict
