"""A loss that is squared but does not say so, to hold FedMAvg to its word that any will do."""

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
