"""``mipaudit epsilon``: which epsilon of differential privacy the data refute."""
