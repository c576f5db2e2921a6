import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Command } from "../command.ts";
import { diffConfig } from "../commands/diff-config.ts";
import { updateCloudConfig } from "../commands/update-cloud-config.ts";
import { updateConfig } from "../commands/update-config.ts";
import { updateCpiConfig } from "../commands/update-cpi-config.ts";
import { updateRuntimeConfig } from "../commands/update-runtime-config.ts";
import { ownDirectory } from "../interpolate/testing/own-directory.ts";
import { typedOptionsOf } from "../interpolate/testing/typed-options.ts";
import { scene } from "./testing/fakes.ts";

const file = async (text: string) => {
  const path = join(await ownDirectory(), "c.yml");
  await writeFile(path, text);
  return path;
};
type Options = Parameters<typeof typedOptionsOf>[0];
const run = async (
  command: Command,
  options: Options,
  around: Parameters<typeof scene>[0],
  text = "azs: [((z))]\n",
) => {
  const { tools, heard } = scene(around);
  const done = await command.run(typedOptionsOf(options, [await file(text)]), tools).then(
    (code) => code,
    (error: unknown) => String(error),
  );
  return { done, heard };
};
const changed = { diff: [["azs: []", "added"]] };
const CONTENT = "azs:\n- z1\n";
const z1 = { var: ["z=z1"] };

describe("configs of one type", () => {
  it.each<[string, Command, Options, object, object]>([
    ["/cloud_configs", updateCloudConfig, {}, { name: "" }, { name: "" }],
    ["/cloud_configs", updateCloudConfig, { name: "n" }, { name: "n" }, { name: "n" }],
    [
      "/runtime_configs",
      updateRuntimeConfig,
      { "no-redact": true },
      { name: "", redact: "false" },
      { name: "" },
    ],
    ["/cpi_configs", updateCpiConfig, {}, {}, {}],
  ])("%s", async (path, command, options, diffQuery, query) => {
    const answers = { [`POST ${path}/diff`]: changed, [`POST ${path}`]: "" };
    const { done, heard } = await run(command, { ...options, ...z1 }, { answers });
    expect(done).toBe(0);
    const yaml = { method: "POST", body: CONTENT, contentType: "text/yaml" };
    expect(heard.requests).toEqual([
      { ...yaml, path: `${path}/diff`, query: diffQuery },
      { ...yaml, path, query },
    ]);
    expect(heard.lines).toEqual(["<green>+ azs: []"]);
    expect(heard.questions).toEqual(["Continue?"]);
  });

  it("are not asked about when nothing changes", async () => {
    const answers = { "POST /cloud_configs/diff": { diff: [] }, "POST /cloud_configs": "" };
    const { done, heard } = await run(updateCloudConfig, {}, { answers, yes: false });
    expect([done, heard.questions, heard.lines, heard.requests.length]).toEqual([0, [], ["No changes."], 2]);
  });

  const WITH_URL = "releases: [{name: r, version: 1, url: https://x, sha1: abc}, {name: s, version: 1}]\n";
  const runtime = (there: readonly string[], diff: unknown = changed) => ({
    answers: {
      "POST /runtime_configs/diff": diff,
      "POST /runtime_configs": "",
      "GET /releases": [{ name: "r", release_versions: there.map((version) => ({ version })) }],
      "GET /releases/r": { jobs: [], packages: [] },
      "POST /releases": 7,
    },
  });
  const SENT = 'POST /releases {"location":"https://x","sha1":"abc"}';

  it.each<[string, Options, Parameters<typeof scene>[0], readonly string[]]>([
    ["that is not there", {}, runtime([]), ["GET /releases", SENT]],
    ["that is there", {}, runtime(["1"]), ["GET /releases"]],
    ["that is to be replaced", { "fix-releases": true }, runtime(["1"]), [SENT]],
    ["of a config that does not change", {}, runtime([], { diff: [] }), []],
  ])("a runtime config's release with a URL %s: %j", async (_, options, around, uploads) => {
    const { done, heard } = await run(updateRuntimeConfig, options, around, WITH_URL);
    expect(done).toBe(0);
    const text = heard.requests.map(({ method, path, body }) =>
      path === "/releases" && body !== undefined ? `${method} ${path} ${String(body)}` : `${method} ${path}`,
    );
    const asked = text.filter((one) => one !== "GET /releases/r");
    expect(asked).toEqual(["POST /runtime_configs/diff", ...uploads, "POST /runtime_configs"]);
  });

  it("are not saved without a yes", async () => {
    const answers = { "POST /cloud_configs/diff": changed };
    const { done, heard } = await run(updateCloudConfig, {}, { answers, yes: false });
    expect(done).toMatch(/not confirmed/);
    expect(heard.requests).toHaveLength(1);
  });
});

describe("configs of any type", () => {
  const saved = {
    id: "8",
    type: "mine",
    name: "n",
    created_at: "2030-01-01 00:00:00 UTC",
    content: CONTENT,
    current: true,
  };
  const answers = { "POST /configs/diff": { ...changed, from: { id: "7" } }, "POST /configs": saved };

  it.each<[Options, string]>([
    [{}, "7"],
    [{ "expected-latest-id": "5" }, "5"],
  ])("say which one they replace: %j", async (options, expected) => {
    const { done, heard } = await run(
      updateConfig,
      { type: "mine", name: "n", ...z1, ...options },
      { answers },
    );
    expect(done).toBe(0);
    const bodies = heard.requests.map(({ body, contentType }) => [
      contentType,
      JSON.parse(String(body)) as object,
    ]);
    const compared = { type: "mine", name: "n", content: CONTENT };
    expect(bodies).toEqual([
      ["application/json", compared],
      ["application/json", { ...compared, expected_latest_id: expected }],
    ]);
    expect(heard.tables).toMatchObject([
      { transpose: true, rows: [["8", "mine", "n", saved.created_at, CONTENT]] },
    ]);
  });

  it.each(["type", "name"])("need a --%s", async (missing) => {
    const options = Object.fromEntries(
      ["type", "name"].filter((one) => one !== missing).map((one) => [one, "x"]),
    );
    const { done, heard } = await run(updateConfig, options, { answers });
    expect(done).toContain(`--${missing}`);
    expect(heard.requests).toEqual([]);
  });

  it("are compared by id or content", async () => {
    const { done, heard } = await run(
      diffConfig,
      { "from-id": "7", "to-content": await file("a: 1\n") },
      { answers },
    );
    expect(done).toBe(0);
    expect(JSON.parse(String(heard.requests[0]?.body))).toEqual({
      from: { id: "7", content: "" },
      to: { id: "", content: "a: 1\n" },
    });
    expect(heard.tables[0]?.rows).toEqual([["7", "", "+ azs: []\n"]]);
  });

  it.each<Options>([{ "from-id": "1" }, { "from-id": "1", "to-id": "2", "to-content": "x" }])(
    "%j is no comparison",
    async (options) => {
      expect((await run(diffConfig, options, { answers })).done).toMatch(/--to-id or --to-content/);
    },
  );
});
