"""``halfmoon label`` before it serves the page."""

import socket

import pytest

from halfmoon._cli.run_label import (
    _allowed_hosts,
    _download_name,
    _listening_socket,
)
from halfmoon.table._table_errors import OutputError


def test_responses_are_sent_without_delay():
    """Accepted connections inherit the protocol, by which asyncio decides on that."""
    with _listening_socket("127.0.0.1", 0) as listener:
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_a_port_that_is_in_use_is_reported():
    with _listening_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(OutputError, match=f"port {port}: .*another port"):
            _listening_socket("127.0.0.1", port)


def test_only_own_names_are_allowed():
    local = {"127.0.0.1:8123", "localhost:8123"}
    assert _allowed_hosts("127.0.0.1", 8123) == local
    assert _allowed_hosts("10.1.2.3", 8123) == local | {"10.1.2.3:8123"}
    assert _allowed_hosts("::1", 8123) == local | {"[::1]:8123"}
    named = f"{socket.gethostname()}:8123"
    assert _allowed_hosts("0.0.0.0", 8123) == local | {named}


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("data/wines.csv", "wines.filled.csv"),
        ("wines.xlsx", "wines.filled.xlsx"),
        ("june", "june.filled.csv"),  # a folder
        ("june/*.csv", "june.filled.csv"),
    ],
)
def test_the_filled_table_has_a_name_that_programs_open(table, name, tmp_path):
    (tmp_path / "june").mkdir()
    assert _download_name(tmp_path / table) == name
