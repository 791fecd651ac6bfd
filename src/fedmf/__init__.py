"""Federated matrix factorisation."""
