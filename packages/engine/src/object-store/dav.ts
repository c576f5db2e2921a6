import { createHash } from "node:crypto";
import { basicAuth } from "@slipway/kernel/http/client";
import { trimEnd } from "@slipway/kernel/text";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { type ObjectAccess, ObjectTrouble } from "./object-store.ts";

const perhaps = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema));

/** The options of bosh-davcli. */
export const davOptions = open({
  endpoint: v.string(),
  user: perhaps(v.string()),
  password: perhaps(v.string()),
  tls: perhaps(open({ cert: perhaps(open({ ca: perhaps(v.string()) })) })),
});

/** Blobs lie in 256 directories, by the first byte of the sha1 of their ids. */
export function davAccess(options: v.InferOutput<typeof davOptions>): ObjectAccess {
  const { endpoint, user, password, tls } = options;
  if (!URL.canParse(endpoint)) throw new ObjectTrouble("refused", "options.endpoint is no URL");
  const base = new URL(endpoint);
  if (base.protocol !== "http:" && base.protocol !== "https:")
    throw new ObjectTrouble("refused", "options.endpoint is no address of http or https");
  const given = base.username === "" ? undefined : [base.username, base.password].map(decodeURIComponent);
  const [name, word] = user ? [user, password ?? ""] : (given ?? []);
  base.username = "";
  base.password = "";
  const headers: Record<string, string> =
    name === undefined ? {} : { authorization: basicAuth(name, word ?? "") };
  const request = (id: string) => {
    const url = new URL(base);
    const directory = createHash("sha1").update(id).digest("hex").slice(0, 2);
    url.pathname = `${trimEnd(base.pathname, "/")}/${directory}/${encodeURIComponent(id)}`;
    return Promise.resolve({ url, headers });
  };
  const ca = tls?.cert?.ca || undefined;
  return {
    where: `${base.origin}${base.pathname}`,
    ...(ca !== undefined && { tls: { ca } }),
    get: (id) => [() => request(id)],
    put: request,
  };
}
