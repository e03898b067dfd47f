"""Classes that follow a training run in another process, from its session or from lines of JSON.

followed_run.FollowedRun                 what is known about the run at one moment, as a frozen value
file_follower.FileFollower(path).look()  reads the session again if it has changed
step_lines.StepLines().new_lines(run)    the new steps as lines of JSON, for a pipe
server.StepServer(port)                  sends these lines to whoever connects on this computer
stream_follower.StreamFollower(stream)   reads these lines, and gives the same values as a FileFollower
"""
