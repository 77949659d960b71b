print("tuning")
