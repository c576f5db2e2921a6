import { resurrection } from "@slipway/protocol/director/resurrection";
import { findAttribute, RESURRECTION_PAUSED } from "../../store/attributes.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getResurrection = endpoint({ reply: resurrection }, async (_call, { db }) =>
  json({ resurrection: (await findAttribute(db, RESURRECTION_PAUSED)) !== "true" }),
);
