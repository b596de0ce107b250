import datetime as dt

import pandas as pd
import pyarrow as pa
import pytest

from halfmoon.table._cells.cell_values import read_dates, read_times
from halfmoon.table._cells.date_formats import (
    describe_date_format,
    find_compact_format,
    find_date_format,
    find_time_format,
    without_weekday,
)

MOMENTS = [dt.datetime(2021, 1 + i % 12, 1 + i % 28, i % 24, i % 60) for i in range(60)]


@pytest.mark.parametrize(
    "form",
    [
        "%Y/%m/%d",
        "%m/%d/%Y",
        "%d/%m/%Y",
        "%d.%m.%Y",
        "%d-%m-%Y",
        "%d %b %Y",
        "%B %d, %Y",
        "%A, %d %B %Y",
        "%A, %B %d, %Y",
        "%a %d %b %Y",
        "%a %b %d %Y",
        "%a %b %d %H:%M:%S %Y",
        "%d/%b/%Y",
        "%d.%m.%Y %H:%M",
        "%m/%d/%Y %I:%M %p",
        "%Y/%m/%d %H:%M:%S",
    ],
)
def test_the_format_of_dates_is_found(form):
    text = pa.array([moment.strftime(form) for moment in MOMENTS])
    assert find_date_format(text, 0.0) == without_weekday(form)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m", "%Y-%m-%dT%H:%M:%SZ"])
def test_iso_formats(form):
    assert (
        find_date_format(pa.array([m.strftime(form) for m in MOMENTS]), 0.0)
        == "ISO8601"
    )


@pytest.mark.parametrize("text", ["1.5", "12-34", "v1 2", "red", "2021-13-01", "3/4"])
def test_texts_that_are_not_dates(text):
    assert find_date_format(pa.array([text] * 3), 0.0) == ""


def test_a_share_of_strays_is_allowed():
    text = pa.array([*(f"2021-01-{i:02d}" for i in range(1, 29)), "soon"])
    assert find_date_format(text, 0.05) == "ISO8601"
    assert find_date_format(text, 0.0) == ""


def test_endings_of_days():
    cells = pa.array(["Feb 9th, 2022", "Mar 1st, 2021", "May 22nd, 2021"])
    assert find_date_format(cells, 0.0) == "%b %d, %Y"
    dates, unread = read_dates(cells, "%b %d, %Y")
    assert (dates[0].isoformat(), unread) == ("2022-02-09T00:00:00", 0)


@pytest.mark.parametrize(
    "cell", ["05FEB2024:15:08:00", "05-FEB-24 03.08.00.000000 PM", "5Feb2024:15:08:00"]
)
def test_dates_of_databases(cell):
    form = find_date_format(pa.array([cell]), 0.0)
    assert read_dates(pa.array([cell]), form)[0][0].isoformat() == "2024-02-05T15:08:00"
    day = pa.array([cell[:9].rstrip(":")])
    form = find_date_format(day, 0.0)
    assert read_dates(day, form)[0][0].isoformat() == "2024-02-05T00:00:00"


def test_times():
    assert find_time_format(pa.array(["8:15:00", "23:59:59"]), 0.0) == "%H:%M:%S"
    assert find_time_format(pa.array(["8:15 PM", "11:59 am"]), 0.0) == "%I:%M %p"
    assert find_time_format(pa.array(["25:00"]), 0.0) == ""
    assert find_time_format(pa.array(["score 3:2"]), 0.0) == ""


def test_one_column_in_several_formats():
    forms = ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%b %d, %Y", "%A, %d %B %Y"]
    cells = [m.strftime(forms[i % 5]) for i, m in enumerate(MOMENTS)]
    found = find_date_format(pa.array(cells), 0.0)
    assert set(found.split("|")) == {"ISO8601", *forms[1:4], "%d %B %Y"}
    dates, unread = read_dates(pa.array(cells), found)
    assert unread == 0
    assert [d.date() for d in dates] == [m.date() for m in MOMENTS]
    assert describe_date_format(found) == "written in 5 ways, day before month"


@pytest.mark.parametrize(
    ("cells", "month"),
    [
        (["03/04/2020", "13/04/2020"], 4),
        (["03/04/2020", "04/13/2020"], 3),
        (["03/04/2020", "05/06/2020"], 3),
        (["03/04/2020", "13-04-2020"], 4),
        (["03/04/2020", "04-13-2020"], 3),
        (["03/04/2020", "13/04/2020", "14/04/2020", "04/15/2020"], 4),
    ],
)
def test_unambiguous_cells_decide_how_ambiguous_ones_are_read(cells, month):
    dates, unread = read_dates(pa.array(cells), find_date_format(pa.array(cells), 0.0))
    assert (dates[0].month, unread) == (month, 0)
    assert dates[1:].dt.year.eq(2020).all()


def test_strays_before_the_dates():
    cells = [*["soon"] * 2, *(m.strftime("%d.%m.%Y") for m in MOMENTS)]
    assert find_date_format(pa.array(cells), 0.05) == "%d.%m.%Y"


@pytest.mark.parametrize(
    "cells",
    [
        ("3. März 2024", "17. Mai 2023"),
        ("3 mars 2024", "17 mai 2023"),
        ("3 de marzo de 2024", "17 de mayo de 2023"),
        ("3rd March 2024", "17th May 2023"),
        ("So, 03.03.2024", "Mi, 17.05.2023"),
        ("dim. 03/03/2024", "mer. 17/05/2023"),
        ("2024-03-03 00:00:00 UTC", "2023-05-17 00:00:00 UTC"),
        ("03.03.2024, 00:00 Uhr", "17.05.2023, 00:00 Uhr"),
        ("Sun, 03 Mar 2024 00:00:00 +0000", "Wed, 17 May 2023 00:00:00 +0000"),
        ("2024年3月3日", "2023年5月17日"),
        ("dimanche 3 mars 2024", "mercredi 17 mai 2023"),
        ("Sonntag, 3. März 2024", "Mittwoch, 17. Mai 2023"),
        ("03/mar/2024", "17/mai/2023"),
        ("3 марта 2024 г.", "17 мая 2023 г."),
        ("3 marca 2024", "17 maja 2023"),
        ("3 mars 2024", "17 maj 2023"),
        ("3. března 2024", "17. května 2023"),
        ("3 Mart 2024", "17 Mayıs 2023"),
        ("2024年3月3日(日)", "2023年5月17日(水)"),
        ("2024/3/3 (Sun)", "2023/5/17 (Wed)"),
        ("2024. 3. 3.", "2023. 5. 17."),
        ("2024.03.03.", "2023.05.17."),
        ("3. 3. 2024", "17. 5. 2023"),
    ],
)
def test_dates_with_words(cells):
    days, unread = read_dates(pa.array(cells), find_date_format(pa.array(cells), 0))
    assert [f"{day:%Y-%m-%d}" for day in days] == ["2024-03-03", "2023-05-17"]
    assert unread == 0


@pytest.mark.parametrize(
    "cells",
    [
        ("9. Sept. 2024", "1. Okt. 2023", "2. Dez. 2022", "3. Juli 2021"),
        ("9 sept. 2024", "1 oct. 2023", "2 déc. 2022", "3 juil. 2021"),
        ("9 set 2024", "1 ott 2023", "2 dic 2022", "3 lug 2021"),
    ],
)
def test_short_names_of_months(cells):
    days, unread = read_dates(pa.array(cells), find_date_format(pa.array(cells), 0))
    assert [f"{day:%m/%d}" for day in days] == ["09/09", "10/01", "12/02", "07/03"]
    assert unread == 0


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (("Mar-24", "May-23"), ["2024-03-01", "2023-05-01"]),
        (("Mar 2024", "May 2023"), ["2024-03-01", "2023-05-01"]),
        (("03/2024", "05/2023"), ["2024-03-01", "2023-05-01"]),
        (("2024-W10", "2023-W20"), ["2024-03-04", "2023-05-15"]),
        (("KW 10/2024", "KW 20/2023"), ["2024-03-04", "2023-05-15"]),
        (("Q1 2024", "Q2 2023"), ["2024-01-01", "2023-04-01"]),
        (("2024Q1", "2023Q2"), ["2024-01-01", "2023-04-01"]),
        (("1Q24", "Q2'23"), ["2024-01-01", "2023-04-01"]),
        (("T1 2024", "2. Quartal 2023"), ["2024-01-01", "2023-04-01"]),
        (("H2 2024", "1. Halbjahr 2023"), ["2024-07-01", "2023-01-01"]),
        (("2024M03", "2023M05"), ["2024-03-01", "2023-05-01"]),
        (("2024年3月", "2023年5月"), ["2024-03-01", "2023-05-01"]),
        (("Mrz 24", "Mai 23"), ["2024-03-01", "2023-05-01"]),
        (("marzo de 2024", "mayo de 2023"), ["2024-03-01", "2023-05-01"]),
    ],
)
def test_months_weeks_and_quarters_are_their_first_day(cells, days):
    found, _ = read_dates(pa.array(cells), find_date_format(pa.array(cells), 0))
    assert [f"{day:%Y-%m-%d}" for day in found] == days


@pytest.mark.parametrize(
    "cells",
    [("3:05pm", "11:40 a.m."), ("15h05", "11h40"), ("15:05", "11:40:00", "3:05 PM")],
)
def test_times_with_words(cells):
    seconds, unread = read_times(pa.array(cells), find_time_format(pa.array(cells), 0))
    assert (seconds[0], unread) == (15 * 3600 + 300, 0)


def test_hours_without_minutes():
    cells = pa.array(["9 AM", "12 PM", "3 p.m."])
    seconds, unread = read_times(cells, find_time_format(cells, 0.0))
    assert (seconds.tolist(), unread) == ([9 * 3600, 12 * 3600, 15 * 3600], 0)


def test_times_with_seconds_in_some_cells_are_no_durations():
    cells = pa.array(["16:09:00", "14:03", "08:15:30"])
    assert find_time_format(cells, 0.0) == "%H:%M|%H:%M:%S"
    assert find_time_format(pa.array(["9:58", "10:05", "1:02:11"]), 0.0) == ""


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        ([f"20240{m}" for m in range(1, 10)] + ["202311"], "%Y%m"),
        ([f"2024{m}" for m in range(10, 20)], ""),  # there is no month 13
        ([f"20240{m}" for m in range(1, 10)], ""),  # too few
        ([f"{h:02}30" for h in range(24)], "%H%M"),
        ([f"{h}30" for h in range(10, 24)], ""),  # numbers
        ([f"{h:02}60" for h in range(24)], ""),
        ([f"20240501{h:02}3059" for h in range(24)], "%Y%m%d%H%M%S"),
        ([f"20240501{h:02}30" for h in range(24)], "%Y%m%d%H%M"),
        ([f"2802{y}" for y in range(1990, 2010)], "%d%m%Y"),
        ([f"02{d}2024" for d in range(10, 29)], "%m%d%Y"),
        ([f"{d}{d}2024" for d in range(10, 29)], ""),
    ],
)
def test_months_and_times_of_digits_alone(cells, form):
    assert find_compact_format(pa.array(cells)) == form
    if form:
        dates, unread = read_dates(pa.array(cells), form)
        assert dates.dt.strftime(form).tolist() == cells
        assert unread == 0


def test_formats_of_earlier_versions_named_the_weekday():
    cells = pa.array(["Sunday, 3 March 2024", "Wed, 17 May 2023"])
    dates, unread = read_dates(cells, "%A, %d %B %Y|%a, %d %b %Y")
    assert [f"{day:%Y-%m-%d}" for day in dates] == ["2024-03-03", "2023-05-17"]
    assert unread == 0


def test_months_in_two_spellings_are_written_in_one_way():
    assert describe_date_format("%b %y|%B %y") == ""


@pytest.mark.parametrize("cells", [("may", "june 5"), ("Mai Ling 1", "x 2024")])
def test_other_words_are_no_dates(cells):
    assert find_date_format(pa.array(cells), 0) == ""


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (("2024-05-03 15:08:00 CET", "2024-07-31 09:05:00 CEST"), "2024-05-03 15:08"),
        (("05/03/2024 03:08 PM EST", "07/31/2024 09:05 AM EDT"), "2024-05-03 15:08"),
        (
            (
                "Fri May 03 2024 15:08:00 GMT+0200 (Central European Summer Time)",
                "Wed Jul 31 2024 09:05:00 GMT+0200 (CEST)",
            ),
            "2024-05-03 13:08",
        ),
        (("20240503T150800Z", "20240731T090500Z"), "2024-05-03 15:08"),
        (("2024年5月3日 15時08分", "2024年7月31日 9時05分"), "2024-05-03 15:08"),
        (
            ("2024/05/03 3:08:00 PM GMT+2", "2024/07/31 9:05:00 AM GMT+2"),
            "2024-05-03 15:08",
        ),
        (
            ("2024/05/03 3:08:00 PM MESZ", "2024/01/31 9:05:00 AM MEZ"),
            "2024-05-03 15:08",
        ),
        (
            ("May 3, 2024 3:08 PM (GMT+2)", "July 31, 2024 9:05 AM (UTC)"),
            "2024-05-03 15:08",
        ),
        (("03/05/2024, 15:08", "31/07/2024, 9:05"), "2024-05-03 15:08"),
        (("May 3, 2024 at 3:08 PM", "July 31, 2024 at 9:05 AM"), "2024-05-03 15:08"),
        (("03.05.2024 um 15:08 Uhr", "31.07.2024 um 9:05 Uhr"), "2024-05-03 15:08"),
        (("03/05/2024 à 15h08", "31/07/2024 09h05"), "2024-05-03 15:08"),
        (("May '24", "Jul ’23"), "2024-05-01"),
        (("03.05.2024 г.", "31.07.2024 г."), "2024-05-03"),
    ],
)
def test_zones_and_signs_beside_dates(cells, first):
    found = find_date_format(pa.array(cells), 0)
    dates, unread = read_dates(pa.array(cells), found)
    assert (dates[0], unread) == (pd.Timestamp(first), 0)


def test_serial_numbers_of_spreadsheets_among_dates():
    cells = pa.array(["45415", "03.05.2024", "45415.5", "31.12.2023", "7", "99999"])
    found = find_date_format(cells[:4], 0)
    assert found == "%d.%m.%Y|serial"
    dates, unread = read_dates(cells, found)
    days = ["2024-05-03", "2024-05-03", "2024-05-03 12:00", "2023-12-31"]
    assert dates[:4].tolist() == [pd.Timestamp(day) for day in days]
    assert unread == 2
    assert find_date_format(pa.array(["45415", "45416"]), 0) == ""
