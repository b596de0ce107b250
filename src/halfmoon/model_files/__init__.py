"""Model files: save a fitted model, and load it without running code from the file.

==============  ==========================================================
`saving`        `save` and `load`
`container`     the zip, its checksums, and how it gets to its place
`documents`     JSON, read strictly
`tensors`       arrays in the safetensors format
`encode`        from an object to a list of nodes
`decode`        and back
`state`         the attributes of an object, checked against its class
`agreement`     attributes checked against each other
`kinds`         values checked against annotations
`leaves`        codecs of values of Python and NumPy
`references`    codecs of what stands for something by its name
`machines`      codecs of what is built again: matrices, searches, splines
`frames`        codecs of what fitted objects keep of pandas
`registry`      the names that a file may speak of
`lookup`        what they stand for
`versions`      who wrote it, and who reads it
==============  ==========================================================
"""

from halfmoon.model_files.errors import ModelFileError, ModelVersionWarning
from halfmoon.model_files.saving import load, save

__all__ = ["ModelFileError", "ModelVersionWarning", "load", "save"]
