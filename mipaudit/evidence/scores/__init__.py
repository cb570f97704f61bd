"""What one score shows about membership."""
