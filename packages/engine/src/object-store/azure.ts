import { createHmac } from "node:crypto";
import { trimEnd } from "@slipway/kernel/text";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { type ObjectAccess, type ObjectStoreTools, ObjectTrouble } from "./object-store.ts";

const perhaps = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema));

/** The options of bosh-azure-storage-cli; `sas_token` and `endpoint` are ours. */
export const azureOptions = open({
  account_name: v.string(),
  account_key: perhaps(v.string()),
  container_name: v.string(),
  environment: perhaps(v.string()),
  sas_token: perhaps(v.string()),
  endpoint: perhaps(v.string()),
});

const SUFFIX: Readonly<Record<string, string>> = {
  AzureCloud: "blob.core.windows.net",
  AzureChinaCloud: "blob.core.chinacloudapi.cn",
  AzureUSGovernment: "blob.core.usgovcloudapi.net",
};
const VERSION = "2020-10-02";

/** Signs requests with a shared key or a shared access signature; reads public containers with neither. */
export function azureAccess(
  options: v.InferOutput<typeof azureOptions>,
  { clock }: ObjectStoreTools,
): ObjectAccess {
  const { account_name: account, account_key: key, container_name: container, sas_token: sas } = options;
  if (account === "" || container === "") throw refused("account_name and container_name must be set");
  const suffix = SUFFIX[options.environment || "AzureCloud"];
  if (suffix === undefined) throw refused(`environment is one of ${Object.keys(SUFFIX).join(", ")}`);
  const base = options.endpoint || `https://${account}.${suffix}`;
  if (!URL.canParse(base)) throw refused("endpoint and account_name make no address");
  const request = (method: string, id: string, own: Readonly<Record<string, string>>, size = 0) => {
    const path = [container, ...id.split("/")].map(encodeURIComponent).join("/");
    const url = new URL(`${trimEnd(base, "/")}/${path}`);
    if (sas) url.search = sas.replace(/^\?/, "");
    const date = new Date(clock.now()).toUTCString();
    const sent: Record<string, string> = { ...own, "x-ms-date": date, "x-ms-version": VERSION };
    if (sas || !key) return { url, headers: sent };
    const signature = createHmac("sha256", Buffer.from(key, "base64"))
      .update(signedText(method, account, url, sent, size))
      .digest("base64");
    return { url, headers: { ...sent, authorization: `SharedKey ${account}:${signature}` } };
  };
  return {
    where: `container '${container}' at ${new URL(base).host}`,
    get: (id) => [() => Promise.resolve(request("GET", id, {}))],
    put: async (id, { md5, size }) => {
      if (!sas && !key)
        throw refused("there are no credentials to write with; set account_key, or sas_token");
      const type = "application/octet-stream";
      const own = { "x-ms-blob-type": "BlockBlob", "content-md5": md5, "content-type": type };
      return request("PUT", id, own, size);
    },
    codeOf: (reply) => reply.header("x-ms-error-code"),
  };
}

const refused = (why: string) => new ObjectTrouble("refused", why);

function signedText(
  method: string,
  account: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  size: number,
): string {
  const own = Object.keys(headers)
    .filter((name) => name.startsWith("x-ms-"))
    .sort()
    .map((name) => `${name}:${headers[name]}`);
  return [
    method,
    // Content-Encoding, Content-Language
    ...["", ""],
    size === 0 ? "" : String(size),
    headers["content-md5"] ?? "",
    headers["content-type"] ?? "",
    // Date, If-Modified-Since, If-Match, If-None-Match, If-Unmodified-Since, Range
    ...["", "", "", "", "", ""],
    ...own,
    `/${account}${url.pathname}`,
  ].join("\n");
}
