"""Workbooks through the command line."""

import openpyxl
import pytest


@pytest.fixture
def book(folder):
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Flowers"
    sheet.append(["size", "mass", "kind"])
    for i in range(24):
        far = 5 * (i % 2)
        label = ("low", "high")[i % 2] if i < 12 else None
        sheet.append([far + i / 24, 2 * far + (i % 5) / 5, label])
    made.create_sheet("Other")["A1"] = "=1+1"
    made.save(folder / "flowers.xlsx")
    return "flowers.xlsx"


def test_a_workbook_is_filled(run, folder, book):
    done = run("fill", book, "-t", "kind", "--budget", "0.000001")
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "Read the sheet 'Flowers'; the workbook also has 'Other'." in said
    made = openpyxl.load_workbook(folder / "flowers.filled.xlsx")
    sheet = made["Flowers"]
    header = [cell.value for cell in sheet[1]]
    assert header == ["size", "mass", "kind", "kind_source", "kind_confidence"]
    assert [sheet.cell(r, 3).value for r in (14, 15)] == ["low", "high"]
    assert sheet.cell(14, 4).value == "predicted"
    assert 0.5 < sheet.cell(14, 5).value <= 1
    assert made["Other"]["A1"].value == "=1+1"
    assert (folder / "flowers.report.html").exists()


@pytest.mark.slow
def test_formats_are_set_by_the_ending(run, folder, book):
    done = run("fill", book, "-t", "kind", "--budget", "0.000001", "-o", "made.csv")
    assert done.exit_code == 0, done.output
    assert (folder / "made.csv").read_text().startswith("size,mass,kind,kind_source")
    done = run("fill", book, "-t", "kind", "-o", "made.docx")
    assert done.exit_code == 5
    assert "that is the name of a document" in done.output


def test_a_missing_sheet(run, book):
    done = run("fill", book, "-t", "kind", "--sheet", "Flower")
    assert done.exit_code == 2
    assert "no sheet 'Flower'. Give one of these: 'Flowers', 'Other'." in done.output
