"""What is on the machine of whoever calls: settings in a folder, files of Tasks, and git."""
