import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { beforeAll, expect, test } from "vitest";
import { run } from "./cli.ts";
import { AUTH, PASSWORD, path, put, settingsOf, tempDir } from "./testing/harness.ts";
import { bundleProgram, startProgram, writeConfig } from "./testing/program.ts";

let script = "";
beforeAll(async () => {
  script = await bundleProgram();
});

/** Runs the program in this process, already asked to stop. */
async function runHere(...argv: string[]) {
  let out = "";
  let err = "";
  const io = {
    out: { write: (text: string) => (out += text) },
    err: { write: (text: string) => (err += text) },
    stop: AbortSignal.abort(),
  };
  return { code: await run(argv, io), out, err };
}

test("--help shows the flags and the shape of the configuration", async () => {
  const { code, out } = await runHere("--help");
  expect(code).toBe(0);
  for (const word of ["--config FILE", "--version", "additional_users", "cert_file", '"dir"'])
    expect(out).toContain(word);
});

test("--version is the package's version", async () => {
  const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  expect(await runHere("--version")).toEqual({
    code: 0,
    out: `slipway-registry ${manifest.version}\n`,
    err: "",
  });
});

test.each([[[]], [["--port", "1"]], [["extra"]], [["--config"]]])(
  "wrong flags %j end with 2 and a way out",
  async (argv) => {
    const { code, out, err } = await runHere(...argv);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^REG-022 .*\n {2}next: Call it as slipway-registry --config FILE/);
  },
);

test("a missing configuration ends with 2 and names the file", async () => {
  const file = join(await tempDir(), "none.json");
  const { code, err } = await runHere("--config", file);
  expect(code).toBe(2);
  expect(err).toContain(`REG-020 the file ${file} of the registry's configuration cannot be read`);
});

test.each([
  ["not JSON", "{canary", "KER-002"],
  ["a key twice", '{"dir":"canary","dir":"canary"}', "KER-002"],
  ["nothing in it", "{}", "http: "],
  ["no password", '{"http":{"user":"canary"},"dir":"d"}', "http.password: "],
  ["an unknown setting", '{"http":{"user":"u","password":"canary","prot":1},"dir":"d"}', "http.prot: "],
  [
    "a port out of range",
    '{"http":{"user":"u","password":"canary","port":70000},"dir":"d"}',
    "http.port: is above 65535",
  ],
  [
    "a colon in a name",
    '{"http":{"user":"u:canary","password":"canary"},"dir":"d"}',
    "http.user: must not contain a colon",
  ],
  [
    "an empty additional password",
    '{"http":{"user":"u","password":"canary","additional_users":[{"username":"canary","password":""}]},"dir":"d"}',
    "http.additional_users[0].password: must not be empty",
  ],
])("a wrong configuration ends with 2, says what, and quotes nothing: %s", async (_, text, expected) => {
  const file = join(await tempDir(), "registry.json");
  await writeFile(file, text);
  const { code, out, err } = await runHere("--config", file);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain(expected);
  expect(err).not.toContain("canary");
});

test("a missing certificate ends with 2 and names the file", async () => {
  const dir = await tempDir();
  const file = await writeConfig(dir, { tls: { cert_file: "no.crt", key_file: "no.key" } });
  const { code, err } = await runHere("--config", file);
  expect(code).toBe(2);
  expect(err).toContain(join(dir, "no.crt"));
});

test("plain HTTP beyond this machine is warned about, HTTPS is not", async () => {
  const dir = await tempDir();
  const plain = await runHere("--config", await writeConfig(dir, { host: "0.0.0.0" }));
  expect(plain).toMatchObject({ code: 0, err: expect.stringMatching(/^warning: plain HTTP .*\n$/) });
  await writeFile(join(dir, "r.crt"), TEST_CERT);
  await writeFile(join(dir, "r.key"), TEST_KEY);
  const tls = { cert_file: "r.crt", key_file: "r.key" };
  const secure = await runHere("--config", await writeConfig(dir, { host: "0.0.0.0", tls }));
  expect(secure).toMatchObject({ code: 0, err: "", out: expect.stringContaining("https://0.0.0.0:") });
});

test("the program says where it listens, serves, and ends cleanly on SIGTERM", async () => {
  const dir = await tempDir();
  const file = await writeConfig(dir, { additional_users: [{ username: "second", password: "canary" }] });
  const program = await startProgram(script, file);
  await put(program.url, "vm-7", "settings");
  expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null });
  const state = join(dir, "state");
  expect(program.output()).toBe(
    `registry listening on ${program.url} (state in ${state}, 0 entries)\nregistry stopped\n`,
  );
  const again = await startProgram(script, file);
  expect(again.output()).toBe(`registry listening on ${again.url} (state in ${state}, 1 entry)\n`);
  expect(await settingsOf(again.url, "vm-7")).toBe("settings");
  expect(await again.end("SIGINT")).toEqual({ code: 0, signal: null });
});

test("a request under way when SIGTERM comes, once or twice, is still answered", async () => {
  const program = await startProgram(script, await writeConfig(await tempDir()));
  const { hostname, port } = new URL(program.url);
  const headers = { ...AUTH, "content-length": "8", expect: "100-continue" };
  const outgoing = request({ hostname, port, path: path("vm-7"), method: "PUT", headers });
  const answered = new Promise((resolve, reject) => {
    outgoing.on("response", (incoming) => resolve(incoming.resume().statusCode));
    outgoing.on("error", reject);
  });
  // Once the server has asked for the body, the request is under way.
  await new Promise((go) => {
    outgoing.on("continue", go);
    outgoing.flushHeaders();
  });
  const ended = program.end("SIGTERM");
  await untilRefused(program.url);
  program.child.kill("SIGTERM");
  outgoing.end("settings");
  expect(await answered).toBe(200);
  expect(await ended).toEqual({ code: 0, signal: null });
});

/** New connections are refused once the program has begun to stop. */
async function untilRefused(url: string): Promise<void> {
  while (
    (await settingsOf(url, "x").then(
      () => "open",
      () => "closed",
    )) === "open"
  );
}

test("a second program on the same state ends with an error that names it", async () => {
  const dir = await tempDir();
  const file = await writeConfig(dir);
  const program = await startProgram(script, file);
  const { code, err } = await runHere("--config", file);
  expect(code).toBe(1);
  expect(err).toContain(`REG-001 the state directory ${join(dir, "state")} is in use by another registry`);
  expect(err).toContain(`process ${program.child.pid}`);
  expect(err).not.toContain(PASSWORD);
});
