"""Runs in a store; the choice of hyperparameters, exports, imports and explanations."""
