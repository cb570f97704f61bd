"""What a score of several numbers shows about membership."""
