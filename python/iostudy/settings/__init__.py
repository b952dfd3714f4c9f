"""What can be changed: settings and scratch disks, journaled before they are touched."""
