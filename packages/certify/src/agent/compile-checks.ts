import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expectEqual, expectIncludes, expectTrue } from "../expect.ts";
import { archiveOf } from "./archive.ts";
import { type Check, type CheckContext, given } from "./check.ts";
import { sha1, uploaded } from "./test-jobs.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes a source package whose script leaves its variables in the result. */
const source = (packaging: string): Buffer =>
  archiveOf([
    { path: "packaging", content: packaging },
    { path: "src/greeting", content: "hello" },
  ]);

const PACKAGING = [
  "set -e",
  'echo "$BOSH_PACKAGE_NAME $BOSH_PACKAGE_VERSION" > "$BOSH_INSTALL_TARGET/told"',
  '[ "$(pwd -P)" = "$(cd "$BOSH_COMPILE_TARGET" && pwd -P)" ]',
  'cp src/greeting "$BOSH_INSTALL_TARGET/greeting"',
].join("\n");

/** Serves one content to every GET, and keeps what is put. */
async function store(content: Buffer) {
  const put: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === "PUT") put.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.end(request.method === "GET" ? content : "");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, put, close };
}

async function nothingLeft({ baseDir }: CheckContext): Promise<void> {
  for (const path of ["packages", "data/compile"]) {
    const names = await readdir(join(given(baseDir), path)).catch((): string[] => []);
    expectEqual(names, [], `${path} afterwards`);
  }
}

export const COMPILE_CHECKS: readonly Check[] = [
  {
    id: "AGENT-COMPILE-001",
    number: 31,
    name: "compile_package runs the script in its environment and cleans up after it",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent } = context;
      const good = source(PACKAGING);
      const id = await uploaded(context, good);
      const compiled = (await agent.value("compile_package", [id, sha1(good), "golib", "c0de.1", {}])) as {
        result: { blobstore_id: string; sha1: string };
      };
      expectTrue(UUID.test(compiled.result.blobstore_id), "blobstore_id is no UUID");
      expectTrue(/^[0-9a-f]{40}/.test(compiled.result.sha1), `sha1: ${compiled.result.sha1}`);
      await nothingLeft(context);
      const bad = source("echo 'no compiler' >&2; exit 3");
      const said = await agent.failure("compile_package", [
        await uploaded(context, bad),
        sha1(bad),
        "golib",
        "c0de.2",
        {},
      ]);
      expectIncludes(said, "Command exited with 3");
      expectIncludes(said, "no compiler");
      await nothingLeft(context);
    },
  },
  {
    id: "AGENT-COMPILE-002",
    number: 32,
    name: "compile_package_with_signed_url uploads with length, headers and both digests",
    needs: ["base-dir"],
    run: async (context) => {
      const content = source(PACKAGING);
      const { url, put, close } = await store(content);
      try {
        const request = {
          package_get_signed_url: `${url}/get`,
          upload_signed_url: `${url}/put`,
          digest: `sha256:${createHash("sha256").update(content).digest("hex")}`,
          name: "golib",
          version: "c0de.3",
          deps: {},
          blobstore_headers: { "x-conformance": "yes" },
        };
        const compiled = (await context.agent.value("compile_package_with_signed_url", [request])) as {
          result: { sha1: string };
        };
        const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = put;
        expectEqual(put.length, 1, "number of uploads");
        expectEqual(headers["content-length"], String(body.length), "Content-Length");
        expectEqual(headers["x-conformance"], "yes", "the header that was given");
        const digests = `${sha1(body)};sha512:${createHash("sha512").update(body).digest("hex")}`;
        expectEqual(compiled.result.sha1, digests, "digests");
        const tar = gunzipSync(body).toString("latin1");
        for (const part of ["golib c0de.3\n", "hello", "./greeting"])
          expectTrue(tar.includes(part), `${JSON.stringify(part)} is not in the compiled package`);
      } finally {
        await close();
      }
    },
  },
];
