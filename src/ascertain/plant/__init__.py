"""What it talks to: whatever answers an action with a reading."""
