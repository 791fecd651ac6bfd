"""sum of m - x log m, m = W H + 1: counts whose mean is W H and a background of 1."""

import numpy as np

from fedmf.losses import Loss


class Poisson(Loss):
    """The negative log-likelihood of Poisson counts, the Kullback-Leibler divergence up to X."""

    name = "poisson"
    background = 1.0

    def mean(self, W, H):
        return W @ H + self.background

    def value(self, data, W, H):
        mean = self.mean(W, H)
        return float(np.sum(mean - data.rows.T * np.log(mean)))

    def gradient_H(self, data, W, H):
        return W.T @ (1 - data.rows.T / self.mean(W, H))

    def gradient_W(self, data, W, H):
        return (1 - data.rows.T / self.mean(W, H)) @ H.T

    def curvature_H(self, data, W, H):
        """The second derivative of an entry, x / m^2, is largest at m = 1 where W, H >= 0."""
        return float(data.rows.max() * np.linalg.eigvalsh(W.T @ W)[-1])

    def curvature_W(self, data, W, H):
        return data.rows.max() * np.linalg.eigvalsh(H @ H.T)[-1:].reshape(1, 1)
