"""Models that label new samples, and their file format."""

from manyview.predict._blocks import is_dask
from manyview.predict._model import ClusterModel, Prediction
from manyview.predict._model_file import load_model, model_bytes, save_model
from manyview.predict._new_samples import named_views, new_tables
from manyview.predict._training_views import TrainingView, match_views
