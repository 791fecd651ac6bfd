"""sum of delta^2 (sqrt(1 + (r / delta)^2) - 1), r = W H - x: quadratic near 0, linear far away."""

import numpy as np

from fedmf.losses import Loss


class PseudoHuber(Loss):
    """Squares that do not let a few large residuals rule."""

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
