import type { Action } from "./action.ts";

export const stop: Action<"stop"> = async (_, { services, protocol, signal }) => {
  await services.supervisor.stop({ wait: protocol >= 3 }, signal);
  return "stopped";
};
