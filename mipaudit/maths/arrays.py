"""Arrays by what they hold, as annotations name them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Positions in another array.
Places = NDArray[np.intp]
Bools = NDArray[np.bool_]
