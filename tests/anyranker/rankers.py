"""Rankers of other libraries, with the parameters of docs/dev/results.md: fit(kind, ...) returns a function from rows to scores."""
import network
import numpy as np

KINDS = ("lightgbm", "xgboost", "catboost", "sklearn", "mlp")
TREES = KINDS[:-1]


def lightgbm(A, y, sizes, vali, seed, shape):
    import lightgbm as library
    options = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "lambdarank_truncation_level": 20, "learning_rate": .05,
               "num_leaves": shape["leaves"], "min_data_in_leaf": shape["min_leaf"], "feature_fraction": .8, "bagging_fraction": .8,
               "bagging_freq": 1, "lambda_l2": 1, "seed": seed, "num_threads": 1, "deterministic": True, "force_row_wise": True, "verbose": -1}
    data = library.Dataset(A, y, group=sizes, params=options)
    other = library.Dataset(vali[0], vali[1], group=vali[2], reference=data)
    model = library.train(options, data, 500, [other], callbacks=[library.early_stopping(50, verbose=False)])
    return model.predict


def xgboost(A, y, sizes, vali, seed, shape):
    import xgboost as library

    def matrix(rows, labels, groups):
        data = library.DMatrix(rows, labels, missing=np.nan, nthread=1)
        data.set_group(groups)
        return data

    options = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "eta": .05, "tree_method": "hist", "grow_policy": "lossguide",
               "max_leaves": shape["leaves"], "max_depth": 0, "min_child_weight": 1, "subsample": .8, "colsample_bytree": .8,
               "reg_lambda": 1, "seed": seed, "nthread": 1}
    model = library.train(options, matrix(A, y, sizes), 500, evals=[(matrix(*vali), "vali")], early_stopping_rounds=50, verbose_eval=False)
    best = (0, model.best_iteration + 1)
    return lambda rows: model.inplace_predict(rows, iteration_range=best, predict_type="margin")


def catboost(A, y, sizes, vali, seed, _):
    import catboost as library

    def pool(rows, labels, groups):
        return library.Pool(rows, labels, group_id=np.repeat(np.arange(len(groups)), groups))

    model = library.CatBoost({"loss_function": "YetiRank", "eval_metric": "NDCG:top=10;type=Exp", "depth": 6, "learning_rate": .1,
                              "iterations": 300, "random_seed": seed, "thread_count": 1, "od_type": "Iter", "od_wait": 40,
                              "allow_writing_files": False, "verbose": False})
    model.fit(pool(A, y, sizes), eval_set=pool(*vali))
    return model.predict


def sklearn(A, y, _, vali, seed, shape):
    from sklearn.ensemble import HistGradientBoostingRegressor
    model = HistGradientBoostingRegressor(learning_rate=.05, max_iter=500, max_leaf_nodes=shape["leaves"], min_samples_leaf=shape["min_leaf"],
                                          l2_regularization=1, random_state=seed, early_stopping=True, n_iter_no_change=30, max_features=.8)
    return model.fit(A, 2.0 ** y - 1, X_val=vali[0], y_val=2.0 ** vali[1] - 1).predict


def mlp(A, y, sizes, vali, seed, _):
    return network.fit(A, y, sizes, vali, seed)


def fit(kind, A, y, starts, vali, seed, shape):
    """vali: (rows, labels, sizes). shape: leaves and min_leaf of trees."""
    return globals()[kind](A, y, np.diff(starts), vali, seed, shape)
