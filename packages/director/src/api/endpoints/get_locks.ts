import { lock } from "@slipway/protocol/director/lock";
import * as v from "valibot";
import { listLocks } from "../../tasks/locks.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getLocks = endpoint({ reply: v.array(lock) }, async (_call, { db }) =>
  json(await listLocks(db)),
);
