"""Model files: save a fitted model, and load it without running code from the file.

==============  ==========================================================
`saving`        `save` and `load`
`container`     the zip file and its checksums
`strict_json`   JSON, read strictly
`tensors`       arrays in the safetensors format
`encode`        from an object to a list of nodes
`decode`        and back
`state`         the attributes of an object, checked against its class
`type_checks`   values checked against annotations
`codecs`        values that are built from named parts
`registry`      the classes and functions that a file may name
`versions`      the versions that wrote a file
==============  ==========================================================
"""

from halfmoon._model_files.errors import ModelFileError, ModelVersionWarning
from halfmoon._model_files.saving import load, save

__all__ = ["ModelFileError", "ModelVersionWarning", "load", "save"]
