import { mkdir } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { configuredClouds } from "@slipway/engine/clouds/testing/configured";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { replyProblems } from "@slipway/protocol/schema/reply-of";
import { freshDatabase } from "@slipway/testkit/database";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { documentsHere } from "../../documents/documents.ts";
import type { Db } from "../../store/schema.ts";
import type { NewTask } from "../../tasks/task.ts";
import { ownVariables } from "../../variables/built-in.ts";
import type { Shapes } from "../call.ts";
import type { Reply } from "../reply.ts";
import { type Api, type ApiOptions, startApi } from "../server.ts";
import type { Services } from "../services.ts";
import { UploadSpace } from "../upload-space.ts";

export const UUID = "5d1c7d0e-0a53-4c35-9f5e-1f0a7b9b2f10";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The body, read as JSON. */
  readonly json: unknown;
}

export interface Sent {
  readonly user?: string | null;
  readonly type?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Any address of 127.0.0.0/8. */
  readonly from?: string;
}

export interface Harness {
  readonly db: Db;
  readonly port: number;
  readonly uploadsDir: string;
  /** Tasks that were queued, oldest first. */
  readonly queued: NewTask[];
  readonly cancelled: number[];
  readonly errors: unknown[];
  ask(method: string, path: string, sent?: Sent): Promise<Answer>;
  get(path: string, user?: string | null): Promise<Answer>;
  useCertificate: Api["useCertificate"];
  /** Stops the server, does something, and starts another one at the same port. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** A real server over TLS on loopback with a real database; tasks are only recorded. */
export async function startHarness(
  change: Partial<Services> = {},
  options: Partial<ApiOptions> = {},
): Promise<Harness> {
  const { path: root, remove } = await temporaryDirectory();
  const uploadsDir = join(root, "uploads");
  await mkdir(uploadsDir);
  const blobsDir = join(root, "blobs");
  await mkdir(blobsDir);
  const database = await freshDatabase();
  const queued: NewTask[] = [];
  const cancelled: number[] = [];
  const errors: unknown[] = [];
  const services: Services = {
    db: database.db,
    tasks: {
      enqueue: async (task) => queued.push(task),
      cancel: async (id) => {
        cancelled.push(id);
        return id % 2 === 1;
      },
    },
    documents: documentsHere,
    cpis: configuredClouds(),
    configServer: ownVariables({ db: database.db, clock: systemClock, random: systemRandom }),
    agents: {
      agent: () => {
        throw new Error("this test has no agents");
      },
    },
    identity: { name: "lab", uuid: UUID, version: "1.0.0 (00000000)", cpi: "local", cpiApiVersion: 3 },
    users: [
      { name: "admin", password: "admin-pw" },
      { name: "reader", password: "reader-pw", scopes: ["bosh.read"] },
      { name: "owner", password: "owner-pw", scopes: [`bosh.${UUID}.admin`] },
      { name: "uploader", password: "uploader-pw", scopes: ["bosh.stemcells.upload"] },
      { name: "nobody", password: "nobody-pw", scopes: [] },
      { name: "empty", password: "" },
    ],
    uploadsDir,
    blobs: directoryBlobs({ dir: blobsDir, random: systemRandom }),
    uploads: new UploadSpace(),
    clock: systemClock,
    random: systemRandom,
    onError: (error) => errors.push(error),
    onReply: mustBeDeclared,
    ...change,
  };
  const listen = (port: number) =>
    startApi(services, {
      host: "127.0.0.1",
      port,
      tls: { cert: TEST_CERT, key: TEST_KEY },
      closeMs: 100,
      ...options,
    });
  let api = await listen(0);
  const { port } = api;
  // A handshake costs more than most answers.
  const agent = new Agent({ keepAlive: true });
  const ask = (method: string, path: string, sent: Sent = {}) => send(agent, port, method, path, sent);
  return {
    db: database.db,
    port,
    uploadsDir,
    queued,
    cancelled,
    errors,
    ask,
    useCertificate: (tls) => api.useCertificate(tls),
    restart: async (meanwhile) => {
      await api.close();
      await meanwhile();
      api = await listen(port);
    },
    get: (path, user) => ask("GET", path, user === undefined ? {} : { user }),
    close: async () => {
      agent.destroy();
      await api.close();
      await database.close();
      await remove();
    },
  };
}

/** Throws unless an answer is what its endpoint declares; called for every answer of every test. */
function mustBeDeclared({ reply: declared }: Shapes, { document }: Reply): void {
  if (document === undefined) return;
  const problems =
    declared === undefined ? ["the endpoint declares no answer"] : replyProblems(declared, document);
  if (problems.length > 0) throw new Error(`not the answer that is declared: ${problems.join("; ")}`);
}

export const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;

/** The path goes out exactly as given, as the CLI does it: `*`, `[]`, `%2F` and all. */
function send(agent: Agent, port: number, method: string, path: string, sent: Sent): Promise<Answer> {
  const user = sent.user === undefined ? "admin" : sent.user;
  const headers: Record<string, string> = {};
  if (user !== null) headers.authorization = basic(user, `${user}-pw`);
  if (sent.type !== undefined) headers["content-type"] = sent.type;
  if (sent.body !== undefined) headers["content-length"] = String(Buffer.byteLength(sent.body));
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      method,
      path,
      ca: TEST_CERT,
      agent,
      localAddress: sent.from,
    } as const;
    const outgoing = request({ ...options, headers: { ...headers, ...sent.headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const body = Buffer.concat(chunks).toString("utf8");
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body,
          get json() {
            return JSON.parse(body) as unknown;
          },
        });
      });
    });
    outgoing.once("error", reject);
    outgoing.end(sent.body);
  });
}
