"""iostudy: which storage configuration is fastest for a workload, and is the difference real?"""
