import type { Supervisor } from "../../services.ts";

/** Runs nothing and says yes. */
export const idleSupervisor: Supervisor = {
  status: async () => ({ state: "running", processes: [] }),
  watch: async () => {},
  start: async () => {},
  stop: async () => {},
  unmonitor: async () => {},
};
