"""The paper's protocol: train, validation and test items, an iteration chosen on labels."""
