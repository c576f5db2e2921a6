import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import type { AwsKey } from "@slipway/kernel/sigv4";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { AwsConfig } from "../config.ts";
import { NoCredentials } from "../errors.ts";
import { AwsService, type RequestTools } from "./client.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CredentialTools extends RequestTools {
  readonly env: Environment;
  readonly stsEndpoint: URL;
  readonly region: string;
}

const STS_VERSION = "2011-06-15";
const keyReply = open({
  AccessKeyId: v.string(),
  SecretAccessKey: v.string(),
  SessionToken: v.string(),
});
const assumeRoleReply = open({ AssumeRoleResult: open({ Credentials: keyReply }) });
const webIdentityReply = open({ AssumeRoleWithWebIdentityResult: open({ Credentials: keyReply }) });
const profileReply = open({ AccessKeyId: v.string(), SecretAccessKey: v.string(), Token: v.string() });

/** Finds the credentials of the configuration, once per CPI call: temporary ones outlive it. */
export function credentialsOf(config: AwsConfig, tools: CredentialTools): () => Promise<AwsKey> {
  let found: Promise<AwsKey> | undefined;
  return () => (found ??= find(config, tools));
}

async function find(config: AwsConfig, tools: CredentialTools): Promise<AwsKey> {
  const own =
    config.credentials_source === "env_or_profile" ? await fromSurroundings(tools) : staticKey(config);
  if (!config.role_arn) return own;
  const sts = stsOf(tools, () => Promise.resolve(own));
  const reply = await sts.call(assumeRoleReply, "AssumeRole", {
    RoleArn: config.role_arn,
    RoleSessionName: sessionName(tools),
  });
  return keyOf(reply.AssumeRoleResult.Credentials);
}

function staticKey(config: AwsConfig): AwsKey {
  const { access_key_id: id, secret_access_key: secretKey, session_token: token } = config;
  if (!id || !secretKey)
    throw NoCredentials({
      problems: ["credentials_source is static, and access_key_id or secret_access_key is empty"],
    });
  return { accessKeyId: id, secretAccessKey: secretKey, sessionToken: token || undefined };
}

/** In the order of AWS's own programs. Why a source has nothing is said only if none has. */
async function fromSurroundings(tools: CredentialTools): Promise<AwsKey> {
  const problems: string[] = [];
  for (const source of [fromEnvironment, fromWebIdentity, fromFile, fromInstanceProfile]) {
    const found = await source(tools);
    if (typeof found !== "string") return found;
    problems.push(found);
  }
  throw NoCredentials({ problems });
}

async function fromEnvironment({ env }: CredentialTools): Promise<AwsKey | string> {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secretKey, AWS_SESSION_TOKEN: token } = env;
  if (!id || !secretKey) return "environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set";
  return { accessKeyId: id, secretAccessKey: secretKey, sessionToken: token || undefined };
}

async function fromWebIdentity(tools: CredentialTools): Promise<AwsKey | string> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role, AWS_ROLE_SESSION_NAME: name } = tools.env;
  if (!file || !role) return "web identity: AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN are not set";
  const token = await readFile(file, "utf8").catch((error: unknown) => {
    throw NoCredentials(
      { problems: [`web identity: ${file} cannot be read (${systemCode(error)})`] },
      { cause: error },
    );
  });
  const reply = await stsOf(tools, undefined).call(webIdentityReply, "AssumeRoleWithWebIdentity", {
    RoleArn: role,
    RoleSessionName: name || sessionName(tools),
    WebIdentityToken: token.trim(),
  });
  return keyOf(reply.AssumeRoleWithWebIdentityResult.Credentials);
}

async function fromFile({ env }: CredentialTools): Promise<AwsKey | string> {
  const path = env.AWS_SHARED_CREDENTIALS_FILE || (env.HOME && join(env.HOME, ".aws", "credentials"));
  const profile = env.AWS_PROFILE || "default";
  if (!path) return "shared file: neither AWS_SHARED_CREDENTIALS_FILE nor HOME is set";
  const text = await ifThere(readFile(path, "utf8"));
  if (text === undefined) return `shared file: there is no ${path}`;
  const section = profileIn(text, profile);
  const [id, secretKey] = [section.get("aws_access_key_id"), section.get("aws_secret_access_key")];
  if (!id || !secretKey) return `shared file: the profile ${profile} of ${path} has no keys`;
  return {
    accessKeyId: id,
    secretAccessKey: secretKey,
    sessionToken: section.get("aws_session_token") || undefined,
  };
}

function profileIn(text: string, profile: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let inside = false;
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line.startsWith("[")) inside = (line.slice(1).split("]", 1)[0] ?? "").trim() === profile;
    const at = line.indexOf("=");
    if (!inside || at < 1 || /^[#;]/.test(line)) continue;
    found.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
  }
  return found;
}

/** Nothing answers at this address on most machines outside of EC2. */
const METADATA_WITHIN_MS = 2_000;
const ROLE_PATH = "/latest/meta-data/iam/security-credentials/";

/** Asks the metadata service of the instance that the CPI runs on, version 2. */
async function fromInstanceProfile({ env, clock, signal }: CredentialTools): Promise<AwsKey | string> {
  if (env.AWS_EC2_METADATA_DISABLED === "true") return "instance profile: AWS_EC2_METADATA_DISABLED is set";
  const origin = env.AWS_EC2_METADATA_SERVICE_ENDPOINT || "http://169.254.169.254";
  const ask = async (method: string, path: string, headers: Readonly<Record<string, string>>) => {
    const limits = { withinMs: METADATA_WITHIN_MS, largest: 1 << 20, signal };
    const reply = await requestOnce({ origin, clock }, { method, path, headers, ...limits });
    const text = await reply.text();
    return reply.status === 200 ? text : undefined;
  };
  try {
    const lifetime = { "x-aws-ec2-metadata-token-ttl-seconds": "300", "content-length": "0" };
    const token = await ask("PUT", "/latest/api/token", lifetime);
    const headers = { "x-aws-ec2-metadata-token": token ?? "" };
    const role = token === undefined ? undefined : (await ask("GET", ROLE_PATH, headers))?.split("\n")[0];
    if (!role) return "instance profile: this instance has none";
    const text = await ask("GET", `${ROLE_PATH}${encodeURIComponent(role)}`, headers);
    const checked = check(
      profileReply,
      text === undefined ? undefined : parseStrictJson(text, "the role's key"),
    );
    if (!checked.ok) return `instance profile: the role ${role} has no key`;
    const { AccessKeyId, SecretAccessKey, Token } = checked.value;
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token };
  } catch (error) {
    if (error instanceof HttpTrouble) return `instance profile: no metadata service at ${origin}`;
    throw error;
  }
}

const sessionName = ({ random }: CredentialTools) => `slipway-${random.hex(8)}`;

const stsOf = (tools: CredentialTools, credentials: (() => Promise<AwsKey>) | undefined): AwsService =>
  new AwsService({
    ...tools,
    endpoint: tools.stsEndpoint,
    service: "sts",
    version: STS_VERSION,
    credentials,
  });

const keyOf = (reply: v.InferOutput<typeof keyReply>): AwsKey => ({
  accessKeyId: reply.AccessKeyId,
  secretAccessKey: reply.SecretAccessKey,
  sessionToken: reply.SessionToken,
});
