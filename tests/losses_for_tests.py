"""Losses that only the tests know, to hold FedMAvg to its word that any will do."""

import numpy as np

from fedmf.losses import Loss, Squared


class SquaredAnyhow(Loss):
    """The squared loss by its methods alone: none of its short cuts can be taken."""

    name = "squared_anyhow"

    def value(self, data, W, H):
        return Squared().value(data, W, H)

    def gradient_H(self, data, W, H):
        return Squared().gradient_H(data, W, H)

    def gradient_W(self, data, W, H):
        return Squared().gradient_W(data, W, H)

    def curvature_H(self, data, W, H):
        return Squared().curvature_H(data, W, H)

    def curvature_W(self, data, W, H):
        return Squared().curvature_W(data, W, H)


class PseudoHuber(Loss):
    """sum of delta^2 (sqrt(1 + (r / delta)^2) - 1): quadratic near 0, linear far away."""

    name = "pseudo_huber"
    delta = 0.1

    def residual(self, data, W, H):
        return W @ H - data.rows.T

    def slope(self, data, W, H):
        R = self.residual(data, W, H)
        return R / np.sqrt(1 + (R / self.delta) ** 2)

    def value(self, data, W, H):
        scaled = self.residual(data, W, H) / self.delta
        return float(self.delta**2 * np.sum(np.sqrt(1 + scaled**2) - 1))

    def gradient_H(self, data, W, H):
        return W.T @ self.slope(data, W, H)

    def gradient_W(self, data, W, H):
        return self.slope(data, W, H) @ H.T

    def curvature_H(self, data, W, H):
        return float(np.linalg.eigvalsh(W.T @ W)[-1])

    def curvature_W(self, data, W, H):
        return np.linalg.eigvalsh(H @ H.T)[-1:].reshape(1, 1)
