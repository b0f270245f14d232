"""The study file and its folder: read, checked, and listed item by item."""

from unisono.collect.studies.catalogue import Catalogue, Item
from unisono.collect.studies.folder import Keys, StudyFolder, load_study, open_folder
from unisono.collect.studies.schema import Dimension, Study

__all__ = ["Catalogue", "Dimension", "Item", "Keys", "Study", "StudyFolder", "load_study", "open_folder"]
