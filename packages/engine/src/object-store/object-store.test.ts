import { createHash, createVerify, generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { dialledWire } from "@slipway/kernel/http/node-wire";
import { systemRandom } from "@slipway/kernel/random";
import { AGENT_SERVER } from "@slipway/testkit/certificates";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type ObjectStoreProvider, openObjectStore } from "./open-object-store.ts";

let dir: string;
beforeEach(async () => {
  const { path, remove } = await temporaryDirectory();
  dir = path;
  await writeFile(join(dir, "file"), "content");
  return () => remove();
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}
interface Answer {
  readonly status: number;
  readonly body?: string | Buffer;
}

async function server(answer: (asked: Asked) => Answer, tls?: typeof AGENT_SERVER) {
  const seen: Asked[] = [];
  const talk: RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const asked = { method, path, headers, body: Buffer.concat(pieces) };
      seen.push(asked);
      const { status, body = "" } = answer(asked);
      response.writeHead(status, { connection: "close" }).end(body);
    });
  };
  const listening =
    tls === undefined
      ? createServer(talk)
      : createTlsServer({ cert: tls.certificate, key: tls.privateKey }, talk);
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => listening.close(() => resolve())));
  const scheme = tls === undefined ? "http" : "https";
  return { url: `${scheme}://127.0.0.1:${(listening.address() as AddressInfo).port}`, seen };
}

const clock = fakeClock({ start: Date.UTC(2026, 0, 1), hurry: true });
const opened = (
  provider: ObjectStoreProvider,
  options: unknown,
  env: Readonly<Record<string, string>> = {},
) => openObjectStore(provider, options, { clock, random: systemRandom, env: { HOME: dir, ...env } });

const s3At = (url: string, more: object = {}) => ({ bucket_name: "b", host: url, ...more });
const fetched = async () => await readFile(join(dir, "back"), "utf8");

describe("an object store", () => {
  it("tries again when the server fails, and at most three times", async () => {
    let left = 2;
    const { url, seen } = await server(() =>
      left-- > 0 ? { status: 503 } : { status: 200, body: "content" },
    );
    const store = await opened("s3", s3At(url));
    await store.fetch("k", join(dir, "back"));
    expect(await fetched()).toBe("content");
    left = 10;
    await expect(store.fetch("k", join(dir, "back"))).rejects.toMatchObject({ kind: "unreachable" });
    expect(seen).toHaveLength(6);
  });

  it("says that there is no server, without its address", async () => {
    const { url } = await server(() => ({ status: 200 }));
    const closed = "http://127.0.0.1:9";
    const store = await opened("azure-storage", {
      ...{ account_name: "a", container_name: "c", endpoint: closed, sas_token: "?sig=hush" },
    });
    await expect(store.fetch("k", join(dir, "back"))).rejects.toMatchObject({
      kind: "unreachable",
      message: expect.not.stringMatching(/hush|sig=/),
    });
    expect(url).not.toBe(closed);
  });

  it.each([
    ["s3", {}, "bucket_name"],
    ["s3", { bucket_name: "b", access_key_id: "a" }, "secret_access_key must be provided"],
    ["s3", { bucket_name: "b", credentials_source: "vault" }, "credentials_source"],
    ["gcs", { bucket_name: "b", credentials_source: "static" }, "json_key must be set"],
    ["gcs", { bucket_name: "b", encryption_key: "c2hvcnQ=" }, "32 bytes"],
    ["dav", { endpoint: "ftp://x" }, "http or https"],
    ["azure-storage", { account_name: "a", container_name: "c", environment: "Mars" }, "AzureCloud"],
  ] as const)("refuses for %s the options %j", async (provider, options, words) => {
    await expect(opened(provider, options)).rejects.toThrow(words);
  });
});

describe("s3", () => {
  it("believes a server's certificate that no authority has signed only with ssl_verify_peer: false", async () => {
    const { url, seen } = await server(() => ({ status: 200, body: "content" }), AGENT_SERVER);
    for (const more of [{}, { ssl_verify_peer: true }, { ssl_verify_peer: null }])
      await expect((await opened("s3", s3At(url, more))).fetch("k", join(dir, "back"))).rejects.toMatchObject(
        { kind: "unreachable" },
      );
    expect(seen).toEqual([]);
    await (await opened("s3", s3At(url, { ssl_verify_peer: false }))).fetch("k", join(dir, "back"));
    expect(await fetched()).toBe("content");
  });

  it("asks for encryption at rest, and uses the temporary key of a role", async () => {
    const sts = await server(({ body }) => ({
      status: String(body).includes("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr") ? 200 : 400,
      body: "<AccessKeyId>TEMP</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>tok</SessionToken>",
    }));
    const { url, seen } = await server(() => ({ status: 200 }));
    const options = s3At(url, {
      ...{ access_key_id: "a", secret_access_key: "s", assume_role_arn: "arn:aws:iam::1:role/r" },
      ...{ server_side_encryption: "aws:kms", sse_kms_key_id: "key-1" },
    });
    await (await opened("s3", options, { AWS_ENDPOINT_URL_STS: sts.url })).store("k", join(dir, "file"));
    expect(seen[0]?.headers).toMatchObject({
      "x-amz-server-side-encryption": "aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id": "key-1",
      "x-amz-security-token": "tok",
      authorization: expect.stringContaining("Credential=TEMP/"),
    });
    expect(sts.seen[0]?.headers.authorization).toContain("/us-east-1/sts/aws4_request");
  });

  it("takes the key of the EC2 instance's role when nothing else has one", async () => {
    const metadata = await server(({ method, path, headers }) => {
      if (method === "PUT") return { status: 200, body: "session" };
      if (headers["x-aws-ec2-metadata-token"] !== "session") return { status: 401 };
      const key = { AccessKeyId: "ROLE", SecretAccessKey: "s", Token: "t" };
      return { status: 200, body: path.endsWith("/web") ? JSON.stringify(key) : "web" };
    });
    const { url, seen } = await server(() => ({ status: 200 }));
    const env = { AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url };
    const store = await opened("s3", s3At(url, { credentials_source: "env_or_profile" }), env);
    await store.store("k", join(dir, "file"));
    expect(seen[0]?.headers.authorization).toContain("Credential=ROLE/");
  });

  it("asks for a bucket by its name in the host where it is told to", async () => {
    const { url, seen } = await server(() => ({ status: 200 }));
    const port = Number(new URL(url).port);
    const wire = dialledWire(({ host }) => {
      expect(host).toBe("b.s3.eu-west-1.amazonaws.com");
      return Promise.resolve(connect({ port, host: "127.0.0.1" }));
    });
    const options = { bucket_name: "b", region: "eu-west-1", use_ssl: false, host_style: true };
    const store = await openObjectStore("s3", options, { clock, random: systemRandom, env: {}, wire });
    await store.fetch("k", join(dir, "back"));
    expect(seen[0]).toMatchObject({ path: "/k", headers: { host: "b.s3.eu-west-1.amazonaws.com" } });
  });
});

describe("gcs", () => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });

  /** A bucket of Google's with one account. Public objects begin with `public`. */
  async function google() {
    const objects = new Map<string, Asked>();
    const tokens = new Set<string>();
    const { url, seen } = await server(({ method, path, headers, body }) => {
      if (path === "/token") {
        const assertion = new URLSearchParams(String(body)).get("assertion") ?? "";
        const [header = "", claims = "", signature = ""] = assertion.split(".");
        const signed = createVerify("RSA-SHA256").update(`${header}.${claims}`);
        if (!signed.verify(publicKey, signature, "base64url"))
          return { status: 400, body: '{"error":"invalid_grant","error_description":"hush"}' };
        const said = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
        expect(said).toMatchObject({
          iss: "me@project",
          aud: `${url}/token`,
          iat: Math.floor(clock.now() / 1000),
        });
        tokens.add(`t${tokens.size}`);
        return {
          status: 200,
          body: JSON.stringify({ access_token: `t${tokens.size - 1}`, expires_in: 3600 }),
        };
      }
      const known = tokens.has((headers.authorization ?? "").replace("Bearer ", ""));
      if (method === "PUT") {
        if (!known) return { status: 401, body: "<Error><Code>AuthenticationRequired</Code></Error>" };
        const md5 = createHash("md5").update(body).digest("base64");
        if (headers["content-md5"] !== md5) return { status: 400 };
        objects.set(path, { method, path, headers, body });
        return { status: 200 };
      }
      if (!known && !path.startsWith("/b/public"))
        return { status: 403, body: "<Error><Code>AccessDenied</Code></Error>" };
      const found = objects.get(path);
      return found === undefined ? { status: 404 } : { status: 200, body: found.body };
    });
    const key = (private_key: string | Buffer) =>
      JSON.stringify({ client_email: "me@project", private_key, token_uri: `${url}/token` });
    return { url, seen, objects, key, env: { STORAGE_EMULATOR_HOST: url } };
  }

  it("stores with a token of the service account, and reads what is public without one", async () => {
    const { key, env, objects, seen } = await google();
    const options = { bucket_name: "b", credentials_source: "static", json_key: key(pem) };
    const store = await opened("gcs", { ...options, storage_class: "NEARLINE" }, env);
    for (const name of ["private", "public"]) await store.store(name, join(dir, "file"));
    expect(objects.get("/b/private")?.headers["x-goog-storage-class"]).toBe("NEARLINE");
    expect(seen.filter(({ path }) => path === "/token")).toHaveLength(1);
    await store.fetch("private", join(dir, "back"));
    expect(await fetched()).toBe("content");
    const anonymous = await opened("gcs", { bucket_name: "b", credentials_source: "none" }, env);
    await anonymous.fetch("public", join(dir, "back"));
    await expect(anonymous.fetch("private", join(dir, "back"))).rejects.toMatchObject({
      kind: "refused",
      message: "the server answered 403 AccessDenied",
    });
    await expect(anonymous.store("x", join(dir, "file"))).rejects.toMatchObject({ kind: "refused" });
  });

  it("renews its token in time, and sends the customer's own key of encryption", async () => {
    const { key, env, objects, seen } = await google();
    const encryption_key = Buffer.alloc(32, 7).toString("base64");
    await writeFile(join(dir, "adc.json"), key(pem));
    const store = await opened(
      "gcs",
      { bucket_name: "b", encryption_key },
      {
        ...env,
        GOOGLE_APPLICATION_CREDENTIALS: join(dir, "adc.json"),
      },
    );
    await store.store("x", join(dir, "file"));
    await clock.advance(3_590_000);
    await store.store("y", join(dir, "file"));
    expect(seen.filter(({ path }) => path === "/token")).toHaveLength(2);
    expect(objects.get("/b/y")?.headers["x-goog-encryption-key"]).toBe(encryption_key);
  });

  it("says that a key is refused or unreadable, without anything of it", async () => {
    const { key, env } = await google();
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    for (const [private_key, message] of [
      [
        other.export({ type: "pkcs8", format: "pem" }),
        "a token of Google: the server answered 400 invalid_grant",
      ],
      ["-----BEGIN hush-----", "the private_key of the service account cannot be read"],
    ] as const) {
      const options = { bucket_name: "b", credentials_source: "static", json_key: key(private_key) };
      const store = await opened("gcs", options, env);
      await expect(store.store("x", join(dir, "file"))).rejects.toMatchObject({ kind: "refused", message });
    }
  });
});
