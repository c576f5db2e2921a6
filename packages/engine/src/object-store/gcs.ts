import { createHash, createSign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import {
  askForCredential,
  type ObjectAccess,
  type ObjectRequest,
  type ObjectStoreTools,
  ObjectTrouble,
  xmlCode,
} from "./object-store.ts";

const perhaps = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema));

/** The options of bosh-gcscli. */
export const gcsOptions = open({
  bucket_name: v.string(),
  credentials_source: perhaps(v.picklist(["", "static", "none"])),
  json_key: perhaps(v.string()),
  storage_class: perhaps(v.string()),
  encryption_key: perhaps(v.string()),
});

const SCOPE = "https://www.googleapis.com/auth/devstorage.full_control";
const KEY_BYTES = 32;
/** A token is renewed when it has less time left. */
const MARGIN_MS = 60_000;

/** Uses the XML API, whose requests are those of S3 with tokens of Google. */
export function gcsAccess(options: v.InferOutput<typeof gcsOptions>, tools: ObjectStoreTools): ObjectAccess {
  const { bucket_name: bucket } = options;
  if (bucket === "") throw refused("bucket_name must be set");
  const base = baseOf(tools.env);
  const encryption = encryptionHeaders(options.encryption_key);
  const token = tokenSource(options, tools);
  const request = async (id: string, authorization: string | undefined): Promise<ObjectRequest> => {
    const path = [bucket, ...id.split("/")].map(encodeURIComponent).join("/");
    return {
      url: new URL(`${base}/${path}`),
      headers: { ...encryption, ...(authorization !== undefined && { authorization }) },
    };
  };
  return {
    where: `bucket '${bucket}' at ${new URL(base).host}`,
    // As upstream: without credentials first.
    get: (id) => [
      () => request(id, undefined),
      ...(token === undefined ? [] : [async () => await request(id, (await token()) ?? undefined)]),
    ],
    put: async (id, { md5 }) => {
      const authorization = await token?.();
      if (authorization === undefined)
        throw refused("there are no credentials to write with; set credentials_source: static and json_key");
      const { url, headers } = await request(id, authorization);
      const storageClass = options.storage_class;
      return {
        url,
        headers: {
          ...headers,
          "content-md5": md5,
          "content-type": "application/octet-stream",
          ...(storageClass && { "x-goog-storage-class": storageClass }),
        },
      };
    },
    codeOf: xmlCode,
  };
}

const refused = (why: string) => new ObjectTrouble("refused", why);

function baseOf({ STORAGE_EMULATOR_HOST: emulator }: ObjectStoreTools["env"]): string {
  if (!emulator) return "https://storage.googleapis.com";
  const url = emulator.includes("://") ? emulator : `http://${emulator}`;
  if (!URL.canParse(url)) throw refused("STORAGE_EMULATOR_HOST is no address");
  return new URL(url).origin;
}

function encryptionHeaders(key: string | null | undefined): Readonly<Record<string, string>> {
  if (!key) return {};
  const bytes = Buffer.from(key, "base64");
  if (bytes.length !== KEY_BYTES) throw refused(`encryption_key must be ${KEY_BYTES} bytes in base64`);
  return {
    "x-goog-encryption-algorithm": "AES256",
    "x-goog-encryption-key": bytes.toString("base64"),
    "x-goog-encryption-key-sha256": createHash("sha256").update(bytes).digest("base64"),
  };
}

const serviceAccount = open({
  client_email: v.string(),
  private_key: v.string(),
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(v.string()),
});
const refreshable = open({ client_id: v.string(), client_secret: v.string(), refresh_token: v.string() });
const tokenReply = open({ access_token: v.string(), expires_in: v.optional(v.number()) });

/** Undefined if only what is public may be read. Resolves to undefined where no credentials are found. */
function tokenSource(
  { credentials_source, json_key }: v.InferOutput<typeof gcsOptions>,
  tools: ObjectStoreTools,
): (() => Promise<string | undefined>) | undefined {
  if (credentials_source === "none") return undefined;
  if (credentials_source === "static" && !json_key) throw refused("json_key must be set");
  let kept: { readonly header: string; readonly until: number } | undefined;
  return async () => {
    if (kept !== undefined && kept.until - MARGIN_MS > tools.clock.now()) return kept.header;
    // As upstream, a json_key counts with credentials_source: static only.
    const text = credentials_source === "static" ? json_key : await defaultCredentials(tools.env);
    if (text === undefined || text === null) return undefined;
    const { access_token, expires_in = 3600 } = await tokenFor(text, tools);
    kept = { header: `Bearer ${access_token}`, until: tools.clock.now() + expires_in * 1000 };
    return kept.header;
  };
}

/** Google's Application Default Credentials, as far as they are files. */
async function defaultCredentials(env: ObjectStoreTools["env"]): Promise<string | undefined> {
  const named = env.GOOGLE_APPLICATION_CREDENTIALS;
  if (named) {
    const text = await ifThere(readFile(named, "utf8"));
    if (text === undefined) throw refused("the file that GOOGLE_APPLICATION_CREDENTIALS names is not there");
    return text;
  }
  const home = env.CLOUDSDK_CONFIG || join(env.HOME || homedir(), ".config", "gcloud");
  return await ifThere(readFile(join(home, "application_default_credentials.json"), "utf8"));
}

async function tokenFor(text: string, tools: ObjectStoreTools): Promise<v.InferOutput<typeof tokenReply>> {
  const credentials = jsonOf(text);
  const account = v.safeParse(serviceAccount, credentials);
  const refresh = v.safeParse(refreshable, credentials);
  const form: Record<string, string> = account.success
    ? {
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: assertionOf(account.output, tools.clock.now()),
      }
    : refresh.success
      ? {
          grant_type: "refresh_token",
          client_id: refresh.output.client_id,
          client_secret: refresh.output.client_secret,
          refresh_token: refresh.output.refresh_token,
        }
      : {};
  if (form.grant_type === undefined)
    throw refused(
      "the credentials are no key of a service account: client_email and private_key are missing",
    );
  const address = (account.success && account.output.token_uri) || "https://oauth2.googleapis.com/token";
  if (!URL.canParse(address)) throw refused("the token_uri of the key is no URL");
  const reply = await askForCredential(
    "a token of Google",
    new URL(address),
    {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: String(new URLSearchParams(form)),
    },
    tools,
  );
  const token = v.safeParse(tokenReply, jsonOf(reply));
  if (!token.success) throw refused("a token of Google: the answer has none");
  return token.output;
}

function assertionOf(account: v.InferOutput<typeof serviceAccount>, now: number): string {
  const issued = Math.floor(now / 1000);
  const { client_email, private_key, private_key_id, token_uri } = account;
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const header = { alg: "RS256", typ: "JWT", ...(private_key_id !== undefined && { kid: private_key_id }) };
  const audience = token_uri || "https://oauth2.googleapis.com/token";
  const claims = { iss: client_email, scope: SCOPE, aud: audience, iat: issued, exp: issued + 3600 };
  const signed = `${part(header)}.${part(claims)}`;
  try {
    return `${signed}.${createSign("RSA-SHA256").update(signed).sign(private_key, "base64url")}`;
  } catch {
    // The cause may quote the key.
    throw refused("the private_key of the service account cannot be read");
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
