import { listLocks } from "../../tasks/locks.ts";
import { json } from "../reply.ts";
import type { Handler } from "../route.ts";

export const getLocks: Handler = async (_call, { db }) => json(await listLocks(db));
