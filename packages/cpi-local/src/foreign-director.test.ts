import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { systemClock } from "@slipway/kernel/clock";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AGENT, AGENT_SERVER, CA, DIRECTOR } from "@slipway/testkit/certificates";
import { LocalCloud, nextAddress, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { AGENT_ID, natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { type SshSetUp, sshKey, sshLogin } from "@slipway/testkit/ssh-login";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";

sampleTests(1 / 3);

const bundle = agentBundle();
const trouble = await sandboxTrouble();
const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const here =
  needs("userns", trouble === undefined, trouble) &&
  needs("nats-server", natsServerAvailable(), "nats-server is not installed") &&
  needs("sshd", has("/usr/sbin/sshd") && has("ssh"), "it takes ssh and sshd (openssh-server)");
const PATIENCE_MS = 300_000;
const LOG = "/var/vcap/sys/log/web/web.stdout.log";

async function directory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

/** The blobstore of upstream's Director: WebDAV below 256 directories, by password and TLS; and signed URLs without them. */
async function davServer() {
  const dir = await directory();
  const password = "Basic YWdlbnQ6cHc=";
  const take =
    (isOpen: (url: URL) => boolean): RequestListener =>
    async (request, response) => {
      const url = new URL(request.url ?? "", "http://dav");
      const file = join(dir, url.pathname);
      if (request.headers.authorization !== password && !isOpen(url)) response.writeHead(401).end();
      else if (request.method === "PUT") {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, await buffer(request));
        response.writeHead(201).end();
      } else response.writeHead(405).end();
    };
  const { certificate: cert, privateKey: key } = AGENT_SERVER;
  const dav = createHttps(
    { cert, key },
    take(() => false),
  );
  const signed = createHttp(take((url) => url.searchParams.get("st") === "signature"));
  const portOf = async (server: typeof dav | typeof signed) => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const endpoint = `https://127.0.0.1:${await portOf(dav)}`;
  const origin = `http://127.0.0.1:${await portOf(signed)}`;
  return {
    blobstore: {
      provider: "dav",
      options: { endpoint, user: "agent", password: "pw", tls: { cert: { ca: CA } } },
    },
    fileOf: (id: string) => join(dir, createHash("sha1").update(id).digest("hex").slice(0, 2), id),
    signedUrl: (id: string) => `${origin}/${id}?st=signature`,
    signedFile: (id: string) => join(dir, id),
  };
}

/** Upstream's Director on the bus, by its messages alone. */
async function upstreamDirector(server: TestNatsServer) {
  const bus = await dial(readNatsUrl(server.url), DIRECTOR, "director", systemClock);
  onTestFinished(() => bus.close());
  const inbox = `director.${systemRandom.uuid()}`;
  const waiting = new Map<string, (text: string) => void>();
  bus.subscribe(`${inbox}.>`, {
    callback: (_, message) => waiting.get(message.subject)?.(message.string()),
  });
  await bus.flush();
  /** Sends a message and returns the agent's reply; undefined if there is no reply within this time. */
  const send = async (method: string, args: readonly unknown[], withinMs = 120_000): Promise<unknown> => {
    const reply_to = `${inbox}.${AGENT_ID}.${systemRandom.uuid()}`;
    const answered = new Promise<string>((resolve) => waiting.set(reply_to, resolve));
    bus.publish(`agent.${AGENT_ID}`, JSON.stringify({ protocol: 3, method, arguments: args, reply_to }));
    const late = systemClock.sleep(withinMs).then(() => undefined);
    const text = await Promise.race([answered, late]);
    if (text === undefined) return undefined;
    const { value, exception } = JSON.parse(text) as { value?: unknown; exception?: { message: string } };
    if (exception !== undefined) throw new Error(exception.message);
    return value;
  };
  const ask = async (method: string, ...args: readonly unknown[]): Promise<unknown> => {
    let value = await send(method, args);
    for (;;) {
      const { agent_task_id: id, state } = (value ?? {}) as { agent_task_id?: string; state?: string };
      if (id === undefined || state !== "running") return value;
      await systemClock.sleep(100);
      value = await send("get_task", [id]);
    }
  };
  const ready = () => expect.poll(() => send("ping", [], 500), { timeout: 240_000 }).toBe("pong");
  return { ask, ready };
}

describe.runIf(here)("a sandbox of another Director", { timeout: PATIENCE_MS }, () => {
  /** A VM with the settings that upstream's Director writes: everything in `env.bosh`, over NATS. */
  async function booted(blobstore: object, share: string[] = []) {
    const server = await TestNatsServer.start();
    const cloud = await LocalCloud.open({ agent: bundle(), share });
    onTestFinished(() => cloud.close());
    const director = await upstreamDirector(server);
    const [, ...given] = cloud.vmArguments(await cloud.newStemcell(), nextAddress());
    const { ca, certificate, privateKey: private_key } = AGENT;
    const bosh = {
      ...{ mbus: { cert: { ca, certificate, private_key }, urls: [server.url] } },
      ...{ blobstores: [blobstore], ntp: [], group: "director-shop-web", groups: ["director", "shop"] },
    };
    const [cid] = await cloud.result<[string]>("create_vm", [AGENT_ID, ...given.slice(0, -1), { bosh }]);
    await director.ready();
    await cloud.insideMust(cid, `mkdir -p ${dirname(LOG)} && echo "hello from web" > ${LOG}`);
    return { cloud, cid, ...director };
  }

  async function logIn(archive: string, digest: string): Promise<string> {
    const sha1 = createHash("sha1").update(await readFile(archive));
    expect(digest.split(";")[0]).toBe(sha1.digest("hex"));
    const to = await directory();
    await mustRun(systemExec, "unpacking", "tar", ["-xzf", archive, "-C", to]);
    return await readFile(join(to, "web", "web.stdout.log"), "utf8");
  }

  it("lets in the holder of the `bosh ssh` key, and puts its logs into a dav blobstore or to a signed URL", async () => {
    const dav = await davServer();
    const { cloud, ask } = await booted(dav.blobstore);
    const key = await sshKey(cloud.dir, "key", "rsa");
    const user = "bosh_4f1b2c6c9e10b1b";
    const setUp = (await ask("ssh", "setup", { user, public_key: key.key })) as SshSetUp;
    expect(setUp).toMatchObject({ command: "setup", status: "success" });
    expect(await sshLogin(setUp, user, key, `whoami; cat ${LOG}`)).toMatchObject({
      ...{ code: 0, stdout: `${user}\nhello from web\n` },
    });
    expect(await ask("ssh", "cleanup", { user_regex: `^${user}` })).toEqual({
      ...{ command: "cleanup", status: "success" },
    });
    expect((await sshLogin(setUp, user, key, "true")).code).not.toBe(0);

    const made = (await ask("fetch_logs", "job", null)) as { blobstore_id: string; sha1: string };
    // Upstream takes no other id for a blob.
    expect(made.blobstore_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await logIn(dav.fileOf(made.blobstore_id), made.sha1)).toBe("hello from web\n");

    const order = { signed_url: dav.signedUrl("logs"), log_type: "job", filters: ["web/*.log"] };
    const sent = await ask("fetch_logs_with_signed_url", { ...order, blobstore_headers: {} });
    expect(await logIn(dav.signedFile("logs"), (sent as { sha1: string }).sha1)).toBe("hello from web\n");
  });

  it("puts its logs into a local blobstore, in a directory that it shares, and nowhere else", async () => {
    const blobs = await directory();
    await chmod(blobs, 0o700);
    const { cloud, cid, ask } = await booted({ provider: "local", options: { blobstore_path: blobs } }, [
      blobs,
    ]);
    const made = (await ask("fetch_logs", "job", [])) as { blobstore_id: string; sha1: string };
    expect(await logIn(join(blobs, made.blobstore_id), made.sha1)).toBe("hello from web\n");
    // What it writes beside that is its own.
    await cloud.inside(cid, `touch ${blobs}-beside`);
    expect(await readdir(dirname(blobs))).not.toContain(`${basename(blobs)}-beside`);
  });
});
