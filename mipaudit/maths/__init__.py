"""Pure mathematics: arrays and floats in, floats and frozen dataclasses out."""
