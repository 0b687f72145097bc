"""What has ended, as spans of traces: made from statuses alone, with ids that follow from uids."""
