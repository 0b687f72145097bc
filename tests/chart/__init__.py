"""What is generated of the chart: the table of its values, on its page, and dashboards."""
