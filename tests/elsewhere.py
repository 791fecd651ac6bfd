"""The devices that there are: array-api-strict's stands for any, torch's where it is installed."""

from importlib.util import find_spec

import array_api_strict

from fedmf import devices

DEVICES = {"strict": lambda: devices.Device(array_api_strict, None)}
if find_spec("torch"):
    import torch

    DEVICES["torch cpu"] = lambda: devices.find("cpu")
    if torch.cuda.is_available():
        DEVICES["torch cuda"] = lambda: devices.find("cuda")
