import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import { type AwsKey, signedHeaders } from "@slipway/kernel/sigv4";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { askForCredential, type ObjectStoreTools, ObjectTrouble } from "./object-store.ts";

/**
 * The key of `env_or_profile`: variables, then the profile of the user's files, then the role of this EC2 instance.
 * Undefined if there is none.
 */
export async function environmentKey(tools: ObjectStoreTools): Promise<AwsKey | undefined> {
  const { env } = tools;
  const [id, secret] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY];
  if (id && secret)
    return { accessKeyId: id, secretAccessKey: secret, sessionToken: env.AWS_SESSION_TOKEN || undefined };
  return (await profileKey(env)) ?? (await instanceKey(tools));
}

async function profileKey(env: ObjectStoreTools["env"]): Promise<AwsKey | undefined> {
  const home = join(env.HOME || homedir(), ".aws");
  const profile = env.AWS_PROFILE || "default";
  const files = [
    [env.AWS_SHARED_CREDENTIALS_FILE || join(home, "credentials"), [profile]],
    [env.AWS_CONFIG_FILE || join(home, "config"), [`profile ${profile}`, profile]],
  ] as const;
  for (const [file, sections] of files) {
    const text = await ifThere(readFile(file, "utf8"));
    for (const section of text === undefined ? [] : sections) {
      const found = sectionOf(text ?? "", section);
      const [id, secret] = [found.get("aws_access_key_id"), found.get("aws_secret_access_key")];
      if (id && secret)
        return {
          accessKeyId: id,
          secretAccessKey: secret,
          sessionToken: found.get("aws_session_token") || undefined,
        };
    }
  }
  return undefined;
}

function sectionOf(text: string, wanted: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let inside = false;
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line.startsWith("[")) inside = line.slice(1, line.indexOf("]")).trim() === wanted;
    const at = line.indexOf("=");
    if (!inside || at < 1 || line.startsWith("#") || line.startsWith(";")) continue;
    found.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return found;
}

const instanceReply = open({ AccessKeyId: v.string(), SecretAccessKey: v.string(), Token: v.string() });
/** Deadline of the metadata service: on most machines nothing answers. */
const INSTANCE_WITHIN_MS = 1_000;

/** Asks version 2 of the metadata service. */
async function instanceKey(tools: ObjectStoreTools): Promise<AwsKey | undefined> {
  if (tools.env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === "true") return undefined;
  const base = tools.env.AWS_EC2_METADATA_SERVICE_ENDPOINT || "http://169.254.169.254";
  if (!URL.canParse(base)) throw new ObjectTrouble("refused", "AWS_EC2_METADATA_SERVICE_ENDPOINT is no URL");
  const late = new AbortController();
  const cancel = tools.clock.after(INSTANCE_WITHIN_MS, () => late.abort());
  const signal = tools.signal === undefined ? late.signal : AbortSignal.any([tools.signal, late.signal]);
  const ask = (path: string, method: string, headers: Readonly<Record<string, string>>) =>
    askForCredential(
      "the role of this EC2 instance",
      new URL(path, base),
      { method, headers },
      { ...tools, signal },
    );
  try {
    const lifetime = { "x-aws-ec2-metadata-token-ttl-seconds": "300", "content-length": "0" };
    const token = { "x-aws-ec2-metadata-token": await ask("/latest/api/token", "PUT", lifetime) };
    const path = "/latest/meta-data/iam/security-credentials/";
    const role = (await ask(path, "GET", token)).split("\n")[0] ?? "";
    const text = await ask(`${path}${encodeURIComponent(role)}`, "GET", token);
    const { AccessKeyId, SecretAccessKey, Token } = v.parse(instanceReply, JSON.parse(text));
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token };
  } catch {
    tools.signal?.throwIfAborted();
    // No EC2 instance, or one without a role.
    return undefined;
  } finally {
    cancel();
  }
}

const ROLE_FIELDS = [
  /<AccessKeyId>([^<]+)<\/AccessKeyId>/,
  /<SecretAccessKey>([^<]+)<\/SecretAccessKey>/,
  /<SessionToken>([^<]+)<\/SessionToken>/,
];

/** The temporary key of a role, by AssumeRole of AWS STS. */
export async function assumedRole(
  arn: string,
  key: AwsKey,
  region: string,
  tools: ObjectStoreTools,
): Promise<AwsKey> {
  const { env, clock, random } = tools;
  const china = region.startsWith("cn-") ? ".cn" : "";
  const base = env.AWS_ENDPOINT_URL_STS || `https://sts.${region}.amazonaws.com${china}`;
  if (!URL.canParse(base)) throw new ObjectTrouble("refused", "AWS_ENDPOINT_URL_STS is no URL");
  const url = new URL("/", base);
  const body = String(
    new URLSearchParams({
      Action: "AssumeRole",
      Version: "2011-06-15",
      RoleArn: arn,
      RoleSessionName: `slipway-${random.hex(8)}`,
    }),
  );
  const payloadSha256 = createHash("sha256").update(body).digest("hex");
  const sent = { "content-type": "application/x-www-form-urlencoded" };
  const signable = { method: "POST", url, payloadSha256, now: clock.now(), headers: sent };
  const headers = signedHeaders(signable, { ...key, region, service: "sts" });
  const text = await askForCredential("AssumeRole", url, { method: "POST", headers, body }, tools);
  const [accessKeyId, secretAccessKey, sessionToken] = ROLE_FIELDS.map((field) => field.exec(text)?.[1]);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ObjectTrouble("refused", "AssumeRole: the answer has no key");
  return { accessKeyId, secretAccessKey, sessionToken };
}
