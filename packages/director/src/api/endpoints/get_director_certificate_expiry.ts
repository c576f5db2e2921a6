import { json, plain } from "../reply.ts";
import type { Handler } from "../route.ts";

/** 404 reads as "not supported". */
export const getDirectorCertificateExpiry: Handler = async (_call, { certificates }) =>
  certificates === undefined ? plain(404, "not found\n") : json(await certificates());
