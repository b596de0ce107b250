import logging

import pytest

from halfmoon.table.listening import heard


def test_candidates_are_told_and_other_lines_go_on(caplog):
    log, told = logging.getLogger("halfmoon"), []
    with caplog.at_level(logging.WARNING), heard(lambda *line: told.append(line)):
        log.debug("%5.1f s of %g: %s", 1.0, 4.0, "gaussian")
        log.debug("%5.1f s of %g: %s", 9.0, 4.0, "laplace")
        log.debug("a detail")
        log.warning("something to know")
    assert [name for _, name in told] == ["gaussian", "laplace"]
    assert [share for share, _ in told] == pytest.approx([0.05 + 0.85 / 4, 0.9])
    assert [record.message for record in caplog.records] == ["something to know"]


def test_the_log_is_as_before_even_after_an_error():
    log = logging.getLogger("halfmoon")
    before = log.level, log.propagate, list(log.handlers)
    with pytest.raises(ValueError, match="no"), heard(lambda *line: None):
        raise ValueError("no")
    assert (log.level, log.propagate, list(log.handlers)) == before
