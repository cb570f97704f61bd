"""Forms that others define and read: statements, bills of materials, model cards, metrics."""
