"""What a zip file is: workbooks of spreadsheet programs are zip files too."""

from __future__ import annotations

import zipfile
from typing import IO

__all__ = ["workbook_in_zip"]

ODS_TYPE = b"application/vnd.oasis.opendocument.spreadsheet"
NAME_BYTES = 100


def workbook_in_zip(file: IO[bytes]) -> str | None:
    """Format of the workbook that a zip file is; None if it is another archive."""
    try:
        with zipfile.ZipFile(file) as packed:
            names = set(packed.namelist())
            if "xl/workbook.xml" in names:
                return "xlsm" if "xl/vbaProject.bin" in names else "xlsx"
            if "xl/workbook.bin" in names:
                return "xlsb"
            if "mimetype" in names:
                with packed.open("mimetype") as part:
                    if part.read(NAME_BYTES).startswith(ODS_TYPE):
                        return "ods"
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
        return None
    except RuntimeError:  # a password
        return None
    return None
