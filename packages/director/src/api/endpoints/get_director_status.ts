import { directorStatus } from "@slipway/protocol/director/status";
import { json, plain } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Ours: how the Director itself is. */
export const getDirectorStatus = endpoint({ reply: directorStatus }, async (_call, { self }) =>
  self === undefined ? plain(404, "not found\n") : json(await self()),
);
