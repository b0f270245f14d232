"""Cross-validation as in the paper: train, validation and test items, an iteration chosen on validation labels."""
