"""Real sites: the same algorithms between machines, over gRPC with certificates on both ends.

Sites dial out to the server, which never dials in. A site asks for work, answers through its
`Host`, and keeps its state in its own folder; the server carries the requests of the round loop to
the sites (`runtime`), saves the run after every round (`checkpoints`), and takes jobs from the
coordinator (`server`). A job is a few tables of plain values, never code.

    kits          certificates and settings for each machine
    frames, link  what travels, and the way it takes
    jobs          what is to be done
    hub, runtime, checkpoints, server      the server's side
    states, policy, egress, site           a site's side
    client        the coordinator's
"""
