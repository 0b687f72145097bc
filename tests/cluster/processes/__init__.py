"""Programs that outlive the command that started them: started, recorded, watched, killed."""
