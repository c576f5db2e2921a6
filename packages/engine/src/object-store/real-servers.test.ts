import { createHmac } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import {
  AZURITE,
  azurite,
  DAV_USER,
  davServer,
  PRIVATE_BUCKET,
  PUBLIC_BUCKET,
  S3_KEY,
  s3Server,
} from "@slipway/testkit/blob-servers";
import { needs } from "@slipway/testkit/needs";
import { programAvailable } from "@slipway/testkit/server-program";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { ObjectTrouble } from "./object-store.ts";
import { type ObjectStoreProvider, openObjectStore } from "./open-object-store.ts";

// Larger than one read of a file, with every byte in it.
const CONTENT = Buffer.from(Array.from({ length: 700_000 }, (_, at) => (at * 31) % 256));

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
  await writeFile(join(dir, "file"), CONTENT);
  return () => remove();
});

const opened = (
  provider: ObjectStoreProvider,
  options: unknown,
  env: Readonly<Record<string, string>> = {},
) => openObjectStore(provider, options, { clock: systemClock, random: systemRandom, env });

async function roundTrip(
  provider: ObjectStoreProvider,
  options: unknown,
  env: Readonly<Record<string, string>> = {},
) {
  const key = systemRandom.uuid();
  const store = await opened(provider, options, env);
  await store.store(key, join(dir, "file"));
  await store.fetch(key, join(dir, "back"));
  expect((await readFile(join(dir, "back"))).equals(CONTENT)).toBe(true);
  return key;
}

async function troubleOf(work: Promise<unknown>): Promise<ObjectTrouble> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof ObjectTrouble)) throw error ?? new Error("it succeeded");
  return error;
}

describe.runIf(needs("seaweedfs", programAvailable("weed"), "there is no `weed` in the PATH"))("s3", () => {
  const server = s3Server();
  const bucket = (name: string, more: object = {}) => ({
    bucket_name: name,
    host: "127.0.0.1",
    port: server().port,
    use_ssl: false,
    ...more,
  });

  it.each([
    ["with a key", {}],
    ["below a folder", { folder_name: "deep/er" }],
    ["with a region", { region: "eu-central-1" }],
    ["with the old signatures", { signature_version: "2" }],
  ])("stores a blob and gives it back %s", async (_, more) => {
    await roundTrip("s3", bucket(PRIVATE_BUCKET, { ...S3_KEY, ...more }));
  });

  it("takes the key of env_or_profile from variables and from a profile", async () => {
    const options = bucket(PRIVATE_BUCKET, { credentials_source: "env_or_profile" });
    const [id, secret] = [S3_KEY.access_key_id, S3_KEY.secret_access_key];
    await roundTrip("s3", options, { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret });
    await mkdir(join(dir, ".aws"));
    const lines = ["[default]", "aws_access_key_id = no", "aws_secret_access_key = no"];
    lines.push("[other]", `aws_access_key_id = ${id}`, `aws_secret_access_key=${secret}`, "");
    await writeFile(join(dir, ".aws/credentials"), lines.join("\n"));
    await roundTrip("s3", options, { HOME: dir, AWS_PROFILE: "other" });
  });

  it("reads a public bucket without a key, and does not write to it", async () => {
    const key = await roundTrip("s3", bucket(PUBLIC_BUCKET, S3_KEY));
    const anonymous = await opened("s3", bucket(PUBLIC_BUCKET));
    await anonymous.fetch(key, join(dir, "public"));
    expect((await readFile(join(dir, "public"))).equals(CONTENT)).toBe(true);
    const { kind, message } = await troubleOf(anonymous.store("x", join(dir, "file")));
    expect({ kind, message }).toEqual({
      kind: "refused",
      message: expect.stringContaining("no credentials to write with"),
    });
  });

  it("says what the server says, without the key", async () => {
    const store = await opened("s3", bucket(PRIVATE_BUCKET, S3_KEY));
    const missing = await troubleOf(store.fetch("nothing", join(dir, "back")));
    expect(missing).toMatchObject({ kind: "missing", message: "the server answered 404 NoSuchKey" });
    const wrong = bucket(PRIVATE_BUCKET, { ...S3_KEY, secret_access_key: "hush" });
    const refused = await troubleOf((await opened("s3", wrong)).store("x", join(dir, "file")));
    expect(refused).toMatchObject({
      kind: "refused",
      message: "the server answered 403 SignatureDoesNotMatch",
    });
  });
});

describe.runIf(needs("nginx", programAvailable("nginx"), "there is no `nginx` in the PATH"))("dav", () => {
  const server = davServer();

  it("stores a blob and gives it back", async () => {
    await roundTrip("dav", { endpoint: server().url, ...DAV_USER });
    await roundTrip("dav", { endpoint: `${server().url}/below/`, ...DAV_USER });
  });

  it("reads without a password where everybody may", async () => {
    const endpoint = `${server().url}/public`;
    const key = await roundTrip("dav", { endpoint, ...DAV_USER });
    await (await opened("dav", { endpoint })).fetch(key, join(dir, "public"));
    expect((await readFile(join(dir, "public"))).equals(CONTENT)).toBe(true);
  });

  it("tells a missing blob from a refused one", async () => {
    const endpoint = server().url;
    const missing = (await opened("dav", { endpoint, ...DAV_USER })).fetch("nothing", join(dir, "back"));
    expect(await troubleOf(missing)).toMatchObject({ kind: "missing" });
    const refused = (await opened("dav", { endpoint, user: "blobs", password: "hush" })).store(
      "x",
      join(dir, "file"),
    );
    expect(await troubleOf(refused)).toMatchObject({
      kind: "refused",
      message: "the server answered 401",
    });
  });
});

describe.runIf(needs("azurite", programAvailable("azurite-blob"), "there is no `azurite-blob` in the PATH"))(
  "azure-storage",
  () => {
    const server = azurite();
    const options = () => ({
      ...AZURITE,
      container_name: "blobs",
      endpoint: `${server().url}/${AZURITE.account_name}`,
    });

    beforeEach(async () => {
      const date = new Date(systemClock.now()).toUTCString();
      const own = { "x-ms-blob-public-access": "blob", "x-ms-date": date, "x-ms-version": "2020-10-02" };
      const { account_name: name, account_key: key } = AZURITE;
      const text = [
        "PUT",
        ...Array.from({ length: 11 }, () => ""),
        ...Object.entries(own).map(([header, value]) => `${header}:${value}`),
        `/${name}/${name}/blobs`,
        "restype:container",
      ].join("\n");
      const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
      const headers = { ...own, authorization: `SharedKey ${name}:${signature}` };
      const url = `${server().url}/${name}/blobs?restype=container`;
      expect([201, 409]).toContain((await fetch(url, { method: "PUT", headers })).status);
    });

    it("stores a blob with the account's key, and gives it back to everybody from a public container", async () => {
      const key = await roundTrip("azure-storage", options());
      const anonymous = await opened("azure-storage", { ...options(), account_key: "" });
      await anonymous.fetch(key, join(dir, "public"));
      expect((await readFile(join(dir, "public"))).equals(CONTENT)).toBe(true);
      expect(await troubleOf(anonymous.store("x", join(dir, "file")))).toMatchObject({ kind: "refused" });
    });

    it("says what the server says, without the key", async () => {
      const missing = (await opened("azure-storage", options())).fetch("nothing", join(dir, "back"));
      expect(await troubleOf(missing)).toMatchObject({
        kind: "missing",
        message: "the server answered 404 BlobNotFound",
      });
      const wrong = { ...options(), account_key: Buffer.from("hush").toString("base64") };
      const refused = (await opened("azure-storage", wrong)).store("x", join(dir, "file"));
      expect(await troubleOf(refused)).toMatchObject({
        kind: "refused",
        message: "the server answered 403 AuthorizationFailure",
      });
    });
  },
);
