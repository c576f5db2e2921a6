import { BadRequest } from "../errors.ts";
import type { Action } from "./action.ts";

/** Without jobs there are no drain scripts, so there is nothing to wait for. */
export const drain: Action<"drain"> = async ({ type, spec }, { services }) => {
  if (type === "update" && (spec === undefined || spec === null)) {
    throw BadRequest({ why: "Drain update requires new spec" });
  }
  if (type !== "update" && type !== "shutdown") {
    throw BadRequest({ why: `Unexpected call with drain type '${type}'` });
  }
  if (type === "shutdown") await services.publish("shutdown", null);
  return 0;
};
