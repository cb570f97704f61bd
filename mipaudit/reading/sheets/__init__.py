"""Files of numbers: splits, pairs, points of an ROC."""
