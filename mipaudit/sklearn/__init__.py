"""Audits of scikit-learn's estimators: from a fitted model, or a recipe for one, to a report.

scikit-learn and joblib are loaded with the first call; ``pip install scikit-learn`` brings both.
"""

from mipaudit.sklearn.audit import audit_classifier, membership_scorer
from mipaudit.sklearn.shadow import ShadowScores, shadow_scores

__all__ = ["ShadowScores", "audit_classifier", "membership_scorer", "shadow_scores"]
