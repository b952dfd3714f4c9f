"""What Hadoop is run with: its jars and a Java."""
