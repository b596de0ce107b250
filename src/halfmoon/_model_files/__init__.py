"""Model files: save a fitted model, and load it without running code from the file.

==============  ==========================================================
`saving`        `save` and `load`, and the versions that wrote a file
`container`     the zip file, its checksums, JSON and arrays
`nodes`         from an object to a list of nodes, and back
`state`         the attributes of an object, checked against its class
`codecs`        values that are built from named parts
`registry`      the classes and functions that a file may name
==============  ==========================================================
"""

from halfmoon._model_files.errors import ModelFileError, ModelVersionWarning
from halfmoon._model_files.saving import load, save

__all__ = ["ModelFileError", "ModelVersionWarning", "load", "save"]
