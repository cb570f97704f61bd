"""``mipaudit shift``: can members and holdout be told apart without the model."""
