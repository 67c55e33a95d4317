"""What people see: the panel under a check, a submission's feedback page, the report on a class."""
