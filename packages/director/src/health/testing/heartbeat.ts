export const heartbeatOf = (jobState = "running", persistent: string | null = "9", readOnly = false) => ({
  deployment: "shop",
  job: "web",
  index: 0,
  job_state: jobState,
  node_id: "6f1c",
  number_of_processes: 1,
  vitals: {
    mem: { kb: "301020", percent: "8" },
    disk: {
      ...(persistent !== null && {
        persistent: { inode_percent: "1", percent: persistent, ...(readOnly && { read_only: true }) },
      }),
    },
  },
});
