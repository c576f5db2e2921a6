import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consoleIn } from "../console-files.ts";
import { type Harness, startHarness } from "../testing/harness.ts";

let api: Harness;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const files = join(directory.path, "console");
  await mkdir(files);
  await writeFile(join(files, "page.html"), "<!doctype html>");
  await writeFile(join(files, "page.mjs"), "export {};");
  await writeFile(join(files, "other.txt"), "CANARY");
  await writeFile(join(directory.path, "page.css"), "CANARY");
  api = await startHarness({ console: consoleIn(files) });
});
afterAll(async () => {
  await api.close();
  await directory.remove();
});

describe("GET /console", () => {
  it("serves the page without credentials, and allows it no script but its own", async () => {
    const { status, headers, body } = await api.get("/console", null);
    expect([status, body]).toEqual([200, "<!doctype html>"]);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain("unsafe");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["set-cookie"]).toBeUndefined();
  });

  it("serves scripts as scripts, and says by an ETag that nothing has changed", async () => {
    const { status, headers } = await api.get("/console/page.mjs", null);
    expect([status, headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
    const again = await api.ask("GET", "/console/page.mjs", {
      user: null,
      headers: { "if-none-match": String(headers.etag) },
    });
    expect(again.status).toBe(304);
  });

  it.each([
    "/console/other.txt",
    "/console/page.css",
    "/console/..%2Fpage.css",
    "/console/..%2Fconsole%2Fother.txt",
    "/console/constructor",
    "/console/",
  ])("has no file %s", async (path) => {
    const { status, body } = await api.get(path, null);
    expect([status, body]).toEqual([404, "not found\n"]);
  });

  it("is not there in a Director that was installed without it", async () => {
    const without = await startHarness();
    expect((await without.get("/console", null)).status).toBe(404);
    await without.close();
  });
});

describe("access in GET /info", () => {
  const accessOf = async (user: string | null) => {
    const { json } = await api.get("/info", user);
    return (json as { slipway: { access?: object } }).slipway.access;
  };

  it("says what the user may do, and nothing without good credentials", async () => {
    const all = { admin: true, read: true, admin_of: [], member_of: [] };
    expect(await accessOf("admin")).toEqual(all);
    expect(await accessOf("owner")).toEqual(all);
    expect(await accessOf("reader")).toEqual({ ...all, admin: false });
    expect(await accessOf("nobody")).toEqual({ ...all, admin: false, read: false });
    expect(await accessOf(null)).toBeUndefined();
  });
});
