"""What may be chosen beside splits; with few imports, for options and for mathematics alike."""

from __future__ import annotations

from typing import Literal

CalibrationKind = Literal["moment", "swap", "direct", "direct-swap", "paper"]
ShapeKind = Literal["isotropic", "diagonal", "full"]
Protects = Literal["every-record", "tested-records", "average-record"]
