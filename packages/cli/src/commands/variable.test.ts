import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeDirector, INFO } from "../testing/fake-director.ts";
import { runCli } from "../testing/run-cli.ts";

const SECRET = "canary-of-a-secret";
const CERTIFICATE = { ca: "the ca\n", certificate: "the certificate\n", private_key: `${SECRET}\n` };
const VALUE = { id: "7", name: "/lab/shop/x", type: "value", version: 2 };

let director: FakeDirector;
beforeEach(async () => {
  director = await FakeDirector.start();
  director.json("GET /info", INFO);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await director.close();
});

const run = (...argv: readonly string[]) =>
  runCli(argv, {
    env: {
      ...{ BOSH_ENVIRONMENT: director.url, BOSH_CA_CERT: director.ca },
      ...{ BOSH_CLIENT: "admin", BOSH_CLIENT_SECRET: "p" },
    },
  });
/** Requests about variables, with the document that each has sent. */
const asked = () =>
  director.seen
    .filter(({ url }) => url.startsWith("/variable"))
    .map(({ method, url, body }) => [`${method} ${url}`, body === "" ? undefined : JSON.parse(body)]);
const changed = (more: object = {}) => ({
  variables: [{ name: "/lab/shop/x", id: "8" }],
  deployments: [],
  ...more,
});

describe("slipway variable get", () => {
  const value = (given: unknown) => director.json("GET /variable", { ...VALUE, value: given });

  it("prints the value alone, to standard output", async () => {
    value(SECRET);
    expect(await run("-d", "shop", "variable", "get", "x")).toEqual({ code: 0, out: `${SECRET}\n`, err: "" });
    expect(asked()).toEqual([["GET /variable?name=x&deployment=shop", undefined]]);
  });

  it("asks for an absolute name without a deployment", async () => {
    value(SECRET);
    await run("-d", "shop", "variable", "get", "/shared/token");
    expect(asked()).toEqual([["GET /variable?name=%2Fshared%2Ftoken", undefined]]);
  });

  it("prints a map as a document, and one key of it as it is", async () => {
    value(CERTIFICATE);
    const whole = await run("variable", "get", "/x");
    expect(whole.out).toBe(
      `ca: |\n  the ca\ncertificate: |\n  the certificate\nprivate_key: |\n  ${SECRET}\n`,
    );
    expect((await run("variable", "get", "/x", "--key", "certificate")).out).toBe("the certificate\n");
  });

  it.each([CERTIFICATE, SECRET])("refuses a key that the value lacks, without the value", async (given) => {
    value(given);
    const { code, out, err } = await run("variable", "get", "/x", "--key", "constructor");
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("CLI-041 'constructor' is not a key of the variable");
    expect(err).not.toContain(SECRET);
  });

  it("writes a file that only its owner may read, and prints nothing", async () => {
    value(CERTIFICATE);
    const file = director.file("key.pem");
    await writeFile(file, "before", { mode: 0o644 });
    const ended = await run("variable", "get", "/x", "--key", "private_key", "--output", file);
    expect(ended).toEqual({ code: 0, out: "", err: "" });
    expect([await readFile(file, "utf8"), (await stat(file)).mode & 0o777]).toEqual([`${SECRET}\n`, 0o600]);
  });

  it("names the file that cannot be written, and not the value", async () => {
    value(SECRET);
    const file = join(director.dir, "not", "there");
    const { code, out, err } = await run("variable", "get", "/x", "--output", file);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(`CLI-161 ${file} cannot be written: ENOENT`);
    expect(err).not.toContain(SECRET);
  });

  it("tells a refusal of the Director in its words", async () => {
    director.on("GET /variable", {
      status: 404,
      body: JSON.stringify({ code: 440001, description: "there is no variable '/x'" }),
    });
    const { code, out, err } = await run("variable", "get", "/x");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("there is no variable '/x'");
  });

  it.each([
    ["no JSON", `${SECRET} {`],
    ["without what belongs to it", JSON.stringify({ value: SECRET })],
  ])("does not quote an answer that is %s", async (_, body) => {
    director.on("GET /variable", { body });
    const { code, out, err } = await run("variable", "get", "/x");
    expect([code, out]).toEqual([1, ""]);
    expect(err).not.toContain(SECRET);
  });
});

describe("slipway variable set", () => {
  beforeEach(() => director.json("PUT /variable", changed()));
  const fileOf = async (text: string) => {
    await writeFile(director.file("value"), text);
    return director.file("value");
  };

  it("sends the content of a file, without the end of its last line", async () => {
    const ended = await run("-d", "shop", "variable", "set", "x", "--file", await fileOf(`a\n${SECRET}\n`));
    expect(ended).toEqual({ code: 0, out: "/lab/shop/x\t8\t\n", err: "" });
    expect(asked()).toEqual([["PUT /variable", { name: "x", deployment: "shop", value: `a\n${SECRET}` }]]);
  });

  it("sends standard input with --file -", async () => {
    vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([SECRET, "\n"]) as never);
    expect(await run("variable", "set", "/x", "--file", "-")).toMatchObject({ code: 0, err: "" });
    expect(asked()).toEqual([["PUT /variable", { name: "/x", value: SECRET }]]);
  });

  it("sends a document with --yaml, and text without it", async () => {
    const file = await fileOf("a: 1\n");
    await run("variable", "set", "/x", "--file", file, "--yaml");
    await run("variable", "set", "/x", "--file", file);
    expect(asked().map(([, body]) => body.value)).toEqual([{ a: 1 }, "a: 1"]);
  });

  it("refuses an empty value, which a file that was not written yet has", async () => {
    const ended = await run("variable", "set", "/x", "--file", await fileOf("\n"));
    expect([ended.code, ended.out, asked()]).toEqual([2, "", []]);
    expect(ended.err).toContain("CLI-163 the value for '/x' is empty");
  });

  it("refuses a value on the command line, and does not repeat it", async () => {
    const { code, out, err } = await run("variable", "set", "/x", SECRET);
    expect([code, out, asked()]).toEqual([2, "", []]);
    expect(err).not.toContain(SECRET);
  });

  it("names the variable and --file when there is no terminal to ask at", async () => {
    const { code, err } = await run("variable", "set", "/x");
    expect([code, asked()]).toEqual([1, []]);
    expect(err).toContain("CLI-162 there is no terminal to ask for the value of '/x'");
    expect(err).toContain("next: Give it with --file PATH, or through standard input with --file -.");
  });

  it("names a file that cannot be read", async () => {
    const { code, err } = await run("variable", "set", "/x", "--file", director.file("none"));
    expect([code, asked()]).toEqual([2, []]);
    expect(err).toContain(`CLV-001 value ${director.file("none")} cannot be read`);
  });

  it("calls a document from standard input that cannot be read the value", async () => {
    vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([`a: [${SECRET}\n`]) as never);
    const { code, err } = await run("variable", "set", "/x", "--yaml", "--file", "-");
    expect([code, asked()]).toEqual([1, []]);
    expect(err).toContain("DIM-001 the value, line");
    expect(err).not.toContain(SECRET);
  });

  it("names the line of a document that cannot be read, without its words", async () => {
    const { code, err } = await run(
      "variable",
      "set",
      "/x",
      "--yaml",
      "--file",
      await fileOf(`a: [${SECRET}\n`),
    );
    expect([code, asked()]).toEqual([1, []]);
    expect(err).toContain(`DIM-001 ${director.file("value")}, line`);
    expect(err).not.toContain(SECRET);
  });
});

describe("slipway variable regenerate", () => {
  const regenerated = (more: object) => director.json("POST /variable/regeneration", changed(more));

  it("shows the new versions, and names the deployments that use an earlier one", async () => {
    regenerated({ deployments: ["bank", "shop"] });
    const { code, out, err } = await run("-d", "shop", "variable", "regenerate", "x");
    expect([code, out]).toEqual([0, "/lab/shop/x\t8\t\n"]);
    expect(err).toContain("Deploy again, or they keep the earlier version: 'bank', 'shop'");
    expect(asked()).toEqual([
      ["POST /variable/regeneration", { name: "x", deployment: "shop", at_once: false }],
    ]);
  });

  it.each([
    ["start", "Both authorities are trusted, and the old one signs."],
    ["switch", "The new authority signs, and both are trusted."],
    ["finish", "Only the new authority is trusted."],
  ])("says what the step %s of an authority has done", async (step, words) => {
    regenerated({ step });
    expect((await run("variable", "regenerate", "/ca")).err).toContain(words);
  });

  it("replaces an authority in one step with --at-once", async () => {
    regenerated({});
    await run("variable", "regenerate", "/ca", "--at-once");
    expect(asked()).toEqual([["POST /variable/regeneration", { name: "/ca", at_once: true }]]);
  });

  it("ends with 1 when the Director refuses", async () => {
    const description = "'/x' cannot be generated again: it was set, as a value";
    director.on("POST /variable/regeneration", {
      status: 409,
      body: JSON.stringify({ code: 1, description }),
    });
    const { code, out, err } = await run("variable", "regenerate", "/x");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(description);
  });
});
