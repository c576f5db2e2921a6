import { findAttribute } from "../../store/attributes.ts";
import { json } from "../reply.ts";
import type { Handler } from "../route.ts";

export const RESURRECTION_PAUSED = "resurrection_paused";

export const getResurrection: Handler = async (_call, { db }) =>
  json({ resurrection: (await findAttribute(db, RESURRECTION_PAUSED)) !== "true" });
