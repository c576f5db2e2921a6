import { certificateExpiry } from "@slipway/protocol/director/info";
import * as v from "valibot";
import { json, plain } from "../reply.ts";
import { endpoint } from "../route.ts";

/** 404 reads as "not supported". */
export const getDirectorCertificateExpiry = endpoint(
  { reply: v.array(certificateExpiry) },
  async (_call, { certificates }) =>
    certificates === undefined ? plain(404, "not found\n") : json(await certificates()),
);
