"""Drive files: parameters of disk and flash drives for the drive model, with presets."""
