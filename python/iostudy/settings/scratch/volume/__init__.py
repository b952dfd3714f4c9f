"""Volumes over several scratch disks, made by LVM or md."""
