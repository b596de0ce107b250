"""Tools that try many models within the time limit of the work."""

import tempfile

TARGET = "target"


def autogluon(work):
    return _autogluon(work, pseudo_labels=False)


def autogluon_pseudo(work):
    """The same, then `fit_pseudolabel` with every unlabeled row."""
    return _autogluon(work, pseudo_labels=True)


def _autogluon(work, pseudo_labels):
    from autogluon.tabular import TabularPredictor

    kind = "multiclass" if len(work.classes) > 2 else "binary"
    kind = "regression" if work.regression else kind
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(
            TARGET, problem_type=kind, path=folder, verbosity=0
        )
        predictor.fit(
            work.train.assign(**{TARGET: work.target}), time_limit=work.seconds
        )
        if pseudo_labels:
            predictor.fit_pseudolabel(work.rest, time_limit=work.seconds)
        return predictor.predict(work.rest).to_numpy()


def flaml(work):
    from flaml import AutoML

    model = AutoML()
    model.fit(
        work.train,
        work.target,
        task="regression" if work.regression else "classification",
        time_budget=work.seconds,
        seed=work.seed,
        verbose=0,
    )
    return model.predict(work.rest)
