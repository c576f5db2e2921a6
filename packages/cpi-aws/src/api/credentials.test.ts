import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AwsConfig } from "../config.ts";
import { RetryBudget } from "./client.ts";
import { credentialsOf, type Environment } from "./credentials.ts";

let dir: string;
let remove: () => Promise<void>;
const closers: (() => void)[] = [];
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
});
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await remove();
});

/** A service that answers by method and path, or by the action in the body. */
async function service(answers: Readonly<Record<string, string>>): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const action = new URLSearchParams(Buffer.concat(chunks).toString()).get("Action");
      const asked = action ?? `${request.method} ${request.url}`;
      const token = request.headers["x-aws-ec2-metadata-token"];
      seen.push(`${asked}${token === undefined ? "" : ` token ${String(token)}`}`);
      const answer = answers[asked];
      response.writeHead(answer === undefined ? 404 : 200).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

const keys = (id: string, token: string) =>
  `<Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>${token}</SessionToken></Credentials>`;

const found = (config: AwsConfig, env: Environment = {}, sts = "http://127.0.0.1:1/") =>
  credentialsOf(config, {
    ...{
      clock: fakeClock(),
      random: systemRandom,
      budget: new RetryBudget(0),
      retries: 0,
      region: "us-east-1",
    },
    ...{ env, stsEndpoint: new URL(sts), warn: () => undefined },
  })();

const SURROUNDINGS = { credentials_source: "env_or_profile" } as const;
const NO_METADATA = { AWS_EC2_METADATA_DISABLED: "true" };

describe("credentials", () => {
  it("are those of the configuration", async () => {
    const config = { access_key_id: "A", secret_access_key: "s", session_token: null };
    expect(await found(config)).toMatchObject({ accessKeyId: "A", secretAccessKey: "s" });
    await expect(found({ access_key_id: "A" })).rejects.toThrow(/credentials_source is static/);
  });

  it("come from the environment before the shared file", async () => {
    const file = join(dir, "credentials");
    await writeFile(
      file,
      "[default]\naws_access_key_id = D\naws_secret_access_key = d\n[ops]\naws_access_key_id=O\naws_secret_access_key=o\n",
    );
    const env = { AWS_SHARED_CREDENTIALS_FILE: file, ...NO_METADATA };
    expect(await found(SURROUNDINGS, env)).toMatchObject({ accessKeyId: "D" });
    expect(await found(SURROUNDINGS, { ...env, AWS_PROFILE: "ops" })).toMatchObject({ accessKeyId: "O" });
    const both = { ...env, AWS_ACCESS_KEY_ID: "E", AWS_SECRET_ACCESS_KEY: "e" };
    expect(await found(SURROUNDINGS, both)).toMatchObject({ accessKeyId: "E" });
  });

  it("come from the instance profile by IMDSv2", async () => {
    const role = "/latest/meta-data/iam/security-credentials/";
    const { url, seen } = await service({
      "PUT /latest/api/token": "t0ken",
      [`GET ${role}`]: "bosh-role",
      [`GET ${role}bosh-role`]: JSON.stringify({ AccessKeyId: "I", SecretAccessKey: "i", Token: "session" }),
    });
    const env = { AWS_EC2_METADATA_SERVICE_ENDPOINT: url };
    expect(await found(SURROUNDINGS, env)).toMatchObject({ accessKeyId: "I", sessionToken: "session" });
    expect(seen.slice(1).every((one) => one.endsWith("token t0ken"))).toBe(true);
  });

  it("come from a web identity, unsigned", async () => {
    const { url, seen } = await service({
      AssumeRoleWithWebIdentity: `<R><AssumeRoleWithWebIdentityResult>${keys("W", "w")}</AssumeRoleWithWebIdentityResult></R>`,
    });
    const file = join(dir, "token");
    await writeFile(file, "jwt\n");
    const env = { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: "arn:aws:iam::1:role/r" };
    expect(await found(SURROUNDINGS, env, url)).toMatchObject({ accessKeyId: "W", sessionToken: "w" });
    expect(seen).toEqual(["AssumeRoleWithWebIdentity"]);
  });

  it("are those of the role that the configuration names", async () => {
    const { url } = await service({
      AssumeRole: `<R><AssumeRoleResult>${keys("R", "r")}</AssumeRoleResult></R>`,
    });
    const config = { access_key_id: "A", secret_access_key: "s", role_arn: "arn:aws:iam::1:role/r" };
    expect(await found(config, {}, url)).toMatchObject({ accessKeyId: "R", sessionToken: "r" });
  });

  it("are missing with an error that names every source", async () => {
    const refused = found(SURROUNDINGS, { HOME: dir, ...NO_METADATA });
    await expect(refused).rejects.toThrow(/environment: .*web identity: .*shared file: .*instance profile: /);
  });
});
